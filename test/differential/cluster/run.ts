/** `npm run test:cluster -- --commands 20000 --seed 1 --dialect redis-8.2`: compares clusters at length. */
import { parseArgs } from 'node:util';
import { type DialectName, dialectNames } from '../../../server/dialects/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { compareClusters } from './tester.ts';

const { values } = parseArgs({
  options: {
    commands: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    dialect: { type: 'string', default: 'redis-7.0' },
  },
});
const dialect = values.dialect as DialectName;
if (!dialectNames.includes(dialect)) throw new Error(`--dialect: allowed are ${dialectNames.join(', ')}`);
const program = oracleOf(dialect);
if (program === undefined) throw new Error(`the real server of ${dialect} is not on this machine`);
const { commands, differences } = await compareClusters(program, dialect, {
  commands: Number(values.commands),
  seed: Number(values.seed),
});
for (const difference of differences) console.log(`${difference}\n`);
console.log(`${dialect}: ${commands} commands, ${differences.length} programs that differ`);
process.exitCode = differences.length === 0 ? 0 : 1;
