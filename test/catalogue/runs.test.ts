/** The pages of the catalogue have verdicts, say what would have prevented each loss, and tell what happened. */
import { expect, test } from 'vitest';
import { startPair } from '../../index.ts';
import type { Timeline } from '../../page/format.ts';
import { answerOf } from '../../page/plain.ts';
import type { KeptPlay } from '../lab/scenarios/plays.ts';
import { judgedRuns, sameTitles } from './runs.ts';

/** A run in which a failover loses the lock of A, or in which A does not take it. */
async function played(form: KeptPlay['form'], title: string): Promise<KeptPlay> {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  if (form === 'unsafe') {
    pair.link.hold();
    await pair.client('A').set('k', 'A', 'PX', 60_000, 'NX');
    await pair.failover({ crash: true });
  }
  await pair.client('B').set('k', 'B', 'PX', 60_000, 'NX');
  return { number: 'S99', form, timeline: pair.timelineData({ title }) };
}

test('the unsafe run of a number comes first, with a verdict, why, and the run that prevents it', async () => {
  const safe = await played('safe', 'Safe: S99 WAIT for each copy. It prevents: the copy is lost');
  const unsafe = await played('unsafe', 'Unsafe: S99 the copy is lost');
  const [lost, kept] = judgedRuns([safe, unsafe]) as [Timeline, Timeline];
  expect(lost.verdict).toEqual({
    safe: false,
    holders: ['A', 'B'],
    why: 'The copy is lost.',
    cure: 'WAIT for each copy.',
    cured: 1,
  });
  expect(answerOf(lost)).toEqual({
    word: 'Broken: A and B both have it.',
    why: expect.stringMatching(/^redis-1 told A yes\. The copy of that never reached redis-2/),
  });
  expect(answerOf(kept)).toEqual({ word: 'No promise is broken.', why: 'WAIT for each copy.' });
});

test('no story of the catalogue is empty, and a number with one sentence for both forms is found', async () => {
  const play = await played('safe', 'Safe: S69 even numbers are refused');
  const silent = { ...play, timeline: { ...play.timeline, story: [] } };
  expect(judgedRuns([silent])[0]?.story.map(({ text }) => text)).toEqual([
    'No client sends a request in this run.',
  ]);
  const unsafe: KeptPlay = {
    ...play,
    form: 'unsafe',
    timeline: { ...play.timeline, title: 'Unsafe: S69 even numbers are refused' },
  };
  expect(sameTitles([play, unsafe])).toEqual(['even numbers are refused']);
  const named = {
    ...play,
    timeline: { ...play.timeline, title: 'Safe: S69 a check. It prevents: even numbers' },
  };
  expect(sameTitles([named, unsafe])).toEqual([]);
});

test('a run in which nothing happens to a lock tells what clients asked, so that no page is empty', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A');
  await a.set('cache', '1');
  await a.call('GET', 'cache', 'more').catch(() => 'refused');
  const told = pair.timelineData().story.map(({ text }) => text);
  expect(told).toContain('A asks redis-1: SET cache; the answer is OK.');
  expect(told.at(-1)).toMatch(/^A asks redis-1: GET cache; the answer is ERR wrong number of arguments/);
});
