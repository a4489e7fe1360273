/** Partial sort: the wanted range holds the right items in order. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sortPart } from '../../../server/commands/keys/partial-sort.ts';

test('the wanted range equals that of a full sort, and no item is lost', () => {
  const numbers = fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 120 });
  fc.assert(
    fc.property(numbers, fc.nat(), fc.nat(), (items, a, b) => {
      const [first, last] = [a % items.length, b % items.length].sort((x, y) => x - y) as [number, number];
      const sorted = [...items].sort((x, y) => x - y);
      const part = [...items];
      sortPart(part, (x, y) => x - y, first, last);
      expect(part.slice(first, last + 1)).toEqual(sorted.slice(first, last + 1));
      expect(part.sort((x, y) => x - y)).toEqual(sorted);
    }),
    { seed: 1, numRuns: 300 },
  );
});
