/**
 * A long string that is being edited in place. JavaScript's strings are immutable, so the bytes are kept in a Buffer.
 */
import { type Bytes, sliceBytes } from '../../protocol/bytes.ts';

/** Strings of at least this many bytes are edited in place. A shorter one is copied just as fast. */
export const EDIT_MIN = 16 * 1024;

/** Reserves extra room, so that a string that grows byte by byte is seldom copied. */
function withRoom(length: number): number {
  return length + Math.floor(length / 4);
}

/** A byte string that can be changed in place. */
export class EditedString {
  readonly type = 'string';
  length: number;
  // Zero from `length` on.
  #bytes: Buffer;

  /** @param length the initial length in bytes; a shorter text is padded with zeros */
  constructor(text: Bytes, length = text.length) {
    this.length = Math.max(length, text.length);
    this.#bytes = Buffer.alloc(length > text.length ? withRoom(length) : text.length);
    this.#bytes.latin1Write(text);
  }

  /** The byte at a position; zero beyond the end. */
  at(position: number): number {
    return position < this.length ? (this.#bytes[position] as number) : 0;
  }

  /** Extends the string with zeros to at least this length. */
  grow(length: number): void {
    if (length <= this.length) return;
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(withRoom(length));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.length = length;
  }

  /** Overwrites the bytes at a position, growing as needed. */
  write(position: number, text: Bytes): void {
    this.grow(position + text.length);
    this.#bytes.latin1Write(text, position);
  }

  /** Sets one byte, which must be within the length. */
  set(position: number, byte: number): void {
    this.#bytes[position] = byte;
  }

  /** The bytes, which may be changed; valid until the string grows. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  /** The bytes from `start` up to, but not including, `end`; neither may be negative. */
  slice(start: number, end = this.length): Bytes {
    const last = Math.min(end, this.length);
    return start < last ? sliceBytes(this.#bytes, start, last) : '';
  }

  toString(): Bytes {
    return this.slice(0);
  }
}

/** A string as a key stores it. Both forms have `length` and `slice`. */
export type HeldString = Bytes | EditedString;

/** The byte of a string at a position; zero beyond the end. */
export function byteAt(text: HeldString, position: number): number {
  if (typeof text !== 'string') return text.at(position);
  return position < text.length ? text.charCodeAt(position) : 0;
}
