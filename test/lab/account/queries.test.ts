/** pair.holders and pair.overlaps: who holds a lock, or believes so. */
import { expect, test } from 'vitest';
import { type Pair, startPair, startServers } from '../../../index.ts';
import { createLocks } from '../../../locks/index.ts';

const take = (pair: Pair, name: string, ms = 30_000): Promise<string | null> =>
  pair.client(name).set('my:lock', `token of ${name}`, 'PX', ms, 'NX');

test('a lock that a failover loses has two holders: one whose grant stands, and one that does not know', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 7 });
  expect(pair.holders('my:lock')).toEqual([]);
  pair.link.hold();
  await take(pair, 'A');
  expect(pair.holders('my:lock')).toMatchObject([{ client: 'A', believes: true, granted: true }]);
  await pair.failover({ crash: true });
  await take(pair, 'B');
  const holders = pair.holders('my:lock');
  expect(holders).toMatchObject([
    { lock: 'my:lock', client: 'A', token: 'token of A', believes: true, granted: false, shared: false },
    { lock: 'my:lock', client: 'B', token: 'token of B', believes: true, granted: true, shared: false },
  ]);
  const [overlap, ...more] = pair.overlaps();
  expect(more).toEqual([]);
  expect(overlap).toEqual({
    lock: 'my:lock',
    clients: ['A', 'B'],
    from: holders[1]?.from,
    to: holders[0]?.until,
  });
  await pair.advance(40_000);
  expect(pair.holders('my:lock')).toEqual([]);
  expect(pair.overlaps()).toHaveLength(1);
});

test('a grant whose reply was lost has a holder that does not believe', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A', { maxRetriesPerRequest: 0, retryStrategy: () => null });
  await a.ping();
  pair.clientLink('A').back.hold();
  const asked = a.set('my:lock', 'A', 'PX', 30_000, 'NX').catch(() => 'lost');
  await pair.advance(20);
  pair.clientLink('A').reset();
  expect(await asked).toBe('lost');
  expect(pair.holders('my:lock')).toMatchObject([
    { client: 'A', believes: false, granted: true, until: null },
  ]);
});

test('readers share a lock, and a name in braces is the same lock', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const locks = ['A', 'B'].map((name) => createLocks(pair.client(name)));
  for (const each of locks) await each.readWrite('book').read.acquire({ leaseMs: 60_000 });
  for (const name of ['book', '{book}'])
    expect(pair.holders(name).map(({ client, shared, granted }) => [client, shared, granted])).toEqual([
      ['A', true, true],
      ['B', true, true],
    ]);
  expect(pair.overlaps()).toEqual([]);
  await pair.run(() => Promise.all(locks.map((each) => each.close())));
});

test('of several primaries a majority makes a holder', async () => {
  await using servers = await startServers({ clock: 'virtual', seed: 5, primaries: 3 });
  const clients = servers.clients('A');
  await clients[0]?.set('k', 'A', 'PX', 500, 'NX');
  expect(servers.holders('k')).toMatchObject([{ client: 'A', believes: false, granted: true }]);
  await clients[1]?.set('k', 'A', 'PX', 500, 'NX');
  expect(servers.holders('k')).toMatchObject([{ client: 'A', believes: true, granted: true }]);
});

test('the option `locks` is checked, and counts', async () => {
  for (const locks of ['stock', [1], [''], ['!']])
    await expect(startPair({ locks } as never)).rejects.toThrow(/locks.*a list of patterns/);
  await using pair = await startPair({ clock: 'virtual', seed: 3, locks: ['stock:*'] });
  await pair.client('A').set('stock:1', 'A');
  expect(pair.holders('stock:1')).toMatchObject([{ client: 'A', until: null }]);
});
