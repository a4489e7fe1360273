/** The path of every command: look up, check, queue or call, propagate. Read this first. */
import { asciiLower, asciiUpper, type Bytes } from '../protocol/bytes.ts';
import { NOAUTH, OOM, READONLY, wrongArity } from '../protocol/errors.ts';
import { QUEUED, type Reply, ReplyError } from '../protocol/reply.ts';
import {
  type Client,
  IN_MULTI,
  PRIMARY_LINK,
  REPLY_OFF,
  REPLY_SKIP,
  RESP2_SUBSCRIBER,
  RESTRICTED,
  UNAUTHENTICATED,
} from './client.ts';
import {
  ALLOW_BUSY,
  arityFits,
  type Command,
  DENY_OOM,
  LOADING,
  MAY_REPLICATE,
  NO_AUTH,
  NO_MULTI,
  STALE,
  WRITE,
} from './command.ts';
import type { Server } from './server.ts';

/** Runs one request of a client, from the words on the wire to the queued reply. */
export function execute(server: Server, client: Client, argv: Bytes[]): void {
  const name = argv[0] as Bytes;
  const command = server.commands.get(name) ?? resolve(server, argv);
  server.stats.commands++;
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
      if (reply !== undefined) client.reply(reply);
      return;
    }
  }
  const found = command instanceof ReplyError ? command : checkWords(server, command, argv);
  if (found instanceof ReplyError) {
    if (client.transaction !== undefined) client.transaction.aborted = true;
    if (!isSecurityProbe(server, client, name)) answer(client, found);
    return;
  }
  client.lastCommand = found;
  const refusal = refuse(server, client, found, argv);
  if (refusal !== undefined) {
    if (refusal === POSTPONED) return;
    server.stats.refused[found.serial] = (server.stats.refused[found.serial] ?? 0) + 1;
    if (client.transaction !== undefined) {
      if (found.name === 'exec') server.discard(client);
      else client.transaction.aborted = true;
    }
    answer(client, found.name === 'exec' ? execRefusal(refusal) : refusal);
    return;
  }
  if (client.has(IN_MULTI) && !RUNS_IN_MULTI.has(found.name)) {
    client.transaction?.queue.push({ command: found, argv });
    answer(client, QUEUED);
    return;
  }
  answer(client, call(server, client, found, argv));
}

/** Commands that act at once although a transaction is being queued. */
const RUNS_IN_MULTI = new Set(['exec', 'discard', 'multi', 'watch', 'quit', 'reset']);

function answer(client: Client, reply: Reply | undefined): void {
  if (client.has(REPLY_OFF | REPLY_SKIP | PRIMARY_LINK)) {
    if (client.lastCommand?.fullName === 'client|reply') {
      if (reply !== undefined) client.reply(reply);
      return;
    }
    client.mark(REPLY_SKIP, false);
    return;
  }
  if (reply !== undefined) client.reply(reply);
}

/** Finds the table entry of a request, whatever the case of its name; a ReplyError when there is none. */
export function resolve(server: Server, argv: readonly Bytes[]): Command | ReplyError {
  const name = argv[0] ?? '';
  const command = server.commands.get(name) ?? server.commands.get(asciiLower(name));
  if (command !== undefined) return command;
  server.stats.unknown(argv);
  return new ReplyError(unknownText(argv));
}

function unknownText(argv: readonly Bytes[]): Bytes {
  let args = '';
  for (let i = 1; i < argv.length && args.length < 128; i++) {
    args += `'${(argv[i] as Bytes).slice(0, 128 - args.length)}' `;
  }
  return `ERR unknown command '${(argv[0] ?? '').slice(0, 128)}', with args beginning with: ${args}`;
}

/** Steps from a container to its subcommand and checks the count of words. */
export function checkWords(server: Server, command: Command, argv: readonly Bytes[]): Command | ReplyError {
  let found = command;
  if (command.subcommands !== undefined && argv.length > 1) {
    const name = asciiLower(argv[1] as Bytes);
    const sub = command.subcommands.get(name);
    if (sub === undefined) {
      server.stats.unknown(argv);
      const text = (argv[1] as Bytes).slice(0, 128);
      return new ReplyError(`ERR unknown subcommand '${text}'. Try ${asciiUpper(command.name)} HELP.`);
    }
    found = sub;
  }
  return arityFits(found.arity, argv.length) && found.subcommands === undefined
    ? found
    : wrongArity(found.fullName);
}

/** A web page that talks to us (POST or Host: lines) is cut off without a word. */
function isSecurityProbe(server: Server, client: Client, name: Bytes): boolean {
  const lower = asciiLower(name);
  if (lower !== 'post' && lower !== 'host:') return false;
  server.log('warning', 'A request that looks like HTTP was cut off: a web page may be driving this server');
  client.abort();
  return true;
}

/** The request waits and will be executed later; nothing is answered now. */
export const POSTPONED = new ReplyError('postponed');

/** The node's states that need a closer look; zero for a plain primary. */
export const GATE_LIMITED_MEMORY = 1;
export const GATE_REPLICA = 2;
export const GATE_PAUSED = 4;
export const GATE_BUSY = 8;
export const GATE_LOADING = 16;
export const GATE_MIN_REPLICAS = 32;
export const GATE_MONITORED = 64;

/** Why a request may not run now, in Redis' order of asking; undefined when it may. */
function refuse(server: Server, client: Client, command: Command, argv: Bytes[]): ReplyError | undefined {
  const { bits } = command;
  if (client.has(UNAUTHENTICATED) && (bits & NO_AUTH) === 0) return new ReplyError(NOAUTH);
  if (client.has(IN_MULTI) && (bits & NO_MULTI) !== 0) {
    return new ReplyError('ERR Command not allowed inside a transaction');
  }
  if (client.has(RESTRICTED)) {
    const denied = server.denied(client, command, argv);
    if (denied !== undefined) return denied;
  }
  const writes = (effectiveBits(client, command) & (WRITE | MAY_REPLICATE)) !== 0;
  if (server.state !== 0) {
    const refusal = refusedByState(server, client, command);
    if (refusal !== undefined) return refusal;
  }
  if (client.has(RESP2_SUBSCRIBER) && !SUBSCRIBER_COMMANDS.has(command.name)) {
    return new ReplyError(
      `ERR Can't execute '${command.fullName}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context`,
    );
  }
  if ((server.state & GATE_PAUSED) !== 0 && server.pausing.holds(client, writes)) {
    server.pausing.postpone(client, argv);
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

/** EXEC counts as whatever its queued commands are. */
function effectiveBits(client: Client, command: Command): number {
  if (command.name !== 'exec' || client.transaction === undefined) return command.bits;
  let bits = 0;
  for (const { command: queued } of client.transaction.queue) bits |= queued.bits;
  return command.bits | bits;
}

function refusedByState(server: Server, client: Client, command: Command): ReplyError | undefined {
  const { state } = server;
  const primaryLink = client.has(PRIMARY_LINK);
  const bits = effectiveBits(client, command);
  if (
    (state & GATE_LIMITED_MEMORY) !== 0 &&
    !primaryLink &&
    !server.freeMemory() &&
    (bits & DENY_OOM) !== 0
  ) {
    return new ReplyError(OOM);
  }
  if ((bits & WRITE) !== 0 && !primaryLink) {
    if ((state & GATE_MIN_REPLICAS) !== 0 && !server.enoughReplicas()) {
      return new ReplyError('NOREPLICAS Not enough good replicas to write.');
    }
    if ((state & GATE_REPLICA) !== 0 && server.readOnlyReplica()) return new ReplyError(READONLY);
  }
  if ((state & GATE_REPLICA) !== 0 && !primaryLink && (bits & STALE) === 0 && server.stale()) {
    return new ReplyError("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.");
  }
  if ((state & GATE_LOADING) !== 0 && !primaryLink && (bits & LOADING) === 0) {
    return new ReplyError('LOADING Redis is loading the dataset in memory');
  }
  if ((state & GATE_BUSY) !== 0 && (bits & ALLOW_BUSY) === 0) return server.busyError();
  return undefined;
}

/** A refusal while EXEC is asked for names the reason behind EXECABORT, unless nothing was queued. */
function execRefusal(refusal: ReplyError): ReplyError {
  const text = refusal.text;
  if (text === NOAUTH || text.startsWith('EXECABORT')) return refusal;
  return new ReplyError(`EXECABORT Transaction discarded because of: ${text.replace(/^ERR /, '')}`);
}

/**
 * Runs one command and notes its effect for the replication stream. Used for requests, for the commands queued in a
 * transaction and for redis.call; a client's mistake comes back as a ReplyError.
 */
export function call(server: Server, client: Client, command: Command, argv: Bytes[]): Reply | undefined {
  const { world } = server;
  const outermost = server.depth === 0;
  if (outermost) server.beginUnit(client);
  server.depth++;
  const dirty = world.dirty;
  const outerRewrite = server.rewritten;
  server.rewritten = undefined;
  server.stats.calls[command.serial]!++;
  let reply: Reply | undefined;
  try {
    reply = command.run(client, argv);
    if (reply instanceof ReplyError) server.stats.failed[command.serial]!++;
  } catch (error) {
    server.stats.failed[command.serial]!++;
    reply = error instanceof ReplyError ? error : server.internalError(command, error);
  }
  if (server.feeding && (world.dirty !== dirty || server.rewritten !== undefined)) {
    server.propagate(client, argv);
  }
  server.rewritten = outerRewrite;
  server.depth--;
  if (outermost) server.endUnit();
  return reply;
}
