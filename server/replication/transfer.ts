/** A dataset that a replica is receiving: a header, then an RDB of known length, or an RDB up to a mark (diskless). */
import { type Bytes, parseSafeInteger } from '../../protocol/bytes.ts';

/** The length of the random mark that ends a dataset of unknown length. */
const MARK_LENGTH = 40;

/** The state of one full resync, as the replica receives it. */
export class Transfer {
  /** The id and offset of the stream that continues the dataset. */
  readonly id: Bytes;
  readonly offset: number;
  /** Why the received bytes cannot be a dataset. */
  failure: string | undefined;
  /** The number of RDB bytes received. */
  received = 0;
  /** The RDB's length in bytes; -1 before the header has come, and 0 until the mark has come that ends one of unknown length. */
  length = -1;
  #mark = '';
  #header: Bytes | undefined = '';
  #chunks: Bytes[] = [];
  // The last bytes received, which may contain the mark.
  #tail = '';

  constructor(id: Bytes, offset: number) {
    this.id = id;
    this.offset = offset;
  }

  /** Consumes received bytes. When the dataset is complete it returns the bytes behind it, before that undefined. */
  take(bytes: Bytes): Bytes | undefined {
    let chunk = bytes;
    if (this.#header !== undefined) {
      // Bare newlines are a keepalive while the primary prepares.
      this.#header = (this.#header + bytes).replace(/^[\r\n]+/, '');
      const end = this.#header.indexOf('\n');
      if (end < 0) return undefined;
      chunk = this.#header.slice(end + 1);
      this.#begin(this.#header.slice(0, end).replace(/\r$/, ''));
      this.#header = undefined;
    }
    if (this.failure !== undefined) return undefined;
    this.#chunks.push(chunk);
    this.received += chunk.length;
    return this.#mark === '' ? this.#uptoLength() : this.#uptoMark(chunk);
  }

  #begin(header: Bytes): void {
    if (header.startsWith('$EOF:') && header.length === 5 + MARK_LENGTH) {
      this.#mark = header.slice(5);
      this.length = 0;
    } else if (header.startsWith('$')) this.length = parseSafeInteger(header.slice(1)) ?? -1;
    if (this.#mark === '' && this.length < 0) this.failure = `expected a dataset, not '${header}'`;
  }

  #uptoLength(): Bytes | undefined {
    if (this.received < this.length) return undefined;
    const all = this.#chunks.join('');
    this.#chunks = [all.slice(0, this.length)];
    return all.slice(this.length);
  }

  // The primary sends nothing after the mark until it hears from the replica, so the mark ends the input.
  #uptoMark(chunk: Bytes): Bytes | undefined {
    this.#tail = (this.#tail + chunk).slice(-MARK_LENGTH);
    if (this.#tail !== this.#mark) return undefined;
    this.length = this.received - MARK_LENGTH;
    this.#chunks = [this.#chunks.join('').slice(0, this.length)];
    return '';
  }

  /** Returns the RDB, once it is complete. */
  rdb(): Bytes {
    return this.#chunks.join('');
  }
}
