/** `lostlock/vitest`: a server as a fixture for each test, file or worker, or a server for each worker of the run. */
import '../lab/router.ts';
import { test as base, type ProvidedContext, type TestAPI } from 'vitest';
import { badOption, checkFlag } from '../base/options.ts';
import type { ExploreReport } from '../explore/index.ts';
import { type LostlockServer, type Pair, type StartOptions, startPair } from '../index.ts';
import type { Redis } from '../lab/ioredis-types.ts';
import { explainFailure } from './failure.ts';
import { openRedis, startReadable, TestExplorations, type TestExploreOptions } from './fixtures.ts';
import { usualWorkers, WorkerServers } from './worker-servers.ts';

export type { TestExploreOptions } from './fixtures.ts';

declare module 'vitest' {
  /** The values that tests read with `inject`. */
  interface ProvidedContext {
    /** The URL of the worker's server of the global setup, `redis://127.0.0.1:port`. */
    redisUrl: string;
  }
}

/** The fixtures that `withServer` adds to a test. */
export interface Fixtures {
  /** A running server, on a free port. */
  server: LostlockServer;
  /** An ioredis client of that server, for each test. Needs the package ioredis. */
  redis: Redis;
  /**
   * A primary with a replica on a virtual clock, for each test. When the test fails, the timeline is written to the folder
   * `lostlock-timelines`, or the one that the environment variable LOSTLOCK_TIMELINES names.
   */
  pair: Pair;
  /**
   * Explores the code of a lock's clients, and rejects with the stories when a promise breaks. It ends with a partial report when four
   * fifths of the test's time limit are over, unless `budget.ms` says otherwise.
   */
  explore(options: TestExploreOptions): Promise<ExploreReport>;
}

const SCOPES = ['test', 'file', 'worker'] as const;

/** How long a server lives: for one test, for all tests of a file, or for all files of a worker. */
export type ServerScope = 'test' | 'file' | 'worker';

/** What `withServer` takes: the options of `startServer`, and what happens between the tests that share a server. */
export type SharedServerOptions = StartOptions & {
  /**
   * True: what a test stores is there for the next test. By default a server of scope 'file' is flushed before each test
   * but the first, and stores `seed` again; with `rdbFile`, and for tests that run at the same time, it keeps its data. Of
   * no effect in the other scopes.
   */
  readonly keep?: boolean;
};

/**
 * Vitest's `test` with the fixtures `server`, `redis`, `pair` and `explore`. The server starts when the first test asks for
 * it, and stops after the last test of its scope. A test fails with `startServer`'s TypeError when an option is wrong.
 * Throws TypeError for another scope.
 *
 * Call this at the top level of the file when the scope is 'file' or 'worker'.
 *
 * @param options passed to `startServer`; and `keep`
 * @param scope how long a server lives; default 'test'
 *
 * @example
 * const test = withServer();
 * test('a lock', async ({ server }) => { const redis = new Redis(server.url); … });
 */
export function withServer(
  options: SharedServerOptions = {},
  scope: ServerScope = 'test',
): TestAPI<Fixtures> {
  if (!SCOPES.includes(scope)) throw badOption('scope', scope, SCOPES.map((each) => `'${each}'`).join(', '));
  const { keep = options.rdbFile !== undefined, ...started } = options;
  checkFlag('keep', keep);
  /** What each test has asked for. Several may run at the same time. */
  const used = new WeakMap<object, { server?: LostlockServer; pair?: Pair }>();
  let shared: LostlockServer | undefined;
  const extended = base.extend<Fixtures & { lostlock: undefined }>({
    // Runs around each test, also around those that share a server.
    lostlock: [
      async ({ task }, use) => {
        if (shared !== undefined && scope === 'file' && !keep && task.concurrent !== true) {
          shared.flush();
          if (started.seed !== undefined) shared.seed(started.seed);
        }
        const own: { server?: LostlockServer; pair?: Pair } = {};
        used.set(task, own);
        await use(undefined);
        if (task.result?.state !== 'fail') return;
        const server = own.server ?? shared;
        await explainFailure(task.name, task.result.errors ?? [], {
          pairs: own.pair === undefined ? [] : [own.pair],
          servers: server === undefined ? [] : [server],
        });
      },
      { auto: true },
    ],
    server:
      scope === 'test'
        ? async ({ task }, use) => {
            const server = await startReadable(started);
            Object.assign(used.get(task) ?? {}, { server });
            await use(server);
            await server.stop();
          }
        : [
            // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of the wanted fixtures from this pattern.
            async ({}, use) => {
              shared = await startReadable(started);
              await use(shared);
              await shared.stop();
              // With `isolate: false` the next file may use the same `test`, and begins without a server.
              shared = undefined;
            },
            { scope },
          ],
    redis: async ({ server }, use) => {
      const redis = await openRedis(server);
      await use(redis);
      redis.disconnect();
    },
    pair: async ({ task }, use) => {
      const pair = await startPair();
      Object.assign(used.get(task) ?? {}, { pair });
      await use(pair);
      await pair.close();
    },
    explore: async ({ task, signal }, use) => {
      const explorations = new TestExplorations();
      await use((wanted) => explorations.explore(wanted, task.name, { ms: task.timeout, signal }));
      await explorations.end();
    },
  });
  return extended as unknown as TestAPI<Fixtures>;
}

/**
 * Vitest's `test` with a server for each test that asks for one: `import { test } from 'lostlock/vitest'`. The fixtures are
 * those of `withServer`.
 */
export const test: TestAPI<Fixtures> = testOfWorker();

/** A run's global setup loads this file outside of a worker, where Vitest has no tests. Then `test` throws Vitest's error. */
function testOfWorker(): TestAPI<Fixtures> {
  try {
    return withServer();
  } catch (error) {
    const refuse = (): never => {
      throw error;
    };
    return refuse as unknown as TestAPI<Fixtures>;
  }
}

/**
 * The part of the project that a global setup uses. The type is declared here because a CommonJS module's types cannot
 * name vitest/node.
 */
export interface SetupProject {
  /** Makes a value available to tests through `inject`. */
  provide<T extends keyof ProvidedContext & string>(key: T, value: ProvidedContext[T]): void;
  /** How many workers there are, and the files that each runs before the tests of a file. */
  readonly config?: { readonly setupFiles?: string[]; readonly maxWorkers?: number | string };
}

/**
 * A global setup, `globalSetup: 'lostlock/vitest'`: starts a server for each worker of the run, and for each project that has
 * it. Tests read the URL of their own worker's server from `process.env.REDIS_URL` or `inject('redisUrl')`. Returns the function that stops
 * the servers.
 */
export async function setup(project: SetupProject): Promise<() => Promise<void>> {
  const { setupFiles = [], maxWorkers } = project.config ?? {};
  const workers = Number(maxWorkers ?? usualWorkers());
  const servers = await WorkerServers.start(Number.isNaN(workers) ? usualWorkers() : workers, setupFiles);
  project.provide('redisUrl', servers.url);
  return () => servers.stop();
}
