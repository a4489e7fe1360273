/** `lostlock/jest`: one server for a whole Jest run, in process.env.REDIS_URL, and fixtures that end with each test. */

import { type LostlockServer, startServer } from '../index.ts';
import { checkHooks, TestFixtures } from './fixtures.ts';

export type { TestExploreOptions, TestFixtures } from './fixtures.ts';

let server: LostlockServer | undefined;

/** Starts the server. Throws when it is already running. */
export async function globalSetup(): Promise<void> {
  if (server !== undefined) throw new Error('lostlock/jest: the server is running already');
  server = await startServer();
  process.env.REDIS_URL = server.url;
}

/** Stops the server. Does nothing when none is running. */
export async function globalTeardown(): Promise<void> {
  await server?.stop();
  server = undefined;
}

/**
 * Jest calls a module's default export. This one serves as `globalSetup` and as `globalTeardown`: the first call starts
 * the server, the second stops it.
 */
export default function setupThenTeardown(): Promise<void> {
  return server === undefined ? globalSetup() : globalTeardown();
}

/** Jest's globals in a test file. */
interface JestGlobals {
  afterEach(hook: () => Promise<void>): void;
  readonly expect: { getState(): { readonly currentTestName?: string } };
}

/** Why the running test has failed. Jest tells its hooks nothing, but its runner keeps its state in a global. */
function errorsOfTest(): unknown[] {
  const key = Object.getOwnPropertySymbols(globalThis).find(
    ({ description }) => description === 'JEST_STATE_SYMBOL',
  );
  const state = key === undefined ? undefined : (Reflect.get(globalThis, key) as JestState | undefined);
  // Each is an error, or an error with another one that was made where the test was declared.
  return (state?.currentlyRunningTest?.errors ?? []).map((each) => (Array.isArray(each) ? each[0] : each));
}

/** What jest-circus keeps. */
interface JestState {
  readonly currentlyRunningTest?: { readonly errors: readonly unknown[] } | null;
}

/**
 * Fixtures for the tests of the file or of the `describe` in which this is called. What a test starts with them ends
 * after the test. Throws outside of Jest, and where Jest's `injectGlobals` is false.
 *
 * @example
 * const lostlock = fixtures();
 * test('a lock', async () => { const redis = await lostlock.redis(); … });
 */
export function fixtures(): TestFixtures {
  const { afterEach, expect } = globalThis as unknown as JestGlobals;
  checkHooks({ afterEach, expect }, 'jest', 'Jest');
  const all = new TestFixtures(() => expect.getState().currentTestName ?? 'a test');
  afterEach(() => {
    const errors = errorsOfTest();
    return all.close(errors.length > 0, errors);
  });
  return all;
}
