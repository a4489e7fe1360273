/**
 * How the tests run: `npm test` leaves out the suites of `npm run test:beside` (`--mode quick`, `--mode beside`), and
 * `npm run test:long` runs in full what the others sample (`--mode long`). Where and how a file runs is in its name
 * (test/support/retries/needs.ts).
 */
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { sampledFiles } from './test/support/long.ts';
import { needs } from './test/support/retries/needs.ts';
import { FailureReporter, RetriedReporter } from './test/support/retries/reporters.ts';

const report = process.env.LOSTLOCK_REPORT; // Where .ci/run expects the counts.

/**
 * Samples of the lab's, the explorer's and the determinism tests that run with ioredis 5 as well, which most projects have: the
 * lab's clients are then those of ioredis 5.
 */
const withIoredis5: string[] = [
  'test/explore/worlds.test.ts',
  'test/lab/determinism.alone.test.ts',
  'test/lab/scenarios/wait.test.ts',
  'test/lab/virtual/clients.test.ts',
];

/** All test files, in a fixed order. */
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => join('test', name))
  .filter((name) => name.endsWith('.ts'))
  .sort();
const testFiles = files.filter((name) => name.endsWith('.test.ts'));

const jsonIn = (outputFile: string): ['json', { outputFile: string }] => ['json', { outputFile }];

/** A project of the run, with what all projects have in common. */
function suites(test: NonNullable<TestProjectInlineConfiguration['test']>): TestProjectInlineConfiguration {
  return { extends: true, test };
}

/** Compiled sources, which Node itself loads. */
const loader = ['--import', './test/support/loader/register.mjs'];
/** The workers share two cores, so a collector with threads gains nothing. */
const collector = ['--max-semi-space-size=64', '--single-threaded-gc'];

/** The samples with ioredis 5. Each file has a process of its own, as some of them need it. */
const ioredis5 = suites({
  name: 'with ioredis 5',
  include: withIoredis5,
  execArgv: [...loader, '--import', './test/support/loader/with-ioredis5.mjs', ...collector],
  isolate: true,
});

/** The files that a mode runs: all of them, where none is given. A long run runs nothing that the other two run in full. */
function filesOf(mode: string): string[] {
  if (mode === 'long') return sampledFiles(files);
  const isBeside = (name: string) => needs(name, 'beside');
  if (mode === 'quick') return testFiles.filter((name) => !isBeside(name));
  return mode === 'beside' ? testFiles.filter(isBeside) : testFiles;
}

/** A mode's files as projects: those that need a process each, and in a long run those that must not run beside suites that compute. */
function projectsOf(names: readonly string[], isLong: boolean): TestProjectInlineConfiguration[] {
  const alone = names.filter((name) => needs(name, 'alone'));
  const shared = names.filter((name) => !needs(name, 'alone'));
  const timed = shared.filter((name) => isLong && needs(name, 'realtime'));
  const together = shared.filter((name) => !timed.includes(name));
  // The lab's router has to be loaded before any client: in a shared process, before the first file.
  const setupFiles = ['lab/router.ts'];
  return [
    { name: 'together', include: together, setupFiles },
    { name: 'alone', include: alone, isolate: true },
    { name: 'on real time', include: timed, setupFiles, maxWorkers: 1, sequence: { groupOrder: 1 } },
  ]
    .filter(({ include }) => include.length > 0)
    .map(suites);
}

export default defineConfig(({ mode: own }) => {
  // Vitest evaluates this again for each project, in a mode of its own. The first evaluation is about the command line.
  process.env.LOSTLOCK_TEST_MODE ??= own;
  const mode = process.env.LOSTLOCK_TEST_MODE;
  const isLong = mode === 'long';
  return {
    test: {
      // Three workers a core, because the suites on real time mostly wait for a server or a timer. In a long run they compute.
      maxWorkers: availableParallelism() * (isLong ? 1 : 3),
      env: { LOSTLOCK_LONG: isLong ? '1' : '' },
      // CI's machine is crowded. A test that needed a retry is named at the end of .ci/run's output.
      runner: 'test/support/retries/runner.ts',
      // A test that asserts nothing cannot fail.
      expect: { requireAssertions: true },
      // Limits for a broken test on a busy machine. No test asserts a duration.
      testTimeout: isLong ? 3_600_000 : 60_000,
      hookTimeout: 60_000,
      reporters: [
        'default',
        ...(report ? [jsonIn(report), new RetriedReporter(`${report}.retried`)] : []),
        ...(isLong ? [new FailureReporter()] : []),
      ],
      coverage: {
        include: ['**/*.ts'],
        exclude: ['{test,bench,docs,examples,integrations,tools}/**'],
      },
      // The files of a worker share the modules that they import, which saves half of the time. A file must leave no trace.
      isolate: false,
      // The sources are compiled once and loaded by Node itself. Vite would compile and send them to each worker anew,
      // which takes longer than most tests.
      globalSetup: 'test/support/loader/compile.mjs',
      execArgv: [...loader, ...collector],
      experimental: { viteModuleRunner: false, nodeLoader: false },
      projects: [...projectsOf(filesOf(mode), isLong), ...(mode === 'beside' || isLong ? [] : [ioredis5])],
    },
  };
});
