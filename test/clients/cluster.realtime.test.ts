/** ioredis and node-redis on a cluster of ours: each holds a lock while the primary of the lock's slot dies. */
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLocks } from '../../locks/index.ts';
import { INSTALLED } from '../support/oracles.ts';
import { until } from '../support/until.ts';
import { type ClusterGroup, ourCluster } from './cluster-group.ts';

const RELEASE =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
const limitMs = 60_000;
let group: ClusterGroup;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  group = await ourCluster(INSTALLED, 1000);
});
afterAll(async () => {
  for (const end of ends) await end();
  await group?.[Symbol.asyncDispose]();
});

function ioredis(): Cluster {
  const redis = new Cluster(group.ports.map((port) => ({ host: '127.0.0.1', port })));
  redis.on('error', () => {});
  ends.push(() => redis.disconnect());
  return redis;
}

async function nodeRedis() {
  const client = createCluster({
    rootNodes: group.ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })),
  });
  client.on('error', () => {});
  await client.connect();
  ends.push(() => client.destroy());
  return client;
}

test('ioredis follows the promotion, and the lock of our recipes is still held', async () => {
  const [redis, other] = [ioredis(), ioredis()];
  const [locks, others] = [createLocks(redis), createLocks(other)];
  ends.push(
    () => locks.close(),
    () => others.close(),
  );
  const held = await locks.reentrant('ioredis').acquire({ leaseMs: 600_000 });
  await group.killPrimaryOf('ioredis');
  const follows = (): Promise<boolean> => redis.exists('ioredis').then(Boolean, () => false);
  await until(follows, { what: 'ioredis to follow', limitMs });
  held.assertHeld();
  expect(await others.reentrant('ioredis').tryAcquire()).toBeNull();
  await held.release();
  const next = await others.reentrant('ioredis').tryAcquire();
  expect(next).not.toBeNull();
  await next?.release();
});

test('node-redis follows the promotion, and its SET NX PX is still refused to others', async () => {
  const once = { NX: true, PX: 600_000 } as const;
  const client = await nodeRedis();
  expect(await client.set('node-redis', 'token', once)).toBe('OK');
  await group.killPrimaryOf('node-redis');
  const follows = (): Promise<boolean> =>
    client.get('node-redis').then(
      (token) => token === 'token',
      () => false,
    );
  await until(follows, { what: 'node-redis to follow', limitMs });
  const other = await nodeRedis();
  expect(await other.set('node-redis', 'other', once)).toBeNull();
  expect(await client.eval(RELEASE, { keys: ['node-redis'], arguments: ['token'] })).toBe(1);
  expect(await other.set('node-redis', 'other', once)).toBe('OK');
});
