/** A long string while parts of it are being changed: bytes that are changed in place, since JavaScript's strings cannot be. */
import { type Bytes, sliceBytes } from '../../protocol/bytes.ts';

/** From so many bytes on a string is edited in place; a shorter one is as quickly made anew. */
export const EDIT_MIN = 16 * 1024;

/** A string that grows byte by byte is seldom moved. */
function withRoom(length: number): number {
  return length + Math.floor(length / 4);
}

export class EditedString {
  readonly type = 'string';
  length: number;
  // Zeros from `length` on.
  #bytes: Buffer;

  /** With room for `length` bytes, as many of them zeros as the text is shorter. */
  constructor(text: Bytes, length = text.length) {
    this.length = Math.max(length, text.length);
    this.#bytes = Buffer.alloc(length > text.length ? withRoom(length) : text.length);
    this.#bytes.latin1Write(text);
  }

  /** The byte at a position; zero beyond the end. */
  at(position: number): number {
    return position < this.length ? (this.#bytes[position] as number) : 0;
  }

  /** Makes it that long at least, filled up with zeros. */
  grow(length: number): void {
    if (length <= this.length) return;
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(withRoom(length));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.length = length;
  }

  /** Overwrites what is at a position, growing as needed. */
  write(position: number, text: Bytes): void {
    this.grow(position + text.length);
    this.#bytes.latin1Write(text, position);
  }

  /** Sets one byte within the length. */
  set(position: number, byte: number): void {
    this.#bytes[position] = byte;
  }

  /** Its bytes, to be changed as well; valid until it grows. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  /** The part from `start` up to, not including, `end`, neither of them negative. */
  slice(start: number, end = this.length): Bytes {
    const last = Math.min(end, this.length);
    return start < last ? sliceBytes(this.#bytes, start, last) : '';
  }

  toString(): Bytes {
    return this.slice(0);
  }
}

/** A string as a key holds it. Both forms have a length and slices. */
export type HeldString = Bytes | EditedString;

/** The byte of a string at a position; zero beyond the end. */
export function byteAt(text: HeldString, position: number): number {
  if (typeof text !== 'string') return text.at(position);
  return position < text.length ? text.charCodeAt(position) : 0;
}
