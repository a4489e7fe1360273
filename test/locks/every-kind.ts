/** One way to hold a lock of each kind, for tests of what all kinds must do. */
import type { HeldLock, Locks } from '../../locks/index.ts';
import { formsIn } from '../../locks/kinds/index.ts';

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

/** A hold of each form of lock that the registry has. */
const plain: readonly EveryKind[] = formsIn('releases').map(({ name, open, setUp, primaries, leased }) =>
  kind(
    name,
    async (locks) => {
      await setUp?.(locks, L, 1);
      return (await open(locks, L)).acquire();
    },
    { primaries, leased },
  ),
);

/** One hold of each form, and holds of kinds that are acquired in a way of their own. */
export const everyKind: readonly EveryKind[] = [
  ...plain,
  kind('reentrant of a named owner', (locks) => locks.reentrant(L).acquire({ owner: 'me' })),
  kind('reentrant, held twice', secondHold, { inner: true }),
  kind('read of a named owner', (locks) => locks.readWrite(L).read.acquire({ owner: 'me' })),
  kind('segmented', async (locks) => (await locks.segmented(L, { segments: 1 }).acquire()).held),
];
