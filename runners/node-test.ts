/** `lostlock/node-test`: fixtures for node:test that end with the test. */
import '../lab/router.ts';
import { badOption } from '../base/options.ts';
import { TestFixtures } from './fixtures.ts';

export type { TestExploreOptions, TestFixtures } from './fixtures.ts';

/** The part of node:test's context that the fixtures use. */
export interface TestContext {
  /** The name of the test. */
  readonly name: string;
  /** Aborts when the runner ends the test. */
  readonly signal?: AbortSignal;
  /** Why the test has failed, while its hooks run. */
  readonly error?: unknown;
  /** Registers a function that runs after the test. */
  after(hook: () => Promise<void>): void;
}

/** The fixtures of the tests that run. */
const known = new WeakMap<TestContext, TestFixtures>();

/**
 * Fixtures for one test. What is started with them ends after the test. All calls in a test give the same fixtures.
 * Throws TypeError for the context of a suite: what a `before` starts for several tests comes from `startServer`.
 *
 * @param context the test's context
 *
 * @example
 * test('a lock', async (t) => { const redis = await fixtures(t).redis(); … });
 */
export function fixtures(context: TestContext): TestFixtures {
  if (typeof context?.after !== 'function') {
    throw badOption(
      'fixtures',
      context,
      "a test's context; in a suite's before(), use startServer and stop it in after()",
    );
  }
  const earlier = known.get(context);
  if (earlier !== undefined) return earlier;
  const all = new TestFixtures(
    () => context.name,
    // It has no limit unless one is given, which no test can read: the signal ends what still runs.
    () => ({ ms: 0, signal: context.signal }),
  );
  known.set(context, all);
  // `passed` is set only after the hooks, so it cannot be used here.
  context.after(() => {
    const { error } = context;
    return all.close(error !== undefined && error !== null, [causeOf(error)]);
  });
  return all;
}

/** The error of the test, which node:test wraps in one of its own. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}
