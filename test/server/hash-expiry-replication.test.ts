/** Fields that end, across a full sync and the stream behind it: to lostlock, and to a redis-server 7.0 that knows no such thing. */
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { startServer } from '../../index.ts';
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function client(port: number): Redis {
  const redis = new Redis(port, '127.0.0.1');
  redis.on('error', () => {});
  cleanups.push(() => redis.disconnect());
  return redis;
}

async function ours(): Promise<{ redis: Redis; port: number }> {
  const server = await startServer();
  cleanups.push(() => server.stop());
  return { redis: client(server.port), port: server.port };
}

async function follow(replica: Redis, port: number): Promise<void> {
  await replica.call('REPLICAOF', '127.0.0.1', String(port));
  const up = async () => ((await replica.info('replication')) as string).includes('master_link_status:up');
  await until(up, { what: 'the link' });
}

/** A hash whose field `short` ends soon and `long` in a while. */
async function fill(redis: Redis, key: string): Promise<void> {
  await redis.hset(key, 'short', '1', 'long', '2', 'ever', '3');
  await redis.call('HPEXPIRE', key, '100', 'FIELDS', '1', 'short');
  await redis.call('HEXPIREAT', key, '4102444800', 'FIELDS', '1', 'long');
}

const LEFT = { long: '2', ever: '3' };

test('a lostlock replica learns of them by the full sync and by the stream, and hides what has ended', async () => {
  const [primary, replica] = [await ours(), await ours()];
  await fill(primary.redis, 'before');
  await follow(replica.redis, primary.port);
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

test('a promoted replica ends the fields itself', async () => {
  const [primary, replica] = [await ours(), await ours()];
  await fill(primary.redis, 'h');
  await follow(replica.redis, primary.port);
  await replica.redis.call('REPLICAOF', 'NO', 'ONE');
  await until(async () => (await replica.redis.hlen('h')) === 2, { what: 'the end of the field' });
  expect(await replica.redis.hgetall('h')).toEqual(LEFT);
});

test.skipIf(!hasRedisServer)(
  'redis-server 7.0 loads the sync, and loses the fields when ours end (needs redis-server)',
  async () => {
    const primary = await ours();
    const real = await startRedisServer({ tcp: true, args: ['--repl-diskless-sync-delay', '0'] });
    cleanups.push(() => real.stop());
    const replica = client(real.port);
    await fill(primary.redis, 'before');
    await follow(replica, primary.port);
    await fill(primary.redis, 'after');
    for (const key of ['before', 'after']) {
      await until(async () => (await replica.hlen(key)) === 2, { what: 'the end of the field' });
      expect(await replica.hgetall(key)).toEqual(LEFT);
    }
    await primary.redis.set('still', 'following');
    await until(async () => (await replica.get('still')) === 'following', { what: 'the link' });
  },
);
