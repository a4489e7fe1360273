/** Decodes RESP2 replies from a stream of bytes, for a node that is a client of other servers. */
import { type Bytes, parseSafeInteger } from './bytes.ts';
import { type Reply, ReplyError, SimpleString } from './reply.ts';

/** How deep arrays may be nested, and how long a bulk string may be, in bytes. */
const DEEPEST = 32;
const LONGEST = 2 ** 29;

/** Collects bytes and returns complete replies. */
export class ReplyDecoder {
  #bytes: Bytes = '';
  #at = 0;
  /** Why the received bytes are not a reply. Nothing after them is decoded. */
  failure: string | undefined;

  /** Adds received bytes. */
  write(bytes: Bytes): void {
    this.#bytes = this.#bytes.slice(this.#at) + bytes;
    this.#at = 0;
  }

  /** Returns the next complete reply; undefined if there is none yet, and after a failure. */
  next(): Reply | undefined {
    if (this.failure !== undefined) return undefined;
    const start = this.#at;
    const reply = this.#read(0);
    if (reply === undefined) this.#at = start;
    return reply;
  }

  #read(depth: number): Reply | undefined {
    const end = this.#bytes.indexOf('\r\n', this.#at);
    if (end < 0) return undefined;
    const kind = this.#bytes[this.#at];
    const line = this.#bytes.slice(this.#at + 1, end);
    this.#at = end + 2;
    if (kind === '+') return new SimpleString(line);
    if (kind === '-') return new ReplyError(line);
    const value = parseSafeInteger(line);
    if (value === undefined) return this.#fail(`'${kind}${line.slice(0, 32)}' does not begin a reply`);
    if (kind === ':') return value;
    if (kind === '$') return this.#readBulk(value);
    if (kind === '*') return this.#readArray(value, depth);
    return this.#fail(`replies of type '${kind}' are unknown`);
  }

  #readBulk(length: number): Reply | undefined {
    if (length === -1) return null;
    if (length < 0 || length > LONGEST) return this.#fail(`a string cannot have ${length} bytes`);
    const start = this.#at;
    if (this.#bytes.length < start + length + 2) return undefined;
    this.#at += length + 2;
    return this.#bytes.slice(start, start + length);
  }

  #readArray(length: number, depth: number): Reply | undefined {
    if (length === -1) return null;
    if (length < 0 || depth === DEEPEST) return this.#fail('the array is invalid');
    const items: Reply[] = [];
    while (items.length < length) {
      const item = this.#read(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }

  #fail(why: string): undefined {
    this.failure ??= why;
    return undefined;
  }
}
