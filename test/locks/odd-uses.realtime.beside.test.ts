/** Clients with unusual settings, and unintended uses: they work or fail with a clear error, and never hang. */
import { Redis, type RedisOptions } from 'ioredis';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  ClientUnusable,
  createLocks,
  fromIoredis,
  type LockClient,
  type Locks,
  LocksClosed,
  type LocksOptions,
  NotOwner,
} from '../../locks/index.ts';
import { formsIn } from '../../locks/kinds/index.ts';
import { hasRedisServer, type RealRedis, startRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

describe.skipIf(!hasRedisServer)('odd uses (needs redis-server)', () => {
  let server: RealRedis;
  let raw: Redis;
  const ends: (() => void)[] = [];
  beforeAll(async () => {
    server = await startRedisServer();
    raw = new Redis({ path: server.path });
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) end();
    await raw.flushall();
  });
  afterAll(async () => {
    raw?.disconnect();
    await server?.stop();
  });

  async function connect(options: RedisOptions = {}): Promise<Redis> {
    const redis = new Redis({ ...options, path: server.path } as object);
    redis.on('error', () => {});
    ends.push(() => redis.disconnect());
    await new Promise((resolve) => redis.once('ready', resolve));
    return redis;
  }

  function locksOf(client: Redis | LockClient, options?: LocksOptions): Locks {
    const locks = createLocks(client, options);
    ends.push(() => locks.close());
    return locks;
  }

  test.each<[what: string, options: RedisOptions]>([
    ['a prefix before every key', { keyPrefix: 'app:' }],
    ['no offline queue', { enableOfflineQueue: false }],
    ['automatic pipelines', { enableAutoPipelining: true }],
    ['RESP2', { protocol: 2 }],
    ['numbers as strings', { stringNumbers: true }],
  ])(
    'with %s a release still wakes the waiter',
    async (_what, options) => {
      const client = await connect(options);
      // Without the message a waiter would sleep beyond its waitMs.
      const slow = { maxSleepMs: 60_000, leaseMs: 60_000, placeMs: 180_000 };
      const [a, b] = [locksOf(client, slow), locksOf(client, slow)];
      for (const { name: kind, make, setUp } of formsIn('odd clients')) {
        await setUp?.(a, kind, 1);
        const held = await make(a, kind).acquire();
        const waiting = make(b, kind).acquire({ waitMs: 60_000 });
        await until(async () => {
          const heard = (await raw.pubsub('CHANNELS', `*${kind}*`)) as string[];
          return heard.length > 0;
        });
        await held.release();
        const next = await waiting;
        expect(next.name).toBe(kind);
        await next.release();
      }
    },
    30_000,
  );

  test('a client in subscriber mode, or a closed one, is refused at once', async () => {
    const listening = await connect({ protocol: 2 });
    await listening.subscribe('news');
    await expect(locksOf(listening).simple('L').acquire()).rejects.toThrow(ClientUnusable);
    await expect(locksOf(listening).fair('L').acquire()).rejects.toThrow(/subscriber mode.*give createLocks/);
    const closed = await connect();
    const locks = locksOf(closed);
    const [held, counted] = [await locks.simple('L').acquire(), await locks.reentrant('R').acquire()];
    closed.disconnect();
    await until(() => closed.status === 'end');
    await expect(locks.simple('L').acquire()).rejects.toThrow(ClientUnusable);
    await expect(locks.latch('C').trySetCount(1)).rejects.toThrow(ClientUnusable);
    await expect(held.extend()).rejects.toThrow(ClientUnusable);
    await expect(held.release()).rejects.toThrow(ClientUnusable);
    await expect(counted.release()).rejects.toThrow(ClientUnusable);
  });

  test('an unconnected client of node-redis is refused at once, and so are its clusters, sentinels and pools', async () => {
    const lonely = createClient();
    await expect(
      createLocks(lonely as never)
        .simple('L')
        .acquire(),
    ).rejects.toThrow(ClientUnusable);
    const family = [
      createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] }),
      createSentinel({ name: 'm', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }),
      createClientPool(),
    ];
    for (const client of family)
      expect(() => createLocks(client as never)).toThrow('lostlock: option clients');
  });

  test('a waiter polls when no subscriber connection can be opened', async () => {
    const client = await connect();
    const locks = locksOf(client, { maxSleepMs: 50 });
    client.duplicate = () => {
      throw new Error('no more connections');
    };
    const held = await locks.simple('L').acquire();
    const waiting = locks.simple('L').acquire({ waitMs: 4000 });
    await held.release();
    const next = await waiting;
    expect(next.name).toBe('L');
    await next.release();
  });

  test('a user that may not run scripts or publish gets a clear error and leaves no lock behind', async () => {
    await raw.acl('SETUSER', 'scriptless', 'on', '>pw', '~*', '&*', '+@all', '-eval', '-evalsha');
    await raw.acl('SETUSER', 'mute', 'on', '>pw', '~*', 'resetchannels', '+@all');
    const scriptless = locksOf(await connect({ username: 'scriptless', password: 'pw' }));
    await expect(scriptless.reentrant('L').acquire()).rejects.toThrow(/refused lock 'L'.*NOPERM.*'eval'/);
    const mute = locksOf(await connect({ username: 'mute', password: 'pw' }));
    const held = await mute.reentrant('L').acquire();
    await expect(held.release()).rejects.toThrow(/refused lock 'L'.*channel/);
    await (
      await locksOf(await connect())
        .reentrant('L')
        .acquire({ waitMs: 0 })
    ).release();
  });

  /** A client whose replies are held back until `answer()` is called. */
  function holdingBack(inner: LockClient): LockClient & { answer(): void } {
    let answer = (): void => {};
    const told = new Promise<void>((resolve) => {
      answer = resolve;
    });
    return {
      ...inner,
      send: async (command) => {
        const reply = await inner.send(command);
        await told;
        return reply;
      },
      answer: () => answer(),
    };
  }

  test.each(formsIn('odd clients'))(
    'an abort does not wait for the answer: $name',
    async ({ make, setUp }) => {
      await setUp?.(locksOf(raw), 'L', 1);
      const client = holdingBack(fromIoredis(await connect()));
      const locks = locksOf(client, { requestTimeoutMs: 60_000 });
      const abort = new AbortController();
      const acquiring = make(locks, 'L').acquire({ signal: abort.signal });
      await until(async () => (await raw.keys('*')).length > 0);
      abort.abort(new Error('enough'));
      await expect(acquiring).rejects.toThrow('enough');
      client.answer(); // Its grant is undone: the next acquisition gets the lock.
      const next = await make(locksOf(await connect()), 'L').acquire({ waitMs: 4000 });
      await next.release();
    },
  );

  test.each(formsIn('odd clients'))(
    'waiters aborted at any moment leave nothing behind: $name',
    async ({ make, setUp }) => {
      await setUp?.(locksOf(raw), 'L', 1);
      const sets = [locksOf(await connect()), locksOf(await connect())];
      let [inside, most, entered] = [0, 0, 0];
      const task = async (index: number): Promise<void> => {
        const abort = new AbortController();
        const work = make(sets[index % 2]!, 'L').using({ signal: abort.signal }, async () => {
          most = Math.max(most, ++inside);
          entered++;
          await raw.ping();
          inside--;
        });
        for (let steps = (index * 7) % 23; steps > 0; steps--) await raw.ping();
        if (index % 3 > 0) abort.abort(new Error('enough'));
        await work.catch((error: Error) => expect(error.message).toBe('enough'));
      };
      await Promise.all(Array.from({ length: 60 }, (_, index) => task(index)));
      expect(most).toBe(1);
      expect(entered).toBeGreaterThanOrEqual(20);
      await (await make(sets[0]!, 'L').acquire({ waitMs: 4000 })).release();
    },
  );

  test('using() refuses a wrong function before it takes the lock', async () => {
    const locks = locksOf(await connect());
    const untyped = locks.simple('L') as unknown as { using(...words: unknown[]): Promise<unknown> };
    await expect(untyped.using({})).rejects.toThrow('lostlock: option using is undefined');
    expect(await raw.exists('L')).toBe(0);
  });

  test('a lock acquired while its set is being closed is not renewed, and no session can be opened', async () => {
    const client = holdingBack(fromIoredis(await connect()));
    const locks = locksOf(client, { leaseMs: 300 });
    const acquiring = locks.simple('L').acquire();
    await until(async () => (await raw.exists('L')) === 1);
    locks.close();
    client.answer();
    const { signal } = await acquiring;
    await until(() => signal.aborted);
    await until(async () => (await raw.exists('L')) === 0);
    await expect(locks.session()).rejects.toThrow(LocksClosed);
  });

  test.each([[''], ['app:']])(
    "a session's lock excludes other sessions, simple locks and data (keyPrefix '%s')",
    async (keyPrefix) => {
      const [a, b] = [locksOf(await connect({ keyPrefix })), locksOf(await connect({ keyPrefix }))];
      const [mine, yours] = [await a.session(), await b.session()];
      const held = await mine.lock('L').acquire();
      expect(await yours.lock('L').tryAcquire()).toBeNull();
      expect(await b.simple('L').tryAcquire()).toBeNull();
      await held.extend(); // It has no lease of its own, and needs none.
      await held.release();
      await expect(held.extend()).rejects.toThrow(NotOwner);
      const simple = await b.simple('L').acquire();
      expect(await mine.lock('L').tryAcquire()).toBeNull();
      const waiting = mine.lock('L').acquire({ waitMs: 4000 });
      await simple.release();
      await (await waiting).release();
      for (const data of ['a note', 'lostlock_session:1: a note']) {
        await raw.set(`${keyPrefix}L`, data);
        expect(await mine.lock('L').tryAcquire()).toBeNull();
        expect(await raw.get(`${keyPrefix}L`)).toBe(data);
      }
      await mine.close();
      await yours.close();
    },
  );

  test('an event listener that throws loses no lock', async () => {
    const thrown: (() => void)[] = [];
    const queue = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((fail) => void thrown.push(fail));
    const locks = locksOf(await connect());
    const heard: string[] = [];
    for (const event of ['acquired', 'released'] as const) {
      locks.on(event, () => {
        throw new Error(`deaf to ${event}`);
      });
      locks.on(event, ({ lock }) => void heard.push(`${event} ${lock}`));
    }
    await locks.simple('L').using(() => {});
    queue.mockRestore();
    expect(heard).toEqual(['acquired L', 'released L']);
    expect(thrown.map((fail) => expect(fail).toThrow('deaf to'))).toHaveLength(2);
    expect(await raw.exists('L')).toBe(0);
  });
});
