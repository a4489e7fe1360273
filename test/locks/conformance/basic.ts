/** The cases that hold for every exclusive lock: exclusion, leases, waiting, giving up, loss. */
import type { Redis } from 'ioredis';
import { describe, expect } from 'vitest';
import {
  LockLost,
  type Locks,
  LocksClosed,
  LockTimeout,
  NotOwner,
  ServerRefused,
} from '../../../locks/index.ts';
import { formsIn, type ListedForm } from '../../../locks/kinds/index.ts';
import { sampleOf } from '../../support/long.ts';
import { until } from '../../support/until.ts';
import { type Bench, channelsOf } from './bench.ts';
import { test } from './conformance-test.ts';

/** How often each of twelve contenders takes the lock. */
const TURNS = sampleOf(10, 2);

type Kind = Pick<Required<ListedForm>, 'make' | 'leaseKey'>;

/** Whether the keys of the kind show that it is free: there is none, or nobody is in it. */
async function isFree(raw: Redis, key: string): Promise<boolean> {
  const isSet = (await raw.type(key)) === 'zset';
  return isSet ? (await raw.zcard(key)) === 0 : (await raw.exists(key)) === 0;
}

/** Milliseconds until the lease ends: a TTL, or the smallest score of a sorted set. */
async function leaseOf(raw: Redis, key: string): Promise<number> {
  if ((await raw.type(key)) !== 'zset') return raw.pttl(key);
  const [, score] = await raw.zrange(key, '0', '0', 'WITHSCORES');
  const [seconds, micros] = await raw.time();
  return Number(score) - Number(seconds) * 1000 - Math.floor(Number(micros) / 1000);
}

export function basicCases(bench: () => Bench): void {
  describe.each(formsIn('conformance'))('the $name lock', ({ make, key = String, leaseKey = key }) => {
    const kind = { make, leaseKey };
    exclusionCases(bench, kind);
    leaseCases(bench, kind);
    givingUpCases(bench, kind);
  });
}

function exclusionCases(bench: () => Bench, { make, leaseKey }: Kind): void {
  test('excludes others until it is released, and leaves nothing behind', async () => {
    const [a, b] = [bench().locks(), bench().locks()];
    const name = bench().name();
    const held = await make(a, name).acquire();
    expect(held.token).not.toBe('');
    expect(await make(b, name).tryAcquire()).toBeNull();
    expect(await make(a, name).tryAcquire()).toBeNull();
    await held.release();
    const next = await make(b, name).tryAcquire();
    expect(next).not.toBeNull();
    await next!.release();
    a.close();
    expect(await isFree(bench().raw, leaseKey(name))).toBe(true);
    expect(await channelsOf(bench().raw)).toEqual([]);
  });

  test('gives the lock to a waiter as soon as it is released', async () => {
    const [a, b] = [bench().locks(), bench().locks({ maxSleepMs: 600_000 })];
    const name = bench().name();
    const held = await make(a, name).acquire({ leaseMs: 600_000 });
    const waiting = make(b, name).acquire();
    await until(async () => (await channelsOf(bench().raw)).length >= 1);
    await held.release();
    const next = await waiting; // By message: both the lease and the next look are ten minutes away.
    expect(next.name).toBe(name);
    await next.release();
    await until(async () => (await channelsOf(bench().raw)).length === 0);
  });

  test('a waiter asks again at once when its subscriber connection broke', async () => {
    const [a, b] = [bench().locks(), bench().locks({ maxSleepMs: 600_000 })];
    const name = bench().name();
    const held = await make(a, name).acquire({ leaseMs: 600_000 });
    const waiting = make(b, name).acquire();
    await until(async () => (await channelsOf(bench().raw)).length >= 1);
    await bench().raw.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await held.release(); // The message reaches no subscriber.
    const next = await waiting;
    expect(next.name).toBe(name);
    await next.release();
  });

  test('never has two holders under contention, and every waiter gets its turn', async () => {
    const sets = [bench().locks(), bench().locks(), bench().locks()];
    const name = bench().name();
    let inside = 0;
    let turns = 0;
    const work = async (locks: Locks): Promise<void> => {
      for (let i = 0; i < TURNS; i++) {
        await make(locks, name).using(async (held) => {
          expect(++inside).toBe(1);
          await bench().raw.ping();
          held.assertHeld();
          inside--;
          turns++;
        });
      }
    };
    await Promise.all(sets.flatMap((locks) => [work(locks), work(locks), work(locks), work(locks)]));
    expect(turns).toBe(12 * TURNS);
    expect(await isFree(bench().raw, leaseKey(name))).toBe(true);
  });

  test('a second release finds nothing to give back', async () => {
    const [a, b] = [bench().locks(), bench().locks()];
    const name = bench().name();
    const held = await make(a, name).acquire();
    const [first, second] = await Promise.allSettled([held.release(), held.release()]);
    expect(first.status).toBe('fulfilled');
    expect((second as PromiseRejectedResult).reason).toBeInstanceOf(NotOwner);
    const next = await make(b, name).acquire();
    await expect(held.release()).rejects.toThrow(NotOwner);
    next.assertHeld(); // The hold of the next owner stays.
    expect(await make(a, name).tryAcquire()).toBeNull();
    await next.release();
    // The end of a block and of using() releases what was not released before.
    await make(a, name).using(async (inner) => {
      await using again = inner;
      await again.release();
      await expect(inner.release()).rejects.toThrow(NotOwner);
    });
    expect(await isFree(bench().raw, leaseKey(name))).toBe(true);
  });

  test('is released at the end of `await using` and of using, even when the work throws', async () => {
    const locks = bench().locks();
    const name = bench().name();
    {
      await using held = await make(locks, name).acquire();
      held.assertHeld();
    }
    expect(await isFree(bench().raw, leaseKey(name))).toBe(true);
    const thrown = make(locks, name).using(async () => {
      throw new Error('the work failed');
    });
    await expect(thrown).rejects.toThrow('the work failed');
    expect(await isFree(bench().raw, leaseKey(name))).toBe(true);
  });
}

function leaseCases(bench: () => Bench, { make, leaseKey }: Kind): void {
  test('an explicit lease ends by itself, and the holder learns it from its own clock', async () => {
    const [a, b] = [bench().locks(), bench().locks()];
    const name = bench().name();
    const held = await make(a, name).acquire({ leaseMs: 150 });
    const lost: string[] = [];
    a.on('lost', (event) => lost.push(event.lock));
    const { signal } = held;
    const next = await make(b, name).acquire();
    // assertHeld() reads the clock at once; the signal is a timer, which may be late on a busy machine.
    expect(() => held.assertHeld()).toThrow(LockLost);
    await until(() => signal.aborted, { what: 'the signal' });
    expect(signal.reason).toBeInstanceOf(LockLost);
    await expect(held.extend()).rejects.toThrow(LockLost);
    await expect(held.release()).rejects.toThrow(LockLost);
    expect(lost).toEqual([name]);
    next.assertHeld(); // The late release has not touched it.
    await next.release();
  });

  test('the default lease is renewed while the lock is held, and not afterwards', async () => {
    const locks = bench().locks({ leaseMs: 1000 });
    const name = bench().name();
    const held = await make(locks, name).acquire();
    const first = held.validUntil;
    await until(() => held.validUntil > first);
    held.assertHeld();
    expect(await leaseOf(bench().raw, leaseKey(name))).toBeGreaterThan(0);
    await held.release();
    expect(await isFree(bench().raw, leaseKey(name))).toBe(true);
    expect(() => held.assertHeld()).toThrow(NotOwner);
  });

  test('extend lengthens an explicit lease and never shortens it', async () => {
    const locks = bench().locks();
    const name = bench().name();
    const held = await make(locks, name).acquire({ leaseMs: 5000 });
    await held.extend(60_000);
    expect(await leaseOf(bench().raw, leaseKey(name))).toBeGreaterThan(50_000);
    const { validUntil } = held;
    await held.extend(1000);
    expect(held.validUntil).toBe(validUntil);
    expect(await leaseOf(bench().raw, leaseKey(name))).toBeGreaterThan(50_000);
    await held.release();
  });

  test('the watchdog and release both report a lock that was deleted', async () => {
    const locks = bench().locks({ leaseMs: 300 });
    const name = bench().name();
    const held = await make(locks, name).acquire();
    const other = await make(locks, `${name}:other`).acquire();
    await bench().raw.del(leaseKey(name), name);
    await until(() => held.signal.aborted);
    await expect(held.release()).rejects.toThrow(LockLost);
    other.assertHeld(); // Renewed in the same script, and not disturbed.
    await other.release();
    const long = await make(locks, name).acquire({ leaseMs: 60_000 });
    await bench().raw.del(leaseKey(name), name);
    await expect(long.release()).rejects.toThrow(NotOwner);
  });

  test('the lock delay keeps the lock closed after its lease ran out, and not after a release', async () => {
    const [a, b] = [bench().locks({ lockDelayMs: 10_000 }), bench().locks()];
    const name = bench().name();
    const held = await make(a, name).acquire({ leaseMs: 100 });
    await until(() => held.signal.aborted);
    expect(await make(b, name).tryAcquire()).toBeNull();
    await bench().raw.del(leaseKey(name), name);
    const clean = await make(a, name).acquire({ leaseMs: 10_000 });
    await clean.release();
    expect(await make(b, name).tryAcquire()).not.toBeNull();
  });
}

function givingUpCases(bench: () => Bench, { make, leaseKey }: Kind): void {
  test('gives up after waitMs with a typed error and leaves no trace', async () => {
    const [a, b] = [bench().locks(), bench().locks()];
    const name = bench().name();
    const held = await make(a, name).acquire();
    const before = await bench().raw.keys('*');
    await expect(make(b, name).acquire({ waitMs: 60 })).rejects.toThrow(LockTimeout);
    expect(await make(b, name).tryAcquire({ waitMs: 30 })).toBeNull();
    await until(async () => (await channelsOf(bench().raw)).length === 0);
    expect(await bench().raw.keys('*')).toEqual(before);
    await held.release();
  });

  test('gives up when its signal aborts, also before it began', async () => {
    const [a, b] = [bench().locks(), bench().locks()];
    const name = bench().name();
    const held = await make(a, name).acquire();
    const controller = new AbortController();
    const waiting = make(b, name).acquire({ signal: controller.signal });
    await until(async () => (await channelsOf(bench().raw)).length >= 1);
    controller.abort(new Error('no longer wanted'));
    await expect(waiting).rejects.toThrow('no longer wanted');
    await expect(make(b, name).acquire({ signal: controller.signal })).rejects.toThrow('no longer wanted');
    await held.release();
    // A request under way may have taken it for a moment.
    expect(await make(b, name).tryAcquire({ waitMs: 10_000 })).not.toBeNull();
  });

  test('a waiter that gives up passes its turn on', async () => {
    const [a, b] = [bench().locks(), bench().locks({ maxSleepMs: 600_000 })];
    const name = bench().name();
    const held = await make(a, name).acquire({ leaseMs: 600_000 });
    const controller = new AbortController();
    const first = make(b, name).acquire({ signal: controller.signal });
    const second = make(b, name).acquire();
    await until(async () => (await channelsOf(bench().raw)).length >= 1);
    const released = held.release();
    controller.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    await released;
    await (await second).release();
  });

  test('closing the set rejects its waiters and all later acquisitions', async () => {
    const [a, b] = [bench().locks(), bench().locks({ maxSleepMs: 600_000 })];
    const name = bench().name();
    const held = await make(a, name).acquire();
    const waiting = make(b, name).acquire();
    await until(async () => (await channelsOf(bench().raw)).length >= 1);
    b.close();
    await expect(waiting).rejects.toThrow(LocksClosed);
    await expect(make(b, name).tryAcquire()).rejects.toThrow(LocksClosed);
    await held.release();
  });

  test('a key of another type gives a typed error and stays unchanged', async () => {
    const locks = bench().locks();
    const name = bench().name();
    await bench().raw.rpush(leaseKey(name), 'data');
    await bench().raw.rpush(`lostlock_queue:{${name}}`, 'data');
    await expect(make(locks, name).acquire()).rejects.toThrow(ServerRefused);
    expect(await bench().raw.lrange(leaseKey(name), 0, -1)).toEqual(['data']);
  });
}
