/** The conformance suite through the other clients: ioredis 5, node-redis, and an ioredis cluster's own cases. */
import { Cluster, Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocks, fromIoredis, type Locks } from '../../../locks/index.ts';
import { slotOf } from '../../../locks/keys.ts';
import { formsIn } from '../../../locks/kinds/index.ts';
import { isLongRun } from '../../support/long.ts';
import { freePort, hasRedisServer, type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { lockConformance } from '../conformance/conformance.ts';

describe.skipIf(!hasRedisServer)('locks through other clients (needs redis-server)', () => {
  // ioredis 5 differs little from 6: the sample leaves it out.
  if (isLongRun) {
    lockConformance('ioredis 5', async () => {
      const server = await startRedisServer();
      return {
        client: () => new Redis({ path: server.path }),
        lockClient: () => {
          const client = new Redis5({ path: server.path });
          return { client, disconnect: () => client.disconnect() };
        },
        stop: () => server.stop(),
      };
    });
  }

  lockConformance('node-redis', async () => {
    const server = await startRedisServer();
    return {
      client: () => new Redis({ path: server.path }),
      lockClient: () => {
        const client = createClient({ socket: { path: server.path, tls: false } });
        client.on('error', () => {});
        client.connect().catch(() => {});
        return { client, disconnect: () => client.destroy() };
      },
      stop: () => server.stop(),
    };
  });

  describe('a cluster', () => {
    const servers: RealRedis[] = [];
    let cluster: Cluster;
    let sets: Locks[];

    beforeAll(async () => {
      for (let i = 0; i < 2; i++) {
        const args = ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())];
        servers.push(await startRedisServer({ tcp: true, args }));
      }
      await joinCluster(servers);
      cluster = new Cluster([{ host: '127.0.0.1', port: servers[0]!.port }]);
      sets = [createLocks(cluster), createLocks(fromIoredis(cluster, { sharded: false }))];
    });
    afterAll(async () => {
      for (const locks of sets ?? []) locks.close();
      cluster?.disconnect();
      for (const server of servers) await server.stop();
    });

    test('slots are computed as Redis does', async () => {
      for (const key of ['a', '{x}:y', 'a{b}c{d}', '{}a', 'a}b{', 'ä']) {
        expect(slotOf(key)).toBe(await cluster.cluster('KEYSLOT', key));
      }
    });

    test.each([0, 1])('every lock works on every slot (%i: sharded, then broadcast)', async (which) => {
      const locks = sets[which]!;
      for (const name of ['one', 'two', 'three', 'four']) {
        const kinds = [
          locks.simple(`s:${name}`),
          locks.reentrant(`r:${name}`),
          locks.fenced(`f:${name}`),
          locks.fair(`q:${name}`),
          locks.readWrite(`w:${name}`).write,
          locks.readWrite(`w:${name}`).read,
          locks.nonReentrant(`n:${name}`),
          locks.queue(`z:${name}`),
        ];
        for (const lock of kinds) {
          const held = await lock.acquire({ leaseMs: 600_000 });
          const waiting = lock.acquire({ waitMs: 30_000 });
          await held.release();
          await (await waiting).release();
        }
      }
      await expect(locks.session()).rejects.toThrow('sessions need one server');
    });

    test.each([
      ['sharded', true, 'SHARDCHANNELS'],
      ['broadcast', false, 'CHANNELS'],
    ] as const)('a waiter of another client is woken by %s messages', async (_how, sharded, listing) => {
      const [a, b] = [1, 2].map(() =>
        createLocks(fromIoredis(cluster, { sharded }), { maxSleepMs: 600_000 }),
      ) as [Locks, Locks];
      const heard = async (): Promise<string[]> => {
        const each = cluster.nodes('master').map((node) => node.call('PUBSUB', listing));
        return ((await Promise.all(each)) as string[][]).flat();
      };
      /** Starts to wait, and runs the awaited action once the waiter has subscribed. */
      const tell = async (name: string, wait: () => Promise<unknown>, done: () => Promise<unknown>) => {
        let over = false;
        const waiting = wait().then(() => {
          over = true;
        });
        await until(async () => (await heard()).some((channel) => channel.includes(name)));
        expect(over).toBe(false);
        await done();
        await waiting;
      };
      for (const { name: kind, make } of formsIn('messages in a cluster')) {
        const name = `told:${kind}:${listing}`;
        const held = await make(a, name).acquire({ leaseMs: 600_000 });
        const wait = async () => (await make(b, name).acquire()).release();
        await tell(name, wait, () => held.release());
        const named = `${name}:named`; // Named owners are released by another script.
        const again = await make(a, named).acquire({ leaseMs: 600_000, owner: 'me' });
        await tell(
          named,
          async () => (await make(b, named).acquire()).release(),
          () => again.release(),
        );
      }
      const [permits, added] = [`told:permits:${listing}`, `told:added:${listing}`] as const;
      await tell(
        permits,
        () => b.semaphore(permits).acquire({ waitForSetup: true }),
        () => a.semaphore(permits).trySetPermits(1),
      );
      await tell(
        added,
        () => b.semaphore(added).acquire({ waitForSetup: true }),
        () => a.semaphore(added).addPermits(1),
      );
      const latch = `told:latch:${listing}`;
      await a.latch(latch).trySetCount(1);
      await tell(
        latch,
        () => b.latch(latch).await(),
        () => a.latch(latch).countDown(),
      );
      for (const locks of [a, b]) locks.close();
    });

    test('a waiter of a sharded channel subscribes again after its connection broke', async () => {
      const locks = createLocks(cluster, { maxSleepMs: 600_000 });
      const held = await locks.simple('k').acquire({ leaseMs: 600_000 });
      const waiting = locks.simple('k').acquire();
      const channels = async (): Promise<number> => {
        const each = cluster.nodes('master').map((node) => node.call('PUBSUB', 'SHARDCHANNELS'));
        return ((await Promise.all(each)) as string[][]).flat().length;
      };
      await until(async () => (await channels()) === 1);
      for (const node of cluster.nodes('master')) await node.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await held.release();
      const next = await waiting;
      expect(next.name).toBe('k');
      await next.release();
      await until(async () => (await channels()) === 0);
      locks.close();
    });
  });
});

async function joinCluster(servers: readonly RealRedis[]): Promise<void> {
  const nodes = servers.map(({ port }) => new Redis(port));
  const share = 16_384 / nodes.length;
  for (const [index, node] of nodes.entries()) {
    await node.cluster('ADDSLOTSRANGE', index * share, (index + 1) * share - 1);
  }
  const info = String(await nodes[0]!.cluster('NODES'));
  const [, busPort] = /@(\d+)/.exec(info)!;
  for (const node of nodes.slice(1))
    await node.call('CLUSTER', 'MEET', '127.0.0.1', servers[0]!.port, busPort!);
  for (const node of nodes) {
    await until(async () => String(await node.cluster('INFO')).includes('cluster_state:ok'), {
      limitMs: 30_000,
    });
    await until(
      async () =>
        String(await node.cluster('NODES'))
          .trim()
          .split('\n').length === nodes.length,
    );
    node.disconnect();
  }
}
