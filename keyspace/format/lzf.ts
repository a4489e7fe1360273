/** Decompresses LZF, the format of long strings in RDB files. */
import { badFormat } from './errors.ts';

/** Decompresses LZF data to exactly `length` bytes. Throws RdbError for any other length. */
export function lzfExpand(data: Uint8Array, length: number): Buffer {
  // A back reference of 3 bytes yields at most 264 bytes, so a larger length is invalid and must not reserve memory.
  if (length > data.length * 264) throw badFormat('LZF length');
  const out = Buffer.allocUnsafe(length);
  let from = 0;
  let to = 0;
  while (from < data.length) {
    const control = data[from++]!;
    if (control < 32) {
      const run = control + 1;
      if (from + run > data.length || to + run > length) throw badFormat('LZF literal');
      out.set(data.subarray(from, from + run), to);
      from += run;
      to += run;
      continue;
    }
    let run = (control >>> 5) + 2;
    if (run === 9) run += data[from++] ?? 0;
    let source = to - ((control & 31) << 8) - (data[from++] ?? 0) - 1;
    if (from > data.length || source < 0 || to + run > length) throw badFormat('LZF reference');
    // Copied byte by byte, because a run may overlap its own output.
    for (; run > 0; run--) out[to++] = out[source++]!;
  }
  if (to !== length) throw badFormat('LZF length');
  return out;
}
