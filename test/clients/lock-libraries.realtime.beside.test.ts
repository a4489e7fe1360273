/** Unmodified lock libraries acquire, renew and release locks on lostlock, over every client that they support. */
import { Redlock as Sesame } from '@sesamecare-oss/redlock';
import { Mutex, Semaphore } from 'redis-semaphore';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../index.ts';
import { until } from '../support/until.ts';
import { type AnyRedis, ioredisWays } from './connections.ts';
import { Redlock4, Redlock5 } from './lock-libraries.ts';

/** A held lock of any library. */
interface Held {
  release(): PromiseLike<unknown>;
  /** Renews it for its original lease. */
  extend(): PromiseLike<unknown>;
}

/** One library, reduced to the calls that all tests need. */
interface Library {
  readonly name: string;
  /** Tries for long enough to win among fifty. Rejects when it gives up. */
  acquire(redis: AnyRedis, name: string, leaseMs: number, patient?: boolean): Promise<Held>;
}

const retries = (patient: boolean) => ({ retryCount: patient ? 10_000 : 0, retryDelay: 2, retryJitter: 2 });

function likeRedlock5(name: string, Redlock: typeof Redlock5): Library {
  return {
    name,
    async acquire(redis, lockName, leaseMs, patient = true) {
      const redlock = new Redlock([redis], retries(patient));
      redlock.on('error', () => {});
      let lock = await redlock.acquire([lockName], leaseMs);
      return {
        release: () => lock.release(),
        extend: async () => {
          lock = await lock.extend(leaseMs);
        },
      };
    },
  };
}

const libraries: Library[] = [
  {
    name: 'redlock 4',
    async acquire(redis, name, leaseMs, patient = true) {
      const lock = await new Redlock4([redis], retries(patient)).lock(name, leaseMs);
      return { release: () => lock.unlock(), extend: () => lock.extend(leaseMs) };
    },
  },
  likeRedlock5('redlock 5', Redlock5),
  likeRedlock5('@sesamecare-oss/redlock', Sesame as never),
  {
    name: 'redis-semaphore Mutex',
    async acquire(redis, name, leaseMs, patient = true) {
      const options = {
        lockTimeout: leaseMs,
        acquireTimeout: patient ? 60_000 : 1,
        retryInterval: 2,
        refreshInterval: 0,
      };
      const mutex = new Mutex(redis as never, name, options);
      await mutex.acquire();
      // It renews only by its own timer: a twin that knows the token renews at once.
      const extend = async () => {
        const renewing = { ...options, refreshInterval: 1, identifier: mutex.identifier };
        const twin = new Mutex(redis as never, name, { ...renewing, acquiredExternally: true });
        await twin.acquire();
        await until(async () => (await redis.pttl(`mutex:${name}`)) > leaseMs / 2, { what: 'the renewal' });
        twin.stopRefresh();
      };
      return { release: () => mutex.release(), extend };
    },
  },
];

const LEASE = 30_000;
let server: LostlockServer;
const clients: AnyRedis[] = [];

beforeEach(async () => {
  server = await startServer();
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await server.stop();
});

describe.each(ioredisWays)('$name', (way) => {
  const open = (): AnyRedis => {
    const client = way.open(server);
    clients.push(client);
    return client;
  };

  describe.each(libraries)('$name', (library) => {
    test('among fifty contenders there are never two holders', async () => {
      const redis = open();
      let inside = 0;
      let most = 0;
      const enter = async (): Promise<void> => {
        const held = await library.acquire(redis, 'busy', LEASE);
        most = Math.max(most, ++inside);
        await redis.ping();
        inside--;
        await held.release();
      };
      await Promise.all(Array.from({ length: 50 }, enter));
      expect(most).toBe(1);
      expect(server.node.db(0).size).toBe(0);
    });

    test('a held lock is refused, and is free again when its lease has ended', async () => {
      const redis = open();
      await library.acquire(redis, 'leased', 40);
      await expect(library.acquire(redis, 'leased', LEASE, false)).rejects.toThrow();
      await until(() => server.dump().length === 0, { what: 'the end of the lease' });
      const held = await library.acquire(redis, 'leased', LEASE, false);
      await held.release();
    });

    test('renewal moves the end of the lease', async () => {
      const redis = open();
      const held = await library.acquire(redis, 'renewed', LEASE);
      const key = server.dump()[0]?.key as string;
      await redis.pexpire(key, 5000);
      await held.extend();
      expect(await redis.pttl(key)).toBeGreaterThan(20_000);
      await held.release();
      expect(await redis.exists(key)).toBe(0);
    });

    test('a client that no longer holds the lock releases nothing', async () => {
      const redis = open();
      const held = await library.acquire(redis, 'stolen', LEASE, false);
      const key = server.dump()[0]?.key as string;
      await redis.set(key, 'somebody else');
      await held.release().then(
        () => {},
        () => {},
      );
      expect(await redis.get(key)).toBe('somebody else');
    });

    test('scripts are sent again to a server that has forgotten them', async () => {
      const redis = open();
      await (await library.acquire(redis, 'first', LEASE)).release();
      await redis.script('FLUSH');
      const held = await library.acquire(redis, 'second', LEASE);
      await redis.script('FLUSH');
      await held.release();
      expect(server.dump()).toEqual([]);
    });

    test('only commands that Redis also refuses were refused', async () => {
      const redis = open();
      await (await library.acquire(redis, 'probe', LEASE)).release();
      expect(server.unknownCommands()).toEqual([]);
    });
  });

  test('redis-semaphore admits three clients and no fourth', async () => {
    const redis = open();
    const options = { lockTimeout: LEASE, acquireTimeout: 300, retryInterval: 5, refreshInterval: 0 };
    const permits = Array.from({ length: 4 }, () => new Semaphore(redis as never, 'three', 3, options));
    const results = await Promise.allSettled(permits.map((permit) => permit.acquire()));
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(3);
    await Promise.all(permits.map((permit) => permit.release()));
    expect(server.dump()).toEqual([]);
  });

  test('a holder that renews its lock keeps it after the first lease', async () => {
    const redis = open();
    const redlock = new Redlock5([redis], { automaticExtensionThreshold: 900 });
    const renewals = server.intercept({ when: ({ command }) => command.startsWith('eval') }, { delayMs: 0 });
    await redlock.using(['kept'], 1000, async (signal) => {
      await until(() => renewals.matches >= 4, { what: 'the renewals' });
      expect(signal.aborted).toBe(false);
      expect(server.dump().map(({ key }) => key)).toEqual(['kept']);
    });
    expect(server.dump()).toEqual([]);
  });

  test('after a lost reply the lock stays held until its lease ends', async () => {
    server.intercept({ command: 'set', nth: 1 }, 'disconnect-after');
    const redis = open();
    const mutex = new Mutex(redis as never, 'unknown', {
      lockTimeout: 50,
      acquireTimeout: 2000,
      retryInterval: 2,
    });
    await mutex.acquire().then(
      () => mutex.release(),
      () => {},
    );
    await until(() => server.dump().length === 0, { what: 'the end of the lease' });
    expect(await redis.exists('unknown')).toBe(0);
  });

  test('a waiter is woken by a message, not by polling', async () => {
    const [redis, subscriber] = [open(), open()];
    await subscriber.subscribe('redisson_lock__channel:{lock}');
    const woken = new Promise((resolve) =>
      subscriber.once('message', (_channel, message) => resolve(message)),
    );
    expect(await redis.publish('redisson_lock__channel:{lock}', '0')).toBe(1);
    expect(await woken).toBe('0');
  });
});
