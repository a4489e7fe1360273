/** Decides whether a request may run now, with Redis' checks in Redis' order. Nothing here changes any state. */
import { asciiUpper, type Bytes } from '../protocol/bytes.ts';
import { cannotStore, LINK_DOWN, misconfigured, NOAUTH, OOM, READONLY } from '../protocol/errors.ts';
import { ReplyError } from '../protocol/reply.ts';
import {
  FOLLOWS_REDIRECTS,
  IN_MULTI,
  PRIMARY_LINK,
  READS_REPLICAS,
  REPLICA_LINK,
  RESP2_SUBSCRIBER,
  UNAUTHENTICATED,
} from './clients/client.ts';
import { titleOf } from './dialects/identity.ts';
import {
  GATE_AOF,
  GATE_BUSY,
  GATE_DISK,
  GATE_LIMITED_MEMORY,
  GATE_LOADING,
  GATE_MIN_REPLICAS,
  GATE_REPLICA,
} from './gates.ts';
import type { Caller, Server } from './server.ts';
import { isEnabledFor } from './settings/enabled.ts';
import {
  ALLOW_BUSY,
  type Command,
  DENY_OOM,
  LOADING,
  MAY_REPLICATE,
  NO_AUTH,
  NO_MULTI,
  READ,
  RUNS_SCRIPT,
  STALE,
  WRITE,
} from './table/command.ts';

/** Refusal of a command that a parameter allows to nobody, or only to clients of this machine. */
export function refusedByGuard(
  client: Caller,
  { spec: { guard }, fullName }: Command<Caller>,
): ReplyError | undefined {
  if (guard === undefined || isEnabledFor(client, guard)) return undefined;
  const [name = ''] = asciiUpper(fullName).split('|');
  return new ReplyError(
    `ERR ${name} command not allowed. If the ${guard} option is set to "local", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.`,
  );
}

/** Refusals because of the client: it is not logged in, or it is queueing a transaction. */
export function refusedToClient(
  client: Caller,
  command: Command<Caller>,
  bits: number,
): ReplyError | undefined {
  if (client.has(UNAUTHENTICATED) && (bits & NO_AUTH) === 0) return new ReplyError(NOAUTH);
  if (client.has(IN_MULTI) && (command.bits & NO_MULTI) !== 0) {
    const named =
      client.server.dialect.refusedInTransaction === 'by its name' ? ` '${command.fullName}'` : '';
    return new ReplyError(`ERR Command${named} not allowed inside a transaction`);
  }
  return undefined;
}

/** Refusals because of the state of the node or of the connection. */
export function refusedByNode(
  server: Server,
  client: Caller,
  command: Command<Caller>,
  bits: number,
): ReplyError | undefined {
  if ((server.state & GATE_REPLICA) !== 0 && client.has(FOLLOWS_REDIRECTS)) {
    const refusal = redirected(server, client, bits);
    if (refusal !== undefined) return refusal;
  }
  if (server.state !== 0) {
    const refusal = refusedForData(server, client, command, bits);
    if (refusal !== undefined) return refusal;
  }
  if (client.has(RESP2_SUBSCRIBER) && !SUBSCRIBER_COMMANDS.has(command.fullName)) {
    return new ReplyError(
      `ERR Can't execute '${command.fullName}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context`,
    );
  }
  if (server.state !== 0) {
    const refusal = refusedForPhase(server, client, command, bits);
    if (refusal !== undefined) return refusal;
  }
  if (client.has(REPLICA_LINK) && (bits & (WRITE | MAY_REPLICATE | READ)) !== 0) {
    return new ReplyError("ERR Replica can't interact with the keyspace");
  }
  return undefined;
}

/** Sends a client that follows redirections from a replica to the primary, unless it reads and said READONLY. */
function redirected({ primary }: Server, client: Caller, bits: number): ReplyError | undefined {
  const reads = (bits & READ) !== 0 && !client.has(READS_REPLICAS);
  if (primary === undefined || (!reads && (bits & WRITE) === 0)) return undefined;
  return new ReplyError(`REDIRECT ${primary.host}:${primary.port}`);
}

const SUBSCRIBER_COMMANDS = new Set([
  'ping',
  'subscribe',
  'ssubscribe',
  'unsubscribe',
  'sunsubscribe',
  'psubscribe',
  'punsubscribe',
  'quit',
  'reset',
]);

/** Flags that EXEC has only if every queued command has them. */
const TOLERANCES = STALE | LOADING;

/** Returns a command's flag bits. EXEC has the bits of the commands that it will run. */
export function effectiveBits(client: Caller, command: Command<Caller>, argv: readonly Bytes[]): number {
  let bits = bitsOf(client, command, argv);
  if (command.name !== 'exec' || client.transaction === undefined) return bits;
  for (const queued of client.transaction.queue) {
    const each = bitsOf(client, queued.command, queued.argv);
    bits = ((bits | each) & ~TOLERANCES) | (bits & each & TOLERANCES);
  }
  return bits;
}

/** Returns a command's own bits, adjusted by the flags that a script declares. */
function bitsOf(client: Caller, command: Command<Caller>, argv: readonly Bytes[]): number {
  const declared = (command.bits & RUNS_SCRIPT) === 0 ? undefined : command.spec.declares?.(client, argv);
  if (declared === undefined) return command.bits;
  let bits = command.bits & ~(STALE | DENY_OOM | WRITE | MAY_REPLICATE);
  if (declared.has('allow-stale')) bits |= STALE;
  if (declared.has('no-writes')) return bits;
  return declared.has('allow-oom') ? bits | WRITE : bits | WRITE | DENY_OOM;
}

/** Commands that may end a transaction even when memory is exhausted. EXEC is judged by its queued commands. */
const ENDS_MULTI = new Set(['exec', 'discard', 'quit', 'reset']);

/** Refusals because of the data: no memory left, failing saves, too few replicas, a read-only replica. */
function refusedForData(server: Server, client: Caller, command: Command<Caller>, bits: number) {
  const { state } = server;
  if (client.has(PRIMARY_LINK)) return undefined;
  if ((state & GATE_LIMITED_MEMORY) !== 0 && server.eviction.outOfMemory) {
    const refused = server.dialect.queueWithoutMemory === 'nothing';
    const queueing = refused && client.has(IN_MULTI) && !ENDS_MULTI.has(command.fullName);
    if (queueing || (bits & DENY_OOM) !== 0) return new ReplyError(OOM);
  }
  // PING fails as well, so that monitoring notices the failed save.
  if ((state & GATE_DISK) !== 0 && ((bits & WRITE) !== 0 || command.name === 'ping')) {
    return new ReplyError(misconfigured(titleOf(server)));
  }
  if ((state & GATE_AOF) !== 0 && ((bits & WRITE) !== 0 || command.name === 'ping')) {
    return new ReplyError(cannotStore(server.durability?.trouble));
  }
  if ((bits & WRITE) === 0) return undefined;
  if ((state & GATE_MIN_REPLICAS) !== 0 && !server.replication.good.enough) {
    return new ReplyError('NOREPLICAS Not enough good replicas to write.');
  }
  if ((state & GATE_REPLICA) !== 0 && server.readOnlyReplica()) return new ReplyError(READONLY);
  return undefined;
}

/** Refusals because of a temporary state: the link to the primary is down, a dataset is loading, a script is busy. */
function refusedForPhase(server: Server, client: Caller, command: Command<Caller>, bits: number) {
  const { state } = server;
  const primaryLink = client.has(PRIMARY_LINK);
  if ((state & GATE_REPLICA) !== 0 && !primaryLink && (bits & STALE) === 0 && server.isStale()) {
    return new ReplyError(LINK_DOWN);
  }
  if ((state & GATE_LOADING) !== 0 && !primaryLink && (bits & LOADING) === 0) {
    return new ReplyError(`LOADING ${titleOf(server)} is loading the dataset in memory`);
  }
  if ((state & GATE_BUSY) !== 0 && (command.bits & ALLOW_BUSY) === 0) {
    return new ReplyError(server.slowScript.busyText);
  }
  return undefined;
}
