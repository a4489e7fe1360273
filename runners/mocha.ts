/** `lostlock/mocha`: one server for a whole Mocha run, and fixtures that end with each test. */

import { type LostlockServer, startServer } from '../index.ts';
import { checkHooks, TestFixtures } from './fixtures.ts';

export type { TestExploreOptions, TestFixtures } from './fixtures.ts';

let server: LostlockServer | undefined;

/** Starts the run's server, and puts its URL into process.env.REDIS_URL. Mocha calls it: `mocha --require lostlock/mocha`. */
export async function mochaGlobalSetup(): Promise<void> {
  server = await startServer();
  process.env.REDIS_URL = server.url;
}

/** Stops the run's server. Mocha calls it. */
export async function mochaGlobalTeardown(): Promise<void> {
  await server?.stop();
  server = undefined;
}

/** Mocha's hooks, which are globals while it runs tests. */
interface MochaGlobals {
  afterEach(
    hook: (this: {
      readonly currentTest?: { readonly state?: string; readonly err?: unknown };
    }) => Promise<void>,
  ): void;
  beforeEach(hook: (this: { readonly currentTest?: { fullTitle(): string } }) => void): void;
}

/**
 * Fixtures for the tests of the suite in which this is called. What a test starts with them ends after the test. Throws
 * outside of Mocha.
 *
 * @example
 * const lostlock = fixtures();
 * it('takes a lock', async () => { const redis = await lostlock.redis(); … });
 */
export function fixtures(): TestFixtures {
  const { beforeEach, afterEach } = globalThis as unknown as MochaGlobals;
  checkHooks({ beforeEach, afterEach }, 'mocha', 'Mocha');
  let name = 'a test';
  const all = new TestFixtures(() => name);
  beforeEach(function () {
    name = this.currentTest?.fullTitle() ?? name;
  });
  afterEach(function () {
    return all.close(this.currentTest?.state === 'failed', [this.currentTest?.err]);
  });
  return all;
}
