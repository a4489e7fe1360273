/** A cluster on the real clock: one call sets it up, redis-cli is content with it, and real nodes can join it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClusterNode } from '../../cluster/node.ts';
import { type LostlockCluster, startCluster } from '../../index.ts';
import { slotOf } from '../../protocol/slot.ts';
import { RawClient } from '../support/raw-client.ts';
import { findProgram, hasRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { askNode, realNode } from './nodes.ts';

const run = promisify(execFile);
const hasRedisCli = findProgram('redis-cli') !== undefined;
let cluster: LostlockCluster;

beforeAll(async () => {
  cluster = await startCluster({ primaries: 3, replicas: 1, dialect: 'redis-7.0', nodeTimeout: 2000 });
});
afterAll(() => cluster.stop());

/** The text that redis-cli prints, without colours. */
async function cli(...args: string[]): Promise<string> {
  const { stdout } = await run('redis-cli', args, { timeout: 60_000 });
  return stdout.replace(/\x1b\[[0-9;]*m/g, '');
}

function first(): string {
  return `127.0.0.1:${cluster.nodes[0]?.port}`;
}

test('one call sets a cluster up: slots, replicas, and nodes that know each other', async () => {
  expect(cluster.primaries.length).toBe(3);
  expect(cluster.replicas.length).toBe(3);
  const client = await RawClient.connect({ port: cluster.nodes[4]!.port });
  const info = await askNode(client, 'CLUSTER', 'INFO');
  client.close();
  for (const line of [
    'cluster_state:ok',
    'cluster_slots_ok:16384',
    'cluster_known_nodes:6',
    'cluster_size:3',
  ]) {
    expect(info).toContain(line);
  }
});

test('ioredis finds the node of each key, and reads from replicas', async () => {
  const redis = new Cluster(cluster.addresses, { scaleReads: 'slave' });
  await Promise.all(['a', 'b', 'c', 'd'].map((key) => redis.set(key, `of ${key}`)));
  await until(async () => (await redis.get('a')) === 'of a');
  const owners = ['a', 'b', 'c', 'd'].map((key) => cluster.primaryOf(key).port);
  expect(new Set(owners).size).toBe(3);
  expect(cluster.primaryOf('a').dump()).toContainEqual(expect.objectContaining({ key: 'a', value: 'of a' }));
  redis.disconnect();
});

test.skipIf(!hasRedisCli)('redis-cli --cluster check finds nothing wrong (needs redis-cli)', async () => {
  const text = await cli('--cluster', 'check', first());
  expect(text).toContain('[OK] All nodes agree about slots configuration.');
  expect(text).toContain('[OK] All 16384 slots covered.');
});

test.skipIf(!hasRedisCli)(
  'redis-cli --cluster reshard moves slots with their keys (needs redis-cli)',
  async () => {
    // redis-cli moves the first slots of a node.
    const tag = Array.from({ length: 100_000 }, (_, i) => `{${i}}`).find((each) => slotOf(each) < 10)!;
    const [from, to] = [cluster.nodes[0]!, cluster.nodes[2]!];
    const port = String(from.port);
    for (const key of [`${tag}1`, `${tag}2`]) await cli('-c', '-p', port, 'SET', key, 'value');
    const [source, target] = [from, to].map(({ node }) => (node.cluster as ClusterNode).cluster.myself.id);
    await cli(
      ...['--cluster', 'reshard', first(), '--cluster-from', source!, '--cluster-to', target!],
      ...['--cluster-slots', '10', '--cluster-yes', '--cluster-pipeline', '100'],
    );
    await until(() => cluster.primaryOf(tag) === to, { what: 'a slot with a new owner' });
    expect(await cli('-c', '-p', port, 'GET', `${tag}1`)).toBe('value\n');
    const check = (): Promise<string> => cli('--cluster', 'check', first());
    await until(async () => (await check().catch(String)).includes('[OK] All nodes agree'), {
      limitMs: 30_000,
    });
    expect(await check()).toContain('[OK] All 16384 slots covered.');
  },
  60_000,
);

test.skipIf(!hasRedisServer)(
  'a real node joins, replicates a node of ours, and takes over from it (needs redis-server)',
  async () => {
    await using own = await startCluster({ primaries: 1, dialect: 'redis-7.0', nodeTimeout: 1000 });
    const node = await realNode(findProgram('redis-server')!);
    try {
      const { port } = own.nodes[0]!;
      const ours = await RawClient.connect({ port });
      await askNode(ours, 'SET', 'lock', 'token');
      const [, , , bus = ''] = (await askNode(node.admin, 'CONFIG', 'GET', 'cluster-port')).split('"');
      expect(await askNode(ours, 'CLUSTER', 'MEET', '127.0.0.1', String(node.port), bus)).toBe('+OK');
      const id = (await askNode(ours, 'CLUSTER', 'MYID')).slice(1, -1);
      await until(async () => (await askNode(node.admin, 'CLUSTER', 'REPLICATE', id)) === '+OK');
      await until(async () => (await askNode(node.admin, 'INFO', 'replication')).includes('link_status:up'), {
        limitMs: 30_000,
      });
      await until(async () => (await askNode(node.admin, 'CLUSTER', 'INFO')).includes('slots_ok:16384'));
      expect(await askNode(node.admin, 'CLUSTER', 'FAILOVER', 'TAKEOVER')).toBe('+OK');
      expect(await askNode(node.admin, 'GET', 'lock')).toBe('"token"');
      await until(async () => (await askNode(ours, 'GET', 'lock')).startsWith('-MOVED'));
      await until(() => own.nodes[0]!.node.primary?.linkUp === true, { limitMs: 30_000 });
      ours.close();
    } finally {
      await node.stop();
    }
  },
  60_000,
);
