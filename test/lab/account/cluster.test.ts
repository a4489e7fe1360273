/** The account of locks in a cluster: a shard has them, and keeps or loses them when its nodes elect another primary. */
import { expect, test } from 'vitest';
import { type LabCluster, startCluster, startPair } from '../../../index.ts';
import { worldAccount } from '../../../lab/timeline/world.ts';

const [LOCK, LEASE] = ['lock', 600_000];

function start(seed: number): Promise<LabCluster> {
  return startCluster({ clock: 'virtual', seed, primaries: 3, replicas: 1, nodeTimeout: 2000 });
}

/** The tenures of a cluster's lock: who was granted it where, and what ended it. */
function tenuresIn(cluster: LabCluster): string[] {
  const { tenures } = worldAccount(cluster.world, [{ nodes: cluster.nodes, sentinels: [] }]);
  return tenures.map(({ lock, client, node, end }) => `${lock} ${client} ${node} ${end?.how ?? 'stands'}`);
}

test('a lock that its replica has seen stands after an election, and its release there ends it', async () => {
  await using cluster = await start(1);
  const a = cluster.client('A');
  // The shard that writes first is another one: it must not be taken for the former primary.
  const shard = cluster.shardOf(LOCK);
  const other = ['a', 'b', 'c', 'd', 'e', 'f'].find((key) => cluster.shardOf(key) !== shard) as string;
  await cluster.run(() => a.set(other, '1'));
  const [before] = [shard.primary.name];
  await cluster.run(() => a.set(LOCK, 'token', 'PX', LEASE, 'NX'));
  await cluster.advance(100);
  shard.primary.crash();
  await cluster.when(() => shard.primary.name !== before);
  await cluster.run(() => a.set(other, '2'));
  expect(cluster.holders(LOCK)).toMatchObject([{ client: 'A', granted: true, believes: true }]);
  expect(tenuresIn(cluster)).toEqual([`lock A ${before} stands`]);
  await cluster.run(() => a.del(LOCK));
  expect(cluster.holders(LOCK)).toEqual([]);
  expect(tenuresIn(cluster)).toEqual([`lock A ${before} released`]);
  expect(cluster.overlaps()).toEqual([]);
  a.disconnect();
});

test('a lock that its replica has not seen is lost by the election, and two clients hold it', async () => {
  await using cluster = await start(2);
  const [a, b] = [cluster.client('A'), cluster.client('B')];
  const shard = cluster.shardOf(LOCK);
  const [before, after] = [shard.primary.name, shard.replica.name];
  await cluster.run(() => a.set(`{${LOCK}}seen`, '1'));
  shard.link.hold();
  await cluster.run(() => a.set(LOCK, 'one', 'PX', LEASE, 'NX'));
  shard.primary.crash();
  await cluster.when(() => shard.primary.name === after);
  expect(await cluster.run(() => b.set(LOCK, 'two', 'PX', LEASE, 'NX'))).toBe('OK');
  expect(tenuresIn(cluster)).toEqual([`lock A ${before} lost`, `lock B ${after} stands`]);
  expect(cluster.holders(LOCK)).toMatchObject([
    { client: 'A', granted: false, believes: true },
    { client: 'B', granted: true, believes: true },
  ]);
  expect(cluster.overlaps()).toMatchObject([{ lock: LOCK, clients: ['A', 'B'] }]);
  a.disconnect();
  b.disconnect();
});

test('a timeline says of each node its shard, its slots and its first role, and marks the election', async () => {
  await using cluster = await start(1);
  const shard = cluster.shardOf(LOCK);
  const [before] = [shard.primary.name];
  await cluster.run(() => cluster.client('A').set(LOCK, 'token', 'PX', LEASE, 'NX'));
  shard.primary.crash();
  await cluster.when(() => shard.primary.name !== before);
  const { lanes, marks, primaries } = cluster.timelineData();
  const nodes = lanes.filter(({ kind }) => kind === 'node');
  expect(nodes.map(({ name, role, shard: number, slots }) => [name, role, number, slots])).toEqual([
    ['node-1', 'primary', 1, '0-5460'],
    ['node-4', 'replica', 1, '0-5460'],
    ['node-2', 'primary', 2, '5461-10922'],
    ['node-5', 'replica', 2, '5461-10922'],
    ['node-3', 'primary', 3, '10923-16383'],
    ['node-6', 'replica', 3, '10923-16383'],
  ]);
  expect(primaries).toBeUndefined();
  expect(marks.filter(({ kind }) => kind === 'promote').map(({ lane }) => lane)).toEqual([
    shard.primary.name,
  ]);
});

test('a timeline says what servers did to a lock without a command, and by how much a clock is wrong', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  const [a, b] = [pair.client('A'), pair.client('B')];
  await a.set('jumped', 'A', 'PX', 60_000, 'NX');
  pair.primary.clock.jump(61_000);
  await b.set('jumped', 'B', 'PX', 60_000, 'NX');
  pair.primary.clock.drift(2);
  pair.link.hold();
  await a.set(LOCK, 'A', 'PX', LEASE, 'NX');
  await pair.failover({ crash: true });
  await b.set(LOCK, 'B', 'PX', LEASE, 'NX');
  const { tenures = [], marks } = pair.timelineData();
  expect(tenures.flatMap(({ key, cause }) => (cause === undefined ? [] : [[key, cause]]))).toEqual([
    ['jumped', { how: 'clock', node: 'redis-1' }],
    ['jumped', { how: 'failover', node: 'redis-2' }],
    [LOCK, { how: 'failover', node: 'redis-2' }],
  ]);
  const clocks = marks.filter(({ kind }) => kind === 'clock');
  expect(clocks.map(({ ahead, rate }) => [ahead, rate])).toEqual([
    [61_000_000, undefined],
    [61_000_000, 2],
  ]);
});
