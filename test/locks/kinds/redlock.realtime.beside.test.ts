/** Redlock on three independent servers: majorities, leftovers, contention, and servers that it refuses. */
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  BadConfiguration,
  createLocks,
  fromIoredis,
  LockLost,
  type Locks,
  QuorumFailed,
} from '../../../locks/index.ts';
import { hasRedisServer, type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { type FaultyClient, faulty } from '../faulty.ts';

describe.skipIf(!hasRedisServer)('Redlock (needs redis-server)', () => {
  const servers: RealRedis[] = [];
  const raws: Redis[] = [];
  const opened: { locks: Locks; clients: Redis[] }[] = [];

  beforeAll(async () => {
    for (let i = 0; i < 3; i++) servers.push(await startRedisServer({ tcp: i === 0 }));
    for (const { path } of servers) raws.push(new Redis({ path }));
  });
  afterEach(async () => {
    for (const { locks, clients } of opened.splice(0)) {
      locks.close();
      for (const client of clients) client.disconnect();
    }
    for (const raw of raws) await raw.flushall();
  });
  afterAll(async () => {
    for (const raw of raws) raw.disconnect();
    for (const server of servers) await server.stop();
  });

  function setUp(leaseMs = 30_000, requestTimeoutMs = 60): { locks: Locks; nodes: FaultyClient[] } {
    const clients = servers.map(({ path }) => new Redis({ path }));
    const nodes = clients.map((client) => faulty(fromIoredis(client)));
    const locks = createLocks(nodes, { leaseMs, requestTimeoutMs });
    opened.push({ locks, clients });
    return { locks, nodes };
  }

  /** How many servers have the key. */
  async function copies(name: string): Promise<number> {
    const each = await Promise.all(raws.map((raw) => raw.exists(name)));
    return each.reduce((sum, count) => sum + count, 0);
  }

  test('is held on all servers, excludes others and is gone from all after its release', async () => {
    const [a, b] = [setUp(30_000, 20_000), setUp(30_000, 20_000)]; // Busy machines answer late.
    const held = await a.locks.redlock('r').acquire();
    await until(async () => (await copies('r')) === 3); // Two of them have decided it, the third follows.
    expect(await b.locks.redlock('r').tryAcquire()).toBeNull();
    await until(async () => (await copies('r')) === 3); // The refused attempt left nothing and removed nothing.
    expect(held.validUntil).toBeLessThan(Date.now() + 30_000);
    const waiting = b.locks.redlock('r').acquire();
    await Promise.all([held.release(), waiting]);
    await (await waiting).release();
    await until(async () => (await copies('r')) === 0);
  });

  test('needs only a majority, and its error names the majority that it missed', async () => {
    const { locks, nodes } = setUp();
    nodes[0]!.fault = () => 'lose-request';
    const held = await locks.redlock('r').acquire();
    expect(await copies('r')).toBe(2);
    await held.release();
    nodes[1]!.fault = () => 'lose-reply';
    const failed = locks.redlock('r').tryAcquire();
    await expect(failed).rejects.toThrow(QuorumFailed);
    await expect(failed).rejects.toMatchObject({ granted: 1, needed: 2 });
    nodes[1]!.fault = () => undefined; // The server whose reply got lost is released too.
    await until(async () => (await copies('r')) === 0);
  });

  test('a lock that is renewed on a minority only is lost', async () => {
    const { locks, nodes } = setUp(400);
    const held = await locks.redlock('r').acquire();
    const { signal } = held;
    const first = held.validUntil;
    await until(() => held.validUntil > first);
    nodes[1]!.fault = () => 'lose-request';
    await raws[0]!.set('r', 'the token of another client'); // Without it, the server would take the lock again.
    await until(() => signal.aborted);
    await expect(held.release()).rejects.toThrow(LockLost);
  });

  test('extend that reaches no majority loses the lock', async () => {
    const { locks } = setUp();
    const held = await locks.redlock('r').acquire({ leaseMs: 20_000 });
    await held.extend(25_000);
    await raws[0]!.del('r');
    await held.extend(25_000);
    await until(async () => (await raws[0]!.exists('r')) === 1); // It was restored.
    await Promise.all([raws[0]!.del('r'), raws[1]!.del('r')]);
    await expect(held.extend(25_000)).rejects.toThrow(LockLost);
    await expect(held.release()).rejects.toThrow(LockLost);
  });

  test('clients that split the votes retry at different times, and there are never two holders', async () => {
    const sets = [1, 2, 3].map(() => setUp(30_000, 20_000)); // Busy machines answer late.
    let inside = 0;
    const work = async ({ locks }: { locks: Locks }): Promise<void> => {
      for (let i = 0; i < 10; i++) {
        await locks.redlock('r').using(async () => {
          expect(++inside).toBe(1);
          await raws[0]!.ping();
          inside--;
        });
      }
    };
    await Promise.all(sets.map(work));
  });

  test('refuses an even number of servers, one server twice, and replicas', async () => {
    const [first, second] = servers.slice(0, 2).map(({ path }) => new Redis({ path })) as [Redis, Redis];
    const replica = await startRedisServer({ args: ['--replicaof', '127.0.0.1', String(servers[0]!.port)] });
    onTestFinished(() => replica.stop());
    const third = new Redis({ path: replica.path });
    onTestFinished(() => {
      for (const client of [first, second, third]) client.disconnect();
    });
    for (const clients of [[first, second], [first], [first, second, first], [first, second, third]]) {
      const locks = createLocks(clients);
      await expect(locks.redlock('r').acquire()).rejects.toThrow(BadConfiguration);
      locks.close();
    }
  });
});
