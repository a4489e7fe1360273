/** S59: locks in a cluster whose nodes fail, are cut off, and take over by their own votes, on a virtual clock. */
import type { Cluster } from 'ioredis';
import { expect, test } from 'vitest';
import type { ClusterEvent } from '../../../cluster/cluster.ts';
import { type LabCluster, startCluster } from '../../../index.ts';

function start(seed: number): Promise<LabCluster> {
  return startCluster({ clock: 'virtual', seed, primaries: 3, replicas: 1, nodeTimeout: 2000 });
}

async function clientOf(cluster: LabCluster): Promise<Cluster> {
  // Loaded after the lab has laid its routes.
  const { Cluster } = await import('ioredis');
  return cluster.run(() =>
    cluster.actor('app').run(() => {
      const redis = new Cluster(cluster.addresses, {
        clusterRetryStrategy: () => 100,
        retryDelayOnFailover: 100,
      });
      redis.on('error', () => {});
      return redis;
    }),
  );
}

/** Cuts a node off from all other nodes, and from the client. */
function cutOff(cluster: LabCluster, name: string): void {
  for (const other of [...cluster.nodes.map((node) => node.name), 'app']) {
    if (other !== name) cluster.network.link(name, other).partition();
  }
}

test('S59: a lock that its replica has not seen is lost when the cluster promotes the replica', async () => {
  await using cluster = await start(1);
  const redis = await clientOf(cluster);
  const shard = cluster.shardOf('lock');
  const [primary, replica] = [shard.primary, shard.replica];
  expect(await cluster.run(() => redis.set('seen', '1'))).toBe('OK');
  shard.link.hold();
  expect(await cluster.run(() => redis.set('lock', 'token', 'PX', 600_000, 'NX'))).toBe('OK');
  primary.crash();
  await cluster.when(() => shard.primary === replica);
  expect(cluster.lost.map(({ command }) => command.slice(0, 3))).toEqual([['SET', 'lock', 'token']]);
  // The client follows the promotion by MOVED and CLUSTER SLOTS: a second holder gets the lock.
  expect(await cluster.run(() => redis.set('lock', 'other', 'PX', 600_000, 'NX'))).toBe('OK');
  redis.disconnect();
});

test('S59: a primary of the minority stops serving, and its replica takes over on the other side', async () => {
  await using cluster = await start(2);
  const shard = cluster.shardOf('lock');
  const [old, replica] = [shard.primary, shard.replica];
  cutOff(cluster, old.name);
  await cluster.when(() => !old.member.cluster.isOk);
  await cluster.when(() => shard.primary === replica);
  expect(old.server.role).toBe('primary');
  cluster.network.heal();
  await cluster.when(() => old.server.role === 'replica' && old.server.primary?.linkUp === true);
  expect(cluster.shardOf('lock').primary).toBe(replica);
});

test('a node that restarts has kept its id, its epoch and its place on its disk', async () => {
  await using cluster = await start(3);
  const [node] = cluster.nodes;
  const { id, configEpoch } = node!.member.cluster.myself;
  node!.crash({ keep: 'everything' });
  node!.restart();
  const { cluster: again } = node!.member;
  expect([again.myself.id, again.myself.configEpoch, again.members.size]).toEqual([id, configEpoch, 6]);
  await cluster.when(() => again.isOk);
});

test('the same seed gives the same failover', async () => {
  const story = async (): Promise<string> => {
    await using cluster = await start(4);
    const [shard] = cluster.shards;
    shard!.primary.crash({ silent: true });
    await cluster.when(() => shard!.failovers.length > 0);
    return cluster.trace.events.map(({ at, who, what }) => `${at} ${who} ${what}`).join('\n');
  };
  expect(await story()).toBe(await story());
});

test('S59: a node whose script outlasts the timeout does not take that time for the silence of the others', async () => {
  await using cluster = await start(5);
  const redis = await clientOf(cluster);
  const [shard] = cluster.shards;
  const { primary } = shard!;
  const others = cluster.nodes.filter((node) => node !== primary);
  const suspicions: string[] = [];
  const hear = ({ type, text }: ClusterEvent): void => void (type === 'suspected' && suspicions.push(text));
  primary.member.cluster.onEvent = hear;
  primary.server.slowScript.pace = { start: 1000, slice: 1000, millis: 20 };
  const key = Array.from({ length: 100 }, (_, i) => `k${i}`).find((k) => cluster.shardOf(k) === shard)!;
  let ended = false;
  const spinning = cluster.run(() =>
    redis.eval('for i = 1, 600000 do end return 1', 1, key).then(() => (ended = true)),
  );
  await cluster.advance(11_000);
  expect([ended, primary.server.slowScript.active]).toEqual([false, true]);
  // The answers of the others are late by less than the timeout, and the script ends meanwhile.
  for (const { name } of others) cluster.network.lane(name, primary.name).hold();
  await cluster.advance(500);
  expect(primary.server.slowScript.active).toBe(true);
  await cluster.when(() => !primary.server.slowScript.active);
  await cluster.advance(300);
  for (const { name } of others) cluster.network.lane(name, primary.name).release();
  await spinning;
  await cluster.advance(2000);
  expect(suspicions).toEqual([]);
});
