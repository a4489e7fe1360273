/** Locks over any Redis: `createLocks(client)` and everything it gives. */

import type { Lock } from './asking/lock.ts';
import type { LockClient } from './clients/client.ts';
import { fromIoredis, type IoredisLike } from './clients/ioredis.ts';
import { fromNodeRedis, type NodeRedisLike } from './clients/node-redis.ts';
import { Core, type LocksOptions } from './holding/core.ts';
import type { LockEvent, LockEventName } from './holding/events.ts';
import type { HeldLock } from './holding/hold-handle.ts';
import { ExpirablePermits, NonReentrantLock } from './kinds/expirable-permits.ts';
import { FairLock } from './kinds/fair.ts';
import { CountDownLatch } from './kinds/latch.ts';
import { MultiLock } from './kinds/multi.ts';
import { QueueLock } from './kinds/queue.ts';
import { ReadWriteLock } from './kinds/read-write.ts';
import { Redlock } from './kinds/redlock.ts';
import { FencedLock, type FencedOptions, ReentrantLock } from './kinds/reentrant.ts';
import { SegmentedLock, type SegmentedOptions } from './kinds/segmented.ts';
import { Semaphore } from './kinds/semaphore.ts';
import { Session, type SessionOptions } from './kinds/session.ts';
import { SimpleLock } from './kinds/simple.ts';
import { badOption } from './options.ts';
import { LockServer } from './server/server.ts';

export type { AcquireOptions, Lock } from './asking/lock.ts';
export type { LockClient, RedisCommand, Settled, Subscriber, SubscriberEvents } from './clients/client.ts';
export { fromIoredis, type IoredisLike } from './clients/ioredis.ts';
export { fromNodeRedis, type NodeRedisLike } from './clients/node-redis.ts';
export * from './errors.ts';
export type { LocksOptions } from './holding/core.ts';
export { type LockEvent, type LockEventName, lockChannel } from './holding/events.ts';
export type { HeldLock } from './holding/hold-handle.ts';
export type { ExpirablePermits, NonReentrantLock } from './kinds/expirable-permits.ts';
export type { FairLock } from './kinds/fair.ts';
export type { AwaitOptions, CountDownLatch } from './kinds/latch.ts';
export type { MultiLock } from './kinds/multi.ts';
export type { QueueLock } from './kinds/queue.ts';
export type { ReadWriteLock } from './kinds/read-write.ts';
export type { Redlock } from './kinds/redlock.ts';
export type { FencedLock, FencedOptions, ReentrantLock } from './kinds/reentrant.ts';
export type { HeldSegment, Portion, SegmentedLock, SegmentedOptions } from './kinds/segmented.ts';
export type { PermitOptions, Semaphore, SetUpOptions } from './kinds/semaphore.ts';
export type { Session, SessionLock, SessionOptions } from './kinds/session.ts';
export type { SimpleLock } from './kinds/simple.ts';

/** An ioredis client or cluster, a node-redis client, or anything behind the LockClient face. */
export type AnyClient = IoredisLike | NodeRedisLike | LockClient;

/**
 * Locks over one Redis (or over several independent ones, for Redlock). The clients stay the caller's; only the
 * connections opened here, for messages, are closed by `close()`. Nothing is sent before a lock is used.
 * Throws a RangeError for a wrong client or option, naming it.
 */
export function createLocks(clients: AnyClient | readonly AnyClient[], options: LocksOptions = {}): Locks {
  return new Locks(Array.isArray(clients) ? clients : [clients as AnyClient], options);
}

/**
 * Every kind of lock over the same clients. A kind is cheap to make and keeps nothing: ask for it by name where it is
 * needed. Each kind's method throws a RangeError for a name that is no string, or an empty one, and for a wrong option.
 * Which failures each lock survives is on docs/locks.md.
 */
export class Locks implements AsyncDisposable {
  readonly #core: Core;

  constructor(clients: readonly AnyClient[], options: LocksOptions) {
    if (clients.length === 0) throw badOption('clients', clients, CLIENTS);
    const servers = clients.map(
      (client) => new LockServer(asLockClient(client), options.requestTimeoutMs ?? 3000),
    );
    this.#core = new Core(servers, options);
  }

  /**
   * A string with a random token, by SET NX PX. Not re-entrant.
   * As on https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/, "with a single instance".
   */
  simple(name: string): SimpleLock {
    return new SimpleLock(this.#core, name);
  }

  /** Its owner may enter again, and must leave as often. Redisson's RLock. */
  reentrant(name: string): ReentrantLock {
    return new ReentrantLock(this.#core, name);
  }

  /**
   * Re-entrant, with a growing number per grant, for resources that refuse smaller ones. Redisson's RFencedLock; why it is
   * needed: https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
   */
  fenced(name: string, options?: FencedOptions): FencedLock {
    return new FencedLock(this.#core, name, options);
  }

  /** Re-entrant, first come first served among live waiters. Redisson's fair lock. */
  fair(name: string): FairLock {
    return new FairLock(this.#core, name);
  }

  /** Readers share, a writer excludes. Redisson's RReadWriteLock. */
  readWrite(name: string): ReadWriteLock {
    return new ReadWriteLock(this.#core, name);
  }

  /** Several locks as one, all or none, whatever kinds they are of. Redisson's RedissonMultiLock, on any servers. */
  multi(locks: readonly Lock<HeldLock>[]): MultiLock {
    return new MultiLock(this.#core, locks);
  }

  /**
   * One lock on all the (independent) servers, by majority: https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/.
   * Its acquisitions throw BadConfiguration unless the servers are odd in number, 3 or more, primaries, and none is there
   * twice; QuorumFailed when too few answer.
   */
  redlock(name: string): Redlock {
    return new Redlock(this.#core, name);
  }

  /** A number of permits without leases: a holder that dies keeps its permits. Redisson's RSemaphore. */
  semaphore(name: string): Semaphore {
    return new Semaphore(this.#core, name);
  }

  /** A number of permits with a lease each. Redisson's RPermitExpirableSemaphore. */
  expirablePermits(name: string): ExpirablePermits {
    return new ExpirablePermits(this.#core, name);
  }

  /** Excludes its own holder too: one expirable permit. */
  nonReentrant(name: string): NonReentrantLock {
    return new NonReentrantLock(this.#core, name);
  }

  /** Closed until counted down. Redisson's RCountDownLatch. */
  latch(name: string): CountDownLatch {
    return new CountDownLatch(this.#core, name);
  }

  /** One stock behind several locks, each with its part of it, so that as many can take at a time. */
  segmented(name: string, options: SegmentedOptions): SegmentedLock {
    return new SegmentedLock(this.#core, name, options);
  }

  /**
   * Opens a session: locks that end with it, not with a TTL each, as ZooKeeper's ephemeral nodes do.
   * Rejects with BadConfiguration on a cluster, OutcomeUnknown or ServerRefused when it could not be opened.
   */
  session(options?: SessionOptions): Promise<Session> {
    return Session.open(this.#core, options);
  }

  /**
   * Ordered waiters of which each hears only from its predecessor, and a fence with every grant. ZooKeeper's recipe:
   * https://zookeeper.apache.org/doc/current/recipes.html
   */
  queue(name: string): QueueLock {
    return new QueueLock(this.#core, name);
  }

  /** Runs `fn` as a new owner: what it acquires, and what it starts acquires, belongs together. Throws what it throws. */
  run<T>(fn: () => T): T {
    return this.#core.owners.run(fn);
  }

  /** Listens for `acquired`, `extended`, `lost` or `released`; `lockChannel` tells the same to node:diagnostics_channel. */
  on(event: LockEventName, listener: (event: LockEvent) => void): this {
    this.#core.events.on(event, listener);
    return this;
  }

  /** Listens no longer. */
  off(event: LockEventName, listener: (event: LockEvent) => void): this {
    this.#core.events.off(event, listener);
    return this;
  }

  /** Stops renewing and listening. Locks still held end with their leases; whoever waits is told with LocksClosed. */
  close(): void {
    this.#core.watchdog.close();
    for (const server of this.#core.servers) server.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

const CLIENTS =
  'an ioredis client or cluster, a node-redis client, a LockClient, or an array of one or more of them';

function asLockClient(client: AnyClient): LockClient {
  if (
    typeof client !== 'object' ||
    client === null ||
    !('call' in client || 'sendCommand' in client || 'openSubscriber' in client)
  ) {
    const isServer = typeof client === 'object' && client !== null && 'url' in client;
    const hint = isServer ? '. This is a server: pass a client of it, as new Redis(server.url)' : '';
    throw badOption('clients', client, CLIENTS + hint);
  }
  if ('openSubscriber' in client) return client;
  const alone =
    'duplicate' in client && 'subscribe' in client && !('masters' in client || 'getSentinelNode' in client);
  if (!alone) throw badOption('clients', client, `${CLIENTS} (of node-redis: no cluster, sentinel or pool)`);
  return 'sendCommand' in client && !('call' in client)
    ? fromNodeRedis(client as NodeRedisLike)
    : fromIoredis(client as IoredisLike);
}
