/** The log of writes: what a node does by itself is no write of a client, even while a request of a client is running. */
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startPair } from '../../../lab/pair.ts';

interface Case {
  readonly title: string;
  /** What client A does before its keys and fields expire. */
  readonly before: (a: Redis) => Promise<unknown>;
  /** What client B does afterwards. */
  readonly after: (b: Redis) => Promise<unknown>;
  /** What is written because of B's requests: the client, and the words. */
  readonly written: readonly [client: string | undefined, words: string][];
  readonly settings?: { readonly maxmemory: number; readonly 'maxmemory-policy': 'allkeys-lru' };
}

/** How long A's keys and fields last, in milliseconds. */
const LEASE = 50;

const lease = (a: Redis): Promise<unknown> => a.set('k', 'A', 'PX', LEASE);

const leaseOfField = async (a: Redis): Promise<void> => {
  await a.hset('h', { f: '1', g: '2' });
  await a.call('HPEXPIRE', 'h', LEASE, 'FIELDS', '1', 'f');
};

const CASES: readonly Case[] = [
  {
    title: 'a read that finds an expired key',
    before: lease,
    after: (b) => b.get('k'),
    written: [[undefined, 'DEL k']],
  },
  {
    title: 'a DEL that finds an expired key',
    before: lease,
    after: (b) => b.del('k'),
    written: [[undefined, 'DEL k']],
  },
  {
    title: 'a SET NX that gets an expired lock',
    before: lease,
    after: (b) => b.set('k', 'B', 'NX'),
    written: [
      [undefined, 'DEL k'],
      ['B', 'set k B NX'],
    ],
  },
  {
    title: 'a transaction that reads an expired key',
    before: lease,
    after: (b) => b.multi().set('x', '1').get('k').exec(),
    written: [
      ['B', 'set x 1'],
      [undefined, 'DEL k'],
    ],
  },
  {
    title: 'a script that reads an expired key',
    before: lease,
    after: (b) => b.eval("redis.call('get', KEYS[1]) return redis.call('set', KEYS[2], '1')", 2, 'k', 'x'),
    written: [
      [undefined, 'DEL k'],
      ['B', 'set x 1'],
    ],
  },
  {
    title: 'a read that finds an expired field',
    before: leaseOfField,
    after: (b) => b.hget('h', 'f'),
    written: [[undefined, 'HDEL h f']],
  },
  {
    title: 'a write for which another key is evicted',
    before: (a) => a.set('k', '.'.repeat(5_000_000)),
    after: (b) => b.set('x', '1'),
    written: [
      [undefined, 'DEL k'],
      ['B', 'set x 1'],
    ],
    settings: { maxmemory: 4_000_000, 'maxmemory-policy': 'allkeys-lru' },
  },
  {
    title: 'a pop that takes the last element, and an expiry in the past, which are the client’s',
    before: (a) => a.rpush('list', '1', '2', '3'),
    after: async (b) => {
      await b.lpop('list', 3);
      await b.set('k', 'B');
      await b.pexpire('k', -1);
    },
    written: [
      ['B', 'lpop list 3'],
      ['B', 'set k B'],
      ['B', 'DEL k'],
    ],
  },
];

test.each(CASES)('$title', async ({ before, after, written, settings = {} }) => {
  await using pair = await startPair({ clock: 'virtual', seed: 1, settings });
  const { primary } = pair;
  primary.server.expiry.active = false;
  const [a, b] = [pair.client('A'), pair.client('B')];
  await before(a);
  await pair.advance(100);
  const offset = Number(primary.offset);
  await after(b);
  const { writes } = primary.log;
  expect(
    writes.filter((write) => write.offset > offset).map(({ client, command }) => [client, command.join(' ')]),
  ).toEqual(written);
});

test('a pop that another client’s push serves belongs to the client that was blocked', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 1 });
  const [a, b] = [pair.client('A'), pair.client('B')];
  const served = a.blpop('list', 0);
  await b.rpush('list', '1');
  await served;
  expect(pair.primary.log.writes.map(({ client, command }) => [client, command[0]?.toLowerCase()])).toEqual([
    ['B', 'rpush'],
    ['A', 'lpop'],
  ]);
});
