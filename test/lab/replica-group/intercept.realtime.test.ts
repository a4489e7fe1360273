/** The nodes of a pair have rules, recorded requests, seed and dump, as a single server has, on both clocks. */
import { afterEach, expect, test } from 'vitest';
import { startCluster, startPair } from '../../../lab/start.ts';

let close: () => Promise<void>;
afterEach(() => close());

/** A pair on the clock, with what the test needs of it. */
async function started(clock: 'real' | 'virtual') {
  const pair = clock === 'real' ? await startPair({ clock }) : await startPair();
  close = () => pair.close();
  return pair;
}

test.each(['virtual', 'real'] as const)(
  'a rule counts the requests of all nodes, on the %s clock',
  async (clock) => {
    const pair = await started(clock);
    const options = { retryStrategy: () => 1, maxRetriesPerRequest: 50 };
    const [a, b] = [pair.client('A', options), pair.client('B', options)];
    const rule = pair.intercept(
      { command: 'set', client: 'A', key: 'st?ck:*', nth: 2 },
      { error: 'OOM by a rule' },
    );
    expect(await a.set('stock:1', '1')).toBe('OK');
    await b.set('stock:1', '1');
    await a.set('other', '1');
    expect([rule.matches, rule.hits]).toEqual([1, 0]);
    await pair.failover();
    await expect(a.set('stack:2', '1')).rejects.toThrow('OOM by a rule');
    expect([rule.matches, rule.hits]).toEqual([2, 1]);
    rule.remove();
    expect(await a.set('stock:2', '1')).toBe('OK');
    expect(rule.matches).toBe(2);
  },
);

test.each(['virtual', 'real'] as const)(
  'rules of a node survive its restart, on the %s clock',
  async (clock) => {
    const pair = await started(clock);
    const client = pair.client('A', { retryStrategy: () => 1, maxRetriesPerRequest: 50 });
    await client.set('k', 'v');
    const rule = pair.primary.intercept({ command: 'get' }, { reply: 'ruled' });
    const requests = pair.requests();
    expect(await client.get('k')).toBe('ruled');
    await pair.primary.crash({ keep: 'everything' });
    await pair.restart('redis-1');
    expect(await client.get('k')).toBe('ruled');
    rule.remove();
    expect(await client.get('k')).toBe('v');
    const gets = requests.entries.filter(({ command }) => command === 'get');
    expect(gets.map(({ node, client: { party }, args }) => [node, party, args])).toEqual(
      Array(3).fill(['redis-1', 'A', ['k']]),
    );
    // Replicas send requests too, and nobody has asked for those.
    expect(requests.entries.filter(({ client: { party } }) => party !== 'A')).toEqual([]);
  },
);

test.each(['virtual', 'real'] as const)(
  'seed and dump, which replicas follow, on the %s clock',
  async (clock) => {
    const pair = await started(clock);
    pair.seed({ stock: '5', queue: ['a', 'b'] });
    await pair.synchronize();
    const expected = [
      { db: 0, key: 'stock', type: 'string', value: '5' },
      { db: 0, key: 'queue', type: 'list', value: ['a', 'b'] },
    ];
    expect(pair.dump()).toEqual(expected);
    expect(pair.node('redis-2').dump()).toEqual(expected);
    await pair.primary.crash();
    expect(() => pair.dump()).toThrow('redis-1, which is down');
  },
);

test('a node of a cluster records the requests of clients, and not those of its replicas', async () => {
  const cluster = await startCluster({ clock: 'virtual', replicas: 1 });
  close = () => cluster.close();
  const shard = cluster.shardOf('k');
  const requests = shard.primary.requests();
  const replica = shard.replicas[0];
  replica?.crash({ keep: 'everything' });
  replica?.restart();
  await cluster.advance(5000);
  await cluster.client('A').set('k', 'v');
  expect(requests.entries.some(({ command }) => command === 'set')).toBe(true);
  expect(requests.entries.filter(({ client: { party } }) => party !== 'A')).toEqual([]);
});

test('a lost reply takes all later ones of its connection with it', async () => {
  const pair = await started('virtual');
  const client = pair.client('A', { commandTimeout: 100, maxRetriesPerRequest: 0 });
  await client.ping();
  pair.intercept({ command: 'set' }, 'reply-lost');
  await expect(client.set('k', '1')).rejects.toThrow('Command timed out');
  await expect(client.ping()).rejects.toThrow('Command timed out');
  expect(await pair.client('B').get('k')).toBe('1');
});
