/**
 * Words of requests as strings. Many words repeat: the names of commands and their options, the SHA-1 of a script, the owner
 * of a lock. A word that is already known is reused. A new string takes time to make, and V8 has to hash it again.
 */
import type { Bytes } from './bytes.ts';

/** In bytes. Words up to this length are looked up by their contents. */
export const SHORT_MAX = 8;
const SHORT_SLOTS = 1024;
const short: Bytes[] = new Array<Bytes>(SHORT_SLOTS).fill('');

/** A short word (SET, NX, PX, 1, 30000). */
export function shortWord(buf: Buffer, start: number, stop: number): Bytes {
  let hash = stop - start;
  for (let i = start; i < stop; i++) hash = (Math.imul(hash, 31) + buf[i]!) | 0;
  const slot = (hash ^ (hash >>> 10)) & (SHORT_SLOTS - 1);
  const known = short[slot]!;
  if (known.length === stop - start) {
    let i = 0;
    while (start + i < stop && known.charCodeAt(i) === buf[start + i]) i++;
    if (start + i === stop) return known;
  }
  const fresh = buf.latin1Slice(start, stop);
  short[slot] = fresh;
  return fresh;
}
