/** One server for each worker of a test run, so that test files that run at the same time do not share keys. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LostlockServer, startServer } from '../index.ts';

/** Tells the workers of runners that have no setup files the URLs of all servers, separated by spaces. */
const URLS = 'LOSTLOCK_WORKER_URLS';

/** The most servers. No machine runs more test files at once. */
const MOST = 256;

/**
 * What a worker runs before the tests of each file: it takes the URL of its own server. It loads nothing, to be quick.
 * Vitest's `inject` reads the values from the state of the worker.
 */
const setupText = (urls: readonly string[]): string => `const urls = ${JSON.stringify(urls)};
const worker = Number(process.env.VITEST_POOL_ID || process.env.JEST_WORKER_ID || 1);
process.env.REDIS_URL = urls[(worker - 1) % urls.length];
const state = globalThis.__vitest_worker__;
if (state && state.providedContext) state.providedContext.redisUrl = process.env.REDIS_URL;
`;

/** How many workers a run has that does not say so. */
export function usualWorkers(): number {
  return availableParallelism();
}

/** The servers of a run. */
export class WorkerServers {
  readonly #servers: readonly LostlockServer[];
  /** Undoes what tells the workers of their servers. */
  readonly #forget: () => void;

  private constructor(servers: readonly LostlockServer[], forget: () => void) {
    this.#servers = servers;
    this.#forget = forget;
  }

  /**
   * Starts the servers, and puts the URL of the first one into process.env.REDIS_URL.
   * @param workers how many workers the run has at most
   * @param setupFiles the runner's list of files that each worker runs before its tests; undefined if it has none
   */
  static async start(workers: number, setupFiles?: string[]): Promise<WorkerServers> {
    const count = Math.max(1, Math.min(workers, MOST));
    const servers = await Promise.all(Array.from({ length: count }, () => startServer()));
    const urls = servers.map(({ url }) => url);
    process.env.REDIS_URL = urls[0];
    if (setupFiles === undefined) {
      process.env[URLS] = urls.join(' ');
      return new WorkerServers(servers, () => delete process.env[URLS]);
    }
    const folder = mkdtempSync(join(tmpdir(), 'lostlock-run-'));
    const file = join(folder, 'setup.cjs');
    writeFileSync(file, setupText(urls));
    setupFiles.unshift(file); // Before those of the user, which may read the variable.
    return new WorkerServers(servers, () => {
      setupFiles.splice(setupFiles.indexOf(file), 1);
      rmSync(folder, { recursive: true, force: true });
    });
  }

  /** The URL of the first worker's server. */
  get url(): string {
    return (this.#servers[0] as LostlockServer).url;
  }

  /** Stops the servers. */
  async stop(): Promise<void> {
    this.#forget();
    await Promise.all(this.#servers.map((server) => server.stop()));
  }
}

/** Gives a worker of a runner without setup files its own server. Does nothing outside of a run. @param worker from 0 */
export function chooseServer(worker: number): void {
  const urls = (process.env[URLS] ?? '').split(' ').filter((url) => url !== '');
  const url = urls[worker % Math.max(1, urls.length)];
  if (url !== undefined) process.env.REDIS_URL = url;
}
