/** The timeline of a world that is played again: visits, faults, and the overlap that follows the broken promise. */
import { expect, test } from 'vitest';
import { type ExploreOptions, replay } from '../../explore/index.ts';
import type { TimelineOverlap, TimelineVerdict } from '../../page/format.ts';
import { overlapTitle, verdictWord } from '../../page/plain.ts';

const options: ExploreOptions = {
  name: 'no lock',
  clients: 2,
  async client({ redis, resource, ...world }) {
    await redis.set('stock', 1);
    const inside = resource('stock').enter();
    await world.sleep(200);
    inside.leave();
  },
};
const PAUSED = '1:1:0:A,B:client-pause@50/A/100:0123456789ab';

test('a world has a timeline with its visits, faults and the whole overlap', async () => {
  const { timelineData } = await replay(options, PAUSED, { sameTrace: false });
  const { lanes, holds, overlaps, story, verdict, messages, replay: text } = await timelineData();
  expect(text).toMatch(/^2:1:0:A,B:client-pause@A\.enters\.stock\.1\+\d+\.\d+\/A\/100=A\+B:/);
  expect(lanes.map(({ name, kind }) => `${kind} ${name}`)).toContain('resource stock');
  expect(holds.filter(({ kind }) => kind === 'visit').map(({ client }) => client)).toEqual(
    expect.arrayContaining(['A', 'B']),
  );
  expect(overlaps[0]?.clients).toEqual(['A', 'B']);
  // It is played past the moment at which the promise breaks.
  expect((overlaps[0]?.to ?? 0) - (overlaps[0]?.from ?? 0)).toBeGreaterThan(150_000);
  expect(verdict).toMatchObject({ safe: false, holders: ['A', 'B'] });
  const told = story.map(({ text: sentence }) => sentence).join(' ');
  expect(told).toContain('A and B are both inside stock');
  expect(told).toContain('A is paused');
  expect(messages.some(({ bytes }) => bytes.includes('stock'))).toBe(true);
  // What is put right after the last fault was not wrong.
  expect(told).not.toMatch(/runs at 1\b|delay 0/);
});

test('both hold the lock and are inside, in one sentence, and the verdict says that they are inside where one lease is over', async () => {
  const locking: ExploreOptions = {
    name: 'a lease that is too short',
    clients: 2,
    async client({ name, redis, resource, sleep }) {
      while ((await redis.set('stock:lock', name, 'PX', 100, 'NX')) !== 'OK') await sleep(20);
      const inside = resource('stock').enter();
      await sleep(250);
      inside.leave();
    },
  };
  const short = await (await replay(locking, '1:1:0:A,B::0123456789ab', { sameTrace: false })).timelineData();
  expect(verdictWord(short.verdict as TimelineVerdict, short)).toMatch(/^Broken: . and . are both inside\.$/);
  expect(overlapTitle(short, short.overlaps[0] as TimelineOverlap)).toMatch(/are both inside stock$/);
  const [visit] = short.overlaps as [TimelineOverlap];
  const lock = { ...visit, key: 'stock:lock', to: visit.to + 1 };
  const both = { ...short, overlaps: [lock, visit] };
  expect(verdictWord(short.verdict as TimelineVerdict, both)).toMatch(/^Broken: . and . both have it\.$/);
  expect(overlapTitle(both, lock)).toMatch(/both hold stock:lock$/);
});

test('a failover by which both hold the lock and are inside is told once', async () => {
  const locking: ExploreOptions = {
    name: 'a lost lock',
    topology: { replicas: 1 },
    clients: 2,
    async client({ name, redis, resource, sleep }) {
      while ((await redis.set('stock:lock', name, 'PX', 1000, 'NX')) !== 'OK') await sleep(50);
      const inside = resource('stock').enter();
      await sleep(300);
      inside.leave();
    },
  };
  const lost = '1:1:0:A,B:failover-behind@1/redis-1/20/100/crash:0123456789ab';
  const { story } = await (await replay(locking, lost, { sameTrace: false })).timelineData();
  const told = story.flatMap(({ text }) => (text.startsWith('From here on') ? [text] : []));
  expect(told).toEqual([
    expect.stringMatching(
      /^From here on, . and . both believe that they hold stock:lock(, for [\d.]+ ms)?, and are both inside stock, for [\d.]+ ms\.$/,
    ),
  ]);
});

test('a timeline is written to pages and data only', async () => {
  const { timeline } = await replay(options, PAUSED, { sameTrace: false });
  await expect(timeline('a.png')).rejects.toThrow("a file that ends in '.html' or '.json'");
});
