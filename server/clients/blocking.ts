/** Blocked clients: clients that wait for keys, served in order of arrival, and other waits with a time limit. */

import type { Keyspace } from '../../keyspace/keyspace.ts';
import { type TypeName, typeOf } from '../../keyspace/value.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { type Reply, ReplyError } from '../../protocol/reply.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Observer } from '../figures/observer.ts';
import type { Statistics } from '../figures/statistics.ts';
import type { HasClients, HasHost, Mistakes, Requests, Units } from '../ports.ts';
import { BLOCKED, type Outcome } from '../table/outcome.ts';
import { type Blocked, type Client, IN_MULTI, REPLY_SKIP, SCRIPT } from './client.ts';
import { isPastDeadline } from './watches.ts';

/** A handler's request to block its client. */
export interface BlockRequest {
  kind?: Blocked['kind'];
  keys?: readonly Bytes[];
  type?: TypeName;
  /** The longest wait in milliseconds; 0: no limit. */
  timeout: Millis;
  /** Serves the client when a key may be ready. It is given all keys where the client is served as if it asked again. */
  serve?: (keys: readonly Bytes[]) => Reply | undefined;
  gone?: (key: Bytes) => Reply;
  /** The next time, in milliseconds since the epoch, at which a key may serve the client although nothing changes. */
  wakeAt?: () => Millis;
  timeoutReply: Reply | (() => Reply);
  /** The reply where blocking is not allowed, if it differs from the reply on timeout. */
  refusal?: Reply;
}

/** Types whose values serve blocked clients only when their key is added, not when they replace a value or grow. */
const SERVES_ONCE_ADDED: ReadonlySet<TypeName> = new Set<TypeName>(['list', 'zset']);

/** True for waits that CLIENT UNBLOCK and timeouts do not end: pauses, slow scripts and MIGRATE. */
export function isOurs(kind: Blocked['kind'] | undefined): boolean {
  return kind === 'pause' || kind === 'script' || kind === 'migrate' || kind === 'lab';
}

/** Changes to a stream that never serve a blocked client. */
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
  readonly observer: Pick<Observer, 'now' | 'served' | 'usage'>;
  readonly stats: Statistics;
  readonly dialect: Pick<Dialect, 'endedByForce' | 'serveWaiting'>;
  readonly slowScript: { readonly active: boolean };
  readonly pausing: { postpone(client: Client, argv: Bytes[]): void };
  /** Updates whether keyspaces must report their changes. */
  listen(): void;
}

/** The blocked clients of a node, and the keys that they wait for. */
export class Blocking {
  readonly #server: BlockingNode;
  // For each database, the clients that wait for a key, in order of arrival.
  readonly #waiting = new Map<Keyspace, Map<Bytes, Set<Client>>>();
  #ready: { db: Keyspace; key: Bytes }[] = [];
  readonly #readySet = new Map<Keyspace, Set<Bytes>>();
  /** The number of clients that wait for a key. */
  count = 0;
  /** The number of clients that wait for anything. */
  total = 0;
  /** The number of clients whose wait ends when their key is removed. */
  #endedByLoss = 0;

  constructor(server: BlockingNode) {
    this.#server = server;
  }

  /**
   * Blocks the client; its reply comes later. Inside MULTI or a script nothing blocks: the timeout's reply is returned
   * at once.
   */
  block(client: Client, request: BlockRequest): Outcome {
    const { timeoutReply } = request;
    const expired = typeof timeoutReply === 'function' ? timeoutReply : () => timeoutReply;
    if (!isOurs(request.kind) && client.has(IN_MULTI | SCRIPT)) {
      return request.refusal === undefined ? expired() : request.refusal;
    }
    const { clock } = this.#server.host;
    const timer =
      request.timeout > 0
        ? clock.at(clock.now() + request.timeout, () => this.#timedOut(client), true)
        : undefined;
    const blocked: Blocked = {
      kind: request.kind ?? 'key',
      db: client.db,
      keys: request.keys ?? [],
      type: request.type,
      serve: request.serve ?? (() => undefined),
      gone: request.gone,
      timeoutReply: expired,
      timer,
      argv: [],
    };
    client.blocked = blocked;
    this.total++;
    if (blocked.kind === 'key') this.count++;
    if (blocked.gone !== undefined) this.#endedByLoss++;
    for (const key of blocked.keys) this.#queue(blocked.db, key).add(client);
    if (request.wakeAt !== undefined) this.#wakeLater(client, blocked, request.wakeAt);
    this.#server.listen();
    return BLOCKED;
  }

  /**
   * Ends a wait with a reply. `undefined`: the reply has already been sent.
   * @param served true if that is what the client waited for
   */
  release(client: Client, reply: Reply | undefined, served = false): void {
    this.#count(client);
    if (reply instanceof ReplyError) {
      this.#server.stats.error(reply);
      if (client.lastCommand !== undefined) this.#server.stats.failed[client.lastCommand.serial]!++;
    }
    this.#end(client, reply, served);
  }

  #end(client: Client, reply: Reply | undefined, served: boolean): void {
    const blocked = client.blocked;
    if (blocked === undefined) return;
    this.forget(client);
    if (reply !== undefined) client.reply(reply);
    this.#server.observer.usage?.unblocked(client, served || isOurs(blocked.kind));
    client.mark(REPLY_SKIP, false);
    this.#server.unblocked(client);
  }

  /** Counts the call that ends now: among those of the client, and of its command if it was not counted when it began. */
  #count({ blocked, lastCommand, totals }: Client): void {
    if (blocked !== undefined) totals.commands++;
    if (blocked?.isUncounted !== true || lastCommand === undefined) return;
    this.#server.stats.calls[lastCommand.serial]!++;
    blocked.isUncounted = false;
  }

  /**
   * CLIENT UNBLOCK: ends a wait with the reply on timeout, or with an error. Returns false if the client is not
   * blocked.
   */
  unblock(client: Client, asError: boolean): boolean {
    const blocked = client.blocked;
    if (blocked === undefined || isOurs(blocked.kind)) return false;
    const { stats, dialect } = this.#server;
    if (dialect.endedByForce === 'failed, by CLIENT UNBLOCK' && client.lastCommand !== undefined)
      stats.failed[client.lastCommand.serial]!++;
    if (asError) this.abandon(client, new ReplyError('UNBLOCKED client unblocked via CLIENT UNBLOCK'));
    else {
      this.#count(client);
      this.#end(client, blocked.timeoutReply(), false);
    }
    return true;
  }

  /** Ends a wait with an error that has nothing to do with what the client waited for. */
  abandon(client: Client, why: ReplyError): void {
    const { stats, dialect } = this.#server;
    stats.error(why);
    this.#count(client);
    const serial = client.lastCommand?.serial;
    if (serial !== undefined && dialect.endedByForce === 'failed, with an error') stats.failed[serial]!++;
    if (serial !== undefined && dialect.endedByForce === 'rejected, with an error') stats.refused[serial]!++;
    this.#end(client, why, false);
  }

  /** Ends a wait without a reply because the connection is closed. */
  forget(client: Client): void {
    const blocked = client.blocked;
    if (blocked === undefined) return;
    client.blocked = undefined;
    blocked.timer?.cancel();
    blocked.alarm?.cancel();
    this.total--;
    if (blocked.kind === 'key') this.count--;
    if (blocked.gone !== undefined) this.#endedByLoss--;
    const queues = this.#waiting.get(blocked.db);
    for (const key of blocked.keys) {
      const queue = queues?.get(key);
      queue?.delete(client);
      if (queue?.size === 0) queues?.delete(key);
    }
    this.#server.listen();
  }

  /**
   * Notes that a key may serve a blocked client. Called for every change while a client waits for a key.
   * @param event the change, named as in keyspace events; '': any change
   */
  signal(db: Keyspace, key: Bytes, event = ''): void {
    const waiters = this.#waiting.get(db)?.get(key);
    if (waiters === undefined) return;
    const value = db.entries.get(key)?.held;
    const type = value === undefined ? undefined : typeOf(value);
    if (type === 'stream') {
      if (SERVES_NOBODY.has(event)) return;
    } else if (type === undefined || !SERVES_ONCE_ADDED.has(type) || (event !== 'new' && event !== '')) {
      if (this.#endedByLoss === 0 || !hearsOfLoss(waiters)) return;
    }
    this.#makeReady(db, key);
  }

  #makeReady(db: Keyspace, key: Bytes): void {
    let set = this.#readySet.get(db);
    if (set === undefined) this.#readySet.set(db, (set = new Set()));
    if (set.has(key)) return;
    set.add(key);
    this.#ready.push({ db, key });
  }

  /** Signals every key of the database that a client waits for (FLUSHDB, SWAPDB, a new dataset). */
  signalAll(db: Keyspace): void {
    for (const key of this.#waiting.get(db)?.keys() ?? []) this.signal(db, key);
  }

  /** The number of keys that clients wait for. */
  countKeys(): number {
    let keys = 0;
    for (const queues of this.#waiting.values()) keys += queues.size;
    return keys;
  }

  /** The number of keys among them whose removal ends a wait. */
  countKeysThatMayBeLost(): number {
    let keys = 0;
    for (const queues of this.#waiting.values()) {
      for (const waiters of queues.values()) if (hearsOfLoss(waiters)) keys++;
    }
    return keys;
  }

  /** True while a key may serve a blocked client. */
  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  /**
   * Serves the clients that wait for ready keys, in the order in which the keys became ready. Each client is served in
   * an execution unit of its own.
   */
  serveReady(): void {
    while (this.#ready.length > 0 && !this.#server.slowScript.active) {
      const ready = this.#ready;
      this.#ready = [];
      this.#readySet.clear();
      for (const { db, key } of ready) this.#serveKey(db, key);
    }
  }

  /** The blocked clients, for CLIENT LIST and for a change of role. */
  *clients(): Iterable<Client> {
    for (const client of this.#server.clients.values()) if (client.blocked !== undefined) yield client;
  }

  #serveKey(db: Keyspace, key: Bytes): void {
    const again = this.#server.dialect.serveWaiting === 'as if asked again';
    // During this loop clients can only leave: those that are served run their next requests when all ready keys are done.
    const waiters = this.#waiting.get(db)?.get(key) ?? new Set();
    for (const client of waiters) {
      const blocked = client.blocked;
      if (blocked === undefined || blocked.db !== db) continue;
      // Such a server looks at the key without removing it.
      if (again && blocked.gone === undefined && isPastDeadline(db, key)) continue;
      const entry = db.peek(key);
      // With 100 clients in BLPOP, to look again for each of the others took a tenth of the CPU time.
      if (entry === undefined && (this.#endedByLoss === 0 || !hearsOfLoss(waiters))) return;
      if (entry === undefined || (blocked.type !== undefined && typeOf(entry.held) !== blocked.type)) {
        if (blocked.gone !== undefined) this.release(client, blocked.gone(key), true);
        continue;
      }
      if (again && !this.#mayGoOn(client, blocked)) continue;
      const began = this.#server.observer.now();
      const reply = this.#server.unit(
        () => this.#attempt(client, () => blocked.serve(again ? blocked.keys : [key])),
        client,
      );
      if (reply === undefined || client.blocked !== blocked) continue;
      this.#server.observer.served(client, blocked.argv, began);
      this.release(client, reply, true);
    }
  }

  /** False for a client whose request would now be refused, or has to wait for the end of a pause. */
  #mayGoOn(client: Client, { argv }: Blocked): boolean {
    const refusal = this.#server.admitAgain(client, argv);
    if (refusal === undefined) return true;
    // It is counted as refused, not as a call.
    if (refusal !== 'later') this.#end(client, refusal, true);
    else {
      this.forget(client);
      this.#server.pausing.postpone(client, argv);
    }
    return false;
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

  /** Tries to serve the client when its time has come, and again at the next one while it waits. */
  #wakeLater(client: Client, blocked: Blocked, wakeAt: () => Millis): void {
    const { clock } = this.#server.host;
    blocked.alarm = clock.at(Math.max(wakeAt(), clock.now() + 1), () => {
      for (const key of blocked.keys) this.#makeReady(blocked.db, key);
      this.#server.settle();
      if (client.blocked === blocked) this.#wakeLater(client, blocked, wakeAt);
    });
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
