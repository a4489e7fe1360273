/** Roles that change in odd orders: a primary that was left alone, failovers that overlap, and processes that pause while they die. */
import '../../lab/router.ts';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { type Pair, startPair } from '../../index.ts';

test('what a primary takes that was left alone is lost when a later failover redirects it', async () => {
  await using pair = await startPair({ replicas: 2 });
  await pair.client('A').set('k', '1');
  await pair.synchronize();
  await pair.failover({ to: 'redis-2', demote: false });
  await pair.actor('B').run(async () => {
    const stale = new Redis(pair.node('redis-1').port, '127.0.0.1');
    await stale.set('k', 'split');
    stale.disconnect();
  });
  expect(pair.lost).toEqual([]);
  await pair.failover({ to: 'redis-3' });
  expect(pair.lost.map(({ command }) => command.join(' '))).toEqual(['set k split']);
  pair.demote('redis-2');
  expect(pair.lost).toHaveLength(1);
});

test.each(['everything', 'nothing'] as const)(
  'what it takes is lost when it crashes, keeps %s and restarts',
  async (keep) => {
    await using pair = await startPair();
    await pair.client('A').set('k', '1');
    await pair.synchronize();
    await pair.failover({ demote: false });
    await pair.actor('B').run(async () => {
      const stale = new Redis(pair.node('redis-1').port, '127.0.0.1');
      await stale.set('k', 'split');
      stale.disconnect();
    });
    pair.node('redis-1').crash({ keep });
    expect(pair.lost).toEqual([]);
    pair.restart('redis-1');
    expect(pair.lost.map(({ command }) => command.join(' '))).toEqual(['set k split']);
    expect(await pair.client('A').get('k')).toBe('1');
  },
);

test('writes that cancelled out are not lost because the new primary has another value later', async () => {
  await using pair = await startPair();
  const a = pair.client('A');
  await a.set('other', '1');
  await pair.synchronize();
  const { link } = pair;
  link.hold();
  await a.set('k', 'A');
  await a.del('k');
  const { lost } = await pair.failover({ crash: { keep: 'everything' } });
  expect(lost).toEqual([]);
  link.release();
  await pair.client('B').set('k', 'B');
  pair.restart('redis-1');
  await pair.synchronize();
  expect(pair.lost).toEqual([]);
});

test('with no shared history, an answered write is lost although a later one had no reply', async () => {
  await using pair = await startPair();
  const [a, c] = [pair.client('A'), pair.client('C')];
  await c.ping();
  pair.replica.crash();
  pair.link.hold();
  pair.restart('redis-2');
  await a.set('k', 'first');
  await a.set('k', 'second');
  pair.clientLink('C').back.hold();
  c.set('k', 'third').catch(() => {});
  await pair.advance(50);
  const { offset, lost, unanswered, complete } = await pair.failover({ crash: true });
  expect(offset).toBe(undefined);
  expect([lost, unanswered].map((writes) => writes.map(({ holder }) => holder))).toEqual([
    ['second'],
    ['third'],
  ]);
  expect(complete).toBe(false);
});

/** A pair whose old primary, redis-1, was left alone after a failover to redis-2. */
async function leftAlone() {
  const pair = await startPair({ replicas: 2 });
  const stale = pair.client('A');
  await stale.set('k', '0');
  await pair.synchronize();
  await pair.failover({ to: 'redis-2', demote: false });
  return { pair, stale };
}

test('every write since the histories parted is lost, also when another node is promoted in between', async () => {
  const { pair, stale } = await leftAlone();
  await stale.set('k', 'first');
  await stale.set('k', 'second');
  // redis-3 follows redis-2, so its history and that of redis-1 have no id in common when it is promoted.
  await pair.advance(100);
  await pair.failover({ to: 'redis-3' });
  expect(pair.lost.map(({ holder }) => holder)).toEqual(['first', 'second']);
  await pair.close();
});

test('demote returns only what is lost, and not what every node has had', async () => {
  const { pair } = await leftAlone();
  const b = pair.client('B');
  await b.set('k', '1');
  expect(await b.wait(1, 1000)).toBe(1);
  pair.promote('redis-3');
  expect(pair.demote('redis-1')).toMatchObject({ lost: [], unanswered: [], returned: [] });
  await pair.close();
});

test('writes that had cancelled out when a node was promoted by hand are not lost later', async () => {
  await using pair = await startPair();
  const a = pair.client('A');
  pair.link.hold();
  await a.set('k', 'A');
  await a.del('k');
  await a.set('z', 'A');
  pair.promote('redis-2');
  expect(pair.lost).toEqual([]);
  await pair.client('B').set('k', 'B');
  expect(pair.demote('redis-1').lost.map(({ key }) => key)).toEqual(['z']);
  expect(pair.lost.map(({ key }) => key)).toEqual(['z']);
});

test('a lost write returns with its node, also after two other primaries', async () => {
  await using pair = await startPair({ replicas: 2 });
  const a = pair.client('A');
  await a.set('k', '0');
  await pair.synchronize();
  pair.network.partition(['redis-1'], ['redis-2', 'redis-3']);
  await a.set('x', 'A');
  await pair.failover({ to: 'redis-2' });
  await pair.advance(100);
  await pair.failover({ to: 'redis-3' });
  const { offset, returned } = await pair.failover({ to: 'redis-1' });
  expect([offset, returned.map(({ key }) => key)]).toEqual([undefined, ['x']]);
  expect(await a.get('x')).toBe('A');
});

test.each(['virtual', 'real'] as const)(
  'what a primary forgets in a restart is lost, although no other node was promoted, on the %s clock',
  async (clock) => {
    const pair = (await (clock === 'virtual' ? startPair({ clock }) : startPair({ clock }))) as Pair;
    const a = pair.client('A');
    await a.set('k', 'A');
    await a.wait(1, 1000);
    await pair.primary.crash({ keep: 'everything' });
    await pair.restart('redis-1');
    expect(pair.lost).toEqual([]);
    expect(await a.get('k')).toBe('A');
    await a.set('k', 'B');
    await pair.primary.crash();
    await pair.restart('redis-1');
    expect(pair.lost.map(({ holder }) => holder)).toEqual(['B']);
    expect(await a.get('k')).toBeNull();
    await pair.close();
  },
);

test('a failover whose primary was replaced meanwhile is refused', async () => {
  await using pair = await startPair({ replicas: 2 });
  await pair.client('A').set('k', '1');
  await pair.synchronize();
  const second = pair.failover({ after: 300 });
  const refused = expect(second).rejects.toThrow('redis-1 is not the primary any more');
  const { to } = await pair.failover({ after: 50 });
  await refused;
  expect(pair.primary.name).toBe(to);
});

test('the primary cannot be demoted before another node is promoted', async () => {
  await using pair = await startPair();
  expect(() => pair.demote('redis-1')).toThrow('lostlock: option demote is ');
});

test('a process that starts is not paused, whatever the one before it was', async () => {
  await using pair = await startPair();
  pair.primary.crash();
  pair.pause('redis-1');
  pair.restart('redis-1');
  expect(pair.node('redis-1').paused).toBe(false);
});

test('a release of both messages and bytes is refused', async () => {
  await using pair = await startPair();
  pair.link.hold();
  expect(() => pair.link.commands.release({ messages: 1, bytes: 1000 })).toThrow(
    'lostlock: option release.bytes is 1000; allowed: no value together with release.messages',
  );
});
