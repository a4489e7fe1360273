/** `lostlock/mocha`: a server for each worker of a Mocha run, and fixtures that end with each test. */

import '../lab/router.ts';
import { checkHooks, TestFixtures } from './fixtures.ts';
import { chooseServer, usualWorkers, WorkerServers } from './worker-servers.ts';

export type { TestExploreOptions, TestFixtures } from './fixtures.ts';

let servers: WorkerServers | undefined;

// Mocha loads this file in each of its workers too, which it numbers.
if (process.env.MOCHA_WORKER_ID !== undefined) chooseServer(Number(process.env.MOCHA_WORKER_ID));

/**
 * Starts the run's server, with `--parallel` one for each worker, and puts its URL into process.env.REDIS_URL. Mocha calls it:
 * `mocha --require lostlock/mocha`.
 */
export async function mochaGlobalSetup(this: unknown): Promise<void> {
  const isParallel = /Parallel/.test(this?.constructor.name ?? '');
  servers = await WorkerServers.start(isParallel ? Math.max(LEAST, usualWorkers()) : 1);
}

/** Mocha does not tell its setup how many workers `--jobs` asks for, so a parallel run has at least this many servers. */
const LEAST = 8;

/** Stops the run's servers. Mocha calls it. */
export async function mochaGlobalTeardown(): Promise<void> {
  await servers?.stop();
  servers = undefined;
}

/** Mocha's hooks, which are globals while it runs tests. */
interface MochaGlobals {
  afterEach(
    hook: (this: {
      readonly currentTest?: { readonly state?: string; readonly err?: unknown };
    }) => Promise<void>,
  ): void;
  beforeEach(
    hook: (this: { readonly currentTest?: { fullTitle(): string; timeout(): number } }) => void,
  ): void;
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
  let ms: number | undefined;
  const all = new TestFixtures(
    () => name,
    () => ({ ms }),
  );
  beforeEach(function () {
    name = this.currentTest?.fullTitle() ?? name;
    ms = this.currentTest?.timeout();
  });
  afterEach(function () {
    return all.close(this.currentTest?.state === 'failed', [this.currentTest?.err]);
  });
  return all;
}
