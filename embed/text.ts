/** Text at the API's edge: users give UTF-8 strings or Buffers, and get strings back, or Buffers where bytes are no UTF-8. */
import { type Bytes, fromBuffer, fromText, toBuffer } from '../protocol/bytes.ts';

/** What users may give for a byte string: text (as UTF-8), a number (in decimal), or the bytes themselves. */
export type TextLike = string | number | Uint8Array;

/** True for what users may give for a byte string. */
export function isText(value: unknown): value is TextLike {
  return typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array;
}

/** The bytes of what a user gave. */
export function encodeText(value: TextLike): Bytes {
  if (typeof value === 'string') return fromText(value);
  return typeof value === 'number' ? String(value) : fromBuffer(value);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const ASCII = /^[\x00-\x7f]*$/;

/** The bytes as text, or as a Buffer where they are not UTF-8. */
export function decodeText(bytes: Bytes): string | Buffer {
  if (ASCII.test(bytes)) return bytes;
  const buffer = toBuffer(bytes);
  try {
    return utf8.decode(buffer);
  } catch {
    return buffer;
  }
}
