/** startServer as the package exports it. It loads the server on the first call. */

import type { LostlockServer } from './running/server.ts';
import type * as starting from './start.ts';
import type { StartOptions, ThreadOptions } from './start-options.ts';
import type { ThreadedServer } from './thread/threaded-server.ts';
// Imported at once, because it saves Node's own timers before anything can replace them.
import '../server/host/real-time.ts';

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
  loaded ??= await import('./start.ts');
  return loaded.startServer(options as StartOptions);
}
