/** The cases of locks that more than one may hold, or the same owner more than once. */
import { describe, expect } from 'vitest';
import { type Lock, LockLost, LockTimeout, NotOwner, NotSetUp } from '../../../locks/index.ts';
import { formsIn } from '../../../locks/kinds/index.ts';
import { until } from '../../support/until.ts';
import { type Bench, channelsOf } from './bench.ts';
import { test } from './conformance-test.ts';

const channelCount = async ({ raw }: Bench): Promise<number> => (await channelsOf(raw)).length;

export function reentryCases(bench: () => Bench): void {
  describe.each(formsIn('re-entry'))('re-entry of the $name lock', ({ make }) => {
    test('one owner acquires the lock several times, and frees it with as many releases', async () => {
      const [a, b] = [bench().locks(), bench().locks()];
      const name = bench().name();
      const lock = make(a, name);
      const first = await lock.acquire({ owner: 'me' });
      const second = await lock.acquire({ owner: 'me' });
      expect(await bench().raw.hget(name, first.owner)).toBe('2');
      expect(await lock.tryAcquire({ owner: 'another' })).toBeNull();
      await first.release();
      expect(await bench().raw.hvals(name)).toEqual(['1']);
      expect(await make(b, name).tryAcquire()).toBeNull();
      second.assertHeld();
      await second.release();
      expect(await bench().raw.exists(name)).toBe(0);
    });

    test('using and run set an owner for their async context; outside, each acquisition is an owner of its own', async () => {
      const locks = bench().locks();
      const name = bench().name();
      const lock: Lock = make(locks, name);
      await lock.using(async (outer) => {
        await lock.using({ waitMs: 0 }, async (inner) => expect(inner.owner).toBe(outer.owner));
        expect(await bench().raw.hvals(name)).toEqual(['1']);
        await locks.run(async () => expect(await lock.tryAcquire()).toBeNull());
      });
      const held = await lock.acquire();
      expect(await lock.tryAcquire()).toBeNull();
      await held.release();
    });

    test('entering again never shortens the lease', async () => {
      const lock = make(bench().locks(), bench().name());
      const outer = await lock.acquire({ owner: 'me', leaseMs: 60_000 });
      const inner = await lock.acquire({ owner: 'me', leaseMs: 1000 });
      expect(await bench().raw.pttl(lock.name)).toBeGreaterThan(50_000);
      await inner.release();
      expect(await bench().raw.pttl(lock.name)).toBeGreaterThan(50_000);
      await outer.release();
    });

    test('with a short and a long lease, the lock lasts for the lease of the hold that remains', async () => {
      for (const which of [0, 1]) {
        const lock = make(bench().locks(), bench().name());
        const holds = [
          await lock.acquire({ owner: 'me', leaseMs: 5000 }),
          await lock.acquire({ owner: 'me', leaseMs: 60_000 }),
        ];
        await holds.splice(which, 1)[0]!.release();
        expect(await bench().raw.pttl(lock.name)).toBeGreaterThan(50_000);
        expect(holds[0]!.validUntil - Date.now()).toBeGreaterThan(50_000);
        await holds[0]!.release();
      }
    });

    test('a hold that was lost is not revived by acquiring the lock again', async () => {
      const lock = make(bench().locks(), bench().name());
      const outer = await lock.acquire({ owner: 'me' });
      await bench().raw.del(lock.name);
      const again = await lock.acquire({ owner: 'me' });
      expect(() => outer.assertHeld()).toThrow(LockLost);
      await expect(outer.release()).rejects.toThrow(LockLost);
      expect(await bench().raw.hvals(lock.name)).toEqual(['1']);
      again.assertHeld();
      await again.release();
    });
  });

  test('every grant of the fenced lock has a greater fence, and re-entry keeps the same one', async () => {
    const [a, b] = [bench().locks(), bench().locks()];
    const name = bench().name();
    let last = 0;
    for (const locks of [a, b, a]) {
      await locks.fenced(name).using({ owner: 'me' }, async (held) => {
        expect(held.fence).toBeGreaterThan(last);
        last = held.fence!;
        await locks.fenced(name).using({ owner: 'me' }, (inner) => expect(inner.fence).toBe(last));
      });
    }
    await bench().raw.set(`redisson_lock_token:{${name}}`, '1'); // As after a failover that lost the counter.
    const plain = await a.fenced(name).acquire();
    expect(plain.fence).toBe(2);
    await plain.release();
    const held = await a.fenced(name, { fence: 'clock' }).acquire();
    const [seconds] = await bench().raw.time();
    expect(held.fence).toBeGreaterThan((Number(seconds) - 100) * 1e6);
    await held.release();
  });
}

export function readWriteCases(bench: () => Bench): void {
  describe('the read-write lock', () => {
    test('readers share, a writer waits for the last of them, and readers for the writer', async () => {
      const [a, b] = [bench().locks(), bench().locks({ maxSleepMs: 600_000 })];
      const name = bench().name();
      const one = await a.readWrite(name).read.acquire();
      const two = await b.readWrite(name).read.acquire();
      expect(await b.readWrite(name).write.tryAcquire()).toBeNull();
      const writing = b.readWrite(name).write.acquire();
      await until(async () => (await channelCount(bench())) === 1);
      await one.release();
      expect(await bench().raw.hget(name, 'mode')).toBe('read');
      await two.release();
      const writer = await writing;
      const reading = Promise.all([1, 2, 3].map(() => b.readWrite(name).read.acquire()));
      expect(await a.readWrite(name).read.tryAcquire()).toBeNull();
      await until(async () => (await channelCount(bench())) === 1);
      await writer.release();
      const readers = await reading;
      expect(await bench().raw.hlen(name)).toBe(4);
      for (const reader of readers) await reader.release();
      expect(await bench().raw.keys(`*${name}*rwlock*`)).toEqual([]);
      expect(await bench().raw.exists(name)).toBe(0);
    });

    test('the writer may read and keep reading after it stops writing; a reader may not start to write', async () => {
      const [a, b] = [bench().locks(), bench().locks()];
      const mine = a.readWrite(bench().name());
      const write = await mine.write.acquire({ owner: 'me' });
      const again = await mine.write.acquire({ owner: 'me' });
      const read = await mine.read.acquire({ owner: 'me' });
      await write.release();
      expect(await b.readWrite(mine.name).read.tryAcquire()).toBeNull();
      await again.release();
      const other = await b.readWrite(mine.name).read.tryAcquire();
      expect(other).not.toBeNull();
      expect(await mine.write.tryAcquire({ owner: 'me' })).toBeNull();
      await other!.release();
      await read.release();
      expect(await bench().raw.exists(mine.name)).toBe(0);
    });

    test('both sides are re-entrant, and a read lease ends by itself', async () => {
      const [a, b] = [bench().locks(), bench().locks()];
      const { read, name } = a.readWrite(bench().name());
      const holds = [await read.acquire({ owner: 'me' }), await read.acquire({ owner: 'me' })];
      expect(await bench().raw.keys(`{${name}}:*:rwlock_timeout:*`)).toHaveLength(2);
      await holds[0]!.release();
      expect(await bench().raw.keys(`{${name}}:*:rwlock_timeout:*`)).toHaveLength(1);
      await holds[1]!.release();
      const dying = await read.acquire({ leaseMs: 100 });
      const { signal } = dying;
      const writer = await b.readWrite(name).write.acquire();
      // Its clock says so before its timer, which may come late in a crowded process.
      expect(() => dying.assertHeld()).toThrow('lease ended');
      expect(signal.aborted).toBe(true);
      await writer.release();
    });

    test('the key lives as long as its longest live hold, even while the others renew', async () => {
      const [a, b] = [bench().locks({ leaseMs: 1500 }), bench().locks()];
      const name = bench().name();
      const renewed = await a.readWrite(name).read.acquire();
      await b.readWrite(name).read.acquire({ leaseMs: 60_000 });
      const first = renewed.validUntil;
      await until(() => renewed.validUntil > first + 100);
      await renewed.release();
      expect(await bench().raw.pttl(name)).toBeGreaterThan(50_000);
      expect(await a.readWrite(name).write.tryAcquire()).toBeNull();
    });

    test('each hold of one reader has its own lease, in whatever order they are released', async () => {
      const [a, b] = [bench().locks(), bench().locks()];
      for (const [first, second] of [
        [3000, undefined],
        [undefined, 3000],
      ]) {
        const { read, name } = a.readWrite(bench().name());
        const wanted = (leaseMs: number | undefined) => ({ owner: 'me', ...(leaseMs && { leaseMs }) });
        const holds = [await read.acquire(wanted(first)), await read.acquire(wanted(second))];
        const [short, long] = first ? [holds[0]!, holds[1]!] : [holds[1]!, holds[0]!];
        await short.release();
        expect(await bench().raw.pttl(name)).toBeGreaterThan(20_000);
        expect(await b.readWrite(name).write.tryAcquire()).toBeNull();
        await long.extend();
        const again = await read.acquire({ owner: 'me', leaseMs: 500 });
        await long.release();
        expect(await bench().raw.pttl(name)).toBeLessThanOrEqual(500);
        const writer = await b.readWrite(name).write.acquire({ waitMs: 10_000 });
        expect(() => again.assertHeld()).toThrow('lease ended');
        await writer.release();
      }
    });

    test('no reader ever meets a writer under contention', async () => {
      const sets = [bench().locks(), bench().locks()];
      const name = bench().name();
      let readers = 0;
      let writers = 0;
      let most = 0;
      const work = async (index: number): Promise<void> => {
        const { read, write } = sets[index % 2]!.readWrite(name);
        for (let i = 0; i < 8; i++) {
          if ((index + i) % 3 === 0) {
            await write.using(async () => {
              expect([++writers, readers]).toEqual([1, 0]);
              await bench().raw.ping();
              writers--;
            });
          } else {
            await read.using(async () => {
              most = Math.max(most, ++readers);
              expect(writers).toBe(0);
              await bench().raw.ping();
              readers--;
            });
          }
        }
      };
      await Promise.all(Array.from({ length: 9 }, (_, index) => work(index)));
      expect(most).toBeGreaterThan(1);
      expect(await bench().raw.exists(name)).toBe(0);
    });
  });
}

export function countingCases(bench: () => Bench): void {
  describe('the semaphore', () => {
    test('grants the permits it has, makes other requests wait, and takes all permits back', async () => {
      const [a, b] = [bench().locks(), bench().locks({ maxSleepMs: 600_000 })];
      const name = bench().name();
      const semaphore = a.semaphore(name);
      expect(await semaphore.trySetPermits(3)).toBe(true);
      expect(await semaphore.trySetPermits(9)).toBe(false);
      const two = await semaphore.acquire({ permits: 2 });
      expect(await b.semaphore(name).tryAcquire({ permits: 2 })).toBeNull();
      const big = b.semaphore(name).acquire({ permits: 3 });
      await until(async () => (await channelCount(bench())) === 1);
      await two.release();
      await (await big).release();
      expect(await semaphore.availablePermits()).toBe(3);
      await expect(b.semaphore(name).acquire({ permits: 4, waitMs: 20 })).rejects.toThrow(LockTimeout);
      await semaphore.addPermits(2);
      expect(await semaphore.availablePermits()).toBe(5);
    });

    test('permits that are too few for one waiter go to a waiter that wants fewer', async () => {
      const [a, b] = [bench().locks(), bench().locks({ maxSleepMs: 600_000 })];
      const name = bench().name();
      await a.semaphore(name).trySetPermits(2);
      const [one, two] = [await a.semaphore(name).acquire(), await a.semaphore(name).acquire()];
      const big = b.semaphore(name).acquire({ permits: 2 });
      await until(async () => (await channelCount(bench())) === 1);
      const small = b.semaphore(name).acquire({ permits: 1 });
      await until(async () => Number((await bench().raw.info('commandstats')).length) > 0);
      await one.release();
      const got = await small;
      await got.release();
      await two.release();
      await (await big).release();
      expect(await a.semaphore(name).availablePermits()).toBe(2);
    });

    test('conserves its permits under contention', async () => {
      const sets = [bench().locks(), bench().locks()];
      const name = bench().name();
      await sets[0]!.semaphore(name).trySetPermits(5);
      let out = 0;
      const work = async (index: number): Promise<void> => {
        const permits = 1 + (index % 3);
        for (let i = 0; i < 10; i++) {
          await sets[index % 2]!.semaphore(name).using({ permits }, async () => {
            expect((out += permits)).toBeLessThanOrEqual(5);
            await bench().raw.ping();
            out -= permits;
          });
        }
      };
      await Promise.all(Array.from({ length: 10 }, (_, index) => work(index)));
      expect(await sets[0]!.semaphore(name).availablePermits()).toBe(5);
    });
  });

  describe.each(['semaphore', 'expirablePermits'] as const)('the %s without permits set', (kind) => {
    test('rejects with an error that says so, or waits when the option asks for it', async () => {
      const [a, b] = [bench().locks(), bench().locks({ maxSleepMs: 600_000 })];
      const name = bench().name();
      const unset = `nobody has set the permits of '${name}'`;
      for (const ask of [{}, { waitMs: 10 }]) {
        await expect(a[kind](name).acquire(ask)).rejects.toThrow(NotSetUp);
        await expect(a[kind](name).tryAcquire(ask)).rejects.toThrow(unset);
      }
      await expect(a.multi([a[kind](name), a.simple(`${name}:2`)]).acquire()).rejects.toThrow(NotSetUp);
      expect(await a[kind](name).tryAcquire({ waitForSetup: true })).toBeNull();
      const waiting = b[kind](name).acquire({ waitForSetup: true });
      await until(async () => (await channelCount(bench())) === 1);
      expect(await a[kind](name).trySetPermits(1)).toBe(true);
      const held = await waiting;
      expect(await a[kind](name).tryAcquire()).toBeNull(); // All permits are taken, which is no error.
      await held.release();
      expect(await bench().raw.exists(`${name}:2`)).toBe(0);
    });
  });

  describe('expirable permits', () => {
    test('an expired permit is returned exactly once, whatever its holder does afterwards', async () => {
      const [a, b] = [bench().locks(), bench().locks()];
      const name = bench().name();
      await a.expirablePermits(name).trySetPermits(1);
      const held = await a.expirablePermits(name).acquire({ leaseMs: 80 });
      const next = await b.expirablePermits(name).acquire();
      await expect(held.release()).rejects.toThrow(LockLost);
      expect(await a.expirablePermits(name).availablePermits()).toBe(0);
      await next.release();
      expect(await a.expirablePermits(name).availablePermits()).toBe(1);
      const taken = await a.expirablePermits(name).acquire({ leaseMs: 60_000 });
      await bench().raw.zadd(`{${name}}:timeout`, 1, taken.token);
      expect(await b.expirablePermits(name).availablePermits()).toBe(1);
      await expect(taken.release()).rejects.toThrow(NotOwner);
      expect(await b.expirablePermits(name).availablePermits()).toBe(1);
    });

    test('several permits are taken at once, and all of them come back', async () => {
      const locks = bench().locks();
      const permits = locks.expirablePermits(bench().name());
      await permits.trySetPermits(3);
      const helds = await Promise.all([permits.acquire(), permits.acquire(), permits.acquire()]);
      expect(await permits.tryAcquire()).toBeNull();
      const waiting = permits.acquire();
      for (const held of helds) await held.release();
      await (await waiting).release();
      expect(await permits.availablePermits()).toBe(3);
    });
  });

  describe('the latch', () => {
    test('opens for all waiters when the count reaches zero, and not before', async () => {
      const [a, b] = [bench().locks(), bench().locks({ maxSleepMs: 600_000 })];
      const name = bench().name();
      await b.latch(name).await(); // Open while no count is set.
      expect(await a.latch(name).trySetCount(3)).toBe(true);
      expect(await a.latch(name).trySetCount(5)).toBe(false);
      let opened = 0;
      const waiters = Array.from({ length: 5 }, () =>
        b
          .latch(name)
          .await()
          .then(() => opened++),
      );
      await until(async () => (await channelCount(bench())) === 1);
      expect(await a.latch(name).countDown()).toBe(2);
      expect(await a.latch(name).countDown()).toBe(1);
      await expect(b.latch(name).await({ waitMs: 20 })).rejects.toThrow(LockTimeout);
      expect(opened).toBe(0);
      expect(await a.latch(name).countDown()).toBe(0);
      await Promise.all(waiters);
      expect(await a.latch(name).countDown()).toBe(0);
      expect(await a.latch(name).getCount()).toBe(0);
      expect(await bench().raw.exists(name)).toBe(0);
    });
  });
}
