/** How the tests run: samples in `npm test`, everything under `--mode long`. */
import { defineConfig } from 'vitest/config';
import { realTime } from './test/support/retries/real-time.ts';
import { RetriedReporter } from './test/support/retries/retried.ts';

const report = process.env.LOSTLOCK_REPORT; // Where .ci/run wants the counts.

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
