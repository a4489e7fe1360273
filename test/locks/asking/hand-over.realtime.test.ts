/** Within one process a release hands the lock to the next waiter, without a message and without a wasted request. */
import '../../../lab/router.ts';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPair, startServer } from '../../../index.ts';
import { createLocks, fromIoredis, type LockClient, type Locks, NotOwner } from '../../../locks/index.ts';
import { until } from '../../support/until.ts';

let server: Awaited<ReturnType<typeof startServer>>;
const clients: Redis[] = [];

beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  for (const client of clients) client.disconnect();
  await server.stop();
});

/** Locks over a client whose commands are counted. */
function party(): { locks: Locks; sent: string[]; redis: Redis } {
  const redis = new Redis({ Connector: server.connector });
  clients.push(redis);
  const sent: string[] = [];
  const inner = fromIoredis(redis);
  const client: LockClient = {
    ...inner,
    send: (command) => {
      sent.push(command[0]!);
      return inner.send(command);
    },
  };
  return { locks: createLocks(client, { maxSleepMs: 600_000 }), sent, redis };
}

test.each([
  ['simple', 'one request each, and a few more', 20 + 8],
  ['reentrant', 'one request each, and a few more', 20 + 8],
  ['fenced', 'two requests each', 1 + 20 * 2 + 2],
] as const)('twenty waiters of one process take the %s lock with %s', async (kind, _requests, most) => {
  const { locks, sent } = party();
  await (await locks[kind](kind).acquire()).release(); // The server knows the scripts from now on.
  const held = await locks[kind](kind).acquire();
  const order: number[] = [];
  const waiting = Array.from({ length: 20 }, async (_, index) => {
    const mine = await locks[kind](kind).acquire();
    order.push(index);
    await mine.release();
  });
  await until(async () => ((await clients[0]!.pubsub('CHANNELS', `*${kind}*`)) as string[]).length === 1);
  sent.length = 0;
  await held.release();
  await Promise.all(waiting);
  expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
  const requests = sent.filter((command) => command === 'evalsha' || command === 'set');
  expect(requests.length).toBeLessThanOrEqual(most);
  locks.close();
});

test('another process can take the lock after at most ten hand-overs within one process', async () => {
  const [a, b] = [party(), party()];
  const name = 'shared';
  let over = false;
  let mine = 0;
  let theirs = 0;
  const busy = Array.from({ length: 5 }, async () => {
    while (!over && mine < 1000) {
      const held = await a.locks.simple(name).acquire();
      mine++;
      await held.release();
    }
  });
  for (let turn = 0; turn < 20; turn++) {
    const held = await b.locks.simple(name).acquire({ waitMs: 20_000 });
    theirs++;
    await held.release();
  }
  over = true;
  await Promise.all(busy);
  expect(theirs).toBe(20);
  expect(mine).toBeGreaterThan(0);
  expect(mine).toBeLessThanOrEqual(5 + 20 * 10);
  for (const { locks } of [a, b]) locks.close();
});

test('a process does not pause between hand-overs when no other process waits', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 1, network: { latency: 0, jitter: 0 } });
  await pair.run(async () => {
    const locks = createLocks(pair.client('A'));
    const lock = locks.simple('alone');
    await (await lock.acquire()).release();
    const held = await lock.acquire();
    const waiting = Array.from({ length: 50 }, async () => (await lock.acquire()).release());
    await pair.advance(100); // They stand in line.
    const begun = pair.world.elapsed();
    await held.release();
    await Promise.all(waiting);
    expect(pair.world.elapsed() - begun).toBe(0);
    locks.close();
  });
});

test('a waiter in another process gets the lock after ten hand-overs, counted from the first release', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 1, network: { latency: 0, jitter: 0 } });
  await pair.run(async () => {
    const [a, b] = [createLocks(pair.client('A')), createLocks(pair.client('B'))];
    const held = await a.simple('shared').acquire();
    const order: string[] = [];
    const wait = async (locks: Locks, who: string) => {
      const mine = await locks.simple('shared').acquire();
      order.push(who);
      await pair.advance(1);
      await mine.release();
    };
    const waiting = [...Array.from({ length: 30 }, () => wait(a, 'A')), wait(b, 'B')];
    await pair.advance(100); // They stand in line.
    await held.release();
    await Promise.all(waiting);
    expect(order.indexOf('B')).toBeLessThanOrEqual(10);
    for (const locks of [a, b]) locks.close();
  });
});

test('a lost hold wakes the next waiter', async () => {
  const { locks, redis } = party();
  const held = await locks.simple('lost').acquire({ leaseMs: 60_000 });
  const waiting = locks.simple('lost').acquire();
  await until(async () => ((await redis.pubsub('CHANNELS', '*lost*')) as string[]).length === 1);
  await redis.del('lost');
  await expect(held.extend()).rejects.toThrow('does not know it');
  await (await waiting).release();
  locks.close();
});

test.each(['simple', 'reentrant'] as const)(
  'a %s lock is announced, not handed to a sleeping waiter, when the acquisition that got it was aborted',
  async (kind) => {
    const { locks, redis } = party();
    const lock = locks[kind](`unwanted:${kind}`);
    await (await lock.acquire()).release();
    const first = await lock.acquire();
    const [second, third, fourth] = [lock.acquire(), lock.acquire(), lock.acquire()];
    await until(async () => ((await redis.pubsub('CHANNELS', '*unwanted*')) as string[]).length === 1);
    await first.release();
    await (await second).release(); // From here on it is handed over.
    const lost = await third;
    await redis.del(lock.name);
    if (kind === 'simple') await redis.set(lock.name, 'somebody else');
    else await redis.hset(lock.name, 'somebody:else', 1);
    await expect(lost.release()).rejects.toThrow(NotOwner);
    await redis.del(lock.name); // No message is sent.
    const giveUp = new AbortController();
    const unwanted = lock.tryAcquire({ signal: giveUp.signal });
    giveUp.abort(new Error('not any more'));
    await expect(unwanted).rejects.toThrow('not any more');
    await (await fourth).release();
    locks.close();
  },
);

test('two tasks that take turns subscribe once, and unsubscribe some time after the last turn', async () => {
  const { locks } = party();
  const observer = clients[0]!;
  const subscribed = async (): Promise<number> => {
    const stats = String(await observer.info('commandstats'));
    return Number(/cmdstat_subscribe:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  };
  const heard = async (): Promise<unknown> =>
    ((await observer.pubsub('CHANNELS', '*turns*')) as string[]).length;
  const before = await subscribed();
  const first = await locks.reentrant('turns').acquire();
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await (await locks.reentrant('turns').acquire()).release();
  };
  const both = [turns(), turns()];
  await until(async () => (await heard()) === 1);
  await first.release();
  await Promise.all(both);
  expect(await subscribed()).toBe(before + 1);
  await until(async () => (await heard()) === 0);
  locks.close();
});

test('a new waiter sends no request while a task of its process holds a lock that it had waited for', async () => {
  const { locks, sent } = party();
  const first = await locks.simple('known').acquire();
  const second = locks.simple('known').acquire();
  await until(async () => ((await clients[0]!.pubsub('CHANNELS', '*known*')) as string[]).length === 1);
  await first.release();
  const held = await second;
  sent.length = 0;
  const third = locks.simple('known').acquire();
  await Promise.resolve();
  await held.release();
  await (await third).release();
  expect(sent).toEqual(['evalsha', 'evalsha']); // The hand-over, and the last release.
  locks.close();
});
