/** The fair lock: first come, first served among live waiters, on the keys of Redisson's fair lock. */
import type { LockContext } from '../holding/context.ts';
import { abandonedKey, prefixed, suffixed } from '../keys.ts';
import { check, text } from '../options.ts';
import { fairAcquireScript, fairLeaveScript, fairReleaseScript } from '../scripts/fair.ts';
import type { LockServer } from '../server/server.ts';
import { type CountedKind, CountedLock, type CountedRelease } from './counted.ts';
import { lockChannelName } from './reentrant.ts';

/**
 * The queue, the times at which waiters are presumed dead, and the times until which our own waiters keep their places.
 */
const lineKeys = (name: string): string[] => [
  prefixed('redisson_lock_queue', name),
  prefixed('redisson_lock_timeout', name),
  suffixed(name, 'lostlock_shown_up'),
];

/** Granted in order of arrival. Each waiter listens on a channel of its own, so a release notifies one waiter. */
export class FairLock extends CountedLock {
  /** @internal */
  constructor(context: LockContext, name: string) {
    super(context, fairKind(context, name));
  }
}

function fairKind(context: LockContext, name: string): CountedKind {
  check('name', name, text);
  const line = lineKeys(name);
  return {
    name,
    id: 'lock',
    // The queue is on the server; this process keeps none.
    ordered: false,
    channel: (owner) => `${lockChannelName(name)}:${owner}`,
    token: (owner) => owner,
    // A waiter must ask in time to keep its place, even without a notification.
    longestSleepMs: Math.max(1, Math.floor(context.placeMs / 3)),
    acquireRequest: ({ owner, target, ttlMs, request, waits }) => ({
      script: fairAcquireScript,
      keys: [name, ...line, abandonedKey(name, request)],
      args: [ttlMs, owner, target, context.fairWaitMs, waits ? context.placeMs : 0],
    }),
    readAcquireReply: (reply) => {
      if (reply === null) return { granted: true };
      return Number(reply) === -2
        ? { granted: false, gone: true }
        : { granted: false, retryInMs: Number(reply) };
    },
    release: (server, give) => giveFair(server, name, line, give),
    renewal: (owner) => ({ kind: 'hash', keys: [name], token: owner }),
    leaveQueue: async (server, owner) => {
      const keys = [name, ...line, lockChannelName(name)];
      await server.run(fairLeaveScript, keys, [owner, context.fairWaitMs]);
    },
  };
}

function giveFair(server: LockServer, name: string, line: string[], give: CountedRelease): Promise<unknown> {
  return server.run(
    fairReleaseScript,
    [name, ...line, abandonedKey(name, give.takenBy), lockChannelName(name), give.requests],
    [...give.once, give.ttlMs, give.owner, give.target, give.lateMs],
  );
}
