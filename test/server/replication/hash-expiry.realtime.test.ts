/** Hash fields with a TTL across a full sync and the stream after it: to lostlock, and to a redis-server 7.0 without them. */
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { cleanUpAfterEachTest, ours, real } from '../../support/nodes.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

cleanUpAfterEachTest();

/** A hash whose field `short` expires soon and `long` later. */
async function fill(redis: Redis, key: string): Promise<void> {
  await redis.hset(key, 'short', '1', 'long', '2', 'ever', '3');
  await redis.call('HPEXPIRE', key, '100', 'FIELDS', '1', 'short');
  await redis.call('HEXPIREAT', key, '4102444800', 'FIELDS', '1', 'long');
}

const LEFT = { long: '2', ever: '3' };

test('a lostlock replica gets the TTLs by full sync and by stream, and hides expired fields', async () => {
  const [primary, replica] = [await ours(), await ours()];
  await fill(primary.redis, 'before');
  await replica.follow(primary);
  await fill(primary.redis, 'after');
  for (const key of ['before', 'after']) {
    await until(async () => (await replica.redis.hget(key, 'short')) === null, {
      what: 'the end of the field',
    });
    expect(await replica.redis.hgetall(key)).toEqual(LEFT);
    const ends = await replica.redis.call('HEXPIRETIME', key, 'FIELDS', '2', 'long', 'ever');
    expect(ends).toEqual([4102444800, -1]);
    await until(async () => (await replica.redis.hlen(key)) === 2, { what: 'the HDEL' });
  }
});

test('a promoted replica expires the fields itself', async () => {
  const [primary, replica] = [await ours(), await ours()];
  await fill(primary.redis, 'h');
  await replica.follow(primary);
  await replica.redis.call('REPLICAOF', 'NO', 'ONE');
  await until(async () => (await replica.redis.hlen('h')) === 2, { what: 'the end of the field' });
  expect(await replica.redis.hgetall('h')).toEqual(LEFT);
});

test.skipIf(!hasRedisServer)(
  'redis-server 7.0 loads the sync, and deletes the fields when ours expire (needs redis-server)',
  async () => {
    const [primary, replica] = [await ours(), await real()];
    await fill(primary.redis, 'before');
    await replica.follow(primary);
    await fill(primary.redis, 'after');
    for (const key of ['before', 'after']) {
      await until(async () => (await replica.redis.hlen(key)) === 2, { what: 'the end of the field' });
      expect(await replica.redis.hgetall(key)).toEqual(LEFT);
    }
    await primary.redis.set('still', 'following');
    await until(async () => (await replica.redis.get('still')) === 'following', { what: 'the link' });
  },
);
