/**
 * The command line of the comparison of replication: `npm run test:replicas -- --commands 20000 --seed 1`. `--dialect` names
 * the server to be, `--mutants` looks for what is broken on purpose.
 */
import { parseArgs } from 'node:util';
import { type DialectName, dialectNames } from '../../../server/dialects/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { mutants } from './mutants.ts';
import { compareReplication, huntMutants } from './tester.ts';

const { values } = parseArgs({
  options: {
    commands: { type: 'string' },
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

/** Plays nodes that are broken on purpose until programs of a seed have shown each fault. */
async function hunt(dialect: DialectName, server: string): Promise<void> {
  const sought = Object.entries(mutants).filter(([, { dialects }]) =>
    dialects.some((each) => each === dialect),
  );
  const left = new Map(sought.map(([name, { mutation }]) => [name, mutation]));
  await huntMutants(left, server, dialect, {
    commands: Number(values.commands ?? '40000'),
    seed: Number(values.seed),
    found: (name, program) => console.log(`${dialect}: found by program ${program}: ${name}`),
  });
  for (const name of left.keys()) console.log(`${dialect}: NOT FOUND: ${name}`);
  console.log(`${dialect}: ${sought.length - left.size} of ${sought.length} found`);
  if (left.size > 0) process.exitCode = 1;
}

async function compare(dialect: DialectName, server: string): Promise<void> {
  const started = Date.now();
  const { commands, programs, differences, vanished } = await compareReplication(server, dialect, {
    commands: Number(values.commands ?? '2000'),
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
