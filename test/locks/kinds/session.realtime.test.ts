/** How the end of a session affects its locks, and locks that were released before it. */
import '../../../lab/router.ts';
import { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { startPair, startServer } from '../../../index.ts';
import { createLocks, fromIoredis, LockLost, OutcomeUnknown } from '../../../locks/index.ts';
import { HOUR, L, play } from '../quiet.ts';

test('a lock is lost with its session, and the holder is notified at once', () =>
  play(async ({ pair, raw, locks }) => {
    const session = await locks('A').session({ leaseMs: 3000 });
    const held = await session.lock(L).acquire();
    const { signal } = held;
    await raw.del(session.key);
    await pair.advance(1100); // Renewed after a third of its lease.
    expect(session.signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(LockLost);
    expect(() => held.assertHeld()).toThrow(LockLost);
    await expect(session.lock(L).acquire()).rejects.toThrow(LockLost);
  }));

test('after a stall the clock shows that the session is over before any timer fires', async () => {
  await using server = await startServer();
  const redis = new Redis({ Connector: server.connector });
  const locks = createLocks(redis);
  const session = await locks.session();
  const held = await session.lock(L).acquire();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(session.endsAt);
  expect(() => held.assertHeld()).toThrow(LockLost);
  clock.mockRestore();
  locks.close();
  redis.disconnect();
});

test('a session that the server has lost grants no locks', () =>
  play(async ({ raw, locks }) => {
    const session = await locks('A').session();
    await raw.del(session.key);
    await expect(session.lock(L).acquire()).rejects.toThrow('its session is over');
    expect(await raw.exists(L)).toBe(0);
  }));

test('closing a session frees its locks at once and notifies their holders', () =>
  play(async ({ raw, locks }) => {
    const session = await locks('A').session();
    const held = await session.lock(L).acquire();
    const { signal } = held;
    const waiting = locks('B').simple(L).acquire();
    await session.close();
    await (await waiting).release();
    expect(signal.reason).toBeInstanceOf(LockLost);
    expect(() => held.assertHeld()).toThrow(LockLost);
    await expect(held.extend()).rejects.toThrow(LockLost);
    expect(await raw.keys('*')).toEqual([]);
    await expect(session.lock(L).acquire()).rejects.toThrow('the session was closed');
  }));

test('closing a session notifies the holders of its locks at once, even without an answer', () =>
  play(async ({ pair, locks }) => {
    const mine = locks('A', { requestTimeoutMs: 100 });
    const session = await mine.session({ leaseMs: 3000 });
    const { signal } = await session.lock(L).acquire();
    const replies = pair.world.network.lane('redis-1', 'A');
    replies.hold();
    const closed = expect(session.close()).rejects.toThrow(OutcomeUnknown);
    expect(signal.reason).toBeInstanceOf(LockLost);
    await closed;
    replies.release();
  }));

test('a waiter in the same process gets the lock of a session as soon as the session is closed', () =>
  play(async ({ pair, locks, time }) => {
    const mine = locks('A');
    const session = await mine.session();
    await session.lock(L).acquire();
    const waiting = mine.simple(L).acquire();
    await pair.advance(100);
    const ms = await time(() => Promise.all([session.close(), waiting]));
    expect(ms).toBeLessThan(20);
    await (await waiting).release();
  }));

test('a session forgets released locks', () =>
  play(async ({ locks }) => {
    const sent: (readonly string[])[] = [];
    const session = await locks('A', {}, (client) => ({
      ...client,
      send(command) {
        sent.push(command);
        return client.send(command);
      },
    })).session();
    for (let i = 0; i < 5; i++) await session.lock(`${L}:${i}`).using(() => {});
    await session.lock(L).acquire();
    sent.length = 0;
    await session.close();
    expect(sent[0]?.slice(2, 5)).toEqual(['3', session.key, L]);
  }));

test('the lock of a session outlives its process by the lock delay as well', () =>
  play(async ({ raw, locks }) => {
    const session = await locks('A', { lockDelayMs: 5000 }).session({ leaseMs: HOUR });
    expect(await raw.pttl(session.key)).toBeGreaterThan(HOUR + 4000);
  }));

test('when a failover loses a release, the next renewal of the session frees the lock', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 1, network: { latency: 1, jitter: 0 } });
  await pair.run(async () => {
    const raw = pair.client('raw');
    const locks = (name: string) => createLocks(fromIoredis(pair.client(name)), { maxSleepMs: 100 });
    const [mine, others] = [locks('A'), locks('B')];
    const session = await mine.session({ leaseMs: 3000 });
    const kept = await session.lock('kept').acquire();
    const released = await session.lock(L).acquire();
    const later = await session.lock('later').acquire();
    await pair.advance(10);
    pair.world.network.lane('redis-1', 'redis-2').hold();
    await released.release();
    await pair.failover();
    expect(await raw.exists(L, 'kept', 'later')).toBe(3);
    const other = await others.session();
    expect(await other.lock(L).tryAcquire()).toBeNull();
    const got = await other.lock(L).acquire({ waitMs: 2000 });
    expect(await other.lock('kept').tryAcquire()).toBeNull();
    expect(await other.lock('later').tryAcquire()).toBeNull();
    for (const held of [kept, later, got]) await held.release();
    expect(await raw.exists(L, 'kept', 'later')).toBe(0);
    for (const each of [mine, others]) each.close();
  });
});

test('a session reports the acquisitions that are under way or hold a lock, and no others', () =>
  play(async ({ pair, raw, locks }) => {
    const mine = locks('A', { leaseMs: 3000 });
    const session = await mine.session();
    const held = await session.lock(L).acquire();
    const value = async (): Promise<string | null> => {
      await pair.advance(1100);
      return raw.get(session.key);
    };
    expect(await value()).toBe(`${session.key} 1 ,1,`);
    const controller = new AbortController();
    const waiting = session.lock(L).acquire({ signal: controller.signal });
    waiting.catch(() => {});
    expect(await value()).toBe(`${session.key} 2 ,1,2,`);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(await session.lock(L).tryAcquire()).toBeNull();
    await expect(session.lock(L).acquire({ waitMs: 10 })).rejects.toThrow('not free');
    expect(await value()).toBe(`${session.key} 4 ,1,`);
    await held.release();
    expect(await value()).toBe(`${session.key} 4 ,`);
  }));
