/** One way to hold a lock of each kind, for tests of what all kinds must do. */
import type { HeldLock, Locks } from '../../locks/index.ts';

export const L = 'lock';

export interface EveryKind {
  readonly name: string;
  acquire(locks: Locks): Promise<HeldLock>;
  /** How many independent servers it needs. */
  readonly primaries: number;
  /** Whether its holds have a lease. */
  readonly leased: boolean;
  /** Whether the owner has another hold, which keeps the lock. */
  readonly inner: boolean;
}

const kind = (
  name: string,
  acquire: (locks: Locks) => Promise<HeldLock>,
  { primaries = 1, leased = true, inner = false } = {},
): EveryKind => ({ name, acquire, primaries, leased, inner });

async function secondHold(locks: Locks): Promise<HeldLock> {
  const lock = locks.reentrant(L);
  await lock.acquire({ owner: 'me' });
  return lock.acquire({ owner: 'me' });
}

async function permit(locks: Locks): Promise<HeldLock> {
  await locks.expirablePermits(L).trySetPermits(1);
  return locks.expirablePermits(L).acquire();
}

async function unleasedPermit(locks: Locks): Promise<HeldLock> {
  await locks.semaphore(L).trySetPermits(1);
  return locks.semaphore(L).acquire();
}

export const everyKind: readonly EveryKind[] = [
  kind('simple', (locks) => locks.simple(L).acquire()),
  kind('reentrant', (locks) => locks.reentrant(L).acquire()),
  kind('reentrant of a named owner', (locks) => locks.reentrant(L).acquire({ owner: 'me' })),
  kind('reentrant, held twice', secondHold, { inner: true }),
  kind('fenced', (locks) => locks.fenced(L).acquire()),
  kind('fair', (locks) => locks.fair(L).acquire()),
  kind('queue', (locks) => locks.queue(L).acquire()),
  kind('non-reentrant', (locks) => locks.nonReentrant(L).acquire()),
  kind('read', (locks) => locks.readWrite(L).read.acquire()),
  kind('read of a named owner', (locks) => locks.readWrite(L).read.acquire({ owner: 'me' })),
  kind('write', (locks) => locks.readWrite(L).write.acquire()),
  kind('multi', (locks) => locks.multi([locks.simple(L), locks.reentrant('other')]).acquire()),
  kind('redlock', (locks) => locks.redlock(L).acquire(), { primaries: 3 }),
  kind('expirable permits', permit),
  kind('semaphore', unleasedPermit, { leased: false }),
  kind('segmented', async (locks) => (await locks.segmented(L, { segments: 1 }).acquire()).held),
  kind('session', async (locks) => (await locks.session()).lock(L).acquire(), { leased: false }),
];
