/** What a test can ask for, in every test runner: servers, clients, pairs and explorations that end with the test. */

import type { ExploreOptions, ExploreReport } from './explore/index.ts';
import {
  type LostlockServer,
  type Pair,
  type PairOptions,
  type StartOptions,
  startPair,
  startServer,
} from './index.ts';
import type { Redis, RedisOptions } from './lab/ioredis-types.ts';
import { writeFailure } from './lab/timeline/failing.ts';
import { loadIoredis } from './lab/virtual/client.ts';

/** What to explore in a test. The name is the test's unless given. */
export type TestExploreOptions = Omit<ExploreOptions, 'name'> & { readonly name?: string };

/**
 * Opens an ioredis client to a server. Rejects with an installation hint when ioredis is missing.
 *
 * @param options ioredis' options
 */
export async function openRedis(server: LostlockServer, options: RedisOptions = {}): Promise<Redis> {
  const Client = (await loadIoredis()) as unknown as new (url: string, options: RedisOptions) => Redis;
  return new Client(server.url, options);
}

/** Explores, and rejects with the stories when a promise breaks. */
export async function exploreInTest(options: TestExploreOptions, testName: string): Promise<ExploreReport> {
  const { explore } = await import('./explore/index.ts');
  const report = await explore({ name: testName, ...options });
  report.assertNone();
  return report;
}

/** Starts what one test asks for, and ends all of it, the newest first. */
export class TestFixtures {
  /** The name of the test, for the reports of explorations. */
  readonly #name: () => string;
  readonly #ends: (() => unknown)[] = [];
  readonly #pairs: Pair[] = [];
  #server: Promise<LostlockServer> | undefined;

  /** @param name returns the name of the running test */
  constructor(name: () => string) {
    this.#name = name;
  }

  /**
   * The test's server on a free port: the first call starts it. Rejects with TypeError for a wrong option, and with an
   * Error when a later call has options, because the server runs already.
   */
  server(options?: StartOptions): Promise<LostlockServer> {
    if (this.#server !== undefined && options !== undefined) {
      return Promise.reject(
        new Error('lostlock: this test has a server already; start others with startServer'),
      );
    }
    this.#server ??= this.#ending(startServer(options), (server) => server.stop());
    return this.#server;
  }

  /** Opens an ioredis client to the test's server. Rejects with an installation hint when ioredis is missing. */
  async redis(options?: RedisOptions): Promise<Redis> {
    const server = await this.server();
    return this.#ending(openRedis(server, options), (redis) => redis.disconnect());
  }

  /**
   * Starts a primary with replicas on a virtual clock. When the test fails, the timeline is written to the folder
   * `lostlock-timelines`, or the one that the environment variable LOSTLOCK_TIMELINES names. Rejects with TypeError for
   * a wrong option.
   */
  async pair(options?: PairOptions): Promise<Pair> {
    const pair = await this.#ending(startPair(options), (started) => started.close());
    this.#pairs.push(pair);
    return pair;
  }

  /** Explores the code of a lock's clients, and rejects with the stories when a promise breaks. */
  explore(options: TestExploreOptions): Promise<ExploreReport> {
    return exploreInTest(options, this.#name());
  }

  /**
   * Ends everything that the test started. The fixtures can be used again afterwards.
   * @param failed whether the test has failed: then the timelines of its pairs are written
   */
  async close(failed = false): Promise<void> {
    this.#server = undefined;
    const pairs = this.#pairs.splice(0);
    if (failed) await writeFailure(this.#name(), pairs);
    for (let end = this.#ends.pop(); end !== undefined; end = this.#ends.pop()) await end();
  }

  async #ending<T>(starting: Promise<T>, end: (started: T) => unknown): Promise<T> {
    const started = await starting;
    this.#ends.push(() => end(started));
    return started;
  }
}
