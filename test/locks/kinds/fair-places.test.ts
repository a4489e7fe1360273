/** Waiters of the fair lock that are gone: they lose their places soon, however long the holder keeps the lock. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import { L } from '../every-kind.ts';
import { inLab } from '../failures/lab.ts';

const LEASE_MS = 30_000;

test('a waiter that is gone loses its place, even if the holder works for longer than a waiter is presumed alive', () =>
  inLab(1, async (lab) => {
    const options = { leaseMs: LEASE_MS, fairWaitMs: 60_000 };
    const locks = await lab.locks('A', options);
    const gone = await lab.locks('B', options);
    const other = await lab.locks('C', options);
    const held = await lab.as('A', () => locks.fair(L).acquire());
    const waiting = lab.as('B', () => gone.fair(L).acquire({ waitMs: 20_000 })).catch(() => {});
    await lab.advance(1000);
    const [primary] = lab.sets.map((set) => set.primary.name);
    lab.pair.world.network.partition(['B'], [primary!]);
    await lab.advance(65_000);
    await lab.as('A', () => held.release());
    const next = await lab.as('C', () => other.fair(L).tryAcquire());
    expect(next).not.toBeNull();
    await lab.as('C', () => next!.release());
    for (const each of [locks, gone, other]) each.close();
    await waiting;
  }));
