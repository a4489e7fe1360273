/**
 * A Redis node, put together. `execute.ts` has the path of every request, `commands/` what each command does, and
 * `server.ts` the node that both see. The mechanisms have rooms of their own and see the node through `ports.ts`:
 *
 *     host/         the doors to the outside        clients/      connections, blocking, pub/sub, tracking
 *     data/         expiry, eviction, dump files    replication/  primary, replica, backlog, failover
 *     scripts/      Lua scripts and functions       acl/          users and what they may do
 *     settings/     redis.conf's parameters         figures/      statistics, slow log, latency
 *     table/        how a command is declared       dialects/     which server a node answers as
 *
 * Everything above is synchronous: a node does nothing but what its host, or a client, tells it to do.
 */

import { call } from './call.ts';
import { commandTable } from './commands/index.ts';
import { DEFAULT_DIALECT, dialectNamed } from './dialects/index.ts';
import { execute } from './execute.ts';
import type { Host } from './host/host.ts';
import { Server, type ServerOptions } from './server.ts';
import { Vocabulary } from './table/vocabulary.ts';

/**
 * Makes a node on a host.
 * @throws RangeError for a dialect that does not exist, and when a setting has a value that is not allowed
 */
export function createNode(host: Host, options: ServerOptions = {}): Server {
  const { commands = [], dialect = DEFAULT_DIALECT, strict = false, ...rest } = options;
  const spoken = dialectNamed(dialect);
  const vocabulary = new Vocabulary(spoken, strict);
  const table = commandTable(commands, spoken, strict);
  return new Server(host, { commands: table, dialect: spoken, vocabulary, execute, call }, rest);
}
