/** `lostlock/jest`: a server for each worker of a Jest run, in process.env.REDIS_URL, and fixtures that end with each test. */

import '../lab/router.ts';
import { checkHooks, TestFixtures } from './fixtures.ts';
import { WorkerServers } from './worker-servers.ts';

export type { TestExploreOptions, TestFixtures } from './fixtures.ts';

let servers: WorkerServers | undefined;

/** What Jest tells of a run to its global setup. */
export interface JestRun {
  /** How many workers the run has at most. */
  readonly maxWorkers?: number;
}

/** What Jest tells of a project to its global setup. */
export interface JestProject {
  /** The files that each worker runs before the tests of a file. */
  readonly setupFiles?: string[];
}

/**
 * Starts a server for each worker of the run. Throws when they are already running. Tests read the URL of their own worker's server from
 * process.env.REDIS_URL.
 */
export async function globalSetup(run: JestRun = {}, project: JestProject = {}): Promise<void> {
  if (servers !== undefined) throw new Error('lostlock/jest: the server is running already');
  servers = await WorkerServers.start(run.maxWorkers ?? 1, project.setupFiles ?? []);
}

/** Stops the servers. Does nothing when none is running. */
export async function globalTeardown(): Promise<void> {
  await servers?.stop();
  servers = undefined;
}

/**
 * Jest calls a module's default export. This one serves as `globalSetup` and as `globalTeardown`: the first call starts
 * the server, the second stops it.
 */
export default function setupThenTeardown(run?: JestRun, project?: JestProject): Promise<void> {
  return servers === undefined ? globalSetup(run, project) : globalTeardown();
}

/** Jest's globals in a test file. */
interface JestGlobals {
  afterEach(hook: () => Promise<void>): void;
  readonly expect: { getState(): { readonly currentTestName?: string } };
}

/** What Jest's runner keeps in a global; undefined with another runner. Jest tells its hooks nothing. */
function stateOfRunner(): JestState | undefined {
  const key = Object.getOwnPropertySymbols(globalThis).find(
    ({ description }) => description === 'JEST_STATE_SYMBOL',
  );
  return key === undefined ? undefined : (Reflect.get(globalThis, key) as JestState | undefined);
}

/** Why the running test has failed. */
function errorsOfTest(): unknown[] {
  const state = stateOfRunner();
  // Each is an error, or an error with another one that was made where the test was declared.
  return (state?.currentlyRunningTest?.errors ?? []).map((each) => (Array.isArray(each) ? each[0] : each));
}

/** What jest-circus keeps. */
interface JestState {
  readonly currentlyRunningTest?: { readonly errors: readonly unknown[]; readonly timeout?: number } | null;
  /** The limit of tests that have none of their own, in milliseconds. */
  readonly testTimeout?: number;
}

/** The time limit of the running test in milliseconds; undefined where Jest does not tell it. */
function limitOfTest(): number | undefined {
  const state = stateOfRunner();
  return state?.currentlyRunningTest?.timeout ?? state?.testTimeout;
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
  const all = new TestFixtures(
    () => expect.getState().currentTestName ?? 'a test',
    () => ({ ms: limitOfTest() }),
  );
  afterEach(() => {
    const errors = errorsOfTest();
    return all.close(errors.length > 0, errors);
  });
  return all;
}
