/** The path of every request: look up, admit, call, conclude. Start reading here. */
import { asciiLower, type Bytes } from '../protocol/bytes.ts';
import { NOAUTH } from '../protocol/errors.ts';
import { QUEUED, type Reply, ReplyError } from '../protocol/reply.ts';
import { call } from './call.ts';
import {
  ASKING,
  ASKING_NEXT,
  IMPORT_SOURCE,
  IN_MULTI,
  NO_TOUCH,
  PRIMARY_LINK,
  REPLY_SKIP,
  REPLY_SKIP_NEXT,
  RESTRICTED,
  TRACKING,
  type Transaction,
  UNAUTHENTICATED,
} from './clients/client.ts';
import {
  GATE_BUSY,
  GATE_CLUSTER,
  GATE_LIMITED_MEMORY,
  GATE_MIGRATING,
  GATE_PAUSED,
  GATE_QUORUM,
} from './gates.ts';
import { effectiveBits, refusedByGuard, refusedByNode, refusedToClient } from './refusals.ts';
import type { Caller, Server } from './server.ts';
import { type Command, GUARDED, MAY_REPLICATE, NO_AUTH, WRITE } from './table/command.ts';
import { type Outcome, PAUSED, Unanswered } from './table/outcome.ts';
import { checkWords, resolve, step } from './table/resolve.ts';

/** What a queued command takes, and each of its words besides its bytes. */
const QUEUED_BYTES = 100;
const WORD_BYTES = 32;

/**
 * Runs one request of a client, from its words to the queued reply.
 * @param argv the words of the request, the command's name first
 */
export function execute(server: Server, client: Caller, argv: Bytes[]): void {
  if ((server.state & GATE_BUSY) !== 0 && server.slowScript.postpone(client, argv)) return;
  const named = server.commands.get(argv[0] ?? '') ?? resolve(server, argv, client.has(PRIMARY_LINK));
  client.usedAt = server.now;
  if (server.interceptor?.(client, argv) === true) return;
  // If neither the client nor the node is in a special state, only the words of the request can cause a refusal.
  const plain = (client.state | server.state) === 0;
  if (!plain) applyMarks(client);
  const command = named instanceof ReplyError ? named : checkWords(server, named, argv);
  if (command instanceof ReplyError) {
    if (isSecurityProbe(server, client, argv[0] ?? '')) return;
    const asks = server.dialect.passwordFirst && client.has(UNAUTHENTICATED);
    const isOpen = !(named instanceof ReplyError) && ((step(named, argv) ?? named).bits & NO_AUTH) !== 0;
    client.lastCommand = named instanceof ReplyError ? undefined : step(named, argv);
    reject(server, client, client.lastCommand, asks && !isOpen ? new ReplyError(NOAUTH) : command);
    return;
  }
  client.lastCommand = command;
  const forbidden = (command.bits & GUARDED) === 0 ? undefined : refusedByGuard(client, command);
  if (forbidden !== undefined) {
    reject(server, client, command, forbidden);
    return;
  }
  if (!plain && !isAdmitted(server, client, command, argv)) return;
  const before = server.replication.offset;
  const holds =
    server.dialect.ownMessages === 'after the reply' && (client.protocol === 3 || client.has(IN_MULTI));
  if (holds) client.output.holdPushes();
  const outcome =
    !plain && client.has(NO_TOUCH | IMPORT_SOURCE)
      ? callSpecially(server, client, command, argv)
      : call(server, client, command, argv);
  if (outcome === PAUSED) server.slowScript.afterwards((later) => conclude(server, client, before, later));
  else conclude(server, client, before, outcome);
  if (holds) client.output.releasePushes();
}

/** Runs a command of a client whose commands do not count as uses of keys, or that imports data. */
function callSpecially(server: Server, client: Caller, command: Command<Caller>, argv: Bytes[]): Outcome {
  const run = (): Outcome => call(server, client, command, argv);
  const seeing = client.has(IMPORT_SOURCE) ? () => server.expiry.importing(run) : run;
  return client.has(NO_TOUCH) ? server.eviction.untouched(seeing) : seeing();
}

/** Applies CLIENT REPLY SKIP and ASKING, which are about the next request; ASKING is also about a whole transaction. */
function applyMarks(client: Caller): void {
  if (!client.has(REPLY_SKIP_NEXT | ASKING_NEXT | ASKING)) return;
  if (client.has(REPLY_SKIP_NEXT)) client.mark(REPLY_SKIP, true);
  if (!client.has(IN_MULTI)) client.mark(ASKING, client.has(ASKING_NEXT));
  client.mark(REPLY_SKIP_NEXT | ASKING_NEXT, false);
}

/** Returns whether a request may run now. If not, it has been refused, postponed, or queued for EXEC. */
function isAdmitted(server: Server, client: Caller, command: Command<Caller>, argv: Bytes[]): boolean {
  const bits = effectiveBits(client, command, argv);
  let refusal = refusedToUser(server, client, command, argv, bits);
  if (refusal === undefined && (server.state & GATE_CLUSTER) !== 0) {
    if (server.cluster?.takes(client, command, argv) === true) return false;
    const redirect = server.cluster?.refusal(client, command, argv, (bits & WRITE) !== 0);
    if (redirect !== undefined) {
      // Here EXEC is answered with the redirect itself.
      if (command.name === 'exec') client.discard();
      reject(server, client, command, redirect, false);
      return false;
    }
  }
  refusal ??= refusedNow(server, client, command, bits);
  if (refusal !== undefined) {
    reject(server, client, command, refusal);
    return false;
  }
  if (isPaused(server, client, bits)) {
    server.pausing.postpone(client, argv);
    return false;
  }
  if ((server.state & GATE_MIGRATING) !== 0 && server.migrations.holds(client, command, argv)) {
    server.migrations.postpone(client, argv);
    return false;
  }
  if (client.has(IN_MULTI) && !RUNS_IN_MULTI.has(command.fullName)) {
    // EXEC will discard a transaction that is aborted or whose watched keys have changed, so what follows is not kept.
    if (client.transaction?.aborted === false && !client.watches.touched)
      enqueue(client.transaction, command, argv);
    answer(client, QUEUED);
    return false;
  }
  return true;
}

/**
 * Checks whether the request of a blocked client whose key is ready may still run: servers since Redis 7.2 run it again.
 * @returns why not; 'later' if it waits for the end of a pause
 */
export function admitAgain(server: Server, client: Caller, argv: Bytes[]): ReplyError | 'later' | undefined {
  const command = client.lastCommand;
  if (command === undefined || (client.state | server.state) === 0) return undefined;
  const bits = effectiveBits(client, command, argv);
  const refusal =
    refusedToUser(server, client, command, argv, bits) ?? refusedNow(server, client, command, bits);
  if (refusal !== undefined) {
    server.stats.refused[command.serial]!++;
    server.stats.error(refusal);
    return refusal;
  }
  return isPaused(server, client, bits) ? 'later' : undefined;
}

/** Refusals because of the client and its user. A denial is recorded in ACL LOG. */
function refusedToUser(
  server: Server,
  client: Caller,
  command: Command<Caller>,
  argv: Bytes[],
  bits: number,
): ReplyError | undefined {
  const refusal = refusedToClient(client, command, bits);
  return refusal ?? (client.has(RESTRICTED) ? server.acl.denied(client, command, argv) : undefined);
}

/** Refusals because of the node, which first makes room in a limited memory. */
function refusedNow(
  server: Server,
  client: Caller,
  command: Command<Caller>,
  bits: number,
): ReplyError | undefined {
  if ((server.state & GATE_LIMITED_MEMORY) !== 0 && !client.has(PRIMARY_LINK)) server.eviction.makeRoom();
  return refusedByNode(server, client, command, bits);
}

/** True while CLIENT PAUSE or a failover holds the request back. */
function isPaused(server: Server, client: Caller, bits: number): boolean {
  const writes = (bits & (WRITE | MAY_REPLICATE)) !== 0;
  return (server.state & GATE_PAUSED) !== 0 && server.pausing.holds(client, writes);
}

/** Finishes a request: queues the reply, then the messages held back behind it, and serves clients that it unblocks. */
function conclude(server: Server, client: Caller, before: number, outcome: Outcome): Outcome {
  if (server.dialect.waitsFor === 'its last command') client.writeOffset = server.replication.offset;
  answer(client, (server.state & GATE_QUORUM) !== 0 ? untilQuorum(server, client, before, outcome) : outcome);
  // The request of a client that waits goes on until it is served.
  const ended = client.blocked === undefined && client.transaction === undefined;
  if (client.has(TRACKING) && ended && client.lastCommand !== undefined) {
    server.tracking.endCommand(client, client.lastCommand);
  }
  server.tracking.release();
  if (server.blocking.hasReady) server.blocking.serveReady();
  return outcome;
}

/** Delays the reply to a write until enough replicas have acknowledged it. Returns BLOCKED while it is delayed. */
function untilQuorum(server: Server, client: Caller, before: number, outcome: Outcome): Outcome {
  const { replication, writeQuorum } = server;
  const { offset } = replication;
  const answered = !(outcome instanceof Unanswered);
  if (!answered || offset === before || client.has(IN_MULTI | PRIMARY_LINK)) return outcome;
  const reply: Reply = outcome;
  const ready = () => (replication.countAcknowledged(offset) >= writeQuorum ? reply : undefined);
  return server.waiting.wait(client, 0, ready, () => reply);
}

/** Commands that run at once even while a transaction is being queued. */
const RUNS_IN_MULTI = new Set(['exec', 'discard', 'multi', 'watch', 'quit', 'reset']);

/** Adds a command to a transaction. */
function enqueue(transaction: Transaction, command: Command, argv: Bytes[]): void {
  transaction.queue.push({ command, argv });
  transaction.bytes += argv.reduce((sum, word) => sum + word.length + WORD_BYTES, QUEUED_BYTES);
}

/** Queues the reply. A reply that must be skipped is skipped now; a blocked client's reply is skipped when it comes. */
function answer(client: Caller, outcome: Outcome): void {
  if (!(outcome instanceof Unanswered)) client.reply(outcome);
  if (client.state !== 0 && client.blocked === undefined) client.mark(REPLY_SKIP, false);
}

/**
 * Answers a request that does not run. If a transaction is being queued, EXEC will discard it.
 * @param wraps whether the error of EXEC says that the transaction is discarded
 */
function reject(
  server: Server,
  client: Caller,
  command: Command<Caller> | undefined,
  refusal: ReplyError,
  wraps = true,
): void {
  if (command !== undefined) server.stats.refused[command.serial]!++;
  if (client.has(PRIMARY_LINK)) server.primary?.failedToApply(command?.fullName ?? '<unknown>', refusal);
  if (wraps && command?.name === 'exec') {
    client.discard();
    if (client.has(TRACKING)) server.tracking.endCommand(client, command);
    const why = refusal.text.startsWith('ERR ') ? refusal.text.slice(4) : refusal.text;
    const abort = new ReplyError(`EXECABORT Transaction discarded because of: ${why}`);
    server.stats.error(abort);
    answer(client, abort);
    return;
  }
  server.stats.error(refusal);
  if (client.transaction !== undefined) spoil(server, client.transaction);
  else if (client.has(TRACKING)) server.tracking.endCommand(client, command);
  client.lastCommand = command;
  answer(client, refusal);
}

/** Notes that EXEC will not run a transaction, of which a command was refused. */
function spoil({ dialect }: Server, transaction: Transaction): void {
  transaction.aborted = true;
  if (dialect.spoiltTransaction === 'drops its commands') {
    transaction.queue.length = 0;
    transaction.bytes = 0;
  }
}

/** Closes the connection if a web page is talking to the server (POST or Host: lines), without a reply. */
function isSecurityProbe(server: Server, client: Caller, name: Bytes): boolean {
  const lower = asciiLower(name);
  if (lower !== 'post' && lower !== 'host:') return false;
  // At most one log line a minute, so that repeated attempts do not fill the log.
  if (server.now >= server.stats.probeLoggedAt + 60_000) {
    server.stats.probeLoggedAt = server.now;
    server.log(
      'warning',
      'Closed a connection whose request looks like HTTP: a web page may be driving this server',
    );
  }
  client.abort();
  return true;
}
