/** What heals several findings at once, and what is said about a promise of the user beside locks that stand. */
import { expect, test } from 'vitest';
import { BOTH_STAND } from '../../explore/cause/freed.ts';
import { sharedCures } from '../../explore/story/cures.ts';
import { sentenceOf } from '../../explore/story/sentence.ts';
import { storyText } from '../../explore/story/text.ts';

const FENCE = 'a fencing token that the resource checks';
const RELEASE = 'a release that compares the token of its own grant, and deletes the key in the same script';

const story = (prevention: string): string =>
  storyText({ title: 't', sentence: 's', scripts: '', fault: 'f', prevention }, [
    { at: 1, who: 'A', text: 'x' },
  ]);

test('a cure that heals several findings is said once, and one that heals one finding is not', () => {
  const expired = story(`${FENCE}; a longer lease or a renewal makes it rarer`);
  const lost = story(`${FENCE}; WAIT before going in makes it rarer`);
  expect(sharedCures([expired, lost])).toEqual([`findings 1 and 2 (both) have one cure: ${FENCE}`]);
  expect(sharedCures([expired, story(RELEASE), lost])).toEqual([`findings 1 and 3 have one cure: ${FENCE}`]);
  expect(sharedCures([expired, story(RELEASE), lost, story(RELEASE)])).toEqual([
    `findings 1 and 3 have one cure: ${FENCE}`,
    `findings 2 and 4 have one cure: ${RELEASE}`,
  ]);
  expect(sharedCures([expired, story(RELEASE), story('')])).toEqual([]);
});

test('what only makes it rarer is no cure, and of two cures of the same findings the first is said', () => {
  const rarer = (by: string): string => story(`${by}; a longer lease or a renewal makes it rarer`);
  expect(sharedCures([rarer('x'), rarer('y')])).toEqual([]);
  expect(sharedCures([story('x; y'), story('x; y'), story('x; y')])).toEqual([
    'findings 1, 2 and 3 (all) have one cure: x',
  ]);
  expect(sharedCures([story('x; y'), story('x; y'), story('y')])).toEqual([
    'findings 1, 2 and 3 (all) have one cure: y',
  ]);
});

test('a promise of the user is told without a reason where nothing freed the lock', () => {
  const cause = { entries: [{ client: 'A' }, { client: 'B' }], grants: [], twice: [], late: [] };
  const told = (what: string): string =>
    sentenceOf(
      { ...cause, freedBy: { how: 'together', what } } as never,
      { promise: 'mine', what: 'o1 was charged twice' } as never,
    );
  expect(told(BOTH_STAND)).toBe('O1 was charged twice.');
  expect(told('the two hold different locks')).toBe('O1 was charged twice: the two hold different locks.');
});
