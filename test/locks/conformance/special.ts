/** The cases of fairness, of locks made of locks, of segments and of sessions. */
import { describe, expect } from 'vitest';
import {
  BadConfiguration,
  type HeldLock,
  type Lock,
  LockLost,
  type Locks,
  NotOwner,
} from '../../../locks/index.ts';
import { formsIn } from '../../../locks/kinds/index.ts';
import { until } from '../../support/until.ts';
import { type Bench, channelsOf } from './bench.ts';
import { test } from './conformance-test.ts';

export function orderCases(bench: () => Bench): void {
  const inOrder = formsIn('conformance').filter((form) => form.inOrder);

  describe.each(inOrder)('the line of the $name lock', ({ make, name: form }) => {
    /** How many wait: in a list, or in a sorted set that the holder is in too. */
    const inLine = async (name: string): Promise<number> =>
      form === 'fair'
        ? bench().raw.llen(`redisson_lock_queue:{${name}}`)
        : Math.max(0, (await bench().raw.zcard(`lostlock_queue:{${name}}`)) - 1);

    test('serves waiters in the order of arrival, with one wake-up per release', async () => {
      const sets = [bench().locks({ maxSleepMs: 600_000 }), bench().locks({ maxSleepMs: 600_000 })];
      const name = bench().name();
      const held = await make(sets[0]!, name).acquire();
      const order: number[] = [];
      const waiters: Promise<void>[] = [];
      for (let i = 0; i < 8; i++) {
        const lock: Lock = make(sets[i % 2]!, name);
        waiters.push(lock.using(() => void order.push(i)));
        await until(async () => (await inLine(name)) === i + 1);
      }
      await held.release();
      await Promise.all(waiters);
      expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
      expect(await inLine(name)).toBe(0);
    });

    test('lets only the first waiter take a free lock', async () => {
      const [a, b] = [bench().locks(), bench().locks()];
      const name = bench().name();
      const held = await make(a, name).acquire();
      const waiting = make(b, name).acquire();
      await until(async () => (await inLine(name)) === 1);
      const released = held.release();
      expect(await make(a, name).tryAcquire()).toBeNull();
      await released;
      await (await waiting).release();
    });

    test('drops a waiter that gives up at once, and a dead one after a while', async () => {
      const [a, b] = [bench().locks(), bench().locks({ placeMs: 200 })];
      const dying = bench().locks({ placeMs: 200 });
      const name = bench().name();
      const held = await make(a, name).acquire();
      expect(await make(b, name).tryAcquire({ waitMs: 20 })).toBeNull();
      expect(await inLine(name)).toBe(0);
      const controller = new AbortController();
      const dead = make(dying, name).acquire({ signal: controller.signal, waitMs: 30_000 });
      dead.catch(() => {});
      await until(async () => (await inLine(name)) === 1);
      bench().crash(dying);
      const next = make(b, name).acquire();
      next.catch(() => {}); // If the test fails before it waits for this, its own failure is what counts.
      await until(async () => (await inLine(name)) === 2);
      await held.release();
      await (await next).release();
      controller.abort();
    });
  });

  test('the fair lock drops a queue entry that has lost its score', async () => {
    const locks = bench().locks();
    const name = bench().name();
    await bench().raw.rpush(`redisson_lock_queue:{${name}}`, 'somebody:1');
    const held = await locks.fair(name).acquire({ waitMs: 5000 });
    await held.release();
    expect(await bench().raw.exists(`redisson_lock_queue:{${name}}`)).toBe(0);
  });

  test("many short visits do not carry the fair lock's times into the future", async () => {
    const [a, b] = [bench().locks(), bench().locks({ fairWaitMs: 1000 })];
    const name = bench().name();
    const held = await a.fair(name).acquire({ leaseMs: 60_000 });
    for (let i = 0; i < 20; i++) await b.fair(name).tryAcquire({ waitMs: 2 });
    const waiting = b.fair(name).acquire();
    const timeouts = `redisson_lock_timeout:{${name}}`;
    const [, score] = await until(async () => {
      const rows = await bench().raw.zrange(timeouts, '0', '-1', 'WITHSCORES');
      return rows.length > 0 ? rows : null;
    });
    expect(Number(score) - Date.now()).toBeLessThan(60_000 + 2 * 1000);
    await held.release();
    await (await waiting).release();
  });
}

export function compositeCases(bench: () => Bench): void {
  describe('the multi lock', () => {
    test('takes all of its locks or none, and two clients that want the same locks both get them', async () => {
      const [a, b] = [bench().locks(), bench().locks()];
      const [x, y, z] = [bench().name(), bench().name(), bench().name()];
      const blocked = await b.reentrant(y).acquire();
      const three = a.multi([a.simple(z), a.reentrant(y), a.fair(x)]);
      expect(await three.tryAcquire()).toBeNull();
      await until(async () => (await bench().raw.exists(x, z)) === 0);
      const waiting = three.acquire({ leaseMs: 20_000 });
      await blocked.release();
      const held = await waiting;
      for (const name of [x, y, z]) expect(await bench().raw.pttl(name)).toBeGreaterThan(15_000);
      held.assertHeld();
      await held.release();
      expect(await bench().raw.exists(x, y, z)).toBe(0);
      let inside = 0;
      const work = async (reversed: boolean): Promise<void> => {
        for (let i = 0; i < 10; i++) {
          const pair = [a.simple(x), a.simple(y)];
          await a.multi(reversed ? pair.reverse() : pair).using(async () => {
            expect(++inside).toBe(1);
            await bench().raw.ping();
            inside--;
          });
        }
      };
      await Promise.all([work(false), work(true), work(false), work(true)]);
    });

    test('is lost as soon as one of its locks is lost', async () => {
      const locks = bench().locks({ leaseMs: 200 });
      const [x, y] = [bench().name(), bench().name()];
      const held = await locks.multi([locks.simple(x), locks.simple(y)]).acquire();
      const { signal } = held;
      await bench().raw.del(y);
      await until(() => signal.aborted);
      expect(() => held.assertHeld()).toThrow(LockLost);
      await expect(held.release()).rejects.toThrow(LockLost);
      expect(await bench().raw.exists(x)).toBe(0);
    });
  });

  describe('the segmented lock', () => {
    test('admits as many holders as it has segments, splits large requests and keeps the total', async () => {
      const [a, b] = [bench().locks(), bench().locks()];
      const name = bench().name();
      const stock = a.segmented(name, { segments: 4 });
      expect(await stock.trySetStock(50)).toBe(true);
      expect(await stock.trySetStock(50)).toBe(false);
      const held = await Promise.all([1, 2, 3, 4].map(() => stock.acquire()));
      expect(new Set(held.map(({ segment }) => segment)).size).toBe(4);
      for (const each of held) await each.held.release();
      const portions = await stock.take(30);
      expect(portions!.reduce((sum, { units }) => sum + units, 0)).toBe(30);
      expect(await stock.take(21)).toBeNull();
      expect(await stock.stock()).toBe(20);
      await stock.putBack(portions!);
      const sold = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          (index % 2 ? a : b).segmented(name, { segments: 4 }).take(1 + (index % 3)),
        ),
      );
      const units = sold.flatMap((each) => each ?? []).reduce((sum, portion) => sum + portion.units, 0);
      expect(units + (await stock.stock())).toBe(50);
    });
  });

  test('a second release of any kind rejects with NotOwner', async () => {
    const locks = bench().locks();
    const name = bench().name();
    await locks.semaphore(`${name}:S`).trySetPermits(2);
    await locks.expirablePermits(`${name}:P`).trySetPermits(2);
    const session = bench().isCluster ? undefined : await locks.session();
    const stock = locks.segmented(`${name}:G`, { segments: 2 });
    const all: HeldLock[] = [
      await locks.semaphore(`${name}:S`).acquire(),
      await locks.expirablePermits(`${name}:P`).acquire(),
      await locks.readWrite(`${name}:R`).read.acquire({ owner: 'me' }),
      await locks.readWrite(`${name}:R`).read.acquire({ owner: 'me' }),
      await locks.multi([locks.simple(`${name}:a`), locks.simple(`${name}:b`)]).acquire(),
      ...(session === undefined ? [] : [await session.lock(`${name}:L`).acquire()]),
      (await stock.acquire()).held,
    ];
    for (const held of all) {
      await held.release();
      await expect(held.release()).rejects.toThrow(NotOwner);
      expect(() => held.assertHeld()).toThrow(NotOwner);
      await held[Symbol.asyncDispose]();
    }
    await session?.close();
    expect(await locks.semaphore(`${name}:S`).availablePermits()).toBe(2);
    expect(await locks.expirablePermits(`${name}:P`).availablePermits()).toBe(2);
    const lost = await locks.multi([locks.simple(`${name}:a`), locks.simple(`${name}:b`)]).acquire();
    await bench().raw.del(`${name}:a`);
    await expect(lost.release()).rejects.toThrow(NotOwner);
    await expect(lost.release()).rejects.toThrow(`'${name}:a'`); // The same error as the first release threw.
  });

  describe('sessions', () => {
    /** A lock and its session would need one slot. */
    const refused = (locks: Locks): Promise<void> =>
      expect(locks.session()).rejects.toThrow(BadConfiguration);

    test('a lock lives as long as its session and ends with it at once', async () => {
      const [a, b] = [bench().locks({ leaseMs: 300 }), bench().locks({ maxSleepMs: 600_000 })];
      const name = bench().name();
      if (bench().isCluster) return refused(a);
      const session = await a.session();
      const held = await session.lock(name).acquire();
      expect(await bench().raw.pttl(name)).toBe(-1);
      const { validUntil } = session;
      await until(() => session.validUntil > validUntil + 200);
      held.assertHeld();
      await using other = await b.session();
      expect(await other.lock(name).tryAcquire()).toBeNull();
      const waiting = other.lock(name).acquire();
      await until(async () => (await channelsOf(bench().raw)).length === 1);
      await session.close();
      const next = await waiting;
      expect(() => held.assertHeld()).toThrow(LockLost);
      await next.release();
      expect(await bench().raw.exists(name)).toBe(0);
    });

    test('the locks of a dead session become free, and its holder is notified', async () => {
      const [a, b] = [bench().locks({ leaseMs: 200 }), bench().locks({ leaseMs: 300 })];
      const name = bench().name();
      if (bench().isCluster) return refused(a);
      const session = await a.session();
      const held = await session.lock(name).acquire();
      const { signal } = held;
      await bench().raw.del(session.key);
      await using other = await b.session();
      const next = await other.lock(name).acquire();
      await until(() => signal.aborted);
      await expect(held.release()).rejects.toThrow(LockLost);
      next.assertHeld();
      await next.release();
      await expect(session.lock(name).acquire()).rejects.toThrow(LockLost);
    });
  });
}
