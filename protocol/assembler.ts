/** Puts a long text together from parts. */
import { type Bytes, sliceBytes } from './bytes.ts';

const BLOCK_BYTES = 16 * 1024;

/**
 * Copies parts into a block of memory. Without it, V8 makes an object for each `+=` and joins them when the text is
 * written. For a list of a thousand elements these are two thousand objects, which V8's collector copies while the replies
 * to other clients are prepared. With 20 clients in pipelines of 16, LRANGE of a thousand elements is answered three times
 * as often, and XRANGE of a thousand entries nearly four times (decision 38).
 */
export class Assembler {
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #length = 0;
  /** What comes before the block. */
  #out = '';

  /** Forgets the parts of a text that was never taken, because it would have been longer than a string can be. */
  clear(): this {
    this.#length = 0;
    this.#out = '';
    return this;
  }

  /** How long the text is so far, in bytes. */
  get length(): number {
    return this.#out.length + this.#length;
  }

  /** Adds a part at the end. */
  add(part: Bytes): void {
    if (this.#length + part.length > BLOCK_BYTES) this.#join();
    if (part.length > BLOCK_BYTES) this.#out += part;
    else this.#length += this.#block.write(part, this.#length, 'latin1');
  }

  /** Adds the last part, returns the text and forgets it. */
  take(last: Bytes): Bytes {
    this.add(last);
    this.#join();
    const out = this.#out;
    this.#out = '';
    return out;
  }

  #join(): void {
    if (this.#length > 0) this.#out += sliceBytes(this.#block, 0, this.#length);
    this.#length = 0;
  }
}
