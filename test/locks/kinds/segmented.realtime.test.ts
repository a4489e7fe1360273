/** The segmented lock never loses a unit, whatever the numbers and whatever fails on the way. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { createLocks, fromIoredis, type Locks, NotOwner } from '../../../locks/index.ts';

let server: Awaited<ReturnType<typeof startServer>>;
let redis: Redis;
let locks: Locks;

beforeAll(async () => {
  server = await startServer();
  redis = new Redis({ Connector: server.connector });
  locks = createLocks(redis);
});
beforeEach(() => server.flush());
afterAll(async () => {
  locks.close();
  redis.disconnect();
  await server.stop();
});

test.each([
  [10, 3, [4, 3, 3]],
  [2, 3, [1, 1, 0]],
  [0, 2, [0, 0]],
])('a stock of %i in %i segments is spread evenly, and whole', async (units, segments, parts) => {
  const lock = locks.segmented('s', { segments });
  expect(await lock.trySetStock(units)).toBe(true);
  expect(await lock.stock()).toBe(units);
  expect((await redis.mget(parts.map((_, index) => lock.stockKey(index)))).map(Number)).toEqual(parts);
  expect(await lock.trySetStock(units + 1)).toBe(false);
  expect(await lock.stock()).toBe(units);
});

test('a stock is not set when one of its segments is already set', async () => {
  const lock = locks.segmented('s', { segments: 2 });
  await redis.set(lock.stockKey(1), 5);
  expect(await lock.trySetStock(2)).toBe(false);
});

test('taken units are returned when a segment fails or its lock is not free', async () => {
  const lock = locks.segmented('s', { segments: 2 });
  await redis.set(lock.stockKey(0), 3);
  await redis.rpush(lock.stockKey(1), 'no number');
  for (let i = 0; i < 8; i++) await expect(lock.take(4)).rejects.toThrow('WRONGTYPE');
  expect(await redis.get(lock.stockKey(0))).toBe('3');
  const held = await locks.simple('s:segment:1').acquire();
  await expect(lock.take(4, { waitMs: 1 })).rejects.toThrow('was not free within 1 ms');
  expect(await redis.get(lock.stockKey(0))).toBe('3');
  await held.release();
});

test('a segment gives no units when its lock is lost before they are taken', async () => {
  const inner = fromIoredis(redis);
  const losing = createLocks({
    ...inner,
    async send(command) {
      const keys = command.slice(3, 3 + Number(command[2]));
      if (command[0]!.startsWith('eval') && keys.includes(lock.stockKey(0))) await redis.del('s:segment:0');
      return inner.send(command);
    },
  });
  const lock = losing.segmented('s', { segments: 1 });
  await lock.trySetStock(5);
  await expect(lock.take(2)).rejects.toThrow(NotOwner);
  expect(await lock.stock()).toBe(5);
  losing.close();
});

test('the server forgets requests whose replies have arrived', async () => {
  const lock = locks.segmented('s', { segments: 1 });
  await lock.trySetStock(5);
  for (let i = 0; i < 20; i++) await lock.putBack((await lock.take(5))!);
  const [requests] = await redis.keys('lostlock_requests:*');
  expect(await redis.zcard(requests!)).toBeLessThan(5);
});

test('a free segment is found whatever other clients hold, and all segments get their turn', async () => {
  const lock = locks.segmented('s', { segments: 3 });
  const helds = [await lock.acquire(), await lock.acquire(), await lock.acquire()];
  expect(helds.map(({ segment }) => segment).sort()).toEqual([0, 1, 2]);
  const waiting = lock.acquire({ waitMs: 10_000 });
  for (const { held } of helds) await held.release();
  await (await waiting).held.release();
});
