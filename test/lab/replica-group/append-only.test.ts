/** The append-only file of a lab node, and what crashes leave of it (S20, S21: a server that restarts with less than it had). */
import { expect, test } from 'vitest';
import { startPair, startServers } from '../../../index.ts';
import { sampleOf } from '../../support/long.ts';

const ALWAYS = { appendonly: true, appendfsync: 'always' } as const;
const CURRENT = 'appendonlydir/appendonly.aof.1.incr.aof';

test('a node with appendonly writes the files of redis-server to its disk', async () => {
  await using pair = await startPair({ settings: { appendonly: true } });
  await pair.client('A').set('k', 'v');
  const { disk } = pair.node('redis-1').host;
  expect(disk.names()).toEqual([
    'appendonlydir/appendonly.aof.1.base.rdb',
    CURRENT,
    'appendonlydir/appendonly.aof.manifest',
  ]);
  expect(disk.read(CURRENT)).toContain('$1\r\nk\r\n$1\r\nv\r\n');
});

test('a crash up to an offset keeps the writes before it, and what was synced in any case', async () => {
  const kept = async (appendfsync: 'always' | 'no') => {
    await using pair = await startPair({ settings: { appendonly: true, appendfsync } });
    const a = pair.client('A');
    await a.set('one', '1');
    const { offset } = pair.primary;
    await a.set('two', '2');
    pair.primary.crash({ keep: { offset } });
    await pair.advance(100);
    pair.restart('redis-1');
    return (await a.keys('*')).sort();
  };
  expect(await kept('no')).toEqual(['one']);
  expect(await kept('always')).toEqual(['one', 'two']);
});

test('a torn tail is cut off, and later writes follow what is left', async () => {
  await using pair = await startPair({ settings: { appendonly: true } });
  const a = pair.client('A');
  await a.set('one', '1');
  await a.set('two', '2');
  const node = pair.node('redis-1');
  node.crash({ keep: 'everything' });
  node.host.disk.truncate(CURRENT, (node.host.disk.size(CURRENT) ?? 0) - 5);
  pair.restart('redis-1');
  await a.set('three', '3');
  node.crash({ keep: 'everything' });
  pair.restart('redis-1');
  expect((await a.keys('*')).sort()).toEqual(['one', 'three']);
});

test('a replica has the whole dataset on its disk after a full resync', async () => {
  await using pair = await startPair({ settings: ALWAYS });
  const a = pair.client('A');
  pair.replica.crash({ keep: 'nothing' });
  await a.set('k', 'before');
  pair.restart('redis-2');
  await pair.synchronize();
  await a.set('l', 'after');
  await pair.synchronize();
  const replica = pair.node('redis-2');
  replica.crash({ keep: 'synced' });
  replica.restart();
  expect([...replica.server.db(0).entries.keys()].sort()).toEqual(['k', 'l']);
});

test('with appendfsync always, a power failure at any moment takes no acknowledged write', async () => {
  for (let seed = 1; seed <= sampleOf(50, 4); seed++) {
    await using servers = await startServers({ clock: 'virtual', primaries: 1, seed, settings: ALWAYS });
    const [node] = servers.nodes;
    const [a] = servers.clients('A', { maxRetriesPerRequest: 0, retryStrategy: () => 50 });
    if (node === undefined || a === undefined) throw new Error('there is no server');
    let acknowledged = 0;
    for (let life = 0; life < 3; life++) {
      const writes = Array.from({ length: 40 }, async (_, at) => {
        if (at === 20) void a.call('BGREWRITEAOF').catch(() => {});
        if ((await a.incr('n').catch(() => undefined)) !== undefined) acknowledged++;
      });
      await servers.world.advance((seed + life) % 4);
      node.crash({ keep: 'synced' });
      node.restart();
      await Promise.all(writes);
      expect(Number(node.server.db(0).entries.get('n')?.read() ?? 0)).toBeGreaterThanOrEqual(acknowledged);
      await servers.world.advance(200);
      acknowledged = Number(await a.get('n'));
    }
  }
});
