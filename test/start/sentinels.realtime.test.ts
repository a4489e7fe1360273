/** `startServer({ replicas, sentinels })`: clients in Sentinel mode follow a promotion with a lock in hand. */
import { Redis } from 'ioredis';
import { createSentinel as createNodeRedis } from 'redis';
import { afterEach, describe, expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../index.ts';
import { createLocks } from '../../locks/index.ts';
import type { LostlockSentinel } from '../../start/running/sentinel.ts';
import { until } from '../support/until.ts';

/**
 * Shorter than Sentinel's own, as its test suite has them too (SENTINEL DEBUG). PING and INFO keep theirs or come close: a replica
 * that answers neither for five or three periods cannot be promoted. A busy machine is no reason for TILT.
 */
const PERIODS = { 'info-period': 2000, 'publish-period': 200, 'ask-period': 100, 'tilt-trigger': 600_000 };
const limitMs = 60_000;
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** Starts Sentinels that nothing but the test makes fail over: a minute is longer than a busy machine's pauses. */
async function start(): Promise<LostlockServer> {
  const sentinels = { count: 3, quorum: 1, downAfter: 60_000, failoverTimeout: 15_000 };
  const server = await startServer({ replicas: 2, sentinels });
  stops.push(() => server.stop());
  for (const { node } of server.sentinels) Object.assign(node.sentinel.periods, PERIODS);
  const ready = (): boolean =>
    server.sentinels.every(({ node }) => {
      const primary = node.sentinel.primaries.get('mymaster');
      const replicas = [...(primary?.replicas.values() ?? [])];
      return (
        primary?.sentinels.size === 2 && replicas.length === 2 && replicas.every(({ infoAt }) => infoAt > 0)
      );
    });
  await until(ready, { what: 'Sentinels that know each other and the replicas', limitMs });
  return server;
}

function ioredis(server: LostlockServer): Redis {
  const redis = new Redis({
    sentinels: server.sentinels.map(({ host, port }) => ({ host, port })),
    name: 'mymaster',
    sentinelRetryStrategy: () => 20,
    retryStrategy: () => 20,
    maxRetriesPerRequest: null,
  });
  redis.on('error', () => {});
  stops.push(() => redis.disconnect());
  return redis;
}

describe('startServer with Sentinels', () => {
  test('SENTINEL FAILOVER: ioredis follows, and the lock that it holds survives', async () => {
    const server = await start();
    const redis = ioredis(server);
    const locks = createLocks(redis, { requestTimeoutMs: 1000, replicas: 2 });
    stops.push(() => locks.close());
    const held = await locks.reentrant('order').acquire();
    const ask = new Redis(server.sentinels[0]!.port, '127.0.0.1');
    stops.push(() => ask.disconnect());
    // It is refused while INFO of the replicas is late.
    const told = (): Promise<boolean> =>
      ask.call('SENTINEL', 'FAILOVER', 'mymaster').then(
        (reply) => reply === 'OK',
        () => false,
      );
    await until(told, { what: 'a replica that can be promoted', limitMs });
    const moved = async (): Promise<boolean> => {
      const [, port] = (await ask.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster')) as string[];
      return Number(port) !== server.port;
    };
    await until(moved, { what: 'another primary', limitMs });
    const followed = (): boolean => redis.status === 'ready' && redis.stream.remotePort !== server.port;
    await until(followed, { what: 'ioredis to follow', limitMs });
    held.assertHeld();
    expect(await locks.reentrant('order').tryAcquire({ owner: 'another' })).toBeNull();
    await held.release();
  });

  test('SHUTDOWN of the primary: node-redis follows the Sentinels to the replica that they promote', async () => {
    const server = await start();
    const client = createNodeRedis({
      name: 'mymaster',
      sentinelRootNodes: server.sentinels.map(({ host, port }) => ({ host, port })),
      passthroughClientErrorEvents: false,
      scanInterval: 100,
    });
    client.on('error', () => {});
    await client.connect();
    stops.push(() => client.destroy());
    await client.set('order', 'token', { condition: 'NX', expiration: { type: 'PX', value: 60_000 } });
    const replicated = (): boolean => server.replicas.every((replica) => replica.dump().length === 1);
    await until(replicated, { what: 'the lock on the replicas', limitMs });
    server.node.onShutdown();
    // One Sentinel notices it and asks the others for their votes. If all did at the same moment, they could vote for themselves.
    const [{ node: leader }] = server.sentinels as [LostlockSentinel];
    leader.sentinel.primaries.get('mymaster')!.downAfter = 1000;
    const primary = (): LostlockServer | undefined =>
      server.replicas.find(({ node }) => node.role === 'primary');
    const fresh = await until(primary, { what: 'a promotion', limitMs });
    const written = (): Promise<boolean> =>
      client.set('after', 'x').then(
        () => fresh.dump().some(({ key }) => String(key) === 'after'),
        () => false,
      );
    await until(written, { what: 'node-redis to write to the new primary', limitMs });
    expect(await client.get('order')).toBe('token');
  });
});
