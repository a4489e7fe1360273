/** The locks on a real primary with a real replica behind a real redis-sentinel, through real failovers. */
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocks, type Locks, type LocksOptions } from '../../../locks/index.ts';
import { formsIn, type ListedForm } from '../../../locks/kinds/index.ts';
import { hasSentinel, type SentinelSet, startSentinelSet } from '../../support/redis-sentinel.ts';
import { until } from '../../support/until.ts';
import { channelsOf } from './bench.ts';
import { lockConformance } from './conformance.ts';

/** After so many cases of the conformance suite the replica is promoted. */
const FAILOVER_AT = 40;

describe.skipIf(!hasSentinel)('locks (needs redis-server and redis-sentinel)', () => {
  lockConformance('on redis-server behind redis-sentinel, with a failover in the middle', async () => {
    const set = await startSentinelSet(60_000);
    const clients: Redis[] = [];
    let calls = 0;
    return {
      client: () => {
        const redis = set.client();
        clients.push(redis);
        return redis;
      },
      run: async (body) => {
        if (++calls === FAILOVER_AT) {
          await set.failover();
          for (const redis of clients) if (redis.status !== 'end') await onPrimary(redis);
        }
        await body();
      },
      stop: () => set.stop(),
    };
  });
});

/** Resolves when the client has found the new primary. */
async function onPrimary(redis: Redis): Promise<void> {
  const there = (): Promise<boolean> =>
    redis.role().then(
      (role) => (role as unknown[])[0] === 'master',
      () => false,
    );
  await until(there, { what: 'the new primary', limitMs: 30_000 });
}

describe.skipIf(!hasSentinel)('a real failover (needs redis-server and redis-sentinel)', () => {
  let set: SentinelSet;
  const open: { locks: Locks; redis: Redis }[] = [];
  let attempts = 0;

  beforeAll(async () => {
    set = await startSentinelSet(3000);
  });
  afterAll(async () => {
    for (const { locks, redis } of open) {
      locks.close();
      redis.disconnect();
    }
    await set?.stop();
  });

  function party(options: LocksOptions = {}): Locks {
    const redis = set.client();
    const locks = createLocks(redis, { requestTimeoutMs: 500, ...options });
    open.push({ locks, redis });
    return locks;
  }

  /** Each kind has a holder and a waiter while the primary changes; the waiter gets the lock when the holder releases it. */
  async function through(change: () => Promise<void>): Promise<void> {
    // Names of its own, because an attempt that failed may still hold its locks.
    const attempt = ++attempts;
    const kinds = formsIn('failover');
    const lockOf = (locks: Locks, { name, make }: ListedForm) => make(locks, `${name}:${attempt}`);
    const [a, b] = [
      party({ replicas: 1, requestTimeoutMs: 3000 }),
      party({ maxSleepMs: 600_000, placeMs: 600_000 }),
    ];
    const held = await Promise.all(kinds.map((kind) => lockOf(a, kind).acquire()));
    const waiting = kinds.map((kind) => lockOf(b, kind).acquire());
    const looker = set.client();
    const told = async (): Promise<boolean> => {
      const channels = await channelsOf(looker);
      return channels.filter((each) => each.includes(`:${attempt}`)).length >= kinds.length;
    };
    await until(told, { what: 'the waiters', limitMs: 30_000 });
    await change();
    await onPrimary(looker);
    for (const each of held) each.assertHeld();
    for (const kind of kinds) expect(await lockOf(party(), kind).tryAcquire(), kind.name).toBeNull();
    for (const each of held) await each.release();
    for (const each of await Promise.all(waiting)) {
      each.assertHeld();
      await each.release();
    }
    looker.disconnect();
  }

  test('locks that had reached the replica survive SENTINEL FAILOVER, and their waiters are woken', () =>
    through(() => set.failover()));

  test('locks that had reached the replica survive the death of the primary, and their waiters are woken', () =>
    through(() => set.killPrimary()));
});
