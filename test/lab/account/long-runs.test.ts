/** Long runs: what is recorded stays bounded, and what is forgotten is said. */
import { expect, test } from 'vitest';
import { type Pair, startPair } from '../../../index.ts';
import { RealClockTrace } from '../../../lab/real-clock/trace.ts';
import { type TimelineWorld, worldAccount, worldTimeline } from '../../../lab/timeline/world.ts';
import { isLongRun, sampleOf } from '../../support/long.ts';

/** The lock that two clients hold. */
async function doubleHold(pair: Pair): Promise<void> {
  pair.link.hold();
  await pair.client('A').set('my:lock', 'A', 'PX', 30_000, 'NX');
  await pair.failover({ crash: true });
  await pair.client('B').set('my:lock', 'B', 'PX', 30_000, 'NX');
}

const FORGOTTEN = /^Events before [\d.]+ m?s are no longer known\.$/;

/** The world as it remembers itself when everything up to now has been forgotten. */
function amnesiac({ world }: Pair): TimelineWorld {
  const now = world.elapsed();
  return {
    ...{ seed: world.seed, network: world.network, restarts: world.restarts, locks: world.locks },
    trace: {
      get events() {
        return world.trace.events.filter(({ at }) => at > now);
      },
      get strays() {
        return world.trace.strays.filter(({ at }) => at > now);
      },
    },
    get writes() {
      return world.writes.filter(({ at }) => at > now);
    },
    forgottenUpTo: now,
    elapsed: () => world.elapsed(),
  };
}

test('what is forgotten is said, and what happens afterwards is known, also on connections that are older', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 7 });
  await doubleHold(pair);
  const [b, c] = [pair.client('B'), pair.client('C')];
  await Promise.all([b.ping(), c.ping()]);
  await pair.advance(10);
  // The reply to a request that is forgotten arrives when the next request is under way, on the same connection.
  const link = pair.clientLink('B');
  link.back.hold();
  const x = b.get('x');
  await pair.advance(0.1);
  link.out.delay(20);
  const y = b.set('other', 'B', 'PX', 30_000, 'NX');
  await pair.advance(5);
  const world = amnesiac(pair);
  await pair.advance(1);
  link.back.release();
  expect(await Promise.all([x, y])).toEqual([null, 'OK']);
  link.out.delay(0);
  expect(await c.set('other', 'C', 'PX', 30_000, 'NX')).toBe(null);
  const { story, overlaps, knownFrom } = worldTimeline(world, [pair]);
  expect(story[0]?.text).toMatch(FORGOTTEN);
  expect([overlaps, knownFrom]).toEqual([[], world.forgottenUpTo]);
  const account = worldAccount(world, [pair]);
  expect(account.tenures.map(({ client, lock, told, end }) => [client, lock, told === null, end])).toEqual([
    ['B', 'other', false, undefined],
  ]);
  expect(account.tenures[0]?.told).toBeGreaterThan(account.tenures[0]?.from ?? Infinity);
  expect(account.refusals.map(({ client, because }) => [client, because?.client])).toEqual([['C', 'B']]);
});

test('a world keeps the last events and writes, and knows until when it has forgotten the others', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 7 });
  await doubleHold(pair);
  const { world } = pair;
  const write = world.writes[0]!.write;
  expect(pair.knownFrom).toBe(0);
  for (let i = 0; i < 299_000; i++) world.wrote('redis-1', write);
  await pair.advance(1000);
  for (let i = 0; i < 1000; i++) world.wrote('redis-1', write);
  expect(world.writes.length).toBeLessThanOrEqual(300_000);
  expect(world.writes.length).toBeGreaterThanOrEqual(200_000);
  const byWrites = pair.knownFrom;
  expect(byWrites).toBeGreaterThan(0);
  for (let i = 0; i < 399_000; i++) world.trace.note('A', 'noise');
  await pair.advance(1000);
  for (let i = 0; i < 200_000; i++) world.trace.note('A', 'noise');
  expect(pair.trace.events.length).toBeLessThanOrEqual(400_000);
  expect(pair.knownFrom).toBeGreaterThan(byWrites);
});

test('on the real clock, the oldest writes are forgotten, and until when is known', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 7 });
  await pair.client('A').set('my:lock', 'A', 'PX', 30_000, 'NX');
  const trace = new RealClockTrace();
  trace.begin();
  trace.wrote('redis-1', pair.world.writes[0]!.write);
  const first = trace.writes[0]?.at ?? Infinity;
  for (let i = 0; i < 26_000; i++) trace.wrote('redis-1', pair.world.writes[0]!.write);
  expect(trace.writes.length).toBeLessThanOrEqual(25_000);
  expect(trace.forgottenUpTo).toBeGreaterThanOrEqual(first);
});

test('after a million writes of a third client (here 2,000), the double hold is told, or what is no longer known', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 7 });
  await doubleHold(pair);
  const writes = sampleOf(1_000_000, 2000);
  const c = pair.client('C');
  await pair.run(async () => {
    for (let i = 0; i < writes; i++) await c.set(`k:${i % 1000}`, i);
  }, 24 * 3_600_000);
  expect(pair.trace.events.length).toBeLessThanOrEqual(400_000);
  expect(pair.world.writes.length).toBeLessThanOrEqual(300_000);
  const { story } = pair.timelineData();
  const told = story.some(({ text }) => text.startsWith('From here on, A and B both believe'));
  expect([told, FORGOTTEN.test(story[0]?.text ?? '')]).toEqual(isLongRun ? [false, true] : [true, false]);
  await pair.client('A').set('other', 'A', 'PX', 30_000, 'NX');
  expect(pair.holders('other')).toMatchObject([{ client: 'A', believes: true, granted: true }]);
});
