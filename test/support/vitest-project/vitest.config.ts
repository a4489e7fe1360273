/** A project as a user of `lostlock/vitest` has it; test/packaging/runners.realtime.beside.test.ts runs it. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { globalSetup: '../../../runners/vitest.ts', include: ['**/*.user.ts'] },
});
