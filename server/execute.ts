/** The path of every command: look up, check, queue or call, propagate. Read this first. */
import { asciiLower, type Bytes } from '../protocol/bytes.ts';
import { LINK_DOWN, MISCONF, NOAUTH, OOM, READONLY } from '../protocol/errors.ts';
import { QUEUED, type Reply, ReplyError } from '../protocol/reply.ts';
import {
  IN_MULTI,
  NO_TOUCH,
  PRIMARY_LINK,
  REPLICA_LINK,
  REPLY_SKIP,
  REPLY_SKIP_NEXT,
  RESP2_SUBSCRIBER,
  RESTRICTED,
  SCRIPT,
  TRACKING,
  UNAUTHENTICATED,
  UNREPLICATED,
} from './clients/client.ts';
import {
  GATE_BUSY,
  GATE_DISK,
  GATE_LIMITED_MEMORY,
  GATE_LOADING,
  GATE_MIGRATING,
  GATE_MIN_REPLICAS,
  GATE_PAUSED,
  GATE_QUORUM,
  GATE_REPLICA,
} from './gates.ts';
import type { Caller, Server } from './server.ts';
import {
  ADMIN,
  ALLOW_BUSY,
  arityFits,
  type Command,
  DENY_OOM,
  LOADING,
  MAY_REPLICATE,
  NO_AUTH,
  NO_MULTI,
  READ,
  STALE,
  WRITE,
} from './table/command.ts';
import { checkWords, resolve, step } from './table/resolve.ts';

/** Runs one request of a client, from the words on the wire to the queued reply. */
export function execute(server: Server, client: Caller, argv: Bytes[]): void {
  const name = argv[0] as Bytes;
  if ((server.state & GATE_BUSY) !== 0 && server.slowScript.postpone(client, argv)) return;
  const command = server.commands.get(name) ?? resolve(server, argv);
  client.usedAt = server.now;
  if (server.interceptor?.(client, argv) === true) return;
  if (
    !(command instanceof ReplyError) &&
    command.subcommands === undefined &&
    arityFits(command.arity, argv.length)
  ) {
    if ((client.state | server.state) === 0) {
      client.lastCommand = command;
      const reply = call(server, client, command, argv);
      if (reply === undefined && server.slowScript.begun(client)) {
        server.slowScript.afterwards((later) => conclude(server, client, client.writeOffset, later));
        return;
      }
      client.writeOffset = server.replication.offset;
      if (reply !== undefined) client.reply(reply);
      if (server.blocking.hasReady) server.blocking.serveReady();
      return;
    }
  }
  if (client.has(REPLY_SKIP_NEXT)) {
    client.mark(REPLY_SKIP_NEXT, false);
    client.mark(REPLY_SKIP, true);
  }
  const found = command instanceof ReplyError ? command : checkWords(server, command, argv);
  if (found instanceof ReplyError) {
    if (isSecurityProbe(server, client, name)) return;
    reject(server, client, command instanceof ReplyError ? undefined : step(command, argv), found);
    return;
  }
  client.lastCommand = found;
  const refusal = refuse(server, client, found, argv);
  if (refusal !== undefined) {
    if (refusal !== POSTPONED) reject(server, client, found, refusal);
    return;
  }
  if (client.has(IN_MULTI) && !RUNS_IN_MULTI.has(found.fullName)) {
    client.transaction?.queue.push({ command: found, argv });
    answer(client, QUEUED);
    return;
  }
  const before = server.replication.offset;
  const reply = client.has(NO_TOUCH)
    ? server.eviction.untouched(found, () => call(server, client, found, argv))
    : call(server, client, found, argv);
  if (reply === undefined && server.slowScript.begun(client)) {
    server.slowScript.afterwards((later) => conclude(server, client, before, later));
  } else conclude(server, client, before, reply);
}

/** What follows the run of a request: its reply, and the clients that it serves. */
function conclude(server: Server, client: Caller, before: number, reply: Reply | undefined): undefined {
  client.writeOffset = server.replication.offset;
  answer(client, (server.state & GATE_QUORUM) !== 0 ? untilQuorum(server, client, before, reply) : reply);
  if (client.has(TRACKING) && client.transaction === undefined && client.lastCommand !== undefined) {
    server.tracking.endCommand(client, client.lastCommand);
  }
  server.tracking.release();
  if (server.blocking.hasReady) server.blocking.serveReady();
  return undefined;
}

/** Keeps the reply to a write back until enough replicas have it; undefined while it is kept. */
function untilQuorum(server: Server, client: Caller, before: number, reply: Reply | undefined) {
  const { replication, writeQuorum } = server;
  const offset = client.writeOffset;
  if (reply === undefined || offset === before || client.has(IN_MULTI | PRIMARY_LINK)) return reply;
  const ready = () => (replication.countAcknowledged(offset) >= writeQuorum ? reply : undefined);
  return server.waiting.wait(client, 0, ready, () => reply);
}

/** Commands that act at once although a transaction is being queued. */
const RUNS_IN_MULTI = new Set(['exec', 'discard', 'multi', 'watch', 'quit', 'reset']);

/** Answers; a reply to be skipped is skipped now, that of a blocked client once it comes. */
function answer(client: Caller, reply: Reply | undefined): void {
  if (reply !== undefined) client.reply(reply);
  if (client.blocked === undefined) client.mark(REPLY_SKIP, false);
}

/** Answers a request that does not run: it spoils the transaction being queued, and EXEC gives up the whole. */
function reject(
  server: Server,
  client: Caller,
  command: Command<Caller> | undefined,
  refusal: ReplyError,
): void {
  if (command !== undefined) server.stats.refused[command.serial]!++;
  server.stats.error(refusal);
  if (client.has(PRIMARY_LINK)) server.primary?.failedToApply(command?.fullName ?? '<unknown>', refusal);
  if (command?.name === 'exec') {
    client.discard();
    const why = refusal.text.startsWith('ERR ') ? refusal.text.slice(4) : refusal.text;
    answer(client, new ReplyError(`EXECABORT Transaction discarded because of: ${why}`));
    return;
  }
  if (client.transaction !== undefined) client.transaction.aborted = true;
  client.lastCommand = command;
  answer(client, refusal);
}

/** A web page that talks to us (POST or Host: lines) is cut off without a word. */
function isSecurityProbe(server: Server, client: Caller, name: Bytes): boolean {
  const lower = asciiLower(name);
  if (lower !== 'post' && lower !== 'host:') return false;
  // A page that goes on trying does not fill the log.
  if (server.now >= server.stats.probeLoggedAt + 60_000) {
    server.stats.probeLoggedAt = server.now;
    server.log(
      'warning',
      'A request that looks like HTTP was cut off: a web page may be driving this server',
    );
  }
  client.abort();
  return true;
}

/** The request waits and will be executed later; nothing is answered now. */
export const POSTPONED = new ReplyError('postponed');

/** Why a request may not run now, in Redis' order of asking; undefined when it may. */
function refuse(
  server: Server,
  client: Caller,
  command: Command<Caller>,
  argv: Bytes[],
): ReplyError | undefined {
  const bits = effectiveBits(client, command, argv);
  if (client.has(UNAUTHENTICATED) && (bits & NO_AUTH) === 0) return new ReplyError(NOAUTH);
  if (client.has(IN_MULTI) && (command.bits & NO_MULTI) !== 0) {
    return new ReplyError('ERR Command not allowed inside a transaction');
  }
  if (client.has(RESTRICTED)) {
    const denied = server.acl.denied(client, command, argv);
    if (denied !== undefined) return denied;
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
  const writes = (bits & (WRITE | MAY_REPLICATE)) !== 0;
  if ((server.state & GATE_PAUSED) !== 0 && server.pausing.holds(client, writes)) {
    server.pausing.postpone(client, argv);
    return POSTPONED;
  }
  if ((server.state & GATE_MIGRATING) !== 0 && server.migrations.holds(client, command, argv)) {
    server.migrations.postpone(client, argv);
    return POSTPONED;
  }
  return undefined;
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

/** What every queued command must allow for EXEC to be allowed it. */
const TOLERANCES = STALE | LOADING;

/** EXEC counts as whatever its queued commands are. */
function effectiveBits(client: Caller, command: Command<Caller>, argv: readonly Bytes[]): number {
  let bits = bitsOf(client, command, argv);
  if (command.name !== 'exec' || client.transaction === undefined) return bits;
  for (const queued of client.transaction.queue) {
    const each = bitsOf(client, queued.command, queued.argv);
    bits = ((bits | each) & ~TOLERANCES) | (bits & each & TOLERANCES);
  }
  return bits;
}

/** A command's bits; where a script declares flags, what follows from them. */
function bitsOf(client: Caller, command: Command<Caller>, argv: readonly Bytes[]): number {
  const declared = command.spec.declares?.(client, argv);
  if (declared === undefined) return command.bits;
  let bits = command.bits & ~(STALE | DENY_OOM | WRITE | MAY_REPLICATE);
  if (declared.has('allow-stale')) bits |= STALE;
  if (declared.has('no-writes')) return bits;
  return declared.has('allow-oom') ? bits | WRITE : bits | WRITE | DENY_OOM;
}

/** Commands that a transaction may always end with, however little memory is left; EXEC by what it queued. */
const ENDS_MULTI = new Set(['exec', 'discard', 'quit', 'reset']);

/** Refusals for the data's sake: no memory left, saves that fail, too few replicas, a replica that takes no writes. */
function refusedForData(server: Server, client: Caller, command: Command<Caller>, bits: number) {
  const { state } = server;
  if (client.has(PRIMARY_LINK)) return undefined;
  if ((state & GATE_LIMITED_MEMORY) !== 0 && (server.eviction.outOfMemory = !server.freeMemory())) {
    const queueing = client.has(IN_MULTI) && !ENDS_MULTI.has(command.fullName);
    if (queueing || (bits & DENY_OOM) !== 0) return new ReplyError(OOM);
  }
  // PING lets those who watch over the server know.
  if ((state & GATE_DISK) !== 0 && ((bits & WRITE) !== 0 || command.name === 'ping')) {
    return new ReplyError(MISCONF);
  }
  if ((bits & WRITE) === 0) return undefined;
  if ((state & GATE_MIN_REPLICAS) !== 0 && !server.replication.enoughReplicas()) {
    return new ReplyError('NOREPLICAS Not enough good replicas to write.');
  }
  if ((state & GATE_REPLICA) !== 0 && server.readOnlyReplica()) return new ReplyError(READONLY);
  return undefined;
}

/** Refusals because of what the node is going through: its link is down, it loads, a script keeps it busy. */
function refusedForPhase(server: Server, client: Caller, command: Command<Caller>, bits: number) {
  const { state } = server;
  const primaryLink = client.has(PRIMARY_LINK);
  if ((state & GATE_REPLICA) !== 0 && !primaryLink && (bits & STALE) === 0 && server.isStale()) {
    return new ReplyError(LINK_DOWN);
  }
  if ((state & GATE_LOADING) !== 0 && !primaryLink && (bits & LOADING) === 0) {
    return new ReplyError('LOADING Redis is loading the dataset in memory');
  }
  if ((state & GATE_BUSY) !== 0 && (command.bits & ALLOW_BUSY) === 0) {
    return new ReplyError(server.slowScript.busyText);
  }
  return undefined;
}

/**
 * Runs one command and notes its effect for the replication stream. Used for requests, for the commands queued in a
 * transaction and for redis.call; a client's mistake comes back as a ReplyError.
 */
export function call(
  server: Server,
  client: Caller,
  command: Command<Caller>,
  argv: Bytes[],
): Reply | undefined {
  const { world } = server;
  const outermost = server.depth === 0;
  if (outermost) {
    server.beginUnit(client);
    server.observer.note(client, argv);
  }
  server.depth++;
  const dirty = world.dirty;
  const outerRewrite = server.rewritten;
  server.rewritten = undefined;
  const looked =
    (server.stats.calls[command.serial]!++ & server.observer.mask) === 0 || (command.bits & ADMIN) !== 0;
  const began = looked ? server.observer.begin(client, command, argv) : 0;
  let reply: Reply | undefined;
  try {
    reply = command.run(client, argv);
    if (reply instanceof ReplyError) countFailure(server, client, command, reply);
  } catch (error) {
    const failure = error instanceof ReplyError ? error : server.internalError(command, error);
    countFailure(server, client, command, failure);
    reply = failure;
  }
  if (reply === undefined && server.slowScript.begun(client)) {
    server.slowScript.afterwards((later) => {
      if (looked) server.observer.end(client, command, argv, began);
      propagateIfDirty(server, client, argv, dirty);
      endCall(server, outerRewrite, outermost);
      return later;
    });
    return undefined;
  }
  if (looked) server.observer.end(client, command, argv, began);
  propagateIfDirty(server, client, argv, dirty);
  endCall(server, outerRewrite, outermost);
  return reply;
}

/** A script's own calls are no replies to anybody. */
function countFailure(server: Server, client: Caller, command: Command<Caller>, error: ReplyError): void {
  server.stats.failed[command.serial]!++;
  if (!client.has(SCRIPT)) server.stats.error(error);
  if (client.has(PRIMARY_LINK)) server.primary?.failedToApply(command.fullName, error);
}

function propagateIfDirty(server: Server, client: Caller, argv: Bytes[], dirty: number): void {
  if (!server.feeding || client.has(UNREPLICATED)) return;
  if (server.world.dirty !== dirty || server.rewritten !== undefined) {
    server.propagate(client, argv);
  }
}

function endCall(server: Server, outerRewrite: Server['rewritten'], outermost: boolean): void {
  server.rewritten = outerRewrite;
  server.depth--;
  if (outermost) server.endUnit();
}
