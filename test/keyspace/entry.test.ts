/** The entry of a key: its members are columns of a row, and each keeps what it was given. */
import { expect, test } from 'vitest';
import type { Entry } from '../../keyspace/entry.ts';
import { KeyIndex } from '../../keyspace/key-index.ts';

const NOW = 1_700_000_000_000;

const made = (): Entry => new KeyIndex().add('key', 'value', 1, NOW);

test('the frequency and the way in which a string was made do not disturb each other', () => {
  const entry = made();
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
  const entry = made();
  for (const at of [NOW, NOW - 1, 0, NOW + 2 ** 31, NOW + 2 ** 40]) {
    entry.usedAt = at;
    expect(entry.usedAt).toBe(at);
  }
});
