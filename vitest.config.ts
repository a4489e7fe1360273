/** How the tests run: samples in `npm test`, everything under `--mode long`. */
import { defineConfig } from 'vitest/config';

const report = process.env.LOSTLOCK_REPORT; // Where .ci/run wants the counts.

export default defineConfig(({ mode }) => ({
  test: {
    // Real sockets, real servers and real time share CI's crowded machine: a test that fails is asked again there.
    retry: process.env.CI === undefined ? 0 : 2,
    // One worker a core: most tests wait for a server or a timer half of the time.
    maxWorkers: '100%',
    include: ['test/**/*.test.ts'],
    env: { LOSTLOCK_LONG: mode === 'long' ? '1' : '' },
    // Bounds for a broken test on a busy machine; no test asserts a duration.
    testTimeout: mode === 'long' ? 1_200_000 : 60_000,
    hookTimeout: 60_000,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
    coverage: { include: ['*.ts', '{protocol,keyspace,scripting,server,embed,lab,locks}/**/*.ts'] },
  },
}));
