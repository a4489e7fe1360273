/** What a test can ask for, in every test runner: servers, clients, pairs and explorations that end with the test. */

import type { ExploreOptions, ExploreReport, InconclusiveKind } from '../explore/index.ts';
import {
  type LostlockServer,
  type Pair,
  type PairOptions,
  type StartOptions,
  startPair,
  startServer,
} from '../index.ts';
import type { Redis, RedisOptions } from '../lab/ioredis-types.ts';
import { loadIoredis } from '../lab/virtual/client.ts';
import { drawFindings } from './drawing.ts';
import { appendTo, explainFailure } from './failure.ts';

/** What to explore in a test. The name is the test's unless given. */
export type TestExploreOptions = Omit<ExploreOptions, 'name'> & {
  readonly name?: string;
  /** The reasons for which an inconclusive report passes, as `assertNone` takes them; default none. */
  readonly allow?: readonly InconclusiveKind[];
};

/**
 * Opens an ioredis client to a server. Rejects with an installation hint when ioredis is missing.
 *
 * @param options ioredis' options
 */
export async function openRedis(server: LostlockServer, options: RedisOptions = {}): Promise<Redis> {
  const Client = (await loadIoredis()) as unknown as new (url: string, options: RedisOptions) => Redis;
  return new Client(server.url, options);
}

/** Starts a server whose data and last requests a hook for failed tests can still read after it has stopped. */
export async function startReadable(options?: StartOptions): Promise<LostlockServer> {
  const server = await startServer(options);
  server.keepReadable();
  return server;
}

/** What ends the explorations of a test, apart from their own options. */
export interface TestLimits {
  /** The time limit of the test in milliseconds: 0 or Infinity for none, undefined where the runner does not tell. */
  readonly ms?: number | undefined;
  /** Aborts when the runner ends the test. */
  readonly signal?: AbortSignal | undefined;
}

/** What the runners allow a test whose limit cannot be read, in milliseconds: the default of most of them. */
const USUAL_LIMIT = 5000;
/** The part of the limit that an exploration may use: the rest is for its last story, and for the test. */
const PART = 0.8;
/** The usual limit of an exploration, in milliseconds. */
const EXPLORATION = 60_000;

/** The explorations of one test: they end with the test, and with a report before its time limit. */
export class TestExplorations {
  readonly #running = new Set<Promise<unknown>>();
  #over = new AbortController();
  #begun: number | undefined;

  /**
   * Explores until `budget.ms`: by default until four fifths of the test's time limit are over since its first exploration, or the
   * usual minute if that is less. Rejects with the stories when a promise breaks, and with the reasons when the report is inconclusive.
   */
  explore(options: TestExploreOptions, testName: string, limits: TestLimits): Promise<ExploreReport> {
    const running = this.#explore(options, testName, limits);
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  async #explore(options: TestExploreOptions, testName: string, limits: TestLimits): Promise<ExploreReport> {
    const { allow = [], ...rest } = options;
    const { ms: limit = USUAL_LIMIT } = limits;
    const begun = (this.#begun ??= performance.now());
    const signals = [this.#over.signal, limits.signal, options.signal].filter((each) => each !== undefined);
    const named = { name: testName, ...rest };
    const { explore } = await import('../explore/index.ts');
    const all = limit === 0 ? Infinity : limit * PART;
    const left = Math.max(1, Math.floor(all - (performance.now() - begun)));
    const ms = options.exhaustive === undefined ? Math.min(EXPLORATION, left) : left;
    const budget = { ms, ...options.budget };
    const report = await explore({ ...named, budget, signal: AbortSignal.any(signals) });
    // The runner has ended the test, and does not show its error.
    if (limits.signal?.aborted === true) process.stderr.write(`\n${report}\n`);
    try {
      report.assertNone({ allow });
    } catch (error) {
      const drawn = report.findings.length === 0 ? '' : await drawFindings(report, named);
      if (drawn !== '') appendTo(error, drawn);
      throw error;
    }
    process.stderr.write(`${playedText(report)}\n`);
    return report;
  }

  /** Ends what still runs, and waits until it has ended: nothing goes on behind the next tests. */
  async end(): Promise<void> {
    this.#over.abort();
    await Promise.allSettled(this.#running);
    this.#over = new AbortController();
    this.#begun = undefined;
  }
}

/** How much a clean exploration has played, on one line: a test that passes would not say that it was a sample. */
function playedText({ name, worlds, ms, coverage: { singles }, unchecked: left }: ExploreReport): string {
  const all = singles.played < singles.all ? `${singles.played} of the ${singles.all}` : 'all';
  const rest =
    left.length === 0 ? '' : `; not checked: ${left.join(', ')} ('defaults' in promises adds them)`;
  return `${name}: nothing broke in ${worlds} worlds (${(ms / 1000).toFixed(1)} s); played ${all} worlds with one fault${rest}`;
}

/** Starts what one test asks for, and ends all of it, the newest first. */
export class TestFixtures {
  /** The name of the test, for the reports of explorations. */
  readonly #name: () => string;
  /** @internal What ends the running test. */
  readonly limits: () => TestLimits;
  readonly #explorations = new TestExplorations();
  readonly #ends: (() => unknown)[] = [];
  readonly #pairs: Pair[] = [];
  #server: Promise<LostlockServer> | undefined;

  /**
   * @param name returns the name of the running test
   * @param limits returns what ends it
   */
  constructor(name: () => string, limits: () => TestLimits = () => ({})) {
    this.#name = name;
    this.limits = limits;
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
    if (this.#server === undefined) {
      const starting = this.#ending(startReadable(options), (server) => server.stop());
      this.#server = starting;
      starting.catch(() => {
        if (this.#server === starting) this.#server = undefined; // It is not there, so the next call may start one.
      });
    }
    return this.#server;
  }

  /** Opens an ioredis client to the test's server. Rejects with an installation hint when ioredis is missing. */
  redis(options?: RedisOptions): Promise<Redis> {
    const opening = this.server().then((server) => openRedis(server, options));
    return this.#ending(opening, (redis) => redis.disconnect());
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

  /**
   * Explores the code of a lock's clients, and rejects with the stories when a promise breaks. It ends with a partial report when four
   * fifths of the test's time limit are over (of 5 s where the runner does not tell it), unless `budget.ms` says otherwise.
   */
  explore(options: TestExploreOptions): Promise<ExploreReport> {
    return this.#explorations.explore(options, this.#name(), this.limits());
  }

  /**
   * Ends everything that the test started, including servers that are still starting. The fixtures can be used again afterwards.
   * Rejects with the first error, after everything has ended.
   * @param failed whether the test has failed: then the errors are explained, and the timelines of its pairs are written
   * @param reasons the errors of the test
   */
  async close(failed = false, reasons: readonly unknown[] = []): Promise<void> {
    const starting = this.#server;
    this.#server = undefined;
    const pairs = this.#pairs.splice(0);
    const ends = this.#ends.splice(0).reverse();
    if (failed) {
      ends.unshift(async () => {
        const server = await starting?.catch(() => undefined);
        await explainFailure(this.#name(), reasons, { pairs, servers: server === undefined ? [] : [server] });
      });
    }
    await this.#explorations.end();
    const errors: unknown[] = [];
    for (const end of ends) {
      try {
        await end();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  /** Ends what is starting when the test ends. There is nothing to end when it cannot start. */
  #ending<T>(starting: Promise<T>, end: (started: T) => unknown): Promise<T> {
    this.#ends.push(() => starting.then(end, () => {}));
    return starting;
  }
}

/**
 * Throws unless the test runner's hooks are there.
 * @param hooks globals of the runner @param entry the entry of the package, such as jest @param runner its name
 */
export function checkHooks(hooks: object, entry: string, runner: string): void {
  if (Object.values(hooks).every((hook) => typeof hook === 'function')) return;
  const names = Object.keys(hooks).join(' and ');
  throw new Error(
    `lostlock/${entry}: fixtures() works in a file that ${runner} runs, with the globals ${names}`,
  );
}
