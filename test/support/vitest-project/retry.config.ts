/** A project with a test that needs a retry; test/support/retries/retried.beside.test.ts runs it. */
import { defineConfig } from 'vitest/config';
import { FailureReporter, RetriedReporter } from '../retries/reporters.ts';

export default defineConfig({
  test: {
    include: ['**/*.flaky.ts'],
    retry: 2,
    reporters: ['default', new RetriedReporter(process.env.LOSTLOCK_RETRIED ?? ''), new FailureReporter()],
  },
});
