/** The options of startCluster: wrong ones are refused, a cluster that does not form says why, and addresses can be reached. */
import { Cluster } from 'ioredis';
import { describe, expect, test } from 'vitest';
import type { ClusterNode } from '../../cluster/node.ts';
import { startCluster, startServer } from '../../index.ts';
import { formCluster } from '../../start/cluster.ts';
import { RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { askNode } from './nodes.ts';

const never = (value: unknown) => value as never;

describe('startCluster refuses', () => {
  test.each<[what: string, options: unknown, message: string]>([
    ['null', null, 'startCluster is null; allowed: an object of options'],
    ['a list', [], 'startCluster is []; allowed: an object of options'],
    ['settings that are null', { settings: null }, 'settings is null; allowed: an object of options'],
    [
      'the setting for which it has nodeTimeout',
      { settings: { 'cluster-node-timeout': 500 } },
      'settings.cluster-node-timeout is 500; allowed: no value (use the option nodeTimeout)',
    ],
  ])('%s', async (_what, options, message) => {
    await expect(startCluster(never(options))).rejects.toThrow(`lostlock: option ${message}`);
  });
});

describe('a single node of a cluster refuses', () => {
  test.each<[name: string, options: object]>([
    ['replicas', { replicas: 1 }],
    ['sentinels', { sentinels: 3 }],
    ['replicaOf', { replicaOf: { host: '127.0.0.1', port: 6379 } }],
  ])('%s', async (name, options) => {
    const settings = { 'cluster-enabled': true };
    await expect(startServer({ ...options, settings })).rejects.toThrow(
      new RegExp(`option ${name} is .* with settings\\.cluster-enabled \\(startCluster starts replicas\\)`),
    );
  });
});

test('replicas log in with the password of settings.requirepass', async () => {
  await using cluster = await startCluster({ primaries: 1, replicas: 1, settings: { requirepass: 'a' } });
  const [, replica] = cluster.nodes;
  expect(replica?.node.settings.masterauth).toBe('a');
});

test('a cluster that does not form says which nodes do not see each other', async () => {
  const settings = { 'cluster-enabled': true, 'cluster-announce-ip': '10.255.255.1' };
  const servers = [await startServer({ settings }), await startServer({ settings })];
  const [one, other] = servers.map(({ node }) => node.cluster as ClusterNode) as [ClusterNode, ClusterNode];
  const [a, b] = servers.map(({ port }) => `10.255.255.1:${port}`);
  // A time limit of nothing: the nodes have no time to see each other.
  const formed = formCluster([one, other], '10.255.255.1', 2, () => Promise.resolve(), -1);
  await expect(formed).rejects.toThrow(
    `lostlock: the cluster does not form: ${a} does not see ${b}; ${b} does not see ${a}`,
  );
  await Promise.all(servers.map((server) => server.stop()));
});

test.each(['0.0.0.0', 'localhost'])(
  'a cluster on %s tells clients an address that they can reach',
  async (host) => {
    await using cluster = await startCluster({ primaries: 2, host });
    expect(cluster.addresses.map((address) => address.host)).toEqual(['127.0.0.1', '127.0.0.1']);
    const admin = await RawClient.connect({ port: cluster.nodes[0]!.port });
    await until(async () => !(await askNode(admin, 'CLUSTER', 'NODES')).includes('0.0.0.0'));
    admin.close();
    const redis = new Cluster(cluster.urls);
    expect(await Promise.all(['a', 'b', 'c'].map((key) => redis.set(key, 'v')))).toEqual(['OK', 'OK', 'OK']);
    redis.disconnect();
  },
);

test('the URLs of a cluster on an IPv6 address have brackets', async () => {
  await using cluster = await startCluster({ primaries: 2, host: '::1' });
  expect(cluster.urls).toEqual(cluster.nodes.map(({ port }) => `redis://[::1]:${port}`));
});

test('primaryOf refuses what is no key', async () => {
  await using cluster = await startCluster({ primaries: 1 });
  for (const key of [undefined, null, 5]) {
    expect(() => cluster.primaryOf(never(key))).toThrow(`lostlock: option key is ${key}; allowed: a string`);
  }
});

test('the stream of a node without replicas has no bytes, and clients see the replicas of others at once', async () => {
  await using cluster = await startCluster({ primaries: 3, replicas: 0 });
  expect(cluster.nodes.map(({ node }) => node.replication.offset)).toEqual([0, 0, 0]);
  await using pairs = await startCluster({ primaries: 3, replicas: 1 });
  expect(pairs.primaries.map(({ node }) => node.replication.offset > 0)).toEqual([true, true, true]);
});
