/** A dataset on its way to a replica: the header, then a known length of RDB, or RDB up to a mark (diskless). */
import { type Bytes, parseSafeInteger } from '../../protocol/bytes.ts';

/** The length of the random mark that ends a dataset whose length is not known beforehand. */
const MARK_LENGTH = 40;

export class Transfer {
  /** The stream that continues the dataset, and where. */
  readonly id: Bytes;
  readonly offset: number;
  /** Why what arrives can be no dataset. */
  failure: string | undefined;
  /** Bytes of the RDB received. */
  received = 0;
  /** The RDB's length; -1 while it is not known. */
  length = -1;
  #mark = '';
  #header: Bytes | undefined = '';
  #chunks: Bytes[] = [];
  // The last bytes received, in which the mark is looked for.
  #tail = '';

  constructor(id: Bytes, offset: number) {
    this.id = id;
    this.offset = offset;
  }

  /** Takes what has arrived. Once the dataset is complete it answers what came behind it; undefined before. */
  take(bytes: Bytes): Bytes | undefined {
    let chunk = bytes;
    if (this.#header !== undefined) {
      // Bare newlines keep the line alive while the primary prepares.
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
    if (header.startsWith('$EOF:') && header.length === 5 + MARK_LENGTH) this.#mark = header.slice(5);
    else if (header.startsWith('$')) this.length = parseSafeInteger(header.slice(1)) ?? -1;
    if (this.#mark === '' && this.length < 0) this.failure = `expected a dataset, not '${header}'`;
  }

  #uptoLength(): Bytes | undefined {
    if (this.received < this.length) return undefined;
    const all = this.#chunks.join('');
    this.#chunks = [all.slice(0, this.length)];
    return all.slice(this.length);
  }

  // The primary is silent behind the mark until it hears from us, so that the mark is the end of what has come.
  #uptoMark(chunk: Bytes): Bytes | undefined {
    this.#tail = (this.#tail + chunk).slice(-MARK_LENGTH);
    if (this.#tail !== this.#mark) return undefined;
    this.length = this.received - MARK_LENGTH;
    this.#chunks = [this.#chunks.join('').slice(0, this.length)];
    return '';
  }

  /** The RDB, once complete. */
  rdb(): Bytes {
    return this.#chunks.join('');
  }
}
