/** Decodes a client's byte stream into requests incrementally, with Redis' limits, errors and leniency. */
import { approximate, type Bytes, parseInteger, STRING_MAX, sliceBytes } from './bytes.ts';
import { splitInline } from './inline.ts';
import type { DecodeLimits } from './limits.ts';
import { QuickDecoder } from './quick.ts';

/** The error of servers that check the ends of lines. */
const BAD_LINE_END = 'invalid CRLF in request';
const PROTOCOL = 'ERR Protocol error: ';
const LINE_MAX = 64 * 1024;
const COUNT_MAX = 2147483647;
/** The maximum number of array places to reserve for an announced number of arguments. */
const RESERVED = 64;
/** What a word takes besides its bytes. */
const WORD_BYTES = 64;
const STRANGER_COUNT = 10;
const STRANGER_BULK = 16384;

/** What the decoder expects next. The first byte decides the kind of a request. */
const START = 0;
const INLINE = 1;
const COUNT = 2;
const LENGTH = 3;
const PAYLOAD = 4;
type Expecting = typeof START | typeof INLINE | typeof COUNT | typeof LENGTH | typeof PAYLOAD;

const CR = 13;
const LF = 10;
const STAR = 42;
const DOLLAR = 36;
const EMPTY = Buffer.alloc(0);

const quick = new QuickDecoder();

/**
 * The incremental decoder of one client's requests. Call write(), then next() until it returns undefined. By then the
 * decoder has copied what it needs, and the chunk may be reused. A caller that stops earlier, for example for a blocked
 * client, calls retain(). The decoder never throws: an invalid stream sets `failure`, and everything after it is
 * discarded.
 */
export class RequestDecoder {
  readonly #limits: DecodeLimits;
  #buf: Buffer = EMPTY;
  #pos = 0;
  #end = 0;
  /** True when #buf is the decoder's own memory, to which it may append. */
  #owned = false;
  #expecting: Expecting = START;
  #argv: Bytes[] = [];
  /** How many arguments of the current request are in #argv, and how many are missing. */
  #taken = 0;
  #missing = 0;
  /** The unfinished line, or ''. */
  #line: Bytes = '';
  /** True when a NUL came before the line's end. C's strchr does not look beyond a NUL, so the line never ends. */
  #stalled = false;
  /** The unfinished argument: its announced length, and the part of it and its CRLF that has arrived. */
  #bulkLength = 0;
  #bulk: Buffer = EMPTY;
  #bulkFilled = 0;
  #failure: Bytes | undefined;
  #pipelined = false;
  #split = false;

  constructor(limits: DecodeLimits) {
    this.#limits = limits;
  }

  /** The error (without '-') to send before the connection is closed; undefined if the stream is valid. */
  get failure(): Bytes | undefined {
    return this.#failure;
  }

  /** The size in bytes of the data that no returned request contains: Redis' query buffer. */
  get buffered(): number {
    return this.#end - this.#pos + this.#line.length + this.#bulkFilled;
  }

  /** About how many bytes the words of the unfinished request take, besides what is `buffered`. */
  get held(): number {
    return this.#expecting === START ? 0 : this.#taken * WORD_BYTES;
  }

  /** The size in bytes of `buffered`, and of the data before it that arrived with it: requests that were returned. */
  get received(): number {
    return this.#end + this.#line.length + this.#bulkFilled;
  }

  /** True once a chunk had more than one request. */
  get pipelined(): boolean {
    return this.#pipelined;
  }

  /** True once a request came in more than one chunk. */
  get split(): boolean {
    return this.#split;
  }

  /** True if the request that `next` returned was a line of words. */
  isInline = false;

  /** Adds the next bytes of the stream, which are read in place until next() returns undefined. */
  write(chunk: Uint8Array | Buffer): void {
    if (this.#failure !== undefined || chunk.length === 0) return;
    if (this.#pos < this.#end) {
      this.#append(chunk);
      return;
    }
    this.#use(
      Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength),
      chunk.length,
    );
    this.#owned = false;
  }

  /** Copies the bytes that were written and not decoded yet, so that the caller may reuse its chunk. */
  retain(): void {
    if (this.#owned || this.#pos === this.#end) return;
    this.#own(this.#end - this.#pos);
  }

  /** The next complete request; undefined when more bytes are needed or the stream is invalid. */
  next(): Bytes[] | undefined {
    this.isInline = false;
    if (this.#pos > 0 && this.#pos < this.#end) this.#pipelined = true;
    while (this.#pos < this.#end) {
      const request = (this.#expecting === START ? this.#quick() : undefined) ?? this.#step();
      if (request !== undefined) return request;
    }
    if (this.#expecting !== START) this.#split = true;
    this.#use(EMPTY, 0);
    return undefined;
  }

  /** A complete request in its usual form; otherwise undefined, with nothing consumed. #step handles everything else. */
  #quick(): Bytes[] | undefined {
    const argv = quick.next(this.#buf, this.#pos, this.#end, this.#limits);
    if (argv !== undefined) this.#pos = quick.end;
    return argv;
  }

  /** Decodes one element, a line or a payload, with all checks. Returns the request when it is complete. */
  #step(): Bytes[] | undefined {
    if (this.#expecting === START) {
      this.#expecting = this.#buf[this.#pos] === STAR ? COUNT : INLINE;
    }
    if (this.#expecting === PAYLOAD) return this.#payload();
    if (this.#expecting === LENGTH && this.#findPlainPayload()) return this.#payload();
    const line = this.#takeLine();
    if (line === undefined) return undefined;
    if (this.#expecting === INLINE) return this.#inline(line);
    if (this.#expecting === COUNT) this.#count(line);
    else this.#length(line);
    return undefined;
  }

  #inline(line: Bytes): Bytes[] | undefined {
    this.#expecting = START;
    this.isInline = true;
    const argv = splitInline(line, this.#limits.words);
    if (argv === undefined) this.#fail('unbalanced quotes in request');
    return argv === undefined || argv.length === 0 ? undefined : argv;
  }

  #count(line: Bytes): undefined {
    const count = parseInteger(line.slice(1));
    if (count === undefined || count > COUNT_MAX) return this.#fail('invalid multibulk length');
    if (count > STRANGER_COUNT && !this.#limits.authenticated) {
      return this.#fail('unauthenticated multibulk length');
    }
    this.#expecting = count > 0 ? LENGTH : START;
    this.#missing = approximate(count);
    this.#argv = new Array<Bytes>(Math.max(0, Math.min(this.#missing, RESERVED)));
    this.#taken = 0;
  }

  /**
   * Skips the usual header of an argument that has arrived as a whole: its length without leading zeros. Requests of a
   * hundred arguments and more, which the quick decoder leaves alone, are decoded in half of the time.
   */
  #findPlainPayload(): boolean {
    const buf = this.#buf;
    const first = this.#pos + 1;
    if (this.#line !== '' || this.#stalled || buf[first - 1] !== DOLLAR) return false;
    let at = first;
    let length = 0;
    for (let digit = buf[at]! - 48; digit >= 0 && digit <= 9 && at < first + 5; digit = buf[++at]! - 48) {
      length = 10 * length + digit;
    }
    if (at === first || (buf[first] === 48 && at > first + 1) || buf[at] !== CR) return false;
    if (length > STRANGER_BULK || length > this.#limits.maxBulk || at + length + 4 > this.#end) return false;
    if (this.#limits.checksLines === true && buf[at + 1] !== LF) return false;
    this.#bulkLength = length;
    this.#pos = at + 2;
    return true;
  }

  #length(line: Bytes): undefined {
    if (line.charCodeAt(0) !== DOLLAR) {
      return this.#fail(`expected '$', got '${line.length === 0 ? ' ' : line.charAt(0).replace('\n', ' ')}'`);
    }
    const length = parseInteger(line.slice(1));
    if (length === undefined || length < 0 || length > this.#limits.maxBulk) {
      return this.#fail('invalid bulk length');
    }
    if (length > STRANGER_BULK && !this.#limits.authenticated)
      return this.#fail('unauthenticated bulk length');
    this.#expecting = PAYLOAD;
    this.#bulkLength = approximate(length);
  }

  /** True if an argument ends as it must: with any two bytes, or with CR LF. */
  #endsWell(buf: Buffer, at: number): boolean {
    return this.#limits.checksLines !== true || (buf[at] === CR && buf[at + 1] === LF);
  }

  /** Reads an argument and the two bytes after it, which Redis does not check. */
  #payload(): Bytes[] | undefined {
    const needed = this.#bulkLength + 2 - this.#bulkFilled;
    const available = this.#end - this.#pos;
    if (available < needed) {
      this.#collect(this.#end);
      return undefined;
    }
    if (this.#bulkLength > STRING_MAX) {
      this.#fail('invalid bulk length');
      return undefined;
    }
    if (this.#bulkFilled === 0) {
      if (!this.#endsWell(this.#buf, this.#pos + this.#bulkLength)) return this.#fail(BAD_LINE_END);
      this.#argv[this.#taken++] = sliceBytes(this.#buf, this.#pos, this.#pos + this.#bulkLength);
      this.#pos += needed;
    } else {
      this.#collect(this.#pos + needed);
      if (!this.#endsWell(this.#bulk, this.#bulkLength)) return this.#fail(BAD_LINE_END);
      this.#argv[this.#taken++] = sliceBytes(this.#bulk, 0, this.#bulkLength);
      this.#bulk = EMPTY;
      this.#bulkFilled = 0;
    }
    this.#expecting = LENGTH;
    if (--this.#missing > 0) return undefined;
    this.#expecting = START;
    const argv = this.#argv;
    this.#argv = [];
    return argv;
  }

  /**
   * Moves the bytes up to `stop` into the unfinished argument. Its memory grows with what has arrived, not with what
   * was announced.
   */
  #collect(stop: number): void {
    const filled = this.#bulkFilled + stop - this.#pos;
    if (filled > this.#bulk.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.min(this.#bulkLength + 2, Math.max(filled, 2 * this.#bulk.length, 512)),
      );
      this.#bulk.copy(grown, 0, 0, this.#bulkFilled);
      this.#bulk = grown;
    }
    this.#buf.copy(this.#bulk, this.#bulkFilled, this.#pos, stop);
    this.#bulkFilled = filled;
    this.#pos = stop;
  }

  /**
   * The line without its end, which is LF (inline) or CR and any byte (headers); undefined when the line is not
   * complete.
   */
  #takeLine(): Bytes | undefined {
    const inline = this.#expecting === INLINE;
    if (!this.#stalled) {
      const held = this.#line;
      if (!inline && held.length > 0 && held.charCodeAt(held.length - 1) === CR) {
        if (this.#limits.checksLines === true && this.#buf[this.#pos] !== LF) return this.#fail(BAD_LINE_END);
        this.#pos++;
        this.#line = '';
        return held.slice(0, -1);
      }
      const at = this.#find(inline ? LF : CR);
      if (at >= 0 && (inline || at + 1 < this.#end)) {
        const isBad = !inline && this.#limits.checksLines === true && this.#buf[at + 1] !== LF;
        return isBad ? this.#fail(BAD_LINE_END) : this.#cutLine(at, inline);
      }
    }
    this.#line += this.#buf.latin1Slice(this.#pos, this.#end);
    this.#pos = this.#end;
    if (this.#line.length > LINE_MAX && (this.#stalled || inline || !this.#line.endsWith('\r'))) {
      const what = inline
        ? 'inline request'
        : this.#expecting === COUNT
          ? 'mbulk count string'
          : 'bulk count string';
      this.#fail(`too big ${what}`);
    }
    return undefined;
  }

  #cutLine(at: number, inline: boolean): Bytes {
    const line = this.#line + this.#buf.latin1Slice(this.#pos, at);
    this.#line = '';
    this.#pos = at + (inline ? 1 : 2);
    return inline && line.endsWith('\r') ? line.slice(0, -1) : line;
  }

  /** The position of `code` in the unread bytes, or -1. A NUL before it hides it for good. */
  #find(code: number): number {
    const at = this.#buf.indexOf(code, this.#pos);
    const stop = at < 0 || at >= this.#end ? this.#end : at;
    for (let i = this.#pos; i < stop; i++) {
      if (this.#buf[i] === 0) {
        this.#stalled = true;
        return -1;
      }
    }
    return stop === this.#end ? -1 : at;
  }

  #fail(text: Bytes): undefined {
    this.#failure = PROTOCOL + text;
    this.#argv = [];
    this.#line = '';
    this.#bulk = EMPTY;
    this.#bulkFilled = 0;
    this.#pos = this.#end;
  }

  #append(chunk: Uint8Array): void {
    const needed = this.#end - this.#pos + chunk.length;
    if (!this.#owned || this.#end + chunk.length > this.#buf.length) this.#own(2 * needed);
    this.#buf.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  #own(capacity: number): void {
    const copy = Buffer.allocUnsafeSlow(capacity);
    this.#use(copy, this.#buf.copy(copy, 0, this.#pos, this.#end));
    this.#owned = true;
  }

  /** Decodes the first `end` bytes of a buffer from now on. */
  #use(buf: Buffer, end: number): void {
    this.#buf = buf;
    this.#pos = 0;
    this.#end = end;
  }
}
