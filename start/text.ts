/**
 * Converts between the API's text and byte strings: strings are UTF-8, and bytes that are not valid UTF-8 become
 * Buffers.
 */
// Not the global one, which Jest's jsdom lacks.
import { TextDecoder } from 'node:util';
import { type Bytes, fromBuffer, fromText, toBuffer } from '../protocol/bytes.ts';

/** A byte string as users may give it: text (encoded as UTF-8), a number (in decimal), or bytes. */
export type TextLike = string | number | Uint8Array;

/** True for a string, a number other than NaN, or bytes. */
export function isText(value: unknown): value is TextLike {
  return (
    typeof value === 'string' ||
    (typeof value === 'number' && !Number.isNaN(value)) ||
    value instanceof Uint8Array
  );
}

/** The bytes of a user's value. */
export function encodeText(value: TextLike): Bytes {
  if (typeof value === 'string') return fromText(value);
  return typeof value === 'number' ? String(value) : fromBuffer(value);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const ASCII = /^[\x00-\x7f]*$/;

/** The bytes as a string, or as a Buffer when they are not valid UTF-8. */
export function decodeText(bytes: Bytes): string | Buffer {
  if (ASCII.test(bytes)) return bytes;
  const buffer = toBuffer(bytes);
  try {
    return utf8.decode(buffer);
  } catch {
    return buffer;
  }
}
