/** Puts a text together from many pieces, and counts it as it grows. */
import { allocate } from '../../protocol/allowance.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import { MAX_STRING } from './operations.ts';
import { raiseBare, S } from './state.ts';

/**
 * In bytes. Pieces are joined when they are so long together. V8 keeps an object of 32 bytes for each piece until then, which
 * can be many times the text.
 */
const PART = 4096;

/** A text in progress. */
export class TextBuilder {
  readonly #parts: Bytes[] = [];
  #out: Bytes = '';
  /** The length of all parts together. */
  #length = 0;

  /** Adds a piece at the end. */
  add(piece: Bytes): void {
    this.#out += piece;
    if (this.#out.length >= PART) this.#join();
  }

  /** Ends the text and returns it. */
  take(): Bytes {
    const { length } = this.#out;
    if (this.#length === 0) return this.#out;
    this.#check(length);
    allocate(this.#length + length);
    this.#parts.push(this.#out);
    return this.#parts.join('');
  }

  #join(): void {
    const part = this.#out;
    this.#check(part.length);
    allocate(part.length);
    // Reading a byte joins the pieces.
    part.charCodeAt(0);
    S.fuel -= part.length >> 4;
    this.#parts.push(part);
    this.#length += part.length;
    this.#out = '';
  }

  #check(more: number): void {
    if (this.#length + more > MAX_STRING) raiseBare('not enough memory');
  }
}
