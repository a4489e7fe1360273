/** The read-write lock, on the keys of Redisson's RReadWriteLock: readers share it, a writer has it alone. */
import type { LockContext } from '../holding/context.ts';
import { abandonedKey, prefixed, suffixed, tagged } from '../keys.ts';
import {
  readAcquireScript,
  readReleaseScript,
  writeAcquireScript,
  writeReleaseScript,
} from '../scripts/read-write.ts';
import type { LockServer } from '../server/server.ts';
import type { ChannelWaiter, Choose } from '../server/wakeups.ts';
import { type CountedKind, CountedLock, type CountedRelease, type CountedReply } from './counted.ts';
import { ReadLock } from './read-lock.ts';

/**
 * A pair of locks. The owner of the write lock may also acquire the read lock, and keep it after releasing the write lock;
 * a reader cannot upgrade. Every acquisition of the read lock has a lease of its own, even if one owner has several.
 */
export class ReadWriteLock {
  /** The lock's name. */
  readonly name: string;
  /** The shared lock. */
  readonly read: CountedLock;
  /** The exclusive lock. */
  readonly write: CountedLock;

  /** @internal */
  constructor(context: LockContext, name: string) {
    this.name = name;
    this.read = new ReadLock(context, readKind(name));
    this.write = new CountedLock(context, writeKind(name));
  }
}

const channelName = (name: string): string => prefixed('redisson_rwlock', name);
const asWriter = (owner: string): string => `${owner}:write`;
const timeoutKey = (name: string, owner: string, hold: number): string =>
  `${suffixed(name, owner)}:rwlock_timeout:${hold}`;

/** Notifies all readers, which can share the lock, and the first writer. */
const chooseReadersAndOneWriter: Choose = (waiters) => {
  const writer = waiters.find((waiter) => !waiter.shared);
  return waiters.filter((waiter) => waiter.shared || waiter === writer);
};

const isReader = (waiter: ChannelWaiter): boolean => waiter.shared;

function readAcquireReply(reply: unknown): CountedReply {
  if (reply === null) return { granted: true };
  return Number(reply) === -2 ? { granted: false, gone: true } : { granted: false, retryInMs: Number(reply) };
}

function readKind(name: string): CountedKind {
  return {
    name,
    id: 'read',
    ordered: false,
    shared: true,
    choose: chooseReadersAndOneWriter,
    // If one reader was granted the lock, others can be too.
    passOn: (granted) => (granted ? isReader : undefined),
    channel: () => channelName(name),
    token: (owner) => owner,
    acquireRequest: ({ owner, target, ttlMs, request }) => ({
      script: readAcquireScript,
      keys: [name, abandonedKey(name, request), timeoutKey(name, owner, target)],
      args: [ttlMs, owner, target, asWriter(owner)],
    }),
    readAcquireReply,
    release: (server, give) => giveRead(server, name, give),
    renewal: (owner, number) => ({
      kind: 'read',
      keys: [name, timeoutKey(name, owner, number)],
      token: owner,
    }),
  };
}

function writeKind(name: string): CountedKind {
  return {
    name,
    id: 'write',
    ordered: false,
    choose: chooseReadersAndOneWriter,
    // A writer that was refused passes its notification on to the readers behind it.
    passOn: (granted) => (granted ? undefined : isReader),
    channel: () => channelName(name),
    token: asWriter,
    acquireRequest: ({ owner, target, ttlMs, request }) => ({
      script: writeAcquireScript,
      keys: [name, abandonedKey(name, request)],
      args: [ttlMs, asWriter(owner), target],
    }),
    readAcquireReply,
    release: (server, give) => giveWrite(server, name, give),
    renewal: (owner) => ({ kind: 'hash', keys: [name], token: asWriter(owner) }),
    keyMayOutliveLease: true, // The writer's read locks may keep it.
  };
}

function giveRead(server: LockServer, name: string, give: CountedRelease): Promise<unknown> {
  const ending = timeoutKey(name, give.owner, give.ending);
  return server.run(
    readReleaseScript,
    [name, channelName(name), abandonedKey(name, give.takenBy), tagged(name), ending, give.requests],
    [...give.once, give.owner, give.target, give.lateMs],
  );
}

function giveWrite(server: LockServer, name: string, give: CountedRelease): Promise<unknown> {
  return server.run(
    writeReleaseScript,
    [name, channelName(name), abandonedKey(name, give.takenBy), tagged(name), give.requests],
    [...give.once, give.ttlMs, asWriter(give.owner), give.target, give.lateMs],
  );
}
