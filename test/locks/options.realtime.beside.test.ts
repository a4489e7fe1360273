/** Allowed and refused options, and a server that is out of memory. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocks, type LockEvent, type Locks, lockChannel, ServerRefused } from '../../locks/index.ts';
import { hasRedisServer, type RealRedis, startRedisServer } from '../support/redis-server.ts';

describe.skipIf(!hasRedisServer)('options and events (needs redis-server)', () => {
  let server: RealRedis;
  let redis: Redis;
  let locks: Locks;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = new Redis({ path: server.path });
    locks = createLocks(redis);
  });
  afterAll(async () => {
    locks?.close();
    redis?.disconnect();
    await server?.stop();
  });

  test.each([0, -1, Number.NaN])('a lease of %d ms is refused before anything is sent', async (leaseMs) => {
    await expect(locks.simple('L').acquire({ leaseMs })).rejects.toThrow(TypeError);
    expect(await redis.exists('L')).toBe(0);
  });

  test('a fractional lease is rounded up, and a lease longer than the longest timer is kept', async () => {
    const short = await locks.simple('short').acquire({ leaseMs: 5000.5 });
    expect(await redis.pttl('short')).toBeGreaterThan(4000);
    await short.release();
    const long = await locks.simple('long').acquire({ leaseMs: 2 ** 40 });
    long.assertHeld();
    await long.release();
  });

  test('invalid counts are refused', async () => {
    await expect(locks.semaphore('S').acquire({ permits: 0 })).rejects.toThrow(TypeError);
    await expect(locks.latch('C').trySetCount(0)).rejects.toThrow(TypeError);
    await expect(locks.segmented('G', { segments: 2 }).take(0)).rejects.toThrow(TypeError);
    expect(() => locks.segmented('G', { segments: 0 })).toThrow(TypeError);
    expect(() => locks.multi([])).toThrow(TypeError);
    expect(() => createLocks([])).toThrow(TypeError);
  });

  test('a server that is out of memory refuses a lock with a clear error, and still renews and releases held locks', async () => {
    const held = await locks.reentrant('held').acquire();
    await redis.config('SET', 'maxmemory', '1');
    await expect(locks.reentrant('new').acquire()).rejects.toThrow(ServerRefused);
    await held.extend();
    await held.release();
    await redis.config('SET', 'maxmemory', '0');
    expect(await redis.exists('new', 'held')).toBe(0);
  });

  test('every event goes to the listeners and to the diagnostics channel', async () => {
    const heard: string[] = [];
    const traced: string[] = [];
    const listen = ({ event, lock }: LockEvent): void => void heard.push(`${event} ${lock}`);
    const trace = (message: unknown): void => void traced.push((message as LockEvent).event);
    for (const event of ['acquired', 'extended', 'released', 'lost'] as const) locks.on(event, listen);
    lockChannel.subscribe(trace);
    const held = await locks.fenced('E').acquire();
    await held.extend();
    await held.release();
    for (const event of ['acquired', 'extended', 'released', 'lost'] as const) locks.off(event, listen);
    await locks.simple('E2').using(() => {});
    lockChannel.unsubscribe(trace);
    expect(heard).toEqual(['acquired E', 'extended E', 'released E']);
    expect(traced).toEqual(['acquired', 'extended', 'released', 'acquired', 'released']);
  });
});
