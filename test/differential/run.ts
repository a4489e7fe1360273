/**
 * The differential tester's command line: `npm run test:differential -- --commands 20000 --seed 1`; with `--coverage` it
 * counts what was reached, with `--mutants` it looks for what is broken on purpose. `--dialect` chooses the server to be.
 */
import { parseArgs } from 'node:util';
import { dialectNames } from '../../server/dialects/index.ts';
import { INSTALLED } from '../support/oracles.ts';
import { excluded } from './compare/known.ts';
import { Coverage } from './coverage.ts';
import { findMutant, mutants } from './mutants.ts';
import { grammarOf } from './requests.ts';
import { RealSide } from './sides.ts';
import { test } from './tester.ts';

const { values } = parseArgs({
  options: {
    commands: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    dialect: { type: 'string', default: INSTALLED },
    mutants: { type: 'boolean', default: false },
    program: { type: 'string' },
    stop: { type: 'string', default: '5' },
    coverage: { type: 'boolean', default: false },
    length: { type: 'string', default: '80' },
  },
});
const seed = Number(values.seed);
const dialect = dialectNames.find((name) => name === values.dialect);
if (dialect === undefined) {
  throw new Error(`--dialect ${values.dialect}: must be one of ${dialectNames.join(', ')}`);
}
const grammar = grammarOf(dialect);
const coverage = new Coverage(grammar);
const real = await RealSide.start(dialect);

/** Plays every server that is broken on purpose until its fault is found and shrunk. */
async function hunt(): Promise<void> {
  for (const [name, commands] of Object.entries(mutants)) {
    const found = await findMutant(real, commands);
    console.log(found === undefined ? `NOT FOUND: ${name}` : `found: ${name}, in ${found}`);
    if (found === undefined) process.exitCode = 1;
  }
}

/** Compares programs of one seed, and reports. */
async function compare(): Promise<void> {
  const started = Date.now();
  const result = await test(real, {
    seed,
    commands: Number(values.commands),
    length: Number(values.length),
    stopAfter: Number(values.stop),
    ...(values.program === undefined ? {} : { only: Number(values.program) }),
    ...(values.coverage ? { coverage } : {}),
    report: (text) => console.log(`${text}\n`),
  });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(
    `seed ${seed}: ${result.commands} commands in ${result.programs} programs, ${seconds} s; ` +
      `${result.found} differences, ${result.repeated} more like them, ${result.inconclusive} programs inconclusive, ${result.vanished} vanished`,
  );
  console.log(
    `${dialect}: ${grammar.generated.length} commands generated, ${Object.keys(excluded).length} left out with a reason`,
  );
  if (values.coverage) console.log(`${coverage.table()}\n\n${coverage.tallies()}`);
  const missing = grammar.withoutGenerator;
  if (missing.length > 0) console.log(`without a generator: ${missing.join(', ')}`);
  process.exitCode = result.found + result.repeated > 0 ? 1 : 0;
}

try {
  await (values.mutants ? hunt() : compare());
} finally {
  await real.stop();
}
