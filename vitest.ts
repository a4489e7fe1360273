/** `lostlock/vitest`: a server as a fixture of each test or file, or one for the whole run as a global setup. */
import { test as base, type ProvidedContext, type TestAPI } from 'vitest';
import { type LostlockServer, type StartOptions, startServer } from './index.ts';

declare module 'vitest' {
  /** What `inject` gives to tests. */
  interface ProvidedContext {
    /** The global setup's server, as redis://127.0.0.1:port. */
    redisUrl: string;
  }
}

/** What tests may ask for. */
export interface Fixtures {
  server: LostlockServer;
}

/** Whose server it is: each test's own, one for a file's tests, or one for a worker's files. */
export type ServerScope = 'test' | 'file' | 'worker';

/**
 * vitest's `test` with a `server` among its fixtures. It is started when a test asks for it, and stopped after the
 * last test of its scope. The test fails with startServer's TypeError where an option is wrong.
 *
 * A server of a wider scope than a test's must be asked for at the top level of the file.
 *
 * @example
 * const test = withServer();
 * test('a lock', async ({ server }) => { const redis = new Redis(server.url); … });
 */
export function withServer(options: StartOptions = {}, scope: ServerScope = 'test'): TestAPI<Fixtures> {
  return base.extend<Fixtures>({
    server: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures that are wanted off this pattern.
      async ({}, use) => {
        const server = await startServer(options);
        await use(server);
        await server.stop();
      },
      { scope },
    ],
  });
}

/**
 * What is used of the project that vitest gives to a global setup. It is not taken from vitest/node, which cannot be named
 * in the types of a CommonJS module.
 */
export interface SetupProject {
  provide<T extends keyof ProvidedContext & string>(key: T, value: ProvidedContext[T]): void;
}

/**
 * A global setup, `globalSetup: 'lostlock/vitest'`: one server for the whole run, whose URL tests get from
 * `inject('redisUrl')` and `process.env.REDIS_URL`.
 */
export async function setup(project: SetupProject): Promise<() => Promise<void>> {
  const server = await startServer();
  project.provide('redisUrl', server.url);
  process.env.REDIS_URL = server.url;
  return () => server.stop();
}
