/** The story of a run, as it is told from the account: what it says, and that it says nothing that is not so. */
import { expect, test } from 'vitest';
import { type Pair, startPair } from '../../../index.ts';
import { createLocks } from '../../../locks/index.ts';

const take = (pair: Pair, name: string, key = 'k', ms = 30_000): Promise<string | null> =>
  pair.client(name).set(key, name, 'PX', ms, 'NX');

const storyOf = (pair: Pair): string[] => pair.timelineData().story.map(({ text }) => text);

test('a lock that nobody holds, because the reply to its SET NX was lost, is told as such', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A', { retryStrategy: () => 10 });
  await a.ping();
  pair.clientLink('A').back.hold();
  const asked = a.set('k', 'A', 'PX', 30_000, 'NX');
  await pair.advance(50);
  pair.clientLink('A').reset();
  pair.clientLink('A').back.release();
  expect(await asked).toBe(null);
  const story = storyOf(pair);
  expect(story).toEqual([
    'The link from redis-1 to A is held: what redis-1 sends waits, and does not arrive.',
    'redis-1 grants k to A (SET NX), but the reply is lost: A does not know that it holds it.',
    'The connections between A and redis-1 break.',
    'The link from redis-1 to A delivers again what it held.',
    'A asks redis-1 for k and does not get it: its own grant is in the way, of which it does not know.',
  ]);
});

test('the story names the client that shortened a lease', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await take(pair, 'A');
  await pair.client('B').pexpire('k', 20);
  await pair.advance(50);
  await take(pair, 'B');
  await pair.advance(10);
  expect(storyOf(pair)).toContain('The lease of A on k ends: B had shortened it (PEXPIRE).');
});

test("WAIT in one packet behind the write has its own sentence, and the write's answer is OK", async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A');
  await a.ping();
  pair.link.hold();
  await a.pipeline().set('k', 'A', 'PX', 30_000, 'NX').wait(1, 50).exec();
  const story = storyOf(pair);
  expect(story).toContainEqual(expect.stringMatching(/^A acquires k: redis-1 answered OK, so A believes/));
  expect(story).toContain('A asks how many replicas have its writes (WAIT 1 50); the answer is 0.');
});

test('whose act ended a grant is told, and whose grant is in the way', async () => {
  await using pair = await startPair({
    clock: 'virtual',
    seed: 3,
    settings: { 'maxmemory-policy': 'allkeys-lru' },
  });
  await take(pair, 'A');
  await take(pair, 'B');
  await pair.client('B').del('k');
  await take(pair, 'B');
  await pair.client('C').flushall();
  await take(pair, 'C', 'k', 40);
  await pair.advance(100);
  const story = storyOf(pair).filter((text) => !text.includes('acquires'));
  expect(story).toEqual([
    'B asks redis-1 for k and does not get it: A has it.',
    'B deletes k (DEL), while A believes that it holds it.',
    expect.stringMatching(/^From here on, B and A|^From here on, A and B both believe that they hold k/),
    'C deletes all keys (FLUSHALL), also k, while B believes that it holds it.',
    expect.stringMatching(/^From here on, A and C both believe/),
    expect.stringMatching(/^From here on, B and C both believe/),
    'The lease of C on k ends.',
  ]);
});

test('a refusal of a script is told', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const [a, b] = ['A', 'B'].map((name) => createLocks(pair.client(name)));
  await a?.reentrant('k').acquire({ leaseMs: 60_000 });
  expect(await b?.reentrant('k').tryAcquire()).toBe(null);
  const story = storyOf(pair);
  // The script sets the field first and the deadline then: one grant, and no renewal.
  expect(story[0]).toMatch(/^A acquires k: the script on redis-1 set it, so .* for (?:60|59\.\d+) s\.$/);
  expect(story).toContain('B asks redis-1 for k and does not get it: A has it.');
  await pair.run(() => Promise.all([a?.close(), b?.close()]));
});

test('a waiter that missed its message is told', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const [a, b] = ['A', 'B'].map((name) => createLocks(pair.client(name)));
  const held = await a?.reentrant('k').acquire({ leaseMs: 20_000 });
  const next = b?.reentrant('k').acquire({ leaseMs: 20_000 });
  await pair.advance(100);
  pair.clientLink('B').back.drop();
  await pair.run(() => held?.release());
  await pair.advance(10);
  pair.clientLink('B').back.drop(0);
  pair.clientLink('B').reset();
  await pair.advance(10);
  const story = storyOf(pair);
  expect(story).toContain('The message that B waits for, about k, is lost: B waits on.');
  await pair.run(() => next);
  await pair.run(() => Promise.all([a?.close(), b?.close()]));
});

test('a client that waits in a list, and one that waits in the queue of a fair lock, are told', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await take(pair, 'A');
  const popped = pair.client('B').blpop('k:wake', 5);
  const [c, d] = ['C', 'D'].map((name) => createLocks(pair.client(name)));
  const held = await c?.fair('fair').acquire({ leaseMs: 20_000 });
  const next = d?.fair('fair').acquire({ leaseMs: 20_000 });
  await pair.advance(100);
  const story = storyOf(pair);
  expect(story).toContain('B waits for k for an element of k:wake.');
  expect(story).toContain('D waits for fair in its queue.');
  await pair.run(async () => {
    await held?.release();
    await next;
    await popped;
    await Promise.all([c?.close(), d?.close()]);
  });
});

test('more holders than permits, after a failover that lost a permit', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const [a, b, c] = ['A', 'B', 'C'].map((name) => createLocks(pair.client(name)));
  await a?.expirablePermits('pool').trySetPermits(2);
  await a?.expirablePermits('pool').acquire({ leaseMs: 60_000 });
  await pair.advance(20);
  pair.link.hold();
  await b?.expirablePermits('pool').acquire({ leaseMs: 60_000 });
  await pair.failover({ crash: true });
  await pair.run(() => c?.expirablePermits('pool').acquire({ leaseMs: 60_000 }));
  const story = storyOf(pair);
  expect(story.at(-1)).toBe('From here on, 3 holders have the 2 permits of pool: A, B and C.');
  await pair.run(() => Promise.all([a, b, c].map((each) => each?.close())));
});

test('a lock that a failover brings back is told', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await take(pair, 'A');
  await pair.advance(20);
  pair.link.hold();
  await pair.client('A').del('k');
  await pair.failover({ crash: true });
  await take(pair, 'B');
  const story = storyOf(pair);
  expect(story).toContain(
    "A's lock on k is back on redis-2, by the failover to redis-2, which never received A's DEL: nobody knows of it.",
  );
  expect(story).toContain(
    'B asks redis-2 for k and does not get it: the grant of A is in the way, of which nobody knows.',
  );
});

test('of a long story, the lock that two hold stays, and a hundred jumps of a clock go', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  for (let i = 0; i < 150; i++) pair.node('redis-2').clock.jump(1);
  pair.link.hold();
  await take(pair, 'A');
  await pair.failover({ crash: true });
  await take(pair, 'B');
  for (let i = 0; i < 150; i++) pair.node('redis-2').clock.jump(1);
  await pair.client('B').del('k');
  const story = storyOf(pair);
  expect(story).toHaveLength(201);
  const kept = story.filter((text) => !text.startsWith('The clock of redis-2'));
  expect(kept).toEqual([
    expect.stringMatching(/^From here on, \d+ sentences of minor events are left out\.$/),
    'The link from redis-1 to redis-2 is held: what redis-1 sends waits, and does not arrive.',
    expect.stringMatching(/^A acquires k/),
    'redis-1 crashes.',
    expect.stringMatching(/^redis-2 is promoted/),
    expect.stringMatching(/^An acknowledged write of A is lost/),
    expect.stringMatching(/^B acquires k/),
    expect.stringMatching(/^From here on, A and B both believe/),
    'B releases k.',
  ]);
});
