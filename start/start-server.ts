/** startServer as the package exports it. It loads the server on the first call. */

import { realSoon } from '../server/host/real-time.ts';
import { hasCompiled, keepCompiled } from './running/kept-code.ts';
import type { LostlockServer } from './running/server.ts';
import type * as starting from './start.ts';
import type { StartOptions, ThreadOptions } from './start-options.ts';
import type { ThreadedServer } from './thread/threaded-server.ts';

// Kept, because each import() asks the module loader again.
let loaded: typeof starting | undefined;

/**
 * Starts a server, by default on a free port of 127.0.0.1. Rejects with a TypeError that names a wrong option, with
 * Node's error when the address is not available, and with an Error that names a dump file that cannot be loaded.
 */
export function startServer(options: ThreadOptions): Promise<ThreadedServer>;
export function startServer(options?: StartOptions): Promise<LostlockServer>;
export async function startServer(
  options: StartOptions | ThreadOptions = {},
): Promise<LostlockServer | ThreadedServer> {
  if (loaded !== undefined) return await loaded.startServer(options as StartOptions);
  loaded = await import('./start.ts');
  const server = await loaded.startServer(options as StartOptions);
  // What starting has compiled is kept, too.
  if (hasCompiled()) realSoon(keepCompiled);
  return server;
}
