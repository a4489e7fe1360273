/** A cluster of the lab in real time: its links to clients of any library, its ports, its records, and its options. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { type RealClockCluster, startCluster } from '../../../index.ts';

const SIZE = { clock: 'real', primaries: 3, replicas: 1, nodeTimeout: 1000 } as const;

/** True if the promise has not settled when the cluster has exchanged messages. */
async function hangs(cluster: RealClockCluster, promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => {
    settled = true;
  });
  const { cluster: view } = cluster.nodes[0]!.member;
  const before = [...view.members.values()].map(({ pongAt }) => pongAt);
  await cluster.when(() => view.peers.every(({ pongAt }, i) => pongAt > (before[i] ?? 0)));
  return !settled;
}

test('clients of any library pass links: by name with the natMap, else as client', async () => {
  await using cluster = await startCluster(SIZE);
  const { primary } = cluster.shardOf('k');
  const { name, addresses, natMap } = await cluster.actor('app');
  expect(name).toBe('app');
  const [app, other] = [new Cluster([...addresses], { natMap }), new Cluster(cluster.addresses)];
  try {
    await Promise.all([app.set('k', '1'), other.set('k', '1')]);
    for (const [party, held, free] of [
      ['app', app, other],
      ['client', other, app],
    ] as const) {
      const link = cluster.network.link(party, primary.name);
      link.hold();
      const asked = held.get('k');
      expect(await hangs(cluster, asked)).toBe(true);
      expect(await free.get('k')).toBe('1');
      link.release();
      expect(await asked).toBe('1');
    }
  } finally {
    app.disconnect();
    other.disconnect();
  }
});

test('the bus passes the same links as replication: a drop and a reset do not stop the cluster', async () => {
  await using cluster = await startCluster(SIZE);
  const [one, two] = ['node-1', 'node-2'] as const;
  const [first, second] = [cluster.node(one).member.cluster, cluster.node(two).member.cluster];
  // Each node has a connection of its own to the other, and the lane carries the messages of both.
  const peers = [first.members.get(second.myself.id)!, second.members.get(first.myself.id)!];
  const links = (): unknown[] => peers.map(({ link }) => link);
  const isWhole = (): boolean =>
    peers.every(({ link }) => link?.isOpen === true) && first.isOk && second.isOk;
  const before = links();
  cluster.network.lane(one, two).drop(1);
  // The connection that lost a message is dead from then on, and is replaced.
  await cluster.when(() => isWhole() && links().some((link, i) => link !== before[i]));
  const again = links();
  cluster.network.link(one, two).reset();
  await cluster.when(() => isWhole() && links().every((link, i) => link !== again[i]));
  expect(cluster.shards.every(({ failovers }) => failovers.length === 0)).toBe(true);
});

test('a node that crashes refuses its clients, and takes them at the same port after the restart', async () => {
  await using cluster = await startCluster({ ...SIZE, replicas: 0 });
  const [node] = cluster.nodes;
  const redis = new Redis(node!.port, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  expect(await redis.config('GET', 'port')).toEqual(['port', String(node!.port)]);
  const ended = new Promise((resolve) => redis.once('close', resolve));
  await node!.crash({ keep: 'everything' });
  await ended;
  await node!.restart();
  expect(await redis.cluster('MYID')).toBe(node!.member.cluster.myself.id);
  redis.disconnect();
});

test('timeline writes a file with option trace, and refuses without', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-cluster-'));
  await using cluster = await startCluster({ ...SIZE, replicas: 0, trace: true });
  await cluster.client('A').set('k', '1');
  await cluster.timeline(join(folder, 'run.json'), { title: 'A run' });
  expect(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))).toMatchObject({
    runs: [{ title: 'A run', clock: 'real' }],
  });
  rmSync(folder, { recursive: true });
  expect(() => cluster.timelineData({ verdict: 'lost' } as never)).toThrow('option timelineData.verdict');
  await using silent = await startCluster({ ...SIZE, replicas: 0 });
  expect(() => silent.timelineData()).toThrow('timelineData() needs startCluster with trace: true');
});

test('wrong options and names are refused, and everything after close', async () => {
  const refused = (options: object): Promise<unknown> =>
    expect(startCluster({ clock: 'real', ...options } as never)).rejects.toThrow();
  await expect(startCluster({ clock: 'real', seed: 1 } as never)).rejects.toThrow(
    /startCluster\.seed is 1; allowed: only with clock: 'virtual'/,
  );
  await expect(startCluster({ clock: 'real', settings: { 'tls-port': 7000 } })).rejects.toThrow(
    /settings\.tls-port is 7000; allowed: 0/,
  );
  await expect(startCluster({ clock: 'unreal' } as never)).rejects.toThrow(
    /clock is 'unreal'; allowed: 'real' or 'virtual'/,
  );
  for (const wrong of [{ port: -1 }, { trace: 1 }, { primaries: 0 }, { host: '::1' }, { nodeTimeout: 1 }]) {
    await refused(wrong);
  }
  const cluster = await startCluster({ ...SIZE, replicas: 0 });
  await expect(startCluster({ ...SIZE, replicas: 0, port: cluster.nodes[0]!.port })).rejects.toThrow(
    'EADDRINUSE',
  );
  for (const name of ['', 'node-1', 'client']) {
    expect(() => cluster.client(name)).toThrow(/client is .*; allowed: a client's name/);
    await expect(cluster.actor(name)).rejects.toThrow(/actor is .*; allowed: a client's name/);
  }
  await expect(cluster.when(() => false, 20)).rejects.toThrow('the condition did not hold within 20 ms');
  await cluster.close();
  const closed = 'these nodes are closed: nothing happens in them any more';
  expect(() => cluster.client('A')).toThrow(closed);
  expect(() => cluster.network.lane('A', 'node-1').hold()).toThrow(closed);
  expect(() => cluster.nodes[0]!.pause()).toThrow(closed);
  await expect(cluster.when(() => true)).rejects.toThrow(closed);
});
