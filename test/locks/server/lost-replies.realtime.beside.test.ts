/** A lost reply is an unknown, not a failure: every lock while requests and replies are lost, late or doubled. */
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  createLocks,
  fromIoredis,
  type HeldLock,
  type Lock,
  type Locks,
  OutcomeUnknown,
} from '../../../locks/index.ts';
import { formsIn, type ListedForm } from '../../../locks/kinds/index.ts';
import { reentrantHandOverScript } from '../../../locks/scripts/reentrant.ts';
import { simpleHandOverScript } from '../../../locks/scripts/simple.ts';
import { hasRedisServer, type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { type Fault, type FaultyClient, faulty } from '../faulty.ts';

/** How many permits a pool has. */
const PERMITS = 5;

type Make = (locks: Locks, name: string) => Lock<HeldLock>;

/** Each kind of lock, and how many hold it: what its keys say. */
const kinds: Record<string, { make: Make; out: (raw: Redis, name: string) => Promise<number> }> =
  Object.fromEntries(
    formsIn('lost replies').map((form) => [
      form.name,
      { make: form.make, out: (raw: Redis, name: string) => holdersOf(raw, form, name) },
    ]),
  );

async function holdersOf(raw: Redis, { setUp, key = String }: ListedForm, name: string): Promise<number> {
  if (setUp !== undefined) return PERMITS - Number(await raw.get(name));
  const type = await raw.type(key(name));
  if (type === 'hash') return holdsIn(raw, key(name));
  return type === 'zset' ? raw.zcard(key(name)) : raw.exists(key(name));
}

async function holdsIn(raw: Redis, name: string): Promise<number> {
  const fields = await raw.hgetall(name);
  const counts = Object.entries(fields).filter(([field]) => field !== 'mode');
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

describe.skipIf(!hasRedisServer)('lost replies (needs redis-server)', () => {
  let server: RealRedis;
  let raw: Redis;
  let names = 0;
  const open: { locks: Locks; client: Redis }[] = [];

  beforeAll(async () => {
    server = await startRedisServer();
    raw = new Redis({ path: server.path });
  });
  afterEach(async () => {
    for (const { locks, client } of open.splice(0)) {
      locks.close();
      client.disconnect();
    }
    await raw.flushall();
  });
  afterAll(async () => {
    raw?.disconnect();
    await server?.stop();
  });

  /**
   * `locks` ask again after 40 ms. A busy machine may take longer for any answer: no harm where requests are asked
   * again. Setting something once is not: without a reply the caller has to look. `calm` does that, with the usual patience.
   */
  function setUp(leaseMs = 30_000): { locks: Locks; calm: Locks; client: FaultyClient; name: string } {
    const redis = new Redis({ path: server.path });
    const client = faulty(fromIoredis(redis));
    const locks = createLocks(client, { requestTimeoutMs: 40, leaseMs });
    const calm = createLocks(redis, { requestTimeoutMs: 60_000 });
    open.push({ locks, client: redis });
    return { locks, calm, client, name: `lock:${++names}` };
  }

  /** The next script calls fail in these ways, one after the other; each script was loaded by an earlier call. */
  function next(client: FaultyClient, ...faults: Fault[]): void {
    client.fault = () => faults.shift();
  }

  async function warmUp(lock: Lock<HeldLock>): Promise<void> {
    await raw.set(lock.name, String(PERMITS));
    if (!/Semaphore|Permits/.test(lock.constructor.name)) await raw.del(lock.name);
    await (await lock.acquire()).release();
  }

  describe.each(Object.entries(kinds))('the %s lock', (kind, { make, out }) => {
    test.each(['lose-request', 'lose-reply', 'reset', 'late', 'twice'] as const)(
      'acquired under %s is held once and released once',
      async (fault) => {
        const { locks, client, name } = setUp();
        const lock = make(locks, name);
        await warmUp(lock);
        next(client, fault);
        const held = await lock.acquire({ waitMs: 5000 });
        expect(client.fired).toEqual([fault]);
        expect(await out(raw, name)).toBe(1);
        await client.deliverLate();
        expect(await out(raw, name)).toBe(1);
        next(client, fault, fault);
        await held.release();
        expect(await out(raw, name)).toBe(0);
        await client.deliverLate();
        expect(await out(raw, name)).toBe(0);
      },
    );

    test('a request that arrives after it was given up takes nothing', async () => {
      const { locks, client, name } = setUp();
      const lock = make(locks, name);
      await warmUp(lock);
      next(client, 'late', 'late', 'late');
      await expect(lock.tryAcquire()).rejects.toThrow(OutcomeUnknown);
      await until(async () => (await raw.keys('lostlock_*{lock:*')).some((key) => !key.includes('queue')));
      await client.deliverLate();
      // A late plain SET takes a simple lock without a holder: the next acquisition gets it all the same.
      if (kind !== 'simple') expect(await out(raw, name)).toBe(0);
      await (await lock.acquire({ waitMs: 5000 })).release();
      expect(await out(raw, name)).toBe(0);
    });

    test('a lock whose grant got no reply is free again after the caller gave up', async () => {
      const { locks, client, name } = setUp();
      const lock = make(locks, name);
      await warmUp(lock);
      next(client, 'reset', 'reset', 'reset');
      await expect(lock.tryAcquire()).rejects.toThrow(OutcomeUnknown);
      await until(async () => (await out(raw, name)) === 0);
      await (await lock.acquire()).release();
    });
  });

  test('a doubled SET that arrives after the release does not block the next acquisition', async () => {
    const { locks, client, name } = setUp();
    const lock = locks.simple(name);
    await warmUp(lock);
    next(client, 'late');
    const held = await lock.acquire({ waitMs: 5000 });
    await held.release();
    await client.deliverLate();
    expect(await raw.get(name)).toBe(held.token);
    const other = await lock.acquire({ waitMs: 5000 });
    expect(await raw.get(name)).toBe(other.token);
    await other.release();
  });

  describe.each(['simple', 'reentrant'] as const)('a %s lock that is handed over', (kind) => {
    /** Its holder and the next two in line; the second gets it by a release, the third by a hand-over. */
    async function line(setup: ReturnType<typeof setUp>, signal?: AbortSignal) {
      const lock = kinds[kind]!.make(setup.locks, setup.name);
      await warmUp(lock);
      for (const { text } of [simpleHandOverScript, reentrantHandOverScript]) await raw.script('LOAD', text);
      const first = await lock.acquire();
      const second = lock.acquire();
      const third = lock.acquire({ waitMs: 5000, ...(signal && { signal }) });
      const { name } = setup;
      const channel = kind === 'simple' ? `${name}:lostlock_channel` : `redisson_lock__channel:{${name}}`;
      await until(async () => ((await raw.pubsub('CHANNELS', channel)) as string[]).length === 1);
      await first.release();
      return { holder: await second, third };
    }

    test.each(['lose-request', 'lose-reply', 'reset', 'late', 'twice'] as const)(
      'is held by the next one only, under %s',
      async (fault) => {
        const setup = setUp();
        const { out } = kinds[kind]!;
        const { holder, third } = await line(setup);
        next(setup.client, fault);
        await holder.release();
        const heir = await third;
        expect(setup.client.fired).toEqual([fault]);
        await setup.client.deliverLate();
        expect(await out(raw, setup.name)).toBe(1);
        heir.assertHeld();
        await heir.release();
        expect(await out(raw, setup.name)).toBe(0);
        await setup.client.deliverLate();
        expect(await out(raw, setup.name)).toBe(0);
      },
    );

    test.each([
      ['before it looks', 0],
      ['while it looks', 30],
    ])('goes to the waiter after the next when the next one gives up %s', async (_when, turns) => {
      const setup = setUp();
      const giveUp = new AbortController();
      const { holder, third } = await line(setup, giveUp.signal);
      const fourth = kinds[kind]!.make(setup.locks, setup.name).acquire({ waitMs: 4000 }); // Less than the polling interval.
      const released = holder.release();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      giveUp.abort(new Error('not any more'));
      await expect(third).rejects.toThrow('not any more');
      await released;
      await (await fourth).release();
      await until(async () => (await kinds[kind]!.out(raw, setup.name)) === 0);
    });

    test('is free when its process has just closed its locks', async () => {
      const setup = setUp();
      const { holder, third } = await line(setup);
      const released = holder.release();
      setup.locks.close();
      await expect(third).rejects.toThrow('closed');
      await released;
      await until(async () => (await kinds[kind]!.out(raw, setup.name)) === 0);
    });

    test('is released when the server has no memory for another token', async () => {
      const setup = setUp();
      const { holder, third } = await line(setup);
      const lost = third.catch((error: Error) => error.message);
      await raw.config('SET', 'maxmemory', '1');
      try {
        await holder.release();
        expect(await lost).toContain('OOM');
        expect(await kinds[kind]!.out(raw, setup.name)).toBe(0);
      } finally {
        await raw.config('SET', 'maxmemory', '0');
      }
    });
  });

  test.each(['reentrant', 'fair', 'read', 'write'])(
    'the count of the %s lock does not drift',
    async (kind) => {
      const { locks, client, name } = setUp();
      const { make, out } = kinds[kind]!;
      const lock = make(locks, name);
      await warmUp(lock);
      await locks.run(async () => {
        const holds: HeldLock[] = [];
        for (const fault of ['reset', 'lose-reply', 'late', 'twice', 'lose-request'] as const) {
          next(client, fault);
          holds.push(await lock.acquire({ waitMs: 5000 }));
          await client.deliverLate();
          expect(await out(raw, name)).toBe(holds.length);
        }
        for (const fault of ['lose-request', 'late', 'reset', 'twice', 'lose-reply'] as const) {
          next(client, fault, fault);
          await holds.pop()!.release();
          expect(await out(raw, name)).toBe(holds.length);
          await client.deliverLate();
          expect(await out(raw, name)).toBe(holds.length);
        }
      });
    },
  );

  test('a renewal without a reply proves nothing, and the next one is sent in time', async () => {
    const { locks, client, name } = setUp(600);
    const held = await locks.simple(name).acquire();
    await held.extend(); // The server knows the renewing script from now on.
    const first = held.validUntil;
    next(client, 'lose-reply', 'reset');
    await until(() => client.fired.length === 2);
    expect(held.validUntil).toBe(first);
    await until(() => held.validUntil > first);
    held.assertHeld();
    await held.release();
  });

  test('a holder whose renewals are never answered learns in time that its lock is lost', async () => {
    const { locks, client, name } = setUp(300);
    const held = await locks.reentrant(name).acquire();
    const { signal } = held;
    client.fault = () => 'lose-request';
    await until(() => signal.aborted);
    expect(Date.now()).toBeGreaterThanOrEqual(held.validUntil);
    client.fault = () => undefined;
    await expect(held.release()).rejects.toThrow('lease ended');
  });

  test('a latch opens exactly when it was counted down, however often requests are repeated', async () => {
    const { locks, calm, client, name } = setUp();
    const latch = locks.latch(name);
    expect(await calm.latch(name).trySetCount(4)).toBe(true);
    for (const [index, fault] of (['lose-reply', 'reset', 'late', 'twice'] as const).entries()) {
      next(client, fault);
      expect(await latch.countDown()).toBe(3 - index);
      expect(client.fired.at(-1)).toBe(fault);
      await client.deliverLate();
      expect(await latch.getCount()).toBe(3 - index);
    }
  });

  test.each(['semaphore', 'latch', 'reentrant', 'fair', 'read', 'write'] as const)(
    'a late copy of an answered request changes nothing: %s',
    async (kind) => {
      const { locks, calm, client, name } = setUp();
      if (kind === 'latch') await calm.latch(name).trySetCount(10_000);
      const turn = async (): Promise<unknown> => {
        if (kind === 'latch') return locks.latch(name).countDown();
        const held = await kinds[kind]!.make(locks, name).acquire({ owner: 'the same' });
        return held.release();
      };
      if (kind !== 'latch') await warmUp(kinds[kind]!.make(locks, name));
      client.fault = () => 'twice';
      for (let i = 0; i < 5; i++) await turn();
      client.fault = () => undefined;
      for (let i = 0; i < 200; i++) await turn();
      // The owner holds the lock again while copies of its old requests arrive.
      const held =
        kind === 'latch' ? undefined : await kinds[kind]!.make(locks, name).acquire({ owner: 'the same' });
      await client.deliverLate();
      if (kind === 'latch') expect(await locks.latch(name).getCount()).toBe(10_000 - 205);
      else expect(await kinds[kind]!.out(raw, name)).toBe(1);
      await held?.release();
      if (kind !== 'latch') expect(await kinds[kind]!.out(raw, name)).toBe(0);
      expect(await raw.zcard((await raw.keys('lostlock_requests:*'))[0]!)).toBeLessThan(10);
    },
  );

  test('a segment gives its units and takes them back exactly once', async () => {
    const { locks, calm, client, name } = setUp();
    const stock = locks.segmented(name, { segments: 1 });
    await calm.segmented(name, { segments: 1 }).trySetStock(10);
    await stock.putBack((await stock.take(1))!);
    for (const fault of ['lose-reply', 'reset', 'late', 'twice'] as const) {
      client.fault = (command) => (command[2] === '3' && command.length === 11 ? fault : undefined);
      const once = client.fault;
      let fired = false;
      client.fault = (command) =>
        fired ? undefined : (fired = once(command) !== undefined) ? fault : undefined;
      const portions = await stock.take(3);
      expect(fired).toBe(true);
      await client.deliverLate();
      expect(await stock.stock()).toBe(7);
      next(client, fault);
      await stock.putBack(portions!);
      await client.deliverLate();
      expect(await stock.stock()).toBe(10);
    }
  });
});
