/**
 * Puts a Sentinel together: a server with the commands of a Sentinel (`server.ts`, `commands/`), and the state machine
 * that monitors primaries and fails them over:
 *
 *     sentinel       its state and events          timer        what it does ten times a second
 *     instances      what it knows of a node       links        dials nodes, sends PING, INFO and hello
 *     info, hello    what it learns from them      down         subjectively and objectively down
 *     election       who leads a failover          failover     its steps; selection: which replica
 *     primaries      what is monitored             reconfigure  changes the role of a node
 *
 * It reaches time, randomness and connections through its host alone, so it runs on the real and the virtual clock.
 */
import type { Bytes } from '../protocol/bytes.ts';
import { call } from '../server/call.ts';
import { DEFAULT_DIALECT, type DialectName, dialectNamed } from '../server/dialects/index.ts';
import { admitAgain, execute } from '../server/execute.ts';
import type { Host } from '../server/host/host.ts';
import type { ServerOptions } from '../server/server.ts';
import { Vocabulary } from '../server/table/vocabulary.ts';
import { sentinelTable } from './commands/table.ts';
import { SentinelServer } from './server.ts';

export interface SentinelOptions extends Pick<ServerOptions, 'settings' | 'log' | 'strict' | 'elsewhere'> {
  /** The server to answer as. */
  readonly dialect?: DialectName;
  /** The id; by default a random one. */
  readonly id?: Bytes;
}

/**
 * Creates a Sentinel on a host. It monitors nothing until it is told to, and begins when `start` is called.
 * @throws RangeError for a dialect that does not exist
 */
export function createSentinel(host: Host, options: SentinelOptions = {}): SentinelServer {
  const { dialect = DEFAULT_DIALECT, strict = false, id, ...rest } = options;
  const spoken = dialectNamed(dialect);
  const table = sentinelTable(spoken, strict);
  const vocabulary = new Vocabulary(spoken, strict);
  const requests = { execute, admitAgain, call };
  const path = {
    commands: table,
    declared: table,
    everyCommand: table,
    dialect: spoken,
    vocabulary,
    ...requests,
  };
  return new SentinelServer(host, path, rest, id);
}
