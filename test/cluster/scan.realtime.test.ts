/** CLUSTERSCAN, and several databases in a cluster, as valkey-server 9.1 has them. */
import { describe, expect, test } from 'vitest';
import { startCluster } from '../../index.ts';
import { slotOf } from '../../protocol/slot.ts';
import { tagOf } from '../../protocol/slot-tags.ts';
import { testBeside } from '../support/beside/each.ts';
import { RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { askNode, ourNode, realNode, SHARES, type TestNode } from './nodes.ts';

/** The words of a request. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** Cursors without keys, and with few that one step returns. */
const SCANS = String.raw`
CLUSTERSCAN 0
CLUSTERSCAN 0-{06S}-0
CLUSTERSCAN 0 SLOT 5
CLUSTERSCAN 0 SLOT 16383
CLUSTERSCAN 0 SLOT 16384
CLUSTERSCAN 0 SLOT -1
CLUSTERSCAN 0 SLOT 05
CLUSTERSCAN 0 SLOT
CLUSTERSCAN 0 SLOT 5 SLOT 6
CLUSTERSCAN 0 SLOT 5 SLOT x
CLUSTERSCAN 0 COUNT 5
CLUSTERSCAN 0 COUNT 0
CLUSTERSCAN 0 COUNT x
CLUSTERSCAN 0 COUNT 9223372036854775807
CLUSTERSCAN 0 MATCH
CLUSTERSCAN 0 MATCH *
CLUSTERSCAN 0 MATCH foo
CLUSTERSCAN 0 MATCH {foo}*
CLUSTERSCAN 0 MATCH {foo}* SLOT 1
CLUSTERSCAN 0 MATCH {foo}* SLOT 12182
CLUSTERSCAN 0 MATCH *{foo}*
CLUSTERSCAN 0 MATCH {f*}x
CLUSTERSCAN 0 MATCH {}x
CLUSTERSCAN 0 MATCH {}*
CLUSTERSCAN 0 MATCH {}{a}b
CLUSTERSCAN 0 MATCH {}{a}*
CLUSTERSCAN 0 MATCH f\o
CLUSTERSCAN 0 MATCH \{a}b
CLUSTERSCAN 0 MATCH {a}b\c
CLUSTERSCAN 0 MATCH {4ZG
CLUSTERSCAN 0 MATCH a[b]c
CLUSTERSCAN 0 MATCH ""
CLUSTERSCAN 0 MATCH {a}[b]c
CLUSTERSCAN 0 MATCH {a]}x
CLUSTERSCAN 0 MATCH {a}* MATCH *
CLUSTERSCAN 0 MATCH a?{b}
CLUSTERSCAN 0 MATCH a}b{c}
CLUSTERSCAN 0 TYPE STRING
CLUSTERSCAN 0 TYPE x
CLUSTERSCAN 0 TYPE x TYPE string
CLUSTERSCAN 0 NOVALUES
CLUSTERSCAN 0 NOSCORES
CLUSTERSCAN 00
CLUSTERSCAN 1
CLUSTERSCAN ""
CLUSTERSCAN x COUNT 0
CLUSTERSCAN 0-0-0
CLUSTERSCAN 0-{}-0
CLUSTERSCAN 0-{06S}
CLUSTERSCAN 0-{06S}-
CLUSTERSCAN 0-{06S}-x
CLUSTERSCAN 0-{06S}-1
CLUSTERSCAN x-{06S}-1
CLUSTERSCAN -{06S}-1
CLUSTERSCAN 0-{06S}-0-0
CLUSTERSCAN 0-{06S}-18446744073709551615
CLUSTERSCAN 0-{06S}-18446744073709551616
CLUSTERSCAN 0-{06S}--1
CLUSTERSCAN 0-{06S}-+1
CLUSTERSCAN "0-{06S}- 1"
CLUSTERSCAN "0-{06S}-1 "
CLUSTERSCAN 0-{06S}-0 SLOT 1
CLUSTERSCAN 0-{06S}-0 MATCH {Qi}x
CLUSTERSCAN 0-{Qi}-0 MATCH {06S}x
CLUSTERSCAN 0-{Qi}-0 MATCH {06S}x SLOT 1
CLUSTERSCAN --0
CLUSTERSCAN --
SET {4ZG}:a 1
SET {0or}:a 1
SET {6ZJ}:a 1
CLUSTERSCAN 0-{06S}-0 MATCH {4ZG}*
CLUSTERSCAN 0-{4ZG}-0 MATCH {4ZG}:a
CLUSTERSCAN 0-{0or}-0 MATCH {4ZG}:a COUNT 1
CLUSTERSCAN 0-{4ZG}-0 TYPE list
CLUSTERSCAN 0-{06S}-0
CLUSTERSCAN 0-{06S}-0 COUNT 1
CLUSTERSCAN 0-{4ZG}-0 COUNT 2
CLUSTERSCAN 0-{6ZJ}-0 COUNT 1
CLUSTERSCAN 0-{0or}-0 SLOT 100
CLUSTERSCAN 0-{0or}-0 COUNT 2
EVAL "return redis.call('CLUSTERSCAN','0-{0or}-0')" 0
SCAN 0 SLOT 5
COMMAND GETKEYS CLUSTERSCAN 0-{06S}-0
COMMAND INFO CLUSTERSCAN`;

const DATABASES = `
SET a 1
SELECT 1
SET a 1
SET {a}b 1
CLUSTER COUNTKEYSINSLOT 15495
DBSIZE
CLUSTER SLOT-STATS SLOTSRANGE 15495 15495
CLUSTER FLUSHSLOTS
CLUSTER RESET
MOVE {a}b 5
CLUSTER GETKEYSINSLOT 15495 10
INFO keyspace
CLUSTER FLUSHSLOT 15495
INFO keyspace
SELECT 16
SELECT 15
SWAPDB 1 2
COPY a {a}b DB 99
COPY a {a}b DB 3
COPY a a DB 3
CONFIG GET databases
CONFIG GET cluster-databases
CONFIG SET cluster-databases 3
MULTI
SELECT 3
SET a 1
EXEC
EVAL "redis.call('select',2) redis.call('set',KEYS[1],1) return redis.call('dbsize')" 1 a
INFO keyspace
MOVE a 77
SET {4ZG} 1
CLUSTERSCAN 0-{06S}-0
SELECT 0
CLUSTERSCAN 0-{06S}-0
CLIENT KILL DB 16
ACL DRYRUN default SELECT 16
FLUSHALL
INFO keyspace`;

/** Replies without the mark of the node, in which Valkey also uses characters between the digits and the letters, and without places. */
function shown(reply: string): string {
  return reply.replace(/"[0-z]{6,12}-(\{\w+\})-\d+"/, '"MARK-$1-PLACE"');
}

async function serveAll(node: TestNode): Promise<void> {
  await askNode(node.admin, 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await until(async () => (await askNode(node.admin, 'CLUSTER', 'INFO')).includes('state:ok'));
}

describe('beside the server', () => {
  testBeside(
    ['valkey-9'],
    '%s scans and has databases in a cluster as its server',
    async (dialect, program) => {
      const ours = await ourNode(dialect, { 'cluster-databases': 16 });
      const real = await realNode(program, '--cluster-databases', '16');
      await Promise.all([ours, real].map(serveAll));
      for (const line of `${SCANS}\nFLUSHALL${DATABASES}`.trim().split('\n')) {
        const [mine, theirs] = await Promise.all(
          [ours, real].map(async ({ admin }) => shown(await askNode(admin, ...wordsOf(line)))),
        );
        expect([line, mine]).toEqual([line, theirs]);
      }
      await Promise.all([ours.stop(), real.stop()]);
    },
  );

  testBeside(['valkey-9'], '%s names slots as its server', async (dialect, program) => {
    const [ours, real] = [await ourNode(dialect), await realNode(program)];
    await Promise.all([ours, real].map(serveAll));
    for (let slot = 0; slot < 16384; slot += 7) {
      const reply = await askNode(real.admin, 'CLUSTERSCAN', '0', 'SLOT', String(slot));
      expect(reply).toContain(`{${tagOf(slot)}}`);
    }
    await Promise.all([ours.stop(), real.stop()]);
  });
});

test('two scans of a cluster at once return every key once each, while others are added and removed', async () => {
  await using cluster = await startCluster({ primaries: 3, dialect: 'valkey-9' });
  const clients = await Promise.all(cluster.nodes.map(({ port }) => RawClient.connect({ port })));
  const at = (slot: number): RawClient =>
    clients[SHARES.findIndex(([from, to]) => from <= slot && slot <= to)]!;
  const kept = Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? `{a}${i}` : `key:${i}`));
  for (const key of kept) await at(slotOf(key)).ask('SET', key, 'v');
  const scans = ['7', '5'].map((count) => ({ count, cursor: '0', found: [] as string[] }));
  let steps = 0;
  do {
    for (const scan of scans) {
      const { count, cursor, found } = scan;
      if (steps > 0 && cursor === '0') continue;
      const reply = await askNode(at(slotOf(cursor)), 'CLUSTERSCAN', cursor, 'COUNT', count);
      const [next = '', ...keys] = [...reply.matchAll(/"([^"]*)"/g)].map(([, word = '']) => word);
      found.push(...keys);
      scan.cursor = next;
    }
    const passing = steps % 2 === 0 ? `{a}new:${steps}` : `new:${steps}`;
    await at(slotOf(passing)).ask('SET', passing, 'v');
    if (steps % 3 === 2) await at(slotOf(passing)).ask('DEL', passing);
    steps++;
  } while (scans.some(({ cursor }) => cursor !== '0'));
  for (const { found } of scans) {
    expect(found.filter((key) => !key.includes('new')).sort()).toEqual([...kept].sort());
    expect(new Set(found).size).toBe(found.length);
  }
  for (const client of clients) client.close();
});
