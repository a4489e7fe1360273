/** Timelines of virtual pairs: messages with their offsets and causes, which client believed that it held the lock, and the story. */
import { expect, test } from 'vitest';
import { startPair, startServers } from '../../../index.ts';
import type { Timeline } from '../../../page/format.ts';

/** The lost lock: A's write waits at the gate when the primary crashes, and B gets the same lock. */
async function lostLock(seed: number, lease = 30_000): Promise<Timeline> {
  await using pair = await startPair({ clock: 'virtual', seed });
  const [a, b] = [pair.client('A'), pair.client('B')];
  pair.link.hold();
  await a.set('my:lock', 'A', 'PX', lease, 'NX');
  await pair.failover({ crash: true });
  await b.set('my:lock', 'B', 'PX', lease, 'NX');
  await pair.advance(100);
  return pair.timelineData({ title: 'Lost' });
}

test('the lost lock has both holders, the lost message with its offset, and the length of the overlap', async () => {
  const run = await lostLock(7);
  expect(run.lanes.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
    'client A',
    'client B',
    'node redis-1',
    'node redis-2',
  ]);
  const [held, also] = run.holds;
  expect([held?.client, also?.client, run.holds.length]).toEqual(['A', 'B', 2]);
  expect(run.overlaps).toEqual([{ key: 'my:lock', clients: ['A', 'B'], from: also?.from, to: held?.lease }]);
  const request = run.messages.findIndex(({ text }) => text === 'set my:lock A PX 30000 NX');
  const copy = run.messages.find(({ kind, cause }) => kind === 'stream' && cause === request);
  expect(copy).toMatchObject({
    from: 'redis-1',
    to: 'redis-2',
    arrived: null,
    fate: 'lost',
    offsets: [0, 86],
  });
  expect(copy?.why).toContain('the link from redis-1 to redis-2 is held');
  expect(run.messages[held?.grant ?? -1]).toMatchObject({
    kind: 'reply',
    cause: request,
    to: 'A',
    text: 'OK',
  });
  expect(run.keys.map(({ node, holder, ended }) => [node, holder, ended])).toEqual([
    ['redis-1', 'A', 'crashed'],
    ['redis-2', 'B', undefined],
  ]);
  expect(run.marks.map(({ kind }) => kind)).toEqual(['follow', 'hold', 'crash', 'promote', 'lost']);
});

test('every sentence of the story is about an event that exists, in the order of time', async () => {
  const run = await lostLock(7);
  const times = run.story.map(({ at }) => at);
  expect(times).toEqual([...times].sort((one, other) => one - other));
  expect(run.story.map(({ text }) => text)).toEqual([
    'The link from redis-1 to redis-2 is held: what redis-1 sends waits, and does not arrive.',
    expect.stringContaining(
      'A acquires my:lock: redis-1 answered OK, so A believes that it holds the lock for 30 s.',
    ),
    'redis-1 crashes.',
    'redis-2 is promoted to primary.',
    expect.stringContaining('An acknowledged write of A is lost'),
    expect.stringContaining('B acquires my:lock: redis-2 answered OK'),
    expect.stringMatching(/^From here on, A and B both believe that they hold my:lock, for 29\.\d+ s\.$/),
  ]);
  for (const { about } of run.story) {
    if (about === undefined) continue;
    if ('message' in about) expect(run.messages[about.message]).toBeDefined();
    else if ('mark' in about) expect(run.marks[about.mark]).toBeDefined();
    else expect(run.overlaps[about.overlap]).toBeDefined();
  }
});

test('a long story leaves out minor sentences, says how many, and keeps the loss and the broken promise', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 7 });
  const [a, b] = [pair.client('A'), pair.client('B')];
  for (let i = 0; i < 130; i++) {
    await a.set('k', 'A', 'PX', 30_000, 'NX');
    await pair.advance(1);
    await a.del('k');
  }
  await pair.advance(10);
  pair.link.hold();
  await a.set('my:lock', 'A', 'PX', 30_000, 'NX');
  await pair.failover({ crash: true });
  await b.set('my:lock', 'B', 'PX', 30_000, 'NX');
  const texts = pair.timelineData().story.map(({ text }) => text);
  expect(texts).toHaveLength(201);
  // 260 about k and 7 about the lost lock, as in the test above.
  expect(texts).toContain('From here on, 67 sentences of minor events are left out.');
  expect(texts.slice(-7)).toEqual([
    expect.stringContaining('The link from redis-1 to redis-2 is held'),
    expect.stringContaining('A acquires my:lock'),
    'redis-1 crashes.',
    expect.stringContaining('redis-2 is promoted'),
    expect.stringContaining('An acknowledged write of A is lost'),
    expect.stringContaining('B acquires my:lock'),
    expect.stringContaining('From here on, A and B both believe that they hold my:lock'),
  ]);
});

test('the story tells how long the first lease is, and how often it is renewed', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A');
  await a.set('k', 'A', 'PX', 30_000, 'NX');
  await a.pexpire('k', 60_000);
  await a.pexpire('k', 90_000);
  const { story, holds } = pair.timelineData();
  expect(story[0]?.text).toMatch(/for (30|29\.99) s\. It renews the lease 2 times\.$/);
  expect((holds[0]?.firstLease as number) - (holds[0]?.from as number)).toBeLessThanOrEqual(30_000_000);
});

test('keys and values in UTF-8 are decoded in texts, and what could turn the text beside it is escaped', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A');
  await a.set('käse\u202e', '€', 'PX', 500, 'NX');
  await a.set(Buffer.from([0xff, 0x07]), 'x');
  const { story, messages, holds } = pair.timelineData();
  expect(story[0]?.text).toContain('A acquires käse\\u{202e}: ');
  const texts = messages.map(({ text }) => text);
  expect(texts).toContain('set käse\\u{202e} € PX 500 NX');
  expect(texts).toContain('set \\xff\\x07 x');
  // The key itself stays bytes, for the filter.
  expect(messages.filter(({ bytes }) => bytes.includes(holds[0]?.key as string)).length).toBeGreaterThan(1);
});

test('the same seed gives the same bytes, and another seed gives others', async () => {
  const [one, again, other] = [await lostLock(7), await lostLock(7), await lostLock(8)];
  expect(JSON.stringify(again)).toBe(JSON.stringify(one));
  expect(JSON.stringify(other)).not.toBe(JSON.stringify(one));
});

test('renewals, a release, a copy on the replica and a lease that ends are seen', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const [a, b] = [pair.client('A'), pair.client('B')];
  await a.set('k', 'A', 'PX', 500, 'NX');
  expect(await b.set('k', 'B', 'PX', 500, 'NX')).toBe(null);
  await a.pexpire('k', 900);
  await a.del('k');
  await b.set('k', 'B', 'PX', 50, 'NX');
  await pair.advance(3000);
  const { holds, overlaps, keys, messages } = pair.timelineData();
  expect(holds.map(({ client, ended, renewals }) => [client, ended, renewals.length])).toEqual([
    ['A', 'released', 1],
    ['B', 'expired', 0],
  ]);
  expect(overlaps).toEqual([]);
  expect(keys.filter(({ node }) => node === 'redis-2').map(({ holder, ended }) => [holder, ended])).toEqual([
    ['A', 'deleted'],
    ['B', 'deleted'],
  ]);
  expect(messages.some(({ kind, offsets }) => kind === 'ack' && (offsets?.[0] ?? 0) > 100)).toBe(true);
});

test('of a script, the keys and arguments are shown, and the story says that it set the lock', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A');
  await a.eval("redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', 500) return false", 1, 'k', 'A');
  const { messages, story } = pair.timelineData();
  expect(messages.find(({ kind }) => kind === 'request')?.text).toBe('eval (script) k A');
  expect(story[0]?.text).toMatch(/^A acquires k: the script on redis-1 set it, so A believes/);
});

test('what a partition keeps back waits, with the reason, and arrives late once it is healed', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A');
  await a.ping();
  pair.clientLink('A').partition();
  const reply = a.set('k', 'v');
  await pair.advance(50);
  const waiting = pair.timelineData().messages.find(({ fate }) => fate === 'waiting');
  expect(waiting).toMatchObject({
    kind: 'request',
    why: 'it waited: A and redis-1 are cut off from each other',
  });
  pair.clientLink('A').heal();
  await reply;
  const { messages } = pair.timelineData();
  const late = messages.find(({ text }) => text === 'set k v');
  expect((late?.arrived ?? 0) - (late?.due ?? 0)).toBeGreaterThan(40_000);
});

test('the node that a Sentinel promotes has a mark, and a sentence of the story', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3, replicas: 1, sentinels: 1 });
  pair.primary.crash();
  await pair.advance(60_000);
  const { marks, story } = pair.timelineData();
  expect(marks.filter(({ kind }) => kind === 'promote')).toMatchObject([
    { lane: 'redis-2', text: 'is promoted to primary by sentinel-1' },
  ]);
  expect(story.map(({ text }) => text)).toContain('redis-2 is promoted to primary by sentinel-1.');
});

test('with several primaries a client holds a lock once the majority has granted it', async () => {
  await using servers = await startServers({ clock: 'virtual', seed: 5, primaries: 3 });
  const clients = servers.clients('A');
  await clients[0]?.set('k', 'A', 'PX', 500, 'NX');
  expect(servers.timelineData().holds).toEqual([]);
  await clients[1]?.set('k', 'A', 'PX', 500, 'NX');
  expect(servers.timelineData().holds).toMatchObject([{ client: 'A', key: 'k', kind: 'lock' }]);
});
