/**
 * The command line of the comparison of replication: `npm run test:replicas -- --commands 20000 --seed 1`. `--dialect` names
 * the server to be, `--mutants` looks for what is broken on purpose.
 */
import { parseArgs } from 'node:util';
import { type DialectName, dialectNames } from '../../../server/dialects/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { mutants } from './mutants.ts';
import { compareReplication } from './tester.ts';

const { values } = parseArgs({
  options: {
    commands: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    dialect: { type: 'string' },
    program: { type: 'string' },
    stop: { type: 'string', default: '5' },
    mutants: { type: 'boolean', default: false },
  },
});
const names = dialectNames.filter((name) => values.dialect === undefined || name === values.dialect);
if (names.length === 0) {
  throw new Error(`--dialect ${values.dialect}: must be one of ${dialectNames.join(', ')}`);
}

/** Plays nodes that are broken on purpose until programs of a seed have shown the fault. */
async function hunt(dialect: DialectName, server: string): Promise<void> {
  for (const [name, { dialects, mutation }] of Object.entries(mutants)) {
    if (!dialects.some((each) => each === dialect)) continue;
    const { commands, differences } = await compareReplication(server, dialect, {
      commands: Number(values.commands),
      seed: Number(values.seed),
      most: 1,
      mutation,
      shortens: false,
    });
    const isFound = differences.length > 0;
    console.log(`${dialect}: ${isFound ? `found after ${commands} steps` : 'NOT FOUND'}: ${name}`);
    if (!isFound) process.exitCode = 1;
  }
}

async function compare(dialect: DialectName, server: string): Promise<void> {
  const started = Date.now();
  const { commands, programs, differences, vanished } = await compareReplication(server, dialect, {
    commands: Number(values.commands),
    seed: Number(values.seed),
    most: Number(values.stop),
    only: values.program === undefined ? undefined : Number(values.program),
    report: (text) => console.log(`${dialect}, ${text}`),
  });
  console.log(
    `${dialect}: ${commands} steps in ${programs} programs, ${((Date.now() - started) / 1000).toFixed(1)} s; ` +
      `${differences.length} differences, ${vanished} vanished`,
  );
  if (differences.length > 0) process.exitCode = 1;
}

for (const dialect of names) {
  const server = oracleOf(dialect);
  if (server !== undefined) await (values.mutants ? hunt : compare)(dialect, server);
}
