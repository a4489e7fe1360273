/** Steps of Valkey's moves of slots that wait: SETSLOT for the replicas, and moves that DEBUG SLOTMIGRATION holds back. */
import { expect, test } from 'vitest';
import { testBeside } from '../support/beside/each.ts';
import { RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { askNode, form, ourNode, realNode, type TestNode } from './nodes.ts';

/** A connection that is a replica of a node, as far as the node can see. */
async function replicaOf(node: TestNode, version: string | undefined): Promise<RawClient> {
  const client = await RawClient.connect({ port: node.port });
  if (version !== undefined) expect(await askNode(client, 'REPLCONF', 'version', version)).toBe('+OK');
  await client.ask('REPLCONF', 'listening-port', '1');
  await client.send('PSYNC ? -1\r\n');
  await until(async () => {
    await client.send('REPLCONF ACK 0\r\n');
    return (await askNode(node.admin, 'INFO', 'replication')).includes('port=1,state=online');
  });
  return client;
}

/** Where the node's stream ends. */
async function offsetOf({ admin }: TestNode): Promise<number> {
  return Number(/master_repl_offset:(\d+)/.exec(await askNode(admin, 'INFO', 'replication'))?.[1]);
}

/** What SETSLOT answers on a primary with one replica of its cluster and one more that acknowledges when it is told to. */
async function askedBesideReplica(make: () => Promise<TestNode>): Promise<string[]> {
  const nodes = [await make(), await make(), await make(), await make()];
  const [first, second] = nodes as [TestNode, TestNode, TestNode, TestNode];
  try {
    await form(nodes);
    const fake = await replicaOf(first, '9.1.2');
    const client = await RawClient.connect({ port: first.port });
    const ask = (...words: string[]): Promise<string> => askNode(client, 'CLUSTER', 'SETSLOT', ...words);
    const isMarked = async (slot: number): Promise<string> =>
      (await askNode(first.admin, 'CLUSTER', 'NODES')).includes(`[${slot}->-`) ? 'marked' : 'not marked';
    const told = [
      await ask('1', 'MIGRATING', second.id, 'TIMEOUT', '20'),
      await isMarked(1),
      await ask('1', 'FOO', 'TIMEOUT', 'x'),
      await ask('1', 'STABLE', 'TIMEOUT', 'x'),
      await ask('1', 'STABLE', 'TIMEOUT'),
      await ask('1', 'STABLE', 'TIMEOUT', '-1'),
    ];
    const before = await offsetOf(first);
    const waiting = ask('2', 'MIGRATING', second.id, 'TIMEOUT', '0');
    // Its replicas hear of it before it is carried out.
    await until(async () => (await offsetOf(first)) > before, { what: 'the command in the stream' });
    told.push(await isMarked(2));
    await fake.send(`REPLCONF ACK ${(await offsetOf(first)) + 1_000_000}\r\n`);
    told.push(await waiting, await isMarked(2));
    fake.close();
    // A replica that names no version is one before Valkey 8: it does not count.
    const old = await replicaOf(first, undefined);
    const sent = async (slot: number): Promise<string> => {
      const end = await offsetOf(first);
      const reply = await ask(String(slot), 'MIGRATING', second.id);
      return `${reply}, ${await isMarked(slot)}, ${(await offsetOf(first)) > end ? 'in the stream' : 'not in the stream'}`;
    };
    told.push(await sent(3));
    await nodes[3]!.stop();
    await until(async () =>
      (await askNode(first.admin, 'INFO', 'replication')).includes('connected_slaves:1'),
    );
    told.push(await sent(4));
    for (const each of [old, client]) each.close();
    return told;
  } finally {
    await Promise.all(nodes.slice(0, 3).map((node) => node.stop()));
  }
}

const ANSWERS = [
  '-NOREPLICAS Not enough good replicas to write.',
  'not marked',
  '-ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP',
  '-ERR timeout is not an integer or out of range',
  '-ERR Missing timeout value',
  '-ERR timeout is negative',
  'not marked',
  '+OK',
  'marked',
  '+OK, marked, in the stream',
  '+OK, marked, not in the stream',
];

/** How the two ends of a move stand while it is held back, and afterwards. */
async function heldMoves(make: () => Promise<TestNode>): Promise<string[]> {
  const nodes = [await make(), await make(), await make()];
  const [source, target] = nodes as [TestNode, TestNode, TestNode];
  const stateOf = async ({ admin }: TestNode): Promise<string> =>
    /"state" "([\w-]+)"/.exec(await askNode(admin, 'CLUSTER', 'GETSLOTMIGRATIONS'))?.[1] ?? '';
  const reached = async (...wanted: readonly string[]): Promise<string> => {
    await until(async () => (await stateOf(source)) === wanted[0] && (await stateOf(target)) === wanted[1], {
      what: wanted.join(' and '),
    });
    return wanted.join(', ');
  };
  try {
    await form(nodes);
    const hold = async ({ admin }: TestNode, what: string, value: string): Promise<string> =>
      askNode(admin, 'DEBUG', 'SLOTMIGRATION', what, value);
    const told = [
      await hold(source, 'x', '1'),
      await hold(source, 'prevent-pause', 'x'),
      await hold(source, 'PREVENT-PAUSE', '1x'),
      await hold(target, 'PREVENT-FAILOVER', '3'),
    ];
    await askNode(source.admin, 'SET', '{06S}a', 'v');
    const words = ['MIGRATESLOTS', 'SLOTSRANGE', '0', '3', 'NODE', target.id];
    told.push(await askNode(source.admin, 'CLUSTER', ...words));
    told.push(await reached('waiting-to-pause', 'waiting-for-paused'));
    told.push(await askNode(source.admin, 'SET', '{06S}a', 'w'));
    // Only the last bit counts.
    told.push(await hold(source, 'PREVENT-PAUSE', '2'));
    told.push(await reached('failover-granted', 'failover-granted'));
    told.push((await askNode(target.admin, 'GET', '{06S}a')).replace(/:\d+$/, ''));
    told.push(await hold(target, 'PREVENT-FAILOVER', '0'));
    told.push(await reached('success', 'success'));
    told.push(await askNode(target.admin, 'GET', '{06S}a'));
    return told;
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

const HELD = [
  "-ERR unknown subcommand or wrong number of arguments for 'SLOTMIGRATION'. Try DEBUG HELP.",
  '+OK',
  '+OK',
  '+OK',
  '+OK',
  'waiting-to-pause, waiting-for-paused',
  '+OK',
  '+OK',
  'failover-granted, failover-granted',
  '-MOVED 0 127.0.0.1',
  '+OK',
  'success, success',
  '"w"',
];

const debugging = { 'enable-debug-command': 'yes' } as const;

test('SETSLOT of Valkey waits for the replicas', async () => {
  expect(await askedBesideReplica(() => ourNode('valkey-9'))).toEqual(ANSWERS);
});

testBeside(['valkey-8.1', 'valkey-9'], 'SETSLOT of %s waits for the replicas', async (_dialect, program) => {
  expect(await askedBesideReplica(() => realNode(program))).toEqual(ANSWERS);
});

test('DEBUG SLOTMIGRATION holds a move back at its source and at its target', async () => {
  expect(await heldMoves(() => ourNode('valkey-9', debugging))).toEqual(HELD);
});

testBeside(['valkey-9'], 'DEBUG SLOTMIGRATION of %s holds a move back', async (_dialect, program) => {
  expect(await heldMoves(() => realNode(program, '--enable-debug-command', 'yes'))).toEqual(HELD);
});

/** What REPLCONF answers to versions of a replica. */
const VERSIONS: Readonly<Record<string, boolean>> = {
  ...{ '9.1.2': true, '7.2.255': true, '0.0.0': true, '255.255.255': true },
  ...{ x: false, 9: false, '9.1': false, '9.1.2.3': false, '-1.1.1': false, '': false, '9.1.2x': false },
  ...{ '300.1.1': false, '9.256.2': false },
};

testBeside(
  ['valkey-8.1', 'valkey-9'],
  'a replica names its version to %s and to ours alike',
  async (dialect, program) => {
    const nodes = [await ourNode(dialect), await realNode(program)];
    for (const { admin } of nodes) {
      for (const [version, isTaken] of Object.entries(VERSIONS)) {
        const reply = isTaken ? '+OK' : `-ERR Unrecognized version format: ${version}`;
        expect(await askNode(admin, 'REPLCONF', 'version', version)).toBe(reply);
      }
    }
    await Promise.all(nodes.map((node) => node.stop()));
  },
);
