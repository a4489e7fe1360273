/** Vector sets across a full sync and the stream after it: between lostlock and a real server, in both directions. */
import { expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import type { DialectName } from '../../../server/dialects/index.ts';
import { testBeside } from '../../support/beside/each.ts';
import { cleanUpAfterEachTest, cleanups, type Node, OwnNode, real } from '../../support/nodes.ts';
import { oracleOf } from '../../support/oracles.ts';
import { vectorDialects } from '../commands/vector/vectors.ts';

cleanUpAfterEachTest();

async function ours(dialect: DialectName): Promise<OwnNode> {
  const server = await startServer({ dialect, strict: true });
  cleanups.push(() => server.stop());
  return new OwnNode(server);
}

const ELEMENTS = 30;

/** A set with elements that were added, removed and described, in each form. */
async function fill(node: Node, key: string): Promise<void> {
  for (const form of ['NOQUANT', 'Q8', 'BIN']) {
    const name = `${key}:${form}`;
    for (let i = 0; i < ELEMENTS; i++) {
      const vector = ['VALUES', '3', String(Math.cos(i)), String(Math.sin(i)), String(i / 9 - 1)];
      const cas = i % 2 === 0 ? ['CAS'] : [];
      expect(await node.ask('VADD', name, ...vector, `e${i}`, form, ...cas, 'SETATTR', `{"i":${i}}`)).toBe(1);
    }
    expect(await node.ask('VREM', name, 'e7')).toBe(1);
    expect(await node.ask('VSETATTR', name, 'e8', 'new')).toBe(1);
  }
  const projected = ['REDUCE', '2', 'VALUES', '3', '1', '2', '3', 'a'];
  expect(await node.ask('VADD', `${key}:short`, ...projected)).toBe(1);
  await node.ask('VADD', `${key}:gone`, 'VALUES', '1', '1', 'a');
  expect(await node.ask('VREM', `${key}:gone`, 'a')).toBe(1);
  await node.ask('EXPIRE', `${key}:short`, '1000');
}

/** Elements with their scores, sorted by name. */
function pairs(reply: readonly unknown[]): string[] {
  return reply.flatMap((element, i) => (i % 2 === 0 ? [`${element} ${reply[i + 1]}`] : [])).sort();
}

async function contentOf(node: Node): Promise<unknown[]> {
  const keys = ((await node.ask('KEYS', '*')) as string[]).sort();
  const found: unknown[] = [keys];
  for (const key of keys) {
    // A server that loads a set turns its order round, so elements at the same distance come in another order.
    const similar = await node.ask('VSIM', key, 'ELE', 'e1', 'WITHSCORES', 'COUNT', '99', 'TRUTH');
    found.push(Array.isArray(similar) ? pairs(similar) : similar);
    for (const element of ['e8', 'e9', 'a']) found.push(await node.ask('VEMB', key, element, 'RAW'));
    found.push(await node.ask('VGETATTR', key, 'e8'));
  }
  return found;
}

/** The replica gets a set by the full sync and one by the stream, and has what its primary has. */
async function checkReplica(primary: Node, replica: Node): Promise<void> {
  await fill(primary, 'before');
  await replica.follow(primary);
  await fill(primary, 'after');
  await replica.caughtUp(primary);
  const [theirs, own] = [await contentOf(primary), await contentOf(replica)];
  expect(own.length).toBeGreaterThan(8);
  expect(own).toEqual(theirs);
}

test.each(['redis-8.0', 'redis-8.2'] as const)('a lostlock %s follows another', async (dialect) => {
  const [primary, replica] = [await ours(dialect), await ours(dialect)];
  await checkReplica(primary, replica);
  expect(await replica.ask('VADD', 'after:Q8', 'VALUES', '3', '1', '2', '3', 'x')).toMatch(/^READONLY/);
  // The server does not replicate another vector of an element that exists, so neither do we.
  expect(await primary.ask('VADD', 'after:Q8', 'VALUES', '3', '9', '9', '9', 'e1')).toBe(0);
  await primary.ask('SET', 'mark', '1');
  await replica.caughtUp(primary);
  const [there, here] = [
    await primary.ask('VEMB', 'after:Q8', 'e1'),
    await replica.ask('VEMB', 'after:Q8', 'e1'),
  ];
  expect(there).not.toEqual(here);
});

testBeside(vectorDialects, 'lostlock follows a real %s', async (dialect) => {
  await checkReplica(await real({}, oracleOf(dialect)), await ours(dialect));
});

testBeside(vectorDialects, 'a real %s follows lostlock', async (dialect) => {
  await checkReplica(await ours(dialect), await real({}, oracleOf(dialect)));
});
