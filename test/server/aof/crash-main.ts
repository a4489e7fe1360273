/**
 * `npm run crash:aof -- --kills 100 --seed 1 --appendfsync always`: kills a server with an append-only file under load, and
 * exits with 1 if a restart has lost an acknowledged write.
 */
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../../support/built.ts';
import { crash } from './crashes.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    appendfsync: { type: 'string', default: 'always' },
  },
});
const appendfsync = (['always', 'everysec', 'no'] as const).find((word) => word === values.appendfsync);
const [kills, seed] = [Number(values.kills), Number(values.seed)];
if (appendfsync === undefined)
  throw new RangeError(`--appendfsync ${values.appendfsync}: must be always, everysec or no`);
if (!Number.isInteger(kills) || kills < 1)
  throw new RangeError(`--kills ${values.kills}: must be a whole number above 0`);
if (!Number.isInteger(seed)) throw new RangeError(`--seed ${values.seed}: must be a whole number`);

async function main(): Promise<void> {
  await ensureBuilt();
  const began = performance.now();
  const report = (kill: number, acknowledged: number): void => {
    if (kill % 10 === 0) console.log(`${kill} kills, ${acknowledged} acknowledged writes`);
  };
  const { acknowledged, lost } = await crash({ kills, seed, appendfsync: appendfsync ?? 'always', report });
  for (const line of lost) console.log(line);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `appendfsync ${appendfsync}, seed ${seed}: ${kills} kills in ${seconds} s, ${acknowledged} acknowledged writes, ${lost.length === 0 ? 'none' : 'some'} lost`,
  );
  process.exit(lost.length === 0 ? 0 : 1);
}

void main();
