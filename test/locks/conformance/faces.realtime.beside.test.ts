/** The locks' conformance suite on a cluster of ours and behind Sentinels of ours, with a failover in the middle. */
import { Cluster, Redis } from 'ioredis';
import { type LostlockServer, startCluster, startServer } from '../../../index.ts';
import { hurry } from '../../clients/sentinel-group.ts';
import { RawClient } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';
import { lockConformance } from './conformance.ts';
import { wholeCluster } from './whole-cluster.ts';

/** After so many cases there is a failover. */
const FAILOVER_AT = 40;
const limitMs = 30_000;

/** Sends one request until the reply is the wanted one. */
async function insist(port: number, wanted: RegExp, ...words: [string, ...string[]]): Promise<void> {
  const client = await RawClient.connect({ port });
  await until(async () => wanted.test((await client.ask(...words)).raw), { what: words.join(' '), limitMs });
  client.close();
}

lockConformance('on a cluster of lostlock, with failovers in the middle', async () => {
  const cluster = await startCluster({ primaries: 3, replicas: 1, nodeTimeout: 60_000 });
  const clients: Cluster[] = [];
  const open = (): Cluster => {
    const redis = new Cluster(cluster.addresses);
    redis.on('error', () => {});
    clients.push(redis);
    return redis;
  };
  let calls = 0;
  /** Every replica takes over from its primary, which loses nothing. */
  const failover = async (): Promise<void> => {
    for (const replica of cluster.replicas) {
      await insist(replica.port, /OK/, 'CLUSTER', 'FAILOVER');
      await until(() => replica.node.role === 'primary', { what: 'a promotion', limitMs });
    }
    await until(() => cluster.replicas.every(({ node }) => node.primary?.linkUp === true), { limitMs });
    const ports = new Set(cluster.primaries.map(({ port }) => port));
    for (const client of clients.filter(({ status }) => status !== 'end')) {
      const knows = async (): Promise<boolean> => {
        await new Promise<void>((resolve) => client.refreshSlotsCache(() => resolve()));
        return client.nodes('master').every(({ options }) => ports.has(options.port as number));
      };
      await until(knows, { what: 'the clients to know the new primaries', limitMs });
    }
  };
  return {
    isCluster: true,
    client: () => wholeCluster(open()),
    lockClient: () => {
      const client = open();
      return { client, disconnect: () => client.disconnect() };
    },
    run: async (body) => {
      if (++calls === FAILOVER_AT) await failover();
      await body();
    },
    stop: async () => {
      for (const client of clients) client.disconnect();
      await cluster.stop();
    },
  };
});

lockConformance('behind Sentinels of lostlock, with a failover in the middle', async () => {
  const server = await startServer({ replicas: 1, sentinels: { count: 3, downAfter: 60_000 } });
  const ports = server.sentinels.map(({ port }) => port);
  await hurry(ports, 1);
  const clients: Redis[] = [];
  const primary = (): LostlockServer =>
    [server, ...server.replicas].find(({ node }) => node.role === 'primary') as LostlockServer;
  let calls = 0;
  const failover = async (): Promise<void> => {
    const before = primary();
    await insist(ports[0]!, /OK/, 'SENTINEL', 'FAILOVER', 'mymaster');
    for (const port of ports) {
      const named = new RegExp(`\r\n(?!${before.port}\r)\\d+\r\n$`);
      await insist(port, named, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster');
    }
    await until(() => before.node.role === 'replica' && before.node.primary?.linkUp === true, {
      what: 'the old primary to follow',
      limitMs,
    });
    const open = clients.filter(({ status }) => status !== 'end');
    const follow = (): boolean =>
      open.every(({ status, stream }) => status === 'ready' && stream.remotePort !== before.port);
    await until(follow, { what: 'the clients to follow', limitMs });
  };
  return {
    client: () => {
      const redis = new Redis({
        name: 'mymaster',
        sentinels: server.sentinels.map(({ host, port }) => ({ host, port })),
        sentinelRetryStrategy: () => 20,
        retryStrategy: () => 20,
        maxRetriesPerRequest: null,
      });
      redis.on('error', () => {});
      clients.push(redis);
      return redis;
    },
    run: async (body) => {
      if (++calls === FAILOVER_AT) await failover();
      await body();
    },
    stop: async () => {
      for (const client of clients) client.disconnect();
      await server.stop();
    },
  };
});
