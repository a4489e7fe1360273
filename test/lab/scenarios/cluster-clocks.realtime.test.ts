/** A cluster's lost locks on both clocks, with the same code: in a world, and over sockets in real time. */
import { expect, test } from 'vitest';
import { type LabCluster, type RealClockCluster, startCluster } from '../../../index.ts';

const SIZE = { primaries: 3, replicas: 1, nodeTimeout: 1000 };
const CLOCKS = ['virtual', 'real'] as const;
/** ioredis asks for the slots again this soon. */
const EAGER = {
  clusterRetryStrategy: () => 50,
  retryDelayOnFailover: 50,
  retryDelayOnClusterDown: 50,
  slotsRefreshTimeout: 500,
};

function start(clock: (typeof CLOCKS)[number]): Promise<LabCluster | RealClockCluster> {
  return clock === 'virtual'
    ? startCluster({ ...SIZE, clock, seed: 1 })
    : startCluster({ ...SIZE, clock, trace: true });
}

test.each(CLOCKS)('%s: a held link, a crash, votes, and a second holder', async (clock) => {
  await using cluster = await start(clock);
  const [a, b] = [cluster.client('A', EAGER), cluster.client('B', EAGER)];
  const shard = cluster.shardOf('lock');
  const [old, fresh] = [shard.primary, shard.replica];
  await a.set('lock', 'seen');
  await cluster.when(() => shard.synchronized);
  await a.del('lock');
  await cluster.when(() => shard.synchronized);
  shard.link.hold();
  expect(await a.set('lock', 'A', 'PX', 600_000, 'NX')).toBe('OK');
  await old.crash();
  await cluster.when(() => shard.primary === fresh);
  expect(cluster.lost).toMatchObject([{ key: 'lock', holder: 'A', client: 'A' }]);
  expect(shard.failovers).toMatchObject([{ from: old.name, to: fresh.name, lost: [{ key: 'lock' }] }]);
  await cluster.when(() => cluster.nodes.every(({ up, member }) => !up || member.cluster.isOk));
  expect(await b.set('lock', 'B', 'PX', 600_000, 'NX')).toBe('OK');
  const { lanes, marks, messages, overlaps } = cluster.timelineData();
  expect(lanes.map(({ name }) => name)).toEqual(expect.arrayContaining(['A', 'B', 'node-1', 'node-6']));
  expect(marks).toContainEqual(expect.objectContaining({ lane: old.name, kind: 'crash' }));
  expect(marks).toContainEqual(expect.objectContaining({ lane: old.name, kind: 'lost' }));
  expect(messages.filter(({ text }) => text === 'bus: auth-ack').length).toBeGreaterThan(0);
  expect(overlaps).toMatchObject([{ clients: ['A', 'B'], key: 'lock' }]);
  for (const client of [a, b]) client.disconnect();
});

test.each(CLOCKS)('%s: two holders while a primary is cut off with its client', async (clock) => {
  await using cluster = await start(clock);
  const [a, b] = [cluster.client('A', EAGER), cluster.client('B', EAGER)];
  const shard = cluster.shardOf('lock');
  const [old, fresh] = [shard.primary, shard.replica];
  await Promise.all([a.get('lock'), b.get('lock')]);
  const rest = cluster.nodes.map(({ name }) => name).filter((name) => name !== old.name);
  cluster.network.partition([old.name, 'A'], rest);
  // The primary serves until it has missed the others for its node timeout.
  expect(await a.set('lock', 'A', 'PX', 600_000, 'NX')).toBe('OK');
  await cluster.when(() => shard.primary === fresh && !old.member.cluster.isOk);
  await cluster.when(() => fresh.member.cluster.isOk);
  expect(await b.set('lock', 'B', 'PX', 600_000, 'NX')).toBe('OK');
  cluster.network.heal();
  await cluster.when(() => old.server.role === 'replica' && shard.synchronized);
  expect(cluster.lost).toMatchObject([{ key: 'lock', holder: 'A', client: 'A' }]);
  for (const client of [a, b]) client.disconnect();
});

test.each(CLOCKS)('%s: a paused primary is replaced, and joins again as a replica', async (clock) => {
  await using cluster = await start(clock);
  const shard = cluster.shardOf('lock');
  const [old, fresh] = [shard.primary, shard.replica];
  old.pause();
  await cluster.when(() => shard.primary === fresh);
  old.resume();
  await cluster.when(() => old.server.role === 'replica' && shard.synchronized);
  expect(shard.failovers).toHaveLength(1);
});

test.each(CLOCKS)(
  '%s: promote takes over at once, and a node that restarts knows its place',
  async (clock) => {
    await using cluster = await start(clock);
    const shard = cluster.shardOf('lock');
    const [old, fresh] = [shard.primary, shard.replica];
    const { id } = old.member.cluster.myself;
    shard.promote(fresh.name);
    expect(shard.primary).toBe(fresh);
    expect(() => shard.promote(fresh.name)).toThrow(/promote is 'node-\d'; allowed: a replica of the shard/);
    expect(() => shard.demote(old.name)).toThrow(/demote is 'node-\d'; allowed: no cluster node/);
    await cluster.when(() => old.server.role === 'replica' && shard.synchronized);
    await old.crash({ keep: 'everything' });
    expect(old.up).toBe(false);
    await old.restart();
    expect(old.member.cluster.myself.id).toBe(id);
    await cluster.when(() => old.member.cluster.isOk && shard.synchronized);
    expect(cluster.shardOf('lock')).toBe(shard);
  },
);

test.each(CLOCKS)('%s: a machine that is gone tells nobody, and is replaced all the same', async (clock) => {
  await using cluster = await start(clock);
  const shard = cluster.shardOf('lock');
  const [old, fresh] = [shard.primary, shard.replica];
  await old.crash({ silent: true });
  await cluster.when(() => shard.primary === fresh);
  expect(cluster.lost).toEqual([]);
});
