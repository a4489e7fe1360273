/** The timeline of a world that is played again: visits, faults, and the overlap that follows the broken promise. */
import { expect, test } from 'vitest';
import { type ExploreOptions, replay } from '../../explore/index.ts';

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

test('a timeline is written to pages and data only', async () => {
  const { timeline } = await replay(options, PAUSED, { sameTrace: false });
  await expect(timeline('a.png')).rejects.toThrow("a file that ends in '.html' or '.json'");
});
