/** The entry of a key: two traits and the time of use are packed into small numbers. */
import { expect, test } from 'vitest';
import { Entry } from '../../keyspace/entry.ts';

const NOW = 1_700_000_000_000;

test('the frequency and the way in which a string was made do not disturb each other', () => {
  const entry = new Entry('key', 'value', 1, NOW);
  expect([entry.frequency, entry.madeAs]).toEqual([5, undefined]);
  for (const madeAs of ['raw', 'int', 'embstr', undefined] as const) {
    for (const frequency of [0, 1, 255]) {
      entry.madeAs = madeAs;
      entry.frequency = frequency;
      expect([entry.frequency, entry.madeAs]).toEqual([frequency, madeAs]);
      entry.madeAs = madeAs;
      expect([entry.frequency, entry.madeAs]).toEqual([frequency, madeAs]);
    }
  }
});

test('the time of use is kept whole, decades before and after the first', () => {
  const entry = new Entry('key', 'value', 1, NOW);
  for (const at of [NOW, NOW - 1, 0, NOW + 2 ** 31, NOW + 2 ** 40]) {
    entry.usedAt = at;
    expect(entry.usedAt).toBe(at);
  }
});
