/** Locks in sorted sets and counters on timelines: permits, the lock that is not re-entrant, semaphores, and the queue. */
import { expect, test } from 'vitest';
import { type Pair, startPair } from '../../../index.ts';
import { createLocks, type Locks } from '../../../locks/index.ts';
import type { Timeline } from '../../../page/format.ts';

/** Locks of these clients, closed with the test. */
function locksOf(pair: Pair, ...names: readonly string[]): Locks[] {
  return names.map((name) => createLocks(pair.client(name)));
}

async function closed(pair: Pair, locks: readonly Locks[]): Promise<Timeline> {
  const run = pair.timelineData();
  await pair.run(() => Promise.all(locks.map((each) => each.close())));
  return run;
}

const told = ({ holds }: Timeline): unknown[] =>
  holds.map(({ client, key, ended, permit }) => [client, key, ended, permit]);

test('a lock that is not re-entrant is held from its grant to its release, and by one client', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const locks = locksOf(pair, 'A', 'B');
  const [a, b] = locks.map((each) => each.nonReentrant('lock'));
  const held = await a?.acquire({ leaseMs: 1000 });
  expect(await b?.tryAcquire({ leaseMs: 1000 })).toBe(null);
  await held?.extend(3000);
  await held?.release();
  await b?.acquire({ leaseMs: 1000 });
  await pair.advance(2000);
  const run = await closed(pair, locks);
  expect(told(run)).toEqual([
    ['A', 'lock', 'released', undefined],
    ['B', 'lock', 'expired', undefined],
  ]);
  expect(run.holds[0]?.renewals).toHaveLength(1);
  expect(run.overlaps).toEqual([]);
  expect(run.keys.map(({ node, key, ended }) => [node, key, ended])).toEqual([
    ['redis-1', 'lock', 'deleted'],
    ['redis-2', 'lock', 'deleted'],
    ['redis-1', 'lock', undefined],
    ['redis-2', 'lock', undefined],
  ]);
  expect(run.story[0]?.text).toMatch(/^A acquires lock: the script on redis-1 set it/);
});

test('a permit that a failover loses is held twice when the pool has only this one', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const locks = locksOf(pair, 'A', 'B');
  pair.link.hold();
  await locks[0]?.nonReentrant('lock').acquire({ leaseMs: 5000 });
  await pair.failover({ crash: true });
  await pair.run(async () => await locks[1]?.nonReentrant('lock').acquire({ leaseMs: 5000 }));
  const run = await closed(pair, locks);
  expect(run.overlaps).toMatchObject([{ key: 'lock', clients: ['A', 'B'] }]);
});

test('permits of a pool are shared, each is a hold of its own, and the nodes know whose they are', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const locks = locksOf(pair, 'A', 'B');
  const [a, b] = locks.map((each) => each.expirablePermits('pool'));
  await a?.trySetPermits(3);
  const first = await a?.acquire({ leaseMs: 60_000 });
  await b?.acquire({ leaseMs: 60_000 });
  await a?.acquire({ leaseMs: 60_000 });
  await first?.release();
  await pair.advance(50);
  const run = await closed(pair, locks);
  expect(told(run)).toEqual([
    ['A', 'pool', 'released', true],
    ['B', 'pool', undefined, true],
    ['A', 'pool', undefined, true],
  ]);
  expect(run.overlaps).toEqual([]);
  const onReplica = run.keys.filter(({ node }) => node === 'redis-2');
  expect(onReplica.map(({ key, permit, ended }) => [key, permit, ended])).toEqual([
    ['pool', true, 'deleted'],
    ['pool', true, undefined],
    ['pool', true, undefined],
  ]);
  expect(new Set(run.keys.map(({ holder }) => holder)).size).toBe(3);
  expect(run.story.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^B acquires a permit of pool/),
  );
  expect(run.story.map(({ text }) => text)).toContain('A releases its permit of pool.');
});

test('a semaphore is held from its first permit to its last, until it is given back', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const locks = locksOf(pair, 'A', 'B');
  const [a, b] = locks.map((each) => each.semaphore('pool'));
  await a?.trySetPermits(2);
  const both = await a?.acquire({ permits: 2 });
  expect(await b?.tryAcquire()).toBe(null);
  await both?.release();
  await b?.acquire();
  await pair.advance(50);
  const run = await closed(pair, locks);
  expect(told(run)).toEqual([
    ['A', 'pool', 'released', true],
    ['B', 'pool', undefined, true],
  ]);
  expect(run.holds[1]?.lease).toBe(null);
  expect(run.story.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/until it gives it back\.$/),
  );
});

test('in the queue lock the first client holds, with its fence, and those behind it do not', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const locks = locksOf(pair, 'A', 'B');
  const [a, b] = locks.map((each) => each.queue('lock'));
  const held = await a?.acquire({ leaseMs: 2000 });
  const next = b?.acquire({ leaseMs: 2000 });
  await pair.advance(100);
  expect(told(pair.timelineData())).toEqual([['A', 'lock', undefined, undefined]]);
  await held?.extend(3000);
  await held?.release();
  await pair.run(async () => await next);
  const run = await closed(pair, locks);
  expect(
    run.holds.map(({ client, fence, ended, renewals }) => [client, fence, ended, renewals.length]),
  ).toEqual([
    ['A', 1, 'released', 1],
    ['B', 2, undefined, 0],
  ]);
  expect(run.overlaps).toEqual([]);
  const known = run.keys.filter(({ node }) => node === 'redis-1');
  expect(known.map(({ key, ended }) => [key, ended])).toEqual([
    ['lock', 'replaced'],
    ['lock', undefined],
  ]);
});

test('a queue that a failover forgets has two holders', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const locks = locksOf(pair, 'A', 'B');
  pair.link.hold();
  await locks[0]?.queue('lock').acquire({ leaseMs: 5000 });
  await pair.failover({ crash: true });
  await pair.run(async () => await locks[1]?.queue('lock').acquire({ leaseMs: 5000 }));
  const run = await closed(pair, locks);
  expect(run.overlaps).toMatchObject([{ key: 'lock', clients: ['A', 'B'] }]);
});

test("a sorted set that is called like a pool's, without the pool, is none", async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await pair.client('A').zadd('{jobs}:timeout', 1_767_225_700_000, 'job-1');
  const { holds, keys } = pair.timelineData();
  expect([holds, keys]).toEqual([[], []]);
});
