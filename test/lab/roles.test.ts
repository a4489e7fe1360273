/** Roles that change in odd orders: a primary that was left alone, failovers that overlap, and processes that pause while they die. */
import '../../lab/router.ts';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startPair } from '../../index.ts';

test('what a primary takes that was left alone is lost when a later failover redirects it', async () => {
  await using pair = await startPair({ replicas: 2 });
  await pair.client('A').set('k', '1');
  await pair.set.synchronize();
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
    await pair.set.synchronize();
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
  await pair.set.synchronize();
  const { link } = pair;
  link.hold();
  await a.set('k', 'A');
  await a.del('k');
  const { lost } = await pair.failover({ crash: { keep: 'everything' } });
  expect(lost).toEqual([]);
  link.release();
  await pair.client('B').set('k', 'B');
  pair.restart('redis-1');
  await pair.set.synchronize();
  expect(pair.lost).toEqual([]);
});

test('a failover whose primary was replaced meanwhile is refused', async () => {
  await using pair = await startPair({ replicas: 2 });
  await pair.client('A').set('k', '1');
  await pair.set.synchronize();
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
