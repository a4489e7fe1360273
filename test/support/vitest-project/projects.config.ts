/** Two projects with the same global setup, as a user has them; test/packaging/runners.test.ts runs them. */
import { defineConfig } from 'vitest/config';

const project = (name: string) => ({ extends: true as const, test: { name, include: ['**/*.user.ts'] } });

export default defineConfig({
  test: { globalSetup: '../../../vitest.ts', projects: [project('one'), project('other')] },
});
