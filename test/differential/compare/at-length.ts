/** The command line of testers that compare many generated programs with one real server. */
import { parseArgs } from 'node:util';
import { type DialectName, dialectNames } from '../../../server/dialects/index.ts';
import { oracleOf } from '../../support/oracles.ts';

/** Plays generated programs on a real server's program and on ours. */
type Compare = (
  program: string,
  dialect: DialectName,
  options: { readonly commands: number; readonly seed: number },
) => Promise<{ readonly commands: number; readonly differences: readonly string[] }>;

/** Reads `--commands`, `--seed` and `--dialect`, compares, and prints the programs that differ. */
export async function compareAtLength(compare: Compare): Promise<void> {
  const { values } = parseArgs({
    options: {
      commands: { type: 'string', default: '20000' },
      seed: { type: 'string', default: '1' },
      dialect: { type: 'string', default: 'redis-7.0' },
    },
  });
  const dialect = values.dialect as DialectName;
  if (!dialectNames.includes(dialect))
    throw new Error(`--dialect: must be one of ${dialectNames.join(', ')}`);
  const program = oracleOf(dialect);
  if (program === undefined) throw new Error(`the real server of ${dialect} is not on this machine`);
  const options = { commands: Number(values.commands), seed: Number(values.seed) };
  const { commands, differences } = await compare(program, dialect, options);
  for (const difference of differences) console.log(`${difference}\n`);
  console.log(`${dialect}: ${commands} commands, ${differences.length} programs that differ`);
  process.exitCode = differences.length === 0 ? 0 : 1;
}
