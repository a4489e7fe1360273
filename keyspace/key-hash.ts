/** The hash of a key: all its bytes count, because names differ at any place. */
import type { Bytes } from '../protocol/bytes.ts';

/** A hash of 32 bits, as a signed integer. It has two sums, because the processor computes them at the same time. */
export function hashOf(key: Bytes): number {
  const { length } = key;
  let even = length;
  let odd = 0;
  let i = 0;
  for (; i + 1 < length; i += 2) {
    even = (Math.imul(even, 31) + key.charCodeAt(i)) | 0;
    odd = (Math.imul(odd, 31) + key.charCodeAt(i + 1)) | 0;
  }
  if (i < length) even = (Math.imul(even, 31) + key.charCodeAt(i)) | 0;
  const hash = Math.imul(even ^ (even >>> 15), 0x85ebca6b) ^ Math.imul(odd ^ (odd >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
