/** Runs one command inside an execution unit, and notes its effect for the replication stream. */
import { allocate, OverLimit } from '../protocol/allowance.ts';
import type { Bytes } from '../protocol/bytes.ts';
import { MapReply, ReplyError, SetReply, SimpleString } from '../protocol/reply.ts';
import { PRIMARY_LINK, UNREPLICATED, UNSTORED } from './clients/client.ts';
import type { Effects } from './effects.ts';
import type { Caller, Server } from './server.ts';
import { ADMIN, type Command, DENY_OOM, RUNS_SCRIPT } from './table/command.ts';
import { BLOCKED, type Outcome, PAUSED } from './table/outcome.ts';

/** What a key, a member or a field takes besides its text, in bytes. */
const WORD_BYTES = 100;

/**
 * Runs one command and notes its effect for the replication stream. It serves requests, the commands queued in a
 * transaction, and redis.call. An error that the handler throws is returned as a ReplyError, never thrown.
 * @param argv the words of the request, the command's name first
 * @returns the reply, or an `Unanswered` when the reply comes later
 */
export function call(server: Server, client: Caller, command: Command<Caller>, argv: Bytes[]): Outcome {
  const { world, current } = server;
  const outermost = current.depth === 0;
  if (outermost) {
    current.begin(client);
    server.observer.note(client, argv);
  }
  current.depth++;
  const dirty = world.dirty;
  const outerRewrite = server.effects.rewritten;
  server.effects.rewritten = undefined;
  const looked =
    (server.stats.calls[command.serial]!++ & server.observer.mask) === 0 || (command.bits & ADMIN) !== 0;
  const began = looked ? server.observer.begin(client, command, argv) : 0;
  let outcome: Outcome;
  try {
    // The words are there already, and what is stored of them takes more.
    if ((command.bits & DENY_OOM) !== 0) allocate(argv.length * WORD_BYTES);
    outcome = command.run(client, argv);
    if (outcome instanceof ReplyError) countFailure(server, client, command, outcome);
    else if ((command.bits & RUNS_SCRIPT) !== 0) countReturned(server, command, outcome);
  } catch (error) {
    const failure = failureOf(server, command, error);
    countFailure(server, client, command, failure);
    outcome = failure;
  }
  if (outcome === PAUSED) {
    server.slowScript.afterwards((later) => {
      countReturned(server, command, later);
      if (looked) server.observer.end(client, command, argv, began);
      propagateIfDirty(server, client, argv, dirty);
      endCall(server, client, outerRewrite, outermost);
      return later;
    });
    return PAUSED;
  }
  if (client.blocked !== undefined) {
    client.blocked.argv = argv;
    if (outcome === BLOCKED && server.dialect.waitingCalls === 'counted when they end') {
      server.stats.calls[command.serial]!--;
      client.blocked.isUncounted = true;
    }
  }
  if (looked) server.observer.end(client, command, argv, began);
  const { sizes, usage, hotKeys } = server.observer;
  usage?.called(client, command, outcome, server.host.clock.micros() - began, !outermost);
  hotKeys?.called(client, command, argv, outcome, server.host.clock.micros() - began, !outermost);
  if (sizes.active) sizes.ended(client, command, argv, outcome);
  if (outcome !== BLOCKED) (server.running ?? client).totals.commands++;
  propagateIfDirty(server, client, argv, dirty);
  endCall(server, client, outerRewrite, outermost);
  return outcome;
}

/** The reply for what a handler has thrown. */
function failureOf(server: Server, command: Command<Caller>, error: unknown): ReplyError {
  if (error instanceof ReplyError) return error;
  if (error instanceof OverLimit) return new ReplyError(`ERR '${command.fullName}' command ${error.message}`);
  return server.internalError(command, error);
}

/** Counts a failed call. An error that a script passes on was counted when the command that it called failed. */
function countFailure(server: Server, client: Caller, command: Command<Caller>, error: ReplyError): void {
  server.stats.failed[command.serial]!++;
  if (!error.counted) server.stats.error(error);
  if (client.has(PRIMARY_LINK)) server.primary?.failedToApply(command.fullName, error);
}

/** Counts the errors among the values that a script returns: as its failures, and as errors if no command raised them. */
function countReturned(server: Server, command: Command<Caller>, outcome: Outcome): void {
  if (typeof outcome !== 'object' || outcome === null || outcome instanceof SimpleString) return;
  const left: unknown[] = [outcome];
  while (left.length > 0) {
    const value = left.pop();
    const values = value instanceof MapReply || value instanceof SetReply ? value.items : value;
    if (!Array.isArray(values)) continue;
    for (const each of values) {
      if (!(each instanceof ReplyError)) {
        if (typeof each === 'object') left.push(each);
        continue;
      }
      server.stats.failed[command.serial]!++;
      if (!each.counted) server.stats.error(each);
    }
  }
}

function propagateIfDirty(server: Server, client: Caller, argv: Bytes[], dirty: number): void {
  if (!server.effects.feeding) return;
  if (server.world.dirty === dirty && server.effects.rewritten === undefined) return;
  propagateFrom(client, argv);
}

/** Notes an effect of a client's command, to go where the effects of this client go. */
export function propagateFrom(client: Caller, argv: readonly Bytes[]): void {
  const { effects } = client.server;
  if (!client.has(UNREPLICATED | UNSTORED)) effects.propagate(client, argv);
  else if (!client.has(UNSTORED)) effects.propagate(client, argv, 'disk');
  else if (!client.has(UNREPLICATED)) effects.propagate(client, argv, 'replicas');
}

function endCall(
  server: Server,
  client: Caller,
  outerRewrite: Effects['rewritten'],
  outermost: boolean,
): void {
  server.effects.rewritten = outerRewrite;
  server.current.depth--;
  if (!outermost) return;
  const { replication } = server;
  // Keys that expired before the unit moved the offset earlier: they are nobody's effect.
  const before = replication.offset;
  server.current.end();
  if (replication.offset !== before) client.writeOffset = replication.offset;
}
