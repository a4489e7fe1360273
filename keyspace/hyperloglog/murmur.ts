/** MurmurHash64A, the hash of HyperLogLogs, in halves of 32 bits: with bigints it takes ten times as long. */
import type { Bytes } from '../../protocol/bytes.ts';

/** Unsigned 64 bits as two signed halves. */
export interface Halves {
  readonly high: number;
  readonly low: number;
}

/** The multiplier. */
const HIGH = 0xc6a4a793;
const LOW = 0x5bd1e995;

/** The product with the multiplier. */
function scaled({ high, low }: Halves): Halves {
  const [a, b] = [low & 0xffff, low >>> 16];
  const [c, d] = [LOW & 0xffff, LOW >>> 16];
  const first = a * d + ((a * c) >>> 16);
  const second = b * c + (first & 0xffff);
  const carried = b * d + (first >>> 16) + (second >>> 16);
  return {
    high: (carried + Math.imul(high, LOW) + Math.imul(low, HIGH)) | 0,
    low: Math.imul(low, LOW),
  };
}

/** Mixes the top 17 bits into the lowest ones. */
function folded({ high, low }: Halves): Halves {
  return { high, low: low ^ (high >>> 15) };
}

function exclusive(a: Halves, b: Halves): Halves {
  return { high: a.high ^ b.high, low: a.low ^ b.low };
}

/** The 64-bit hash of a byte string. @param seed of 32 bits */
export function murmurHash64A(text: Bytes, seed: number): Halves {
  const { length } = text;
  const whole = length - (length % 8);
  let hash = exclusive({ high: 0, low: seed }, scaled({ high: 0, low: length }));
  for (let at = 0; at < whole; at += 8) {
    const block = scaled(folded(scaled(littleEndian(text, at, 8))));
    hash = scaled(exclusive(hash, block));
  }
  if (whole < length) hash = scaled(exclusive(hash, littleEndian(text, whole, length - whole)));
  return folded(scaled(folded(hash)));
}

function littleEndian(text: Bytes, from: number, bytes: number): Halves {
  let low = 0;
  let high = 0;
  for (let i = Math.min(4, bytes) - 1; i >= 0; i--) low = (low << 8) | text.charCodeAt(from + i);
  for (let i = bytes - 1; i >= 4; i--) high = (high << 8) | text.charCodeAt(from + i);
  return { high, low };
}
