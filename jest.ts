/** `lostlock/jest`: one server for a whole Jest run, its URL in process.env.REDIS_URL. */
import { type LostlockServer, startServer } from './index.ts';

let server: LostlockServer | undefined;

/** Starts the server. Throws where one is running already. */
export async function globalSetup(): Promise<void> {
  if (server !== undefined) throw new Error('lostlock/jest: the server is running already');
  server = await startServer();
  process.env.REDIS_URL = server.url;
}

/** Stops the server; nothing happens where none is running. */
export async function globalTeardown(): Promise<void> {
  await server?.stop();
  server = undefined;
}

/**
 * Both in one, because Jest calls a module's default export: name `lostlock/jest` as `globalSetup` and as
 * `globalTeardown`. The first call starts the server, the second stops it.
 */
export default function setupThenTeardown(): Promise<void> {
  return server === undefined ? globalSetup() : globalTeardown();
}
