/** Several holds of one reader on every real server of this machine: the story of S139, with real processes. */
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLocks } from '../../../locks/index.ts';
import { realServers } from '../../support/oracles.ts';
import { startRedisServer } from '../../support/redis-server.ts';

const servers = realServers();

describe.skipIf(servers.length === 0)('the holds of one reader (needs redis-server)', () => {
  test.each(servers)('on %s', async (_name, program) => {
    const server = await startRedisServer({ program });
    onTestFinished(() => server.stop());
    const redis = new Redis({ path: server.path });
    onTestFinished(() => redis.disconnect());
    const [a, b] = [createLocks(redis), createLocks(redis)];
    onTestFinished(() => {
      for (const locks of [a, b]) locks.close();
    });
    const { read, name } = a.readWrite('L');
    const short = await read.acquire({ owner: 'me', leaseMs: 2000 });
    const long = await read.acquire({ owner: 'me' });
    await short.release();
    expect(await redis.pttl(name)).toBeGreaterThan(20_000);
    // The short lease would be over by the time the writer gives up.
    expect(await b.readWrite('L').write.tryAcquire({ waitMs: 2100 })).toBeNull();
    long.assertHeld();
    await long.release();
    const writer = await b.readWrite('L').write.tryAcquire();
    expect(writer).not.toBeNull();
    await writer!.release();
    expect((await redis.keys('*')).filter((key) => !key.includes('requests'))).toEqual([]);
  });
});
