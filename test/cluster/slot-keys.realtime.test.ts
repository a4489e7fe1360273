/** The keys of a slot: nodes know them without a walk over all keys, whatever adds and removes keys. */
import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import type { ClusterNode } from '../../cluster/node.ts';
import { startCluster } from '../../index.ts';
import { SLOT_COUNT, slotOf } from '../../protocol/slot.ts';
import type { Server } from '../../server/server.ts';
import { testBeside } from '../support/beside/each.ts';
import { RawClient } from '../support/raw-client.ts';
import { TestHost } from '../support/targets.ts';
import { until } from '../support/until.ts';
import { askNode, ourNode, realNode } from './nodes.ts';

const TAGS = ['{a}', '{b}', '{c}', '{d}'];

/** Restores a dump of one key as another. */
const RESTORE =
  "local d = redis.call('DUMP', KEYS[1]); return d and redis.call('RESTORE', KEYS[2], 0, d, 'REPLACE')";

/** A random command that adds or removes keys. */
function command(random: (bound: number) => number): string[] {
  const tag = TAGS[random(TAGS.length)] ?? '';
  const [key, other] = [`${tag}${random(30)}`, `${tag}${random(30)}`];
  const commands = [
    ['SET', key, 'v'],
    ['SADD', key, 'x'],
    ['SREM', key, 'x'],
    ['DEL', key, other],
    ['RENAME', key, other],
    ['COPY', key, other, 'REPLACE'],
    ['SMOVE', key, other, 'x'],
    ['MSET', key, '1', other, '2'],
    ['EVAL', RESTORE, '2', key, other],
  ];
  if (random(400) === 0) return ['FLUSHALL'];
  return commands[random(commands.length)] ?? [];
}

/** Compares what a node knows of its slots with a walk over its keys. */
function compare(server: Server): void {
  const { cluster } = server.cluster as ClusterNode;
  const walked = new Map(TAGS.map((tag) => [slotOf(tag), [] as string[]]));
  for (const key of server.db(0).entries.keys()) walked.get(slotOf(key))?.unshift(key);
  for (const [slot, keys] of walked) expect(server.db(0).entries.keysOfSlot(slot)).toEqual(keys);
  const slots = [...Array(SLOT_COUNT).keys()];
  const counts = new Map(
    slots.map((slot) => [slot, cluster.countKeys(slot)] as const).filter(([, n]) => n > 0),
  );
  expect(counts).toEqual(
    new Map([...walked].map(([slot, keys]) => [slot, keys.length] as const).filter(([, n]) => n > 0)),
  );
}

test('a primary and its replica know the keys of each slot after any commands, a promotion and a full sync', async () => {
  await using cluster = await startCluster({
    primaries: 1,
    replicas: 1,
    settings: { 'maxmemory-policy': 'allkeys-random' },
  });
  const [first, second] = cluster.nodes.map(({ node }) => node) as [Server, Server];
  const random = (bound: number): number => Math.floor(host.random() * bound);
  const host = new TestHost();
  const write = async (port: number): Promise<void> => {
    const client = await RawClient.connect({ port });
    for (let i = 0; i < 1500; i++) {
      const words = command(random);
      await client.ask(words[0] ?? '', ...words.slice(1));
      if (random(10) === 0) await client.ask('SET', `{a}${random(30)}`, 'v', 'PX', '1');
      // An eviction of most keys, and room again.
      if (random(300) === 0)
        for (const most of ['1', '0']) {
          await client.ask('CONFIG', 'SET', 'maxmemory', most);
          await client.ask('SET', '{b}evicting', 'v');
        }
      if (random(20) === 0) compare(first);
      if (random(20) === 0) compare(second);
    }
    client.close();
  };
  await write(first.settings.port);
  const admin = await RawClient.connect({ port: second.settings.port });
  await askNode(admin, 'CLUSTER', 'FAILOVER', 'TAKEOVER');
  await until(() => first.role === 'replica' && first.primary?.linkUp === true);
  await write(second.settings.port);
  await until(() => first.replication.offset === second.replication.offset);
  compare(first);
  compare(second);
  // A new history makes the replica load all data.
  await askNode(admin, 'DEBUG', 'CHANGE-REPL-ID');
  await askNode(admin, 'DEBUG', 'RELOAD');
  await askNode(admin, 'CLIENT', 'KILL', 'TYPE', 'replica');
  await until(() => first.primary?.linkUp === true && first.replication.offset === second.replication.offset);
  compare(first);
  compare(second);
  admin.close();
});

test('a hand-over among 30,000 keys does not look at every key for every slot', async () => {
  await using cluster = await startCluster({ primaries: 1, replicas: 1 });
  const [primary, replica] = cluster.nodes.map(({ node }) => node) as [Server, Server];
  const client = await RawClient.connect({ port: primary.settings.port });
  for (let i = 0; i < 30_000; i += 1000) {
    const keys = Array.from({ length: 1000 }, (_, k) => [`{${i}}${k}`, 'v']).flat();
    await client.ask('MSET', ...keys);
  }
  await until(() => replica.db(0).size === 30_000);
  const admin = await RawClient.connect({ port: replica.settings.port });
  expect(await askNode(admin, 'CLUSTER', 'FAILOVER')).toBe('+OK');
  await until(() => primary.role === 'replica' && replica.role === 'primary');
  for (const each of [client, admin]) each.close();
});

testBeside(['redis-7.0'], '%s lists the keys of a slot in the same order', async (dialect, program) => {
  const nodes = [await ourNode(dialect), await realNode(program)];
  const host = new TestHost();
  const random = (bound: number): number => Math.floor(host.random() * bound);
  for (const { admin } of nodes) await askNode(admin, 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  for (const { admin } of nodes) {
    await until(async () => (await askNode(admin, 'CLUSTER', 'INFO')).includes('state:ok'));
  }
  for (let i = 0; i < 1000; i++) {
    const words = command(random);
    const [ours, real] = await Promise.all(nodes.map(({ admin }) => askNode(admin, ...words)));
    expect([words, ours]).toEqual([words, real]);
    if (i % 10 !== 0) continue;
    for (const tag of TAGS) {
      const slot = String(slotOf(tag));
      for (const asked of [
        ['COUNTKEYSINSLOT', slot],
        ['GETKEYSINSLOT', slot, '5'],
        ['GETKEYSINSLOT', slot, '100'],
      ]) {
        const [mine, theirs] = await Promise.all(
          nodes.map(({ admin }) => askNode(admin, 'CLUSTER', ...asked)),
        );
        expect([asked, mine]).toEqual([asked, theirs]);
      }
    }
  }
  for (const node of nodes) await node.stop();
});

test.each(['redis-7.0', 'redis-8.2', 'valkey-8.1'] as const)(
  'a node of %s that loses a slot while it moves it away shows the move afterwards in Redis, not in Valkey',
  async (dialect) => {
    await using cluster = await startCluster({ primaries: 2, dialect });
    const [from, to] = cluster.nodes.map(({ node }) => (node.cluster as ClusterNode).cluster) as [
      Cluster,
      Cluster,
    ];
    const [one, other] = await Promise.all(cluster.nodes.map(({ port }) => RawClient.connect({ port })));
    const { id } = to.myself;
    await askNode(other!, 'CLUSTER', 'SETSLOT', '5', 'IMPORTING', from.myself.id);
    await askNode(one!, 'CLUSTER', 'SETSLOT', '5', 'MIGRATING', id);
    expect(await askNode(other!, 'CLUSTER', 'SETSLOT', '5', 'NODE', id)).toBe('+OK');
    await until(() => from.owners[5]?.id === id, { what: 'the loss of the slot' });
    const isShown = (await askNode(one!, 'CLUSTER', 'NODES')).includes(`[5->-${id}]`);
    expect(isShown).toBe(dialect !== 'valkey-8.1');
    for (const client of [one, other]) client?.close();
  },
);

test('CLUSTER FLUSHSLOT removes the keys of one slot, also from replicas, and no move of slots is listed', async () => {
  await using cluster = await startCluster({ primaries: 1, replicas: 1, dialect: 'valkey-9' });
  const [node, replica] = cluster.nodes;
  const client = await RawClient.connect({ port: node?.port ?? 0 });
  for (const key of ['{a}1', '{a}2', 'b']) await askNode(client, 'SET', key, 'x');
  const slot = String(slotOf('{a}'));
  expect(await askNode(client, 'CLUSTER', 'FLUSHSLOT', slot, 'SYNC')).toBe('+OK');
  expect(await askNode(client, 'CLUSTER', 'COUNTKEYSINSLOT', slot)).toBe(':0');
  expect(await askNode(client, 'EXISTS', 'b')).toBe(':1');
  const copied = (): string[] => [...(replica?.node.db(0).entries ?? [])].map(([key]) => key);
  await until(() => copied().length === 1, { what: 'the removal from the replica' });
  expect(copied()).toEqual(['b']);
  expect(await askNode(client, 'CLUSTER', 'FLUSHSLOT', slot, 'FOO')).toBe('-ERR syntax error');
  expect(await askNode(client, 'CLUSTER', 'FLUSHSLOT', '16384')).toBe('-ERR Invalid or out of range slot');
  expect(await askNode(client, 'CLUSTER', 'GETSLOTMIGRATIONS')).toBe('[]');
  expect(await askNode(client, 'CLUSTER', 'CANCELSLOTMIGRATIONS')).toBe('-ERR No migrations ongoing');
  client.close();
});
