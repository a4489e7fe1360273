/** The overlaps of holds, which the page shows in red. */
import { expect, test } from 'vitest';
import { overlapsOf } from '../../../lab/account/overlaps.ts';
import type { TimelineHold } from '../../../page/format.ts';

const END = 100;

function held(
  client: string,
  from: number,
  to: number | null,
  more: Partial<TimelineHold> = {},
): TimelineHold {
  return { client, key: 'stock', kind: 'lock', from, to, lease: null, renewals: [], ...more };
}

test('two clients overlap until the first of them stops believing', () => {
  expect(overlapsOf([held('A', 0, 20), held('B', 10, 30)], END)).toEqual([
    { key: 'stock', clients: ['A', 'B'], from: 10, to: 20 },
  ]);
  expect(overlapsOf([held('A', 0, null), held('B', 10, null)], END)).toMatchObject([{ from: 10, to: END }]);
  expect(overlapsOf([held('A', 0, null, { lease: 15 }), held('B', 10, 50)], END)).toMatchObject([{ to: 15 }]);
});

test('holds do not overlap when one ends as the other begins, or when the locks differ', () => {
  expect(overlapsOf([held('A', 0, 10), held('B', 10, 30)], END)).toEqual([]);
  expect(overlapsOf([held('A', 0, 20), held('B', 10, 30, { key: 'other' })], END)).toEqual([]);
  expect(overlapsOf([held('A', 0, 20), held('B', 10, 30, { kind: 'visit' })], END)).toEqual([]);
});

test('a client does not overlap with itself', () => {
  expect(overlapsOf([held('A', 0, 20), held('A', 10, 30)], END)).toEqual([]);
});

test('readers do not overlap with each other, but with a writer, whichever comes first', () => {
  const reader = { shared: true };
  expect(overlapsOf([held('A', 0, 20, reader), held('B', 10, 30, reader)], END)).toEqual([]);
  expect(overlapsOf([held('A', 0, 20, reader), held('B', 10, 30)], END)).toHaveLength(1);
  expect(overlapsOf([held('A', 0, 20), held('B', 10, 30, reader)], END)).toHaveLength(1);
});
