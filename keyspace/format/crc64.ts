/** The CRC-64 at the end of RDB files and DUMP payloads: Jones' polynomial, reflected, with initial value 0. */

/** The polynomial with its bits reversed, as upper and lower half. */
const HIGH = 0x95ac9329;
const LOW = 0xac4bc9b5;

/** Bytes that are taken at once, each with a table of its own: one at a time takes four times as long. */
const STRIDE = 8;
const TABLE = 256;

/**
 * What a byte changes that so many bytes follow: entries 256 n to 256 n + 255 are for n bytes. As halves of the checksum.
 */
const highs = new Int32Array(STRIDE * TABLE);
const lows = new Int32Array(STRIDE * TABLE);
let filled = false;

/** Fills the tables. It takes a millisecond, and most processes write no dump, so it is done for the first checksum. */
function fill(): void {
  filled = true;
  for (let byte = 0; byte < TABLE; byte++) {
    let high = 0;
    let low = byte;
    for (let bit = 0; bit < 8; bit++) {
      const odd = low & 1;
      low = (low >>> 1) | (high << 31);
      high >>>= 1;
      if (odd) {
        low ^= LOW;
        high ^= HIGH;
      }
    }
    highs[byte] = high;
    lows[byte] = low;
  }
  for (let at = TABLE; at < STRIDE * TABLE; at++) {
    const [high, low] = [highs[at - TABLE]!, lows[at - TABLE]!];
    lows[at] = ((low >>> 8) | (high << 24)) ^ lows[low & 0xff]!;
    highs[at] = (high >>> 8) ^ highs[low & 0xff]!;
  }
}

/** The checksum of data[start, end), as the 8 bytes that Redis stores, least significant first. */
export function crc64(data: Uint8Array, start = 0, end = data.length): Buffer {
  if (!filled) fill();
  let high = 0;
  let low = 0;
  let i = start;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (; i + STRIDE <= end; i += STRIDE) {
    const first = low ^ view.getInt32(i, true);
    const second = high ^ view.getInt32(i + 4, true);
    const a = (first & 0xff) | 0x700;
    const b = ((first >>> 8) & 0xff) | 0x600;
    const c = ((first >>> 16) & 0xff) | 0x500;
    const d = (first >>> 24) | 0x400;
    const e = (second & 0xff) | 0x300;
    const f = ((second >>> 8) & 0xff) | 0x200;
    const g = ((second >>> 16) & 0xff) | 0x100;
    const h = second >>> 24;
    low = lows[a]! ^ lows[b]! ^ lows[c]! ^ lows[d]! ^ lows[e]! ^ lows[f]! ^ lows[g]! ^ lows[h]!;
    high = highs[a]! ^ highs[b]! ^ highs[c]! ^ highs[d]! ^ highs[e]! ^ highs[f]! ^ highs[g]! ^ highs[h]!;
  }
  for (; i < end; i++) {
    const index = (low ^ data[i]!) & 0xff;
    low = ((low >>> 8) | (high << 24)) ^ lows[index]!;
    high = (high >>> 8) ^ highs[index]!;
  }
  const out = Buffer.allocUnsafe(8);
  out.writeUInt32LE(low >>> 0, 0);
  out.writeUInt32LE(high >>> 0, 4);
  return out;
}
