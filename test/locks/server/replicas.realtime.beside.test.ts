/** Locks that must have reached replicas, on a real primary with a real replica. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createLocks, NotReplicated } from '../../../locks/index.ts';
import { formsIn, type ListedForm } from '../../../locks/kinds/index.ts';
import { hasRedisServer, type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

const isOnOneServer = ({ primaries }: ListedForm): boolean => primaries === 1;

describe.skipIf(!hasRedisServer)('locks with replicas (needs redis-server)', () => {
  let primary: RealRedis;
  let replica: RealRedis;
  let redis: Redis;

  beforeAll(async () => {
    primary = await startRedisServer({ tcp: true, args: ['--repl-diskless-sync-delay', '0'] });
    replica = await startRedisServer({ args: ['--replicaof', '127.0.0.1', String(primary.port)] });
    redis = new Redis({ path: primary.path });
    await until(async () => (await redis.call('WAIT', '1', '100')) === 1);
  });
  afterAll(async () => {
    redis?.disconnect();
    await replica?.stop();
    await primary?.stop();
  });

  test.each([1, 'all'] as const)('replicas: %s is met while the replica follows', async (replicas) => {
    const locks = createLocks(redis, { replicas, replicaTimeoutMs: 20_000 });
    const follower = new Redis({ path: replica.path });
    onTestFinished(() => follower.disconnect());
    for (const { name, open, key = String } of formsIn('replicas')) {
      const held = await (await open(locks, name)).acquire();
      expect(await follower.exists(key(name)), name).toBe(1);
      await held.release();
    }
    locks.close();
  });

  test('too few replicas, or a missing fsync, gives a typed error and undoes the grant', async () => {
    for (const options of [{ replicas: 2 }, { replicas: 1, fsync: true }]) {
      const locks = createLocks(redis, { ...options, replicaTimeoutMs: 50 });
      for (const { name, open, setUp, key = String } of formsIn('releases').filter(isOnOneServer)) {
        await setUp?.(createLocks(redis), name, 1);
        const failed = open(locks, name).then((lock) => lock.acquire());
        await expect(failed).rejects.toThrow(NotReplicated);
        await expect(failed).rejects.toMatchObject({ needed: options.replicas });
        if (setUp !== undefined) expect(await redis.get(name), name).toBe('1');
        else expect(await redis.exists(key(name)), name).toBe(0);
      }
      locks.close();
    }
  });

  test('a primary that has lost its replicas never satisfies `all`', async () => {
    await replica.stop();
    await until(async () => String(await redis.info('replication')).includes('connected_slaves:0'));
    const locks = createLocks(redis, { replicas: 'all', replicaTimeoutMs: 50 });
    await expect(locks.simple('s').acquire()).rejects.toMatchObject({ copies: 0, needed: 1 });
    expect(await redis.exists('s')).toBe(0);
    locks.close();
  });
});
