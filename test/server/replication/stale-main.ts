/**
 * `npm run measure:stale -- --clients 1,8 --tries 2000 --rounds 1`: counts old answers of a replica right after an acknowledged SET, beside
 * redis-server where it is installed.
 */
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../../support/built.ts';
import { findProgram } from '../../support/redis-server.ts';
import { countStale, startReplicated } from './stale-reads.ts';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '1,8' },
    tries: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '1' },
  },
});

function count(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new RangeError(`--${name} ${text}: must be a whole number above 0`);
  return number;
}

const [tries, rounds] = [count('tries', values.tries), count('rounds', values.rounds)];
const crowds = values.clients.split(',').map((text) => count('clients', text));

async function main(): Promise<void> {
  await ensureBuilt();
  const real = findProgram('redis-server');
  const servers: [string, string | undefined][] = [['lostlock', undefined]];
  if (real !== undefined) servers.push(['redis-server', real]);
  for (let round = 0; round < rounds; round++) {
    for (const clients of crowds) {
      for (const [name, program] of servers) {
        const nodes = await startReplicated(program, clients);
        const stale = await countStale(nodes, tries).finally(() => nodes.stop());
        console.log(
          `${name}, ${clients} client${clients === 1 ? '' : 's'}: ${stale} of ${tries} reads are old`,
        );
      }
    }
  }
  process.exit(0);
}

void main();
