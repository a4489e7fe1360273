/** CLUSTER SLOT-STATS: what requests cost each slot, as redis-8.2 and valkey-8.1 count it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCluster } from '../../index.ts';
import { slotOf } from '../../protocol/slot.ts';
import { testBeside } from '../support/beside/each.ts';
import { oracleOf } from '../support/oracles.ts';
import { RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { askNode, ourNode, realNode, type TestNode } from './nodes.ts';

/** Requests of one client: words, or a line as it is typed. */
type Requests = readonly (readonly string[] | string)[];
/** By key, the figures of its slot: keys, bytes in, bytes out. Slots that are not named have none. */
type Figures = Readonly<Record<string, readonly [keys: number, bytesIn: number, bytesOut: number]>>;

const SET = ['SET', 'a', '1'];
const WRITE = "return redis.call('SET', KEYS[1], 'v')";

/** What both servers answered. A SET of `a` is a request of 27 bytes, a GET of 20, and OK a reply of 5. */
const COUNTED: readonly (readonly [title: string, requests: Requests, figures: Figures])[] = [
  ['a request and its reply', [SET, ['GET', 'a'], ['SET', 'b', '2']], { a: [1, 47, 12], b: [1, 27, 5] }],
  ['a line of words', ['  set   "a"  1\r\n'], { a: [1, 9, 5] }],
  ['an error of a command', [SET, ['LPUSH', 'a', 'x']], { a: [1, 56, 73] }],
  ['nothing of a request that is refused', [['GET', 'a', 'b'], ['MSET', 'a', '1', 'b', '2'], ['PING']], {}],
  [
    'MULTI with EXEC, and replies again and again',
    [['MULTI'], SET, ['INCR', 'a'], ['EXEC']],
    { a: [1, 77, 35] },
  ],
  ['a dropped transaction', [['MULTI'], SET, ['DISCARD']], { a: [0, 27, 0] }],
  [
    'a transaction whose keys are elsewhere',
    [['MULTI'], ['GET', 'a'], ['GET', 'b'], ['EXEC']],
    { a: [0, 20, 0], b: [0, 20, 0] },
  ],
  ['a script that calls nothing', [['EVAL', 'return 1', '1', 'a']], { a: [0, 42, 4] }],
  ['the commands of a script instead of the script', [['EVAL', WRITE, '1', 'a']], { a: [1, 0, 5] }],
  ['a script in a transaction', [['MULTI'], ['EVAL', WRITE, '1', 'a'], ['EXEC']], { a: [1, 73, 5] }],
  [
    'messages to shard channels',
    [
      ['SSUBSCRIBE', 'ch'],
      ['SUNSUBSCRIBE', 'ch'],
    ],
    { ch: [0, 60, 68] },
  ],
  ['no bytes of a wait that is given up', [['BLPOP', 'l', '0.01']], {}],
];

async function figuresOf({ admin }: Pick<TestNode, 'admin'>): Promise<Figures> {
  const figures: Record<string, [number, number, number]> = {};
  for (const key of ['a', 'b', 'l', 'ch']) {
    const slot = String(slotOf(key));
    const { raw } = await admin.ask('CLUSTER', 'SLOT-STATS', 'SLOTSRANGE', slot, slot);
    const [, keys = 0, , bytesIn = 0, bytesOut = 0] = [...raw.matchAll(/:(\d+)\r/g)].map(([, n]) =>
      Number(n),
    );
    if (keys + bytesIn + bytesOut > 0) figures[key] = [keys, bytesIn, bytesOut];
  }
  return figures;
}

async function serve(node: TestNode): Promise<void> {
  await askNode(node.admin, 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  await until(async () => (await askNode(node.admin, 'CLUSTER', 'INFO')).includes('state:ok'));
  expect(await askNode(node.admin, 'CONFIG', 'SET', 'cluster-slot-stats-enabled', 'yes')).toBe('+OK');
}

/** Asks a node everything, and compares what it counts. */
async function check(node: TestNode): Promise<void> {
  for (const [title, requests, figures] of COUNTED) {
    for (const words of [['FLUSHALL'], ['CONFIG', 'RESETSTAT']]) await askNode(node.admin, ...words);
    const client = await RawClient.connect({ port: node.port });
    for (const request of requests) {
      if (typeof request === 'string') await client.ask(request);
      else await askNode(client, ...request);
    }
    client.close();
    expect([title, await figuresOf(node)]).toEqual([title, figures]);
  }
  await askNode(node.admin, 'CONFIG', 'RESETSTAT');
  const [waiting, other] = [
    await RawClient.connect({ port: node.port }),
    await RawClient.connect({ port: node.port }),
  ];
  const served = waiting.ask('BLPOP', 'l', '0');
  await until(async () => (await askNode(node.admin, 'INFO', 'clients')).includes('blocked_clients:1'));
  expect(await figuresOf(node)).toEqual({});
  await askNode(other, 'RPUSH', 'l', 'x');
  await served;
  await askNode(waiting, 'SSUBSCRIBE', 'ch');
  await askNode(other, 'SPUBLISH', 'ch', 'hello');
  expect(await figuresOf(node)).toEqual({ l: [0, 58, 22], ch: [0, 66, 74] });
  for (const client of [waiting, other]) client.close();
}

const DIALECTS = ['redis-8.2', 'valkey-8.1'] as const;
const ours = new Map<string, TestNode>();
const real = new Map<string, TestNode>();
const nodeOf = (nodes: ReadonlyMap<string, TestNode>, dialect: string): TestNode => {
  const node = nodes.get(dialect);
  if (node === undefined) throw new Error(`there is no node of ${dialect}`);
  return node;
};

// All at once, because a new cluster serves nobody for two seconds.
beforeAll(async () => {
  for (const dialect of DIALECTS) {
    ours.set(dialect, await ourNode(dialect));
    const program = oracleOf(dialect);
    if (program !== undefined) real.set(dialect, await realNode(program));
  }
  await Promise.all([...ours.values(), ...real.values()].map(serve));
});
afterAll(() => Promise.all([...ours.values(), ...real.values()].map((node) => node.stop())));

test.each(DIALECTS)('as %s, requests are counted for the slot of their keys', (dialect) =>
  check(nodeOf(ours, dialect)),
);

testBeside(DIALECTS, '%s counts the same', (dialect) => check(nodeOf(real, dialect)));

test('figures are shown and kept as long as cluster-slot-stats-enabled is on and the slot stays', async () => {
  const node = nodeOf(ours, 'redis-8.2');
  const { admin } = node;
  for (const words of [['FLUSHALL'], ['CONFIG', 'RESETSTAT']]) await askNode(admin, ...words);
  const slot = String(slotOf('a'));
  const ask = async (...words: string[]) => (await admin.ask('CLUSTER', 'SLOT-STATS', ...words)).raw;
  for (let i = 0; i < 50; i++) await admin.ask('SET', 'a', '1');
  const micros = async () => Number(/cpu-usec\r\n:(\d+)/.exec(await ask('SLOTSRANGE', slot, slot))?.[1]);
  expect(await micros()).toBeGreaterThan(0);
  for (const metric of ['cpu-usec', 'NETWORK-BYTES-IN', 'network-bytes-out']) {
    expect(await ask('ORDERBY', metric, 'LIMIT', '1')).toContain(`*1\r\n*2\r\n:${slot}\r\n`);
    expect(await ask('ORDERBY', metric, 'LIMIT', '1', 'ASC')).toContain('*1\r\n*2\r\n:0\r\n');
  }
  expect(await ask('ORDERBY', 'memory-bytes')).toContain('Unrecognized sort metric for ORDERBY');
  expect(await ask('ORDERBY', 'key-count', 'ASC', 'ASC')).toContain('Multiple filters of the same type');
  expect(await ask('ORDERBY', 'key-count', 'LIMIT', '1', 'LIMIT', '0')).toContain('Limit has to lie');
  await askNode(admin, 'CONFIG', 'SET', 'cluster-slot-stats-enabled', 'no');
  expect(await ask('SLOTSRANGE', slot, slot)).toBe(`*1\r\n*2\r\n:${slot}\r\n*2\r\n$9\r\nkey-count\r\n:1\r\n`);
  expect(await ask('ORDERBY', 'cpu-usec')).toContain('Unrecognized sort metric for ORDERBY');
  await admin.ask('GET', 'a');
  await askNode(admin, 'CONFIG', 'SET', 'cluster-slot-stats-enabled', 'yes');
  expect(await figuresOf(node)).toEqual({ a: [1, 50 * 27, 50 * 5] });
  await admin.ask('DEL', 'a');
  for (const how of ['DELSLOTS', 'ADDSLOTS']) await askNode(admin, 'CLUSTER', how, slot);
  expect(await figuresOf(node)).toEqual({});
  await admin.ask('EVAL', WRITE, '1', 'a');
  expect(await micros()).toBe(0);
});

test('what a request sends to replicas is counted for its slot', async () => {
  const settings = { 'cluster-slot-stats-enabled': true };
  await using cluster = await startCluster({ primaries: 1, replicas: 1, settings });
  const [primary] = cluster.primaries;
  const admin = await RawClient.connect({ port: primary!.port });
  for (const words of [['MULTI'], SET, ['INCR', 'a'], ['EXEC'], ['EVAL', WRITE, '1', 'b']]) {
    await askNode(admin, ...words);
  }
  // As the replies, and MULTI, SET, INCR and EXEC once more.
  expect(await figuresOf({ admin })).toEqual({ a: [1, 77, 35 + 77], b: [1, 0, 5] });
  admin.close();
});
