/** Random selection of items, for SPOP, SRANDMEMBER, HRANDFIELD and ZRANDMEMBER. */
import { approximate, type Bytes, parseInteger } from '../../../protocol/bytes.ts';
import { fail, NOT_INTEGER } from '../../../protocol/errors.ts';

const INT64_MIN = -(2n ** 63n);

/** Reads a count; a negative one allows repeated items. Throws Redis' error for a bad count. */
export function signedCount(text: Bytes): number {
  const count = parseInteger(text) ?? fail(NOT_INTEGER);
  if (count === INT64_MIN) {
    fail('ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807');
  }
  return typeof count === 'number' ? count : approximate(count);
}

/** The largest number of items in one reply. Redis would crash beyond it. */
const MOST = 2 ** 24;

/**
 * Returns random numbers below `size`.
 * @param count positive: this many distinct numbers, at most `size`; negative: that many independent ones
 * @param random returns a number in [0, 1)
 * @throws ReplyError for more numbers than a reply can hold
 */
export function randomNumbers(size: number, count: number, random: () => number): number[] {
  const draw = (below: number): number => Math.floor(random() * below);
  if (count < -MOST) fail('ERR value is out of range');
  if (count < 0) return Array.from({ length: -count }, () => draw(size));
  // Floyd's sampling: each round adds one new number, and all subsets are equally likely.
  const chosen = new Set<number>();
  for (let top = size - count; top < size; top++) {
    const number = draw(top + 1);
    chosen.add(chosen.has(number) ? top : number);
  }
  return [...chosen];
}
