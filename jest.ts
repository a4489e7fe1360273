/** `lostlock/jest`: starts one server for a whole Jest run and puts its URL into process.env.REDIS_URL. */
import { type LostlockServer, startServer } from './index.ts';

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
