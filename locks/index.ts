/** The public API of lostlock/locks: distributed locks on any Redis, made by `createLocks(client)`. */

import { badOption } from '../base/options.ts';
import type { Lock } from './asking/lock.ts';
import type { LockClient } from './clients/client.ts';
import { fromIoredis, type IoredisLike } from './clients/ioredis.ts';
import { fromNodeRedis, type NodeRedisLike } from './clients/node-redis.ts';
import { LockContext, type LocksOptions, SETTINGS } from './holding/context.ts';
import { LOCK_EVENTS, type LockEvent, type LockEventName } from './holding/events.ts';
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
import { check, checkOptions, oneOf } from './options.ts';
import { LockServer } from './server/server.ts';

export type { AcquireOptions, Lock } from './asking/lock.ts';
export type { LockClient, RedisCommand, Settled, Subscriber, SubscriberEvents } from './clients/client.ts';
export { fromIoredis, type IoredisLike } from './clients/ioredis.ts';
export { fromNodeRedis, type NodeRedisLike } from './clients/node-redis.ts';
export * from './errors.ts';
export type { LocksOptions } from './holding/context.ts';
export { type LockEvent, type LockEventName, lockChannel } from './holding/events.ts';
export type { FencedHold, HeldLock } from './holding/hold-handle.ts';
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
export type { Session, SessionLock, SessionLockOptions, SessionOptions } from './kinds/session.ts';
export type { SimpleLock } from './kinds/simple.ts';

/** An ioredis client or cluster, a node-redis client, or any object that implements LockClient. */
export type AnyClient = IoredisLike | NodeRedisLike | LockClient;

/**
 * Creates locks on one Redis, or on several independent ones for Redlock. Nothing is sent before a lock is used.
 *
 * The caller keeps ownership of the clients: `close()` closes only the Pub/Sub connections that the locks opened themselves.
 * @param clients one client, or one client per independent server; only Redlock uses more than the first
 * @param options defaults for all locks; times are in milliseconds
 * @throws TypeError (`code` is `LOSTLOCK_BAD_OPTION`) for a wrong client or option
 */
export function createLocks(clients: AnyClient | readonly AnyClient[], options: LocksOptions = {}): Locks {
  return new Locks(Array.isArray(clients) ? clients : [clients as AnyClient], options);
}

/**
 * Every kind of lock on the same clients. Lock objects are cheap and stateless, so create one by name wherever it is
 * needed. Every method that takes a name throws a TypeError for a name that is not a string or is empty, and for a
 * wrong option. docs/locks.md lists the failures that each kind survives.
 */
export class Locks implements AsyncDisposable {
  readonly #context: LockContext;

  /** @internal */
  constructor(clients: readonly AnyClient[], options: LocksOptions) {
    checkOptions('createLocks', options, SETTINGS);
    if (clients.length === 0) throw badOption('clients', clients, CLIENTS);
    const servers = clients.map(
      (client) => new LockServer(asLockClient(client), options.requestTimeoutMs ?? 3000),
    );
    this.#context = new LockContext(servers, options);
  }

  /**
   * A string key with a random token, set by SET NX PX. Not re-entrant. See "Correct implementation with a single instance":
   * https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
   */
  simple(name: string): SimpleLock {
    return new SimpleLock(this.#context, name);
  }

  /**
   * A re-entrant lock: its owner may acquire it again, and must release it the same number of times. Compatible with Redisson's
   * RLock.
   */
  reentrant(name: string): ReentrantLock {
    return new ReentrantLock(this.#context, name);
  }

  /**
   * A re-entrant lock with a fencing token: `fence` grows with every grant, and the protected resource refuses smaller ones.
   * Compatible with Redisson's RFencedLock. Why it is needed:
   * https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
   */
  fenced(name: string, options?: FencedOptions): FencedLock {
    return new FencedLock(this.#context, name, options);
  }

  /**
   * A re-entrant lock, granted to live waiters in order of arrival. Compatible with Redisson's fair lock:
   * https://redisson.pro/docs/data-and-services/locks-and-synchronizers/#fair-lock
   */
  fair(name: string): FairLock {
    return new FairLock(this.#context, name);
  }

  /** A shared read lock and an exclusive write lock. Compatible with Redisson's RReadWriteLock. */
  readWrite(name: string): ReadWriteLock {
    return new ReadWriteLock(this.#context, name);
  }

  /**
   * Several locks, of any kinds and on any servers, acquired together or not at all, like Redisson's MultiLock:
   * https://redisson.pro/docs/data-and-services/locks-and-synchronizers/#multilock
   */
  multi(locks: readonly Lock<HeldLock>[]): MultiLock {
    return new MultiLock(this.#context, locks);
  }

  /**
   * Redlock: one lock, held while a majority of the independent servers grant it. The algorithm:
   * https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/
   *
   * Acquiring throws BadConfiguration unless there is an odd number of servers (3 or more), all primaries and all
   * different, and QuorumFailed when too few of them answer. A server that came back empty gets a held lock back with the
   * next renewal or `extend()`; docs/locks.md says when that is sound.
   */
  redlock(name: string): Redlock {
    return new Redlock(this.#context, name);
  }

  /** A semaphore without leases: a holder that dies keeps its permits. Compatible with Redisson's RSemaphore. */
  semaphore(name: string): Semaphore {
    return new Semaphore(this.#context, name);
  }

  /** A semaphore whose permits each have a lease. Compatible with Redisson's RPermitExpirableSemaphore. */
  expirablePermits(name: string): ExpirablePermits {
    return new ExpirablePermits(this.#context, name);
  }

  /** A lock that even its holder cannot acquire again: one expirable permit. */
  nonReentrant(name: string): NonReentrantLock {
    return new NonReentrantLock(this.#context, name);
  }

  /** A latch that opens when its count reaches 0. Compatible with Redisson's RCountDownLatch. */
  latch(name: string): CountDownLatch {
    return new CountDownLatch(this.#context, name);
  }

  /** A stock of units split over several locks, so that several clients can take from it at the same time. */
  segmented(name: string, options: SegmentedOptions): SegmentedLock {
    return new SegmentedLock(this.#context, name, options);
  }

  /**
   * Opens a session. Its locks have no TTL of their own: they end with the session, as ZooKeeper's ephemeral nodes do.
   * Rejects with BadConfiguration on a cluster, NotReplicated when too few replicas have it, and OutcomeUnknown or
   * ServerRefused when the server did not reply or refused.
   */
  session(options?: SessionOptions): Promise<Session> {
    return Session.open(this.#context, options);
  }

  /**
   * A queue of waiters, each notified by its predecessor only, with a fencing token per grant. ZooKeeper's lock recipe:
   * https://zookeeper.apache.org/doc/current/recipes.html
   */
  queue(name: string): QueueLock {
    return new QueueLock(this.#context, name);
  }

  /**
   * Runs `fn` as a new owner of all locks acquired in it and in the async work it starts. Throws what `fn` throws, and TypeError
   * for what is not a function.
   */
  run<T>(fn: () => T): T {
    if (typeof fn !== 'function') throw badOption('run', fn, 'a function');
    return this.#context.owners.run(fn);
  }

  /**
   * Adds a listener for an event. The same events are published to `lockChannel`, a node:diagnostics_channel. Throws TypeError
   * for an event that does not exist.
   */
  on(event: LockEventName, listener: (event: LockEvent) => void): this {
    check('on', event, EVENT);
    this.#context.events.on(event, listener);
    return this;
  }

  /** Removes a listener. */
  off(event: LockEventName, listener: (event: LockEvent) => void): this {
    check('off', event, EVENT);
    this.#context.events.off(event, listener);
    return this;
  }

  /**
   * Stops renewals, Pub/Sub, and releases that go on in the background. Held locks end with their leases; pending acquisitions
   * reject with LocksClosed.
   */
  close(): void {
    this.#context.watchdog.close();
    this.#context.releases.close();
    this.#context.leases.close();
    for (const server of this.#context.servers) server.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

const EVENT = oneOf(...LOCK_EVENTS);

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
