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
    const end = this.#taken + Math.max(0, Math.min(count, this.#length));
    const [first = ''] = this.#pieces;
    if (end < first.length) return this.#takeFrom(first, end);
    let whole = 0;
    let size = 0;
    while (whole < this.#pieces.length && size + (this.#pieces[whole] as Bytes).length <= end)
      size += (this.#pieces[whole++] as Bytes).length;
    const parts = this.#pieces.splice(0, whole);
    parts[0] = (parts[0] ?? '').slice(this.#taken);
    this.#length -= size - this.#taken;
    this.#taken = 0;
    if (end > size) parts.push(this.#takeFrom(this.#pieces[0] as Bytes, end - size));
    return parts.join('');
  }

  #takeFrom(piece: Bytes, end: number): Bytes {
    const bytes = piece.slice(this.#taken, end);
    this.#length -= bytes.length;
    this.#taken = end;
    return bytes;
  }
}
