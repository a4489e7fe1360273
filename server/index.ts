/**
 * Puts a Redis node together. `execute.ts` contains the path of every request, `commands/` the handlers of the
 * commands, and `server.ts` the node that both use. The mechanisms have folders of their own and reach the node through
 * the interfaces of `ports.ts`:
 *
 *     host/         access to the outside           clients/      connections, blocking, pub/sub, tracking
 *     data/         expiry, eviction, dump files    replication/  primary, replica, backlog, failover
 *     scripts/      Lua scripts and functions       acl/          users and their permissions
 *     settings/     redis.conf's parameters         figures/      statistics, slow log, latency
 *     table/        how a command is declared       dialects/     which server a node answers as
 *     aof/          the append-only file
 *
 * Everything here is synchronous: a node acts only when its host or a client calls it.
 */

import { call } from './call.ts';
import { commandTable, everyCommand } from './commands/index.ts';
import { DEFAULT_DIALECT, dialectNamed, isStrict } from './dialects/index.ts';
import { admitAgain, execute } from './execute.ts';
import type { Host } from './host/host.ts';
import { Server, type ServerOptions } from './server.ts';
import { renamed } from './table/rename.ts';
import { Vocabulary } from './table/vocabulary.ts';

/**
 * Creates a node on a host.
 * @throws RangeError for a dialect that does not exist, and when a setting has a value that is not allowed; BadRenaming for a
 * command that cannot be renamed
 */
export function createNode(host: Host, options: ServerOptions = {}): Server {
  const { commands = [], renamings = [], dialect, ...rest } = options;
  const strict = isStrict(options);
  const spoken = dialectNamed(dialect ?? DEFAULT_DIALECT);
  const vocabulary = new Vocabulary(spoken, strict);
  const declared = commandTable(commands, spoken, strict);
  const table = renamings.reduce(renamed, declared);
  const requests = { execute, admitAgain, call };
  const path = { commands: table, declared, everyCommand, dialect: spoken, vocabulary, ...requests };
  return new Server(host, path, rest);
}
