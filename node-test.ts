/** `lostlock/node-test`: fixtures for node:test that end with the test. */
import { TestFixtures } from './fixtures.ts';

export type { TestExploreOptions, TestFixtures } from './fixtures.ts';

/** The part of node:test's context that the fixtures use. */
export interface TestContext {
  /** The name of the test. */
  readonly name: string;
  /** Why the test has failed, while its hooks run. */
  readonly error?: unknown;
  /** Registers a function that runs after the test. */
  after(hook: () => Promise<void>): void;
}

/**
 * Fixtures for one test. What is started with them ends after the test.
 *
 * @param context the test's context
 *
 * @example
 * test('a lock', async (t) => { const redis = await fixtures(t).redis(); … });
 */
export function fixtures(context: TestContext): TestFixtures {
  const all = new TestFixtures(() => context.name);
  // A test passes after its hooks only, so that `passed` says nothing yet.
  context.after(() => all.close(context.error !== undefined && context.error !== null));
  return all;
}
