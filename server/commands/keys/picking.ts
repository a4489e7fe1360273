/** Picking items at random, for SPOP, SRANDMEMBER, HRANDFIELD and ZRANDMEMBER. */
import { approximate, type Bytes, parseInteger } from '../../../protocol/bytes.ts';
import { fail, NOT_INTEGER } from '../../../protocol/errors.ts';

const INT64_MIN = -(2n ** 63n);

/** A count whose sign tells whether items may come repeatedly. Throws what Redis answers. */
export function signedCount(text: Bytes): number {
  const count = parseInteger(text) ?? fail(NOT_INTEGER);
  if (count === INT64_MIN) {
    fail('ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807');
  }
  return typeof count === 'number' ? count : approximate(count);
}

/** As many as one reply may hold; Redis would die of more. */
const MOST = 2 ** 24;

/**
 * Numbers below `size`: so many different ones for a positive count (which must not exceed the size), each drawn on
 * its own for a negative one. Throws for more than a reply can hold.
 */
export function randomNumbers(size: number, count: number, random: () => number): number[] {
  const draw = (below: number): number => Math.floor(random() * below);
  if (count < -MOST) fail('ERR value is out of range');
  if (count < 0) return Array.from({ length: -count }, () => draw(size));
  // Floyd's sampling: each round adds a number that was not there, all subsets equally likely.
  const chosen = new Set<number>();
  for (let top = size - count; top < size; top++) {
    const number = draw(top + 1);
    chosen.add(chosen.has(number) ? top : number);
  }
  return [...chosen];
}
