/**
 * The hash slot of a key, by which a cluster shares keys out
 * (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/).
 */
import type { Bytes } from './bytes.ts';

/** How many slots a cluster has. */
export const SLOT_COUNT = 16_384;

/** The remainders of CRC16 in its XMODEM form (polynomial 0x1021), by the highest byte. */
let remainders: Uint16Array | undefined;

/** Makes the table. Most processes never ask for a slot, so it is made for the first that does. */
function makeRemainders(): Uint16Array {
  const table = new Uint16Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    table[byte] = crc;
  }
  return table;
}

/** Returns the slot (0 to 16,383) of a key: CRC16 of what its first braces enclose, or of the whole key. */
export function slotOf(key: Bytes): number {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  const [start, end] = close > open + 1 ? [open + 1, close] : [0, key.length];
  const table = (remainders ??= makeRemainders());
  let crc = 0;
  for (let at = start; at < end; at++) {
    crc = ((crc << 8) & 0xffff) ^ (table[(crc >> 8) ^ key.charCodeAt(at)] ?? 0);
  }
  return crc & (SLOT_COUNT - 1);
}
