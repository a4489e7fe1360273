/** Answers what tests ask about locks: the holders, the clients that believe they hold one, and the overlaps of two holders. */
import { badOption } from '../../base/options.ts';
import type { TimelineHold } from '../../page/format.ts';
import type { LockAccount } from './account.ts';
import { believedUntil } from './overlaps.ts';
import { lockName } from './pools.ts';

/** A client that holds a lock, or believes so. Times are in milliseconds since the run began. */
export interface LockHolder {
  /** The name of the lock. */
  readonly lock: string;
  /** The name of the client. */
  readonly client: string;
  /** What the client wrote into the key, so that it finds its own grant again; undefined for a semaphore, which has no tokens. */
  readonly token: string | undefined;
  /** When the client learned that it has the lock; if it does not know, when the server granted it. */
  readonly from: number;
  /** When the lease ends by the client's own count; null for a lock without an end, and for a client that does not know. */
  readonly until: number | null;
  /** True if the client believes that it holds the lock. If not, it has not received the grant. */
  readonly believes: boolean;
  /** True if the grant still stands on the servers. If not, others can get the lock. */
  readonly granted: boolean;
  /** True if others may hold it at the same time: readers of a read-write lock, and permits of a pool. */
  readonly shared: boolean;
  /** True if the client said that it is inside (`enter`), and has not left. */
  readonly inside?: true;
}

/** A time in which two clients believed that they held the same lock. Times are in milliseconds since the run began. */
export interface LockOverlap {
  /** The name of the lock. */
  readonly lock: string;
  /** The two clients, in the order of their grants. */
  readonly clients: readonly [string, string];
  /** When the second client believed it too. */
  readonly from: number;
  /** When one of them believed it no more, or will. */
  readonly to: number;
  /** True if both said that they are inside (`enter`), which is more than that they believe it. */
  readonly inside?: true;
}

/** Throws TypeError unless the option is a list of patterns. */
export function checkLocks(locks: unknown): void {
  const isList =
    Array.isArray(locks) && locks.every((each) => typeof each === 'string' && !/^!?$/.test(each));
  if (!isList)
    throw badOption(
      'locks',
      locks,
      "a list of patterns such as 'stock:*', or '!cache:*' for keys that are no locks",
    );
}

/** The clients that hold the lock, or believe so, in the order of their grants. @param now in microseconds */
export function holdersOf({ holds, tenures }: LockAccount, key: string, now: number): LockHolder[] {
  const isLock = (lock: string): boolean => lock === key || lock === lockName(key);
  const standing = tenures.filter(({ lock, end }) => isLock(lock) && end === undefined);
  const known = new Set<(typeof standing)[number]>();
  const believers = holds.filter(
    (hold) =>
      hold.kind === 'lock' && isLock(hold.key) && hold.to === null && believedUntil(hold, Infinity) > now,
  );
  const found = believers.map((hold): LockHolder => {
    const { client, key: lock, from, lease, shared = false } = hold;
    const own = tenures.filter((each) => each.client === client && each.lock === lock);
    const stands = own.find((each) => each.end === undefined && !known.has(each));
    if (stands !== undefined) known.add(stands);
    const { holder } = stands ?? own.findLast((each) => each.told !== null && each.told <= now) ?? {};
    return {
      ...{ lock, client, token: holder },
      ...{ from: from / 1000, until: lease === null ? null : lease / 1000 },
      ...{ believes: true, granted: stands !== undefined, shared },
    };
  });
  for (const tenure of standing) {
    const { lock, client, holder, from, shared, restored } = tenure;
    // Several primaries grant one lock, and a client may hold several permits.
    const isOfBeliever = !restored && found.some((each) => each.client === client && each.token === holder);
    if (known.has(tenure) || isOfBeliever) continue;
    found.push({
      ...{ lock, client, token: holder, from: from / 1000, until: null },
      ...{ believes: false, granted: true, shared },
    });
  }
  return withVisitors(found, holds, isLock).sort((a, b) => a.from - b.from);
}

/** The holders, with the clients that are inside: one that believes or has a grant is the same holder. */
function withVisitors(
  found: readonly LockHolder[],
  holds: readonly TimelineHold[],
  isLock: (lock: string) => boolean,
): LockHolder[] {
  const inside = holds.filter(({ kind, key, to }) => kind === 'visit' && isLock(key) && to === null);
  const visitors = new Set(inside.map(({ client }) => client));
  const holders = found.map(
    (each): LockHolder => (visitors.has(each.client) ? { ...each, inside: true } : each),
  );
  for (const { client, key: lock, from, shared = false } of inside) {
    if (holders.some((each) => each.client === client)) continue;
    const entered = { lock, client, token: undefined, from: from / 1000, until: null, shared };
    holders.push({ ...entered, believes: true, granted: false, inside: true });
  }
  return holders;
}

/** The times in which two clients believed that they held the same lock, or were inside it, in their order. */
export function overlapsIn({ overlaps, holds }: LockAccount): LockOverlap[] {
  const visits = holds.filter(({ kind }) => kind === 'visit');
  return overlaps.map(({ key, clients, from, to }) => ({
    ...{ lock: key, clients, from: from / 1000, to: to / 1000 },
    ...(visits.some((visit) => visit.key === key && visit.from === from) && { inside: true as const }),
  }));
}
