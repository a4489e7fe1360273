/** How the tests run: samples in `npm test`, everything under `--mode long`. */
import { writeFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import type { Reporter, TestCase } from 'vitest/node';

const report = process.env.LOSTLOCK_REPORT; // Where .ci/run wants the counts.

/**
 * The suites on real time: real servers, sockets, child processes or the machine's clock. A crowded machine can fail their
 * tests by chance. Everything else has to give the same result every time: a test that fails there once, such as one of a
 * seed, has found something.
 */
export const realTime: readonly string[] = [
  'test/cli.test.ts',
  'test/golden.test.ts',
  'test/readme.test.ts',
  'test/transcripts.test.ts',
  'test/clients/*.test.ts',
  'test/differential/{failover,replication}.test.ts',
  'test/embed/*.test.ts',
  'test/lab/{demo,pair}.test.ts',
  'test/lab/real/*.test.ts',
  'test/lab/routes/*.test.ts',
  'test/lab/virtual/endings.test.ts',
  'test/locks/{odd-uses,options,wrong-options}.test.ts',
  'test/locks/asking/{hand-over,line,never-held}.test.ts',
  'test/locks/clients/*.test.ts',
  'test/locks/conformance/*.test.ts',
  'test/locks/holding/watchdog.test.ts',
  'test/locks/kinds/{own-holds-real,redlock,redlock-silence,segmented,session}.test.ts',
  'test/locks/lives/soak.test.ts',
  'test/locks/scripts/scripts.test.ts',
  'test/locks/server/*.test.ts',
  'test/packaging/*.test.ts',
  'test/protocol/{corpus,hanging-up}.test.ts',
  'test/scripting/hostile.test.ts',
  'test/server/clients/*.test.ts',
  'test/server/commands/{migrate,shutdown}.test.ts',
  'test/server/data/saving.test.ts',
  'test/server/figures/*.test.ts',
  'test/server/host/*.test.ts',
  'test/server/replication/*.test.ts',
  'test/server/scripts/*.test.ts',
  'test/server/settings/config.test.ts',
  'test/support/redis-server.test.ts',
];

/** Writes the tests that passed only after a retry to a file, one a line: the module and the test's full name. */
export class RetriedReporter implements Reporter {
  readonly #file: string;
  readonly #retried: string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#retried.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(): void {
    writeFileSync(this.#file, this.#retried.map((name) => `${name}\n`).join(''));
  }
}

export default defineConfig(({ mode }) => ({
  test: {
    // One worker a core: most tests wait for a server or a timer half of the time.
    maxWorkers: '100%',
    env: { LOSTLOCK_LONG: mode === 'long' ? '1' : '' },
    // A test that asserts nothing cannot fail.
    expect: { requireAssertions: true },
    // Bounds for a broken test on a busy machine; no test asserts a duration.
    testTimeout: mode === 'long' ? 1_200_000 : 60_000,
    hookTimeout: 60_000,
    reporters: report
      ? ['default', ['json', { outputFile: report }], new RetriedReporter(`${report}.retried`)]
      : ['default'],
    coverage: { include: ['*.ts', '{protocol,keyspace,scripting,server,embed,lab,locks}/**/*.ts'] },
    projects: [
      {
        extends: true,
        test: { name: 'same every time', include: ['test/**/*.test.ts'], exclude: [...realTime] },
      },
      {
        extends: true,
        test: {
          name: 'real time',
          include: [...realTime],
          // CI's machine is crowded. A test that needed a retry is named at the end of .ci/run's output.
          retry: process.env.CI === undefined ? 0 : 2,
        },
      },
    ],
  },
}));
