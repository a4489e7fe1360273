/** A waiter whose first replies are lost or come too late gets the lock as soon as the replies are in time. */
import { expect, test } from 'vitest';
import type { HeldLock, Lock, LockClient, Locks } from '../../../locks/index.ts';
import { L, play } from '../quiet.ts';

const LEASE_MS = 100;

const kinds: Record<string, (locks: Locks) => Promise<Lock<HeldLock>>> = {
  simple: async (locks) => locks.simple(L),
  reentrant: async (locks) => locks.reentrant(L),
  fenced: async (locks) => locks.fenced(L),
  fair: async (locks) => locks.fair(L),
  queue: async (locks) => locks.queue(L),
  'non-reentrant': async (locks) => locks.nonReentrant(L),
  read: async (locks) => locks.readWrite(L).read,
  write: async (locks) => locks.readWrite(L).write,
  'expirable permits': async (locks) => {
    await locks.expirablePermits(L).trySetPermits(1);
    return locks.expirablePermits(L);
  },
};

/** Commands that acquire or release. */
const ASKS = /^(evalsha|eval|set)$/i;

test.each(Object.entries(kinds))(
  '%s: a waiter with one lost reply and one that came after the lease gets the lock from the third',
  (_kind, make) =>
    play(async ({ pair, locks }) => {
      let fails = false;
      let asked = 0;
      const dress = (client: LockClient): LockClient => ({
        ...client,
        async send(command) {
          const reply = await client.send(command);
          if (!fails || !ASKS.test(command[0] ?? '')) return reply;
          asked++;
          if (asked === 1) throw new Error('the connection was lost');
          if (asked === 2) await pair.advance(3 * LEASE_MS);
          return reply;
        },
      });
      const lock = await make(locks('A', { maxSleepMs: 50 }, dress));
      fails = true;
      const held = await lock.acquire({ owner: 'me', leaseMs: LEASE_MS, waitMs: 5000 });
      expect(asked).toBeGreaterThan(2);
      held.assertHeld();
      fails = false;
      await held.release();
      const again = await lock.acquire({ owner: 'me', waitMs: 1000 });
      await again.release();
    }),
);
