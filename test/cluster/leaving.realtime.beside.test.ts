/** How nodes of Valkey 9 leave their place in a cluster: CLUSTER REPLICATE NO ONE, and SHUTDOWN with SAFE and FAILOVER. */
import { expect, test } from 'vitest';
import { testBeside } from '../support/beside/each.ts';
import { until } from '../support/until.ts';
import { askNode, form, ourNode, realNode, type TestNode } from './nodes.ts';

/** So long that no replica takes over in a test because its primary is silent. */
const PATIENT = '60000';

const ours = (): Promise<TestNode> => ourNode('valkey-9', { 'cluster-node-timeout': Number(PATIENT) });

/** Three primaries and a replica of the first. */
async function leave(start: readonly (() => Promise<TestNode>)[]): Promise<void> {
  const nodes: TestNode[] = [];
  try {
    for (const each of start) nodes.push(await each());
    await form(nodes);
    const [first, , , replica] = nodes as [TestNode, TestNode, TestNode, TestNode];
    const ask = (node: TestNode, ...words: string[]): Promise<string> => askNode(node.admin, ...words);
    const roleOf = async (node: TestNode): Promise<string> => (await ask(node, 'ROLE')).slice(0, 9);

    expect(await ask(replica, 'CLUSTER', 'REPLICATE', 'NO', 'TWO')).toBe(
      "-ERR unknown subcommand or wrong number of arguments for 'REPLICATE'. Try CLUSTER HELP.",
    );
    expect(await ask(replica, 'CLUSTER', 'REPLICATE', 'no')).toBe('-ERR Unknown node no');
    expect(await ask(replica, 'CLUSTER', 'FAILOVER', 'FORCE', 'REPLICAID', replica.id)).toBe(
      '-ERR syntax error',
    );
    expect(await ask(replica, 'CLUSTER', 'FAILOVER', 'x', 'y')).toBe('-ERR syntax error');
    expect(await ask(first, 'CLUSTER', 'REPLICATE', 'NO', 'ONE')).toBe('+OK');
    const shard = await ask(first, 'CLUSTER', 'MYSHARDID');
    expect(await ask(replica, 'CLUSTER', 'MYSHARDID')).toBe(shard);
    expect(await ask(replica, 'DBSIZE')).toBe(await ask(first, 'DBSIZE'));
    expect(await ask(replica, 'CLUSTER', 'REPLICATE', 'no', 'one')).toBe('+OK');
    expect(await ask(replica, 'DBSIZE')).toBe(':0');
    expect(await roleOf(replica)).toContain('master');
    expect(await ask(replica, 'CLUSTER', 'MYSHARDID')).not.toBe(shard);
    expect(await ask(first, 'DBSIZE')).not.toBe(':0');
    // All others hear that it is a primary now.
    await until(async () => !(await ask(first, 'CLUSTER', 'NODES')).includes('slave'), { limitMs: 30_000 });

    expect(await ask(first, 'SHUTDOWN', 'SAFE')).toBe('-ERR Errors trying to SHUTDOWN. Check logs.');
    expect(await ask(first, 'SHUTDOWN', 'SAFE', 'FAILOVER', 'NOSAVE')).toBe(
      '-ERR Errors trying to SHUTDOWN. Check logs.',
    );
    expect(await ask(first, 'SHUTDOWN', 'SAFE', 'ABORT')).toBe('-ERR syntax error');
    expect(await ask(replica, 'CLUSTER', 'REPLICATE', first.id)).toBe('+OK');
    // A replica that has not acknowledged anything yet does not take over.
    const followed = async (): Promise<boolean> =>
      /state=online,offset=(\d+),.*master_repl_offset:\1\D/s.test(await ask(first, 'INFO', 'replication'));
    await until(followed, { what: 'a replica that follows again', limitMs: 60_000 });
    // Only who knows it for a replica votes for it.
    for (const node of nodes) {
      const known = async (): Promise<boolean> => (await ask(node, 'CLUSTER', 'NODES')).includes('slave');
      await until(known, { what: 'a node that knows the replica', limitMs: 60_000 });
    }
    void first.admin.send('SHUTDOWN FAILOVER NOSAVE\r\n');
    // No node finds the primary down: the replica takes over because the primary has told it to.
    await until(async () => (await roleOf(replica)).includes('master'), {
      what: 'the replica to take over',
      limitMs: 30_000,
    });
    expect(await ask(replica, 'CLUSTER', 'NODES')).toMatch(/myself,master .* 0-5460/);
    expect(await ask(replica, 'DBSIZE')).not.toBe(':0');
  } finally {
    for (const node of nodes) await node.stop().catch(() => {});
  }
}

test('a replica becomes an empty primary, and a primary that is needed ends when a replica takes over', () =>
  leave([ours, ours, ours, ours]));

testBeside(['valkey-9'], 'real nodes of %s leave in the same way', (_, program) => {
  const real = (): Promise<TestNode> => realNode(program, '--cluster-node-timeout', PATIENT);
  return leave([real, real, real, real]);
});

testBeside(
  ['valkey-9'],
  'a real primary of %s hands over to a replica of ours, and the other way round',
  async (_, program) => {
    const real = (): Promise<TestNode> => realNode(program, '--cluster-node-timeout', PATIENT);
    await leave([real, real, real, ours]);
    await leave([ours, real, real, real]);
  },
);

test('a node without a cluster knows SAFE, and refuses FAILOVER; other dialects know neither', async () => {
  const plain = await ourNode('valkey-9', { 'cluster-enabled': false });
  const older = await ourNode('valkey-8.1');
  try {
    expect(await askNode(plain.admin, 'SHUTDOWN', 'FAILOVER')).toBe(
      '-ERR SHUTDOWN FAILOVER is only supported in cluster mode.',
    );
    expect(await askNode(plain.admin, 'SHUTDOWN', 'SAFE', 'SAVE', 'NOSAVE')).toBe('-ERR syntax error');
    expect(await askNode(older.admin, 'SHUTDOWN', 'SAFE')).toBe('-ERR syntax error');
    expect(await askNode(older.admin, 'CLUSTER', 'FAILOVER', 'x', 'y')).toMatch(/unknown subcommand/);
    void plain.admin.send('SHUTDOWN SAFE NOSAVE\r\n');
    await until(() => plain.admin.ending !== undefined, { what: 'the end of the node' });
  } finally {
    await older.stop();
    await plain.stop();
  }
});
