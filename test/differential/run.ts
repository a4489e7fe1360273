/**
 * The differential tester's command line: `npm run test:differential -- --commands 20000 --seed 1`; with `--coverage` it
 * counts what was reached, with `--mutants` it looks for what is broken on purpose. `--dialect` chooses the server to be.
 * With `--followers` the real server follows ours, and ours the real server; with `--control` too, a real one a real one.
 */
import { parseArgs } from 'node:util';
import { type DialectName, dialectNames } from '../../server/dialects/index.ts';
import { INSTALLED, oracleOf } from '../support/oracles.ts';
import { excluded } from './compare/known.ts';
import { Coverage } from './coverage.ts';
import { compareFollowers } from './followers/pair.ts';
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
    followers: { type: 'boolean', default: false },
    control: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const dialect = dialectNames.find((name) => name === values.dialect);
if (dialect === undefined) {
  throw new Error(`--dialect ${values.dialect}: must be one of ${dialectNames.join(', ')}`);
}
const grammar = grammarOf(dialect);
const coverage = new Coverage(grammar);

/** Plays every server that is broken on purpose until its fault is found and shrunk. */
async function hunt(real: RealSide): Promise<void> {
  for (const [name, commands] of Object.entries(mutants)) {
    const found = await findMutant(real, commands);
    console.log(found === undefined ? `NOT FOUND: ${name}` : `found: ${name}, in ${found}`);
    if (found === undefined) process.exitCode = 1;
  }
}

/** Compares programs of one seed, and reports. */
async function compare(real: RealSide): Promise<void> {
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

/** Compares what a replica has with what its primary has, in both directions. */
async function follow(dialect: DialectName): Promise<void> {
  const server = oracleOf(dialect);
  if (server === undefined) throw new Error(`the server of ${dialect} is not installed`);
  const both = ['real to lostlock', 'lostlock to real'] as const;
  for (const roles of values.control ? (['real to real'] as const) : both) {
    const started = Date.now();
    const done = await compareFollowers(dialect, server, roles, {
      seed,
      commands: Number(values.commands),
      most: Number(values.stop),
      only: values.program === undefined ? undefined : Number(values.program),
      report: (text) => console.log(`${text}\n`),
    });
    console.log(
      `${roles.replaceAll('real', dialect)}, seed ${seed}: ${done.commands} commands (${done.errors} errors) in ${done.rounds} rounds, ` +
        `${((Date.now() - started) / 1000).toFixed(1)} s; ${done.bytes} bytes of stream, ${done.partial} partial and ` +
        `${done.full} full resyncs; ${done.differences.length} rounds with differences, ${done.alike} as between two real servers`,
    );
    if (done.differences.length > 0) process.exitCode = 1;
  }
}

if (values.followers) await follow(dialect);
else {
  const real = await RealSide.start(dialect);
  try {
    await (values.mutants ? hunt : compare)(real);
  } finally {
    await real.stop();
  }
}
