/** The CRC-64 at the end of RDB files and DUMP payloads: Jones' polynomial, reflected, with initial value 0. */

/** The polynomial with its bits reversed, as upper and lower half. */
const HIGH = 0x95ac9329;
const LOW = 0xac4bc9b5;

const highs = new Uint32Array(256);
const lows = new Uint32Array(256);
for (let byte = 0; byte < 256; byte++) {
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

/** The checksum of data[start, end), as the 8 bytes that Redis stores, least significant first. */
export function crc64(data: Uint8Array, start = 0, end = data.length): Buffer {
  let high = 0;
  let low = 0;
  for (let i = start; i < end; i++) {
    const index = (low ^ data[i]!) & 0xff;
    low = ((low >>> 8) | (high << 24)) ^ lows[index]!;
    high = (high >>> 8) ^ highs[index]!;
  }
  const out = Buffer.allocUnsafe(8);
  out.writeUInt32LE(low >>> 0, 0);
  out.writeUInt32LE(high >>> 0, 4);
  return out;
}
