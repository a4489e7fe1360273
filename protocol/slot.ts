/**
 * The hash slot of a key, by which a cluster shares keys out
 * (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/).
 */
import type { Bytes } from './bytes.ts';

/** How many slots a cluster has. */
export const SLOT_COUNT = 16_384;

/** The remainders of CRC16 in its XMODEM form (polynomial 0x1021), by the highest byte. */
const REMAINDERS = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
  return crc & 0xffff;
});

/** Returns the slot (0 to 16,383) of a key: CRC16 of what its first braces enclose, or of the whole key. */
export function slotOf(key: Bytes): number {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  const [start, end] = close > open + 1 ? [open + 1, close] : [0, key.length];
  let crc = 0;
  for (let at = start; at < end; at++) {
    crc = ((crc << 8) & 0xffff) ^ (REMAINDERS[(crc >> 8) ^ key.charCodeAt(at)] ?? 0);
  }
  return crc & (SLOT_COUNT - 1);
}
