/** Parameters of a cluster: those that limit CLUSTER FAILOVER and FORGET, and those that are refused. */
import { expect, test } from 'vitest';
import type { ClusterNode } from '../../cluster/node.ts';
import { type LostlockServer, startCluster, startServer } from '../../index.ts';
import type { Settings } from '../../server/settings/settings.ts';
import { RawClient } from '../support/raw-client.ts';
import { askNode } from './nodes.ts';

test('cluster-manual-failover-timeout and cluster-blacklist-ttl limit a hand-over and the ban of a node', async () => {
  const settings = { 'cluster-manual-failover-timeout': 700_000, 'cluster-blacklist-ttl': 900 };
  await using cluster = await startCluster({ primaries: 2, replicas: 1, dialect: 'valkey-8.1', settings });
  const [, other, replica] = cluster.nodes;
  const view = ({ node }: LostlockServer) => (node.cluster as ClusterNode).cluster;
  const before = Date.now();
  const admin = await RawClient.connect({ port: other!.port });
  const { id } = view(replica!).myself;
  expect(await askNode(admin, 'CLUSTER', 'FORGET', id)).toBe('+OK');
  expect(view(other!).forgotten.get(id)).toBeGreaterThanOrEqual(before + 900_000);
  admin.close();
  // Without the vote of the other primary the hand-over cannot end.
  await other!.stop();
  const client = await RawClient.connect({ port: replica!.port });
  expect(await askNode(client, 'CLUSTER', 'FAILOVER', 'FORCE')).toBe('+OK');
  expect(view(replica!).handover.until).toBeGreaterThanOrEqual(before + 700_000);
  client.close();
});

test('parameters of a cluster that would have an effect which is not there are refused by name', async () => {
  const all: Partial<Settings> = {
    'cluster-announce-client-ipv4': '127.0.0.1',
    'cluster-announce-client-ipv6': '::1',
  };
  for (const [name, value] of Object.entries(all)) {
    await expect(startServer({ port: 0, settings: { [name]: value } })).rejects.toThrow(name);
  }
});
