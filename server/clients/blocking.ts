/** Blocked clients: those that wait for keys, served in order of arrival, and other waits with a deadline. */

import type { Keyspace } from '../../keyspace/keyspace.ts';
import { type TypeName, typeOf } from '../../keyspace/value.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { type Reply, ReplyError } from '../../protocol/reply.ts';
import type { HasClients, HasHost, Mistakes, Requests, Units } from '../ports.ts';
import { BLOCKED, type Outcome } from '../table/outcome.ts';
import { type Blocked, type Client, IN_MULTI, REPLY_SKIP, SCRIPT } from './client.ts';

/** How a handler asks to wait. */
export interface BlockRequest {
  kind?: Blocked['kind'];
  keys?: readonly Bytes[];
  type?: TypeName;
  /** Milliseconds to wait; 0: for ever. */
  timeout: Millis;
  serve?: (key: Bytes) => Reply | undefined;
  gone?: (key: Bytes) => Reply;
  timeoutReply: Reply | (() => Reply);
  /** The answer where blocking is not allowed, if it is not the time-out's. */
  refusal?: Reply;
}

/** Values that serve blocked clients when their key is added, not when they replace another value or grow. */
const SERVES_ONCE_ADDED: ReadonlySet<TypeName> = new Set<TypeName>(['list', 'zset']);

/** True for waits that no client has asked for, and for MIGRATE: nothing but their own end ends them. */
export function isOurs(kind: Blocked['kind'] | undefined): boolean {
  return kind === 'pause' || kind === 'script' || kind === 'migrate';
}

/** Changes to a stream that bring nobody an entry, whatever its last id. */
const SERVES_NOBODY: ReadonlySet<string> = new Set([
  'expire',
  'persist',
  'xdel',
  'xtrim',
  'xsetid',
  'xgroup-create',
  'xgroup-createconsumer',
  'xgroup-delconsumer',
  'xgroup-setid',
]);

/** The node, as blocking sees it. */
interface BlockingNode extends HasClients, HasHost, Mistakes, Requests, Units {
  readonly slowScript: { readonly active: boolean };
  /** Decides anew whether keyspaces need to report their changes. */
  listen(): void;
}

export class Blocking {
  readonly #server: BlockingNode;
  // Per database: key to the clients parked on it, in order of arrival.
  readonly #waiting = new Map<Keyspace, Map<Bytes, Set<Client>>>();
  #ready: { db: Keyspace; key: Bytes }[] = [];
  readonly #readySet = new Map<Keyspace, Set<Bytes>>();
  /** Clients that wait for a key. */
  count = 0;
  /** Clients that wait for anything. */
  total = 0;

  constructor(server: BlockingNode) {
    this.#server = server;
  }

  /** Parks the client; its request is answered later. Inside MULTI or a script nothing blocks: the time-out's reply comes at once. */
  block(client: Client, request: BlockRequest): Outcome {
    const { timeoutReply } = request;
    const expired = typeof timeoutReply === 'function' ? timeoutReply : () => timeoutReply;
    if (!isOurs(request.kind) && client.has(IN_MULTI | SCRIPT)) {
      return request.refusal === undefined ? expired() : request.refusal;
    }
    const { clock } = this.#server.host;
    const timer =
      request.timeout > 0 ? clock.at(clock.now() + request.timeout, () => this.#timedOut(client)) : undefined;
    const blocked: Blocked = {
      kind: request.kind ?? 'key',
      db: client.db,
      keys: request.keys ?? [],
      type: request.type,
      serve: request.serve ?? (() => undefined),
      gone: request.gone,
      timeoutReply: expired,
      timer,
    };
    client.blocked = blocked;
    this.total++;
    if (blocked.kind === 'key') this.count++;
    for (const key of blocked.keys) this.#queue(blocked.db, key).add(client);
    this.#server.listen();
    return BLOCKED;
  }

  /** Ends a wait with a reply (undefined: the reply has been sent by other means). */
  release(client: Client, reply: Reply | undefined): void {
    const blocked = client.blocked;
    if (blocked === undefined) return;
    this.forget(client);
    if (reply !== undefined) client.reply(reply);
    client.mark(REPLY_SKIP, false);
    this.#server.unblocked(client);
  }

  /** CLIENT UNBLOCK: ends a wait as if its time had run out, or with an error; false when the client does not wait. */
  unblock(client: Client, asError: boolean): boolean {
    const blocked = client.blocked;
    if (blocked === undefined || isOurs(blocked.kind)) return false;
    const reply = asError
      ? new ReplyError('UNBLOCKED client unblocked via CLIENT UNBLOCK')
      : blocked.timeoutReply();
    this.release(client, reply);
    return true;
  }

  /** Ends a wait without a reply: the client has gone. */
  forget(client: Client): void {
    const blocked = client.blocked;
    if (blocked === undefined) return;
    client.blocked = undefined;
    blocked.timer?.cancel();
    this.total--;
    if (blocked.kind === 'key') this.count--;
    const queues = this.#waiting.get(blocked.db);
    for (const key of blocked.keys) {
      const queue = queues?.get(key);
      queue?.delete(client);
      if (queue?.size === 0) queues?.delete(key);
    }
    this.#server.listen();
  }

  /**
   * Notes that a key may serve somebody; called for every change while anybody waits.
   * @param event what happened, as keyspace events name it; '': anything
   */
  signal(db: Keyspace, key: Bytes, event = ''): void {
    const waiters = this.#waiting.get(db)?.get(key);
    if (waiters === undefined) return;
    const value = db.entries.get(key)?.held;
    const type = value === undefined ? undefined : typeOf(value);
    if (type === 'stream') {
      if (SERVES_NOBODY.has(event)) return;
    } else if (type === undefined || !SERVES_ONCE_ADDED.has(type) || (event !== 'new' && event !== '')) {
      if (!hearsOfLoss(waiters)) return;
    }
    let set = this.#readySet.get(db);
    if (set === undefined) this.#readySet.set(db, (set = new Set()));
    if (set.has(key)) return;
    set.add(key);
    this.#ready.push({ db, key });
  }

  /** Signals every key that somebody waits for in the database (FLUSHDB, SWAPDB, a new dataset). */
  signalAll(db: Keyspace): void {
    for (const key of this.#waiting.get(db)?.keys() ?? []) this.signal(db, key);
  }

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  /** Serves the waiters of ready keys, in the order keys became ready; each service is an execution unit. */
  serveReady(): void {
    while (this.#ready.length > 0 && !this.#server.slowScript.active) {
      const ready = this.#ready;
      this.#ready = [];
      this.#readySet.clear();
      for (const { db, key } of ready) this.#serveKey(db, key);
    }
  }

  /** The clients that wait, for CLIENT LIST and for a node that changes its role. */
  *clients(): Iterable<Client> {
    for (const client of this.#server.clients.values()) if (client.blocked !== undefined) yield client;
  }

  #serveKey(db: Keyspace, key: Bytes): void {
    for (const client of [...(this.#waiting.get(db)?.get(key) ?? [])]) {
      const blocked = client.blocked;
      if (blocked === undefined || blocked.db !== db) continue;
      const entry = db.peek(key);
      if (entry === undefined || (blocked.type !== undefined && typeOf(entry.held) !== blocked.type)) {
        if (blocked.gone !== undefined) this.release(client, blocked.gone(key));
        continue;
      }
      const reply = this.#server.unit(() => this.#attempt(client, () => blocked.serve(key)), client);
      if (reply !== undefined && client.blocked === blocked) this.release(client, reply);
    }
  }

  #queue(db: Keyspace, key: Bytes): Set<Client> {
    let queues = this.#waiting.get(db);
    if (queues === undefined) this.#waiting.set(db, (queues = new Map()));
    let queue = queues.get(key);
    if (queue === undefined) queues.set(key, (queue = new Set()));
    return queue;
  }

  #attempt(client: Client, serve: () => Reply | undefined): Reply | undefined {
    try {
      return serve();
    } catch (error) {
      if (error instanceof ReplyError) return error;
      return this.#server.internalError(client.lastCommand, error);
    }
  }

  #timedOut(client: Client): void {
    const blocked = client.blocked;
    if (blocked === undefined) return;
    this.release(client, blocked.timeoutReply());
    this.#server.settle();
  }
}

function hearsOfLoss(waiters: ReadonlySet<Client>): boolean {
  for (const { blocked } of waiters) if (blocked?.gone !== undefined) return true;
  return false;
}
