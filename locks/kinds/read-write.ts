/** The read-write lock, on the keys of Redisson's RReadWriteLock: readers share, a writer excludes all but itself. */
import type { Core } from '../holding/core.ts';
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
 * A pair of locks. The writer may also read (and keep reading when it stops writing); a reader may not begin to write.
 * Each read hold has a lease of its own, also where one owner has several.
 */
export class ReadWriteLock {
  readonly name: string;
  readonly read: CountedLock;
  readonly write: CountedLock;

  constructor(core: Core, name: string) {
    this.name = name;
    this.read = new ReadLock(core, readKind(name));
    this.write = new CountedLock(core, writeKind(name));
  }
}

const channelName = (name: string): string => prefixed('redisson_rwlock', name);
const asWriter = (owner: string): string => `${owner}:write`;
const timeoutKey = (name: string, owner: string, hold: number): string =>
  `${suffixed(name, owner)}:rwlock_timeout:${hold}`;

/** Whoever waits may be of either kind: all readers can come in together, but only the first of the writers. */
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
    // Where one reader got in, others may.
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
    // A writer that must go on waiting leaves the wake-up to the readers behind it.
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
    keyMayOutliveLease: true, // By the reads of the writer.
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
