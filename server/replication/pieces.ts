/** Bytes that arrive in pieces and are taken from the front, without copying what stays. */
import type { Bytes } from '../../protocol/bytes.ts';

/** A queue of bytes. */
export class Pieces {
  #pieces: Bytes[] = [];
  /** How much of the first piece is taken. */
  #taken = 0;
  #length = 0;

  /** The number of bytes in it. */
  get length(): number {
    return this.#length;
  }

  /** Adds bytes at the end. */
  push(bytes: Bytes): void {
    if (bytes === '') return;
    this.#pieces.push(bytes);
    this.#length += bytes.length;
  }

  /** Takes the first `count` bytes: at most all of them, and none for a negative count. */
  take(count: number): Bytes {
    let left = Math.min(count, this.#length);
    const parts: Bytes[] = [];
    let whole = 0;
    for (const piece of this.#pieces) {
      if (left <= 0) break;
      const part = piece.slice(this.#taken, this.#taken + left);
      parts.push(part);
      left -= part.length;
      this.#length -= part.length;
      this.#taken += part.length;
      if (this.#taken < piece.length) break;
      this.#taken = 0;
      whole++;
    }
    if (whole > 0) this.#pieces.splice(0, whole);
    return parts.join('');
  }
}
