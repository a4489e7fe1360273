/** Counting and finding bits many at a time, beside one bit after the other. */
import { expect, test } from 'vitest';
import { firstOther, onesIn } from '../../../server/commands/string/counting-bits.ts';

/** Bytes that look random, the same in each run. */
function noise(length: number): Uint8Array {
  let state = 12345;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 24;
  });
}

function slowly(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) for (let bit = 0; bit < 8; bit++) count += (byte >> bit) & 1;
  return count;
}

test('bits are counted in arrays of every length and at every place of a word', () => {
  for (const length of [0, 1, 255, 256, 257, 290, 1000, 4099]) {
    for (const from of [0, 1, 2, 3]) {
      const bytes = noise(length + from).subarray(from);
      expect(onesIn(bytes)).toBe(slowly(bytes));
    }
  }
  expect(onesIn(new Uint8Array(100_003).fill(255))).toBe(800_024);
});

test.each([0, 255] as const)('the first byte that is not %i is not skipped', (value) => {
  for (const place of [0, 1, 4095, 4096, 9000, 20_000]) {
    const bytes = new Uint8Array(20_001).fill(value);
    bytes[place] = 7;
    const at = firstOther(bytes, value);
    expect(at).toBeLessThanOrEqual(place);
    expect(place - at).toBeLessThanOrEqual(4096);
  }
});
