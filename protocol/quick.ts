/**
 * Decodes requests that are complete and in the usual form. Most requests of a client are alike: the same command, the same
 * script, the same owner of a lock, with another key. What a request has in common with the last one of its kind is
 * compared, eight bytes at a time, and its strings are reused. A new string takes time to make, and V8 has to hash it again
 * (docs/decisions/0037).
 */
import type { Bytes } from './bytes.ts';
import type { DecodeLimits } from './limits.ts';
import { SHORT_MAX, shortWord } from './words.ts';

const LF = 10;
const CR = 13;
const STAR = 42;
const DOLLAR = 36;

/** How many kinds of requests are remembered, by their first bytes. A power of two. */
const KINDS = 32;
/** The digits of the numbers of words, from 4 to 8. Requests with fewer words are decoded as fast word by word. */
const WORDS_MIN = 52;
const WORDS_MAX = 56;
/** In bytes. Longer words are not kept. */
const KEPT_MAX = 64;
/**
 * After so many requests, a kind is learned again from the next two: words that differed may be the same by now. A power of
 * two.
 */
const RELEARN = 256;

/** What requests of one kind have in common. */
class Kind {
  /** The words of the last request from which the kind was learned; '' for those that were too long. */
  words: Bytes[] = [];
  /** The places of the words that differ from request to request. */
  differing: number[] = [];
  /** For each of them, how many bytes of `common` come before it. */
  before: number[] = [];
  /** The bytes of everything else, one after the other. */
  readonly common = new DataView(new ArrayBuffer(16 + 8 * (KEPT_MAX + 8)));
  /** How many bytes `common` has. */
  length = 0;
  /** How many requests may have been of this kind. */
  uses = 0;

  /** Compares the words with those of the last request: what is equal is common from now on. */
  learn(argv: Bytes[]): void {
    const isAlike = this.words.length === argv.length;
    if (!isAlike) this.words = new Array<Bytes>(argv.length);
    this.differing = [];
    this.before = [];
    this.length = 0;
    this.#add(`*${argv.length}\r\n`);
    for (let i = 0; i < argv.length; i++) {
      const word = argv[i]!;
      if (isAlike && this.words[i] === word && !word.includes('\0')) {
        this.#add(`$${word.length}\r\n${word}\r\n`);
      } else {
        this.differing.push(i);
        this.before.push(this.length);
        this.words[i] = word.length <= KEPT_MAX ? word : '';
      }
    }
  }

  #add(text: Bytes): void {
    for (let i = 0; i < text.length; i++) this.common.setUint8(this.length++, text.charCodeAt(i));
  }
}

/** Decodes one request at a time. All decoders of a thread share what it has learned. */
export class QuickDecoder {
  /** Where the last request that was returned ends in its buffer. */
  end = 0;
  readonly #kinds: (Kind | undefined)[] = new Array<undefined>(KINDS).fill(undefined);
  #buf: Buffer | undefined;
  /** The memory that the buffer is in, and where it begins there. Nearly all buffers are in the same memory. */
  #view: DataView<ArrayBufferLike> = new DataView(new ArrayBuffer(0));
  #base = 0;

  /** The request that begins at `start`; undefined if it is not complete before `stop`, or has any unusual byte. */
  next(buf: Buffer, start: number, stop: number, limits: DecodeLimits): Bytes[] | undefined {
    if (start + 9 > stop || buf[start] !== STAR) return undefined;
    const digit = buf[start + 1]!;
    if (digit < WORDS_MIN || digit > WORDS_MAX || buf[start + 2] !== CR) {
      return this.#read(undefined, buf, start, stop, limits);
    }
    // The number of words, the length of the first one, and its first letter.
    const slot = (digit + 3 * buf[start + 5]! + 5 * buf[start + 8]!) & (KINDS - 1);
    const kind = this.#kinds[slot];
    if (kind !== undefined && (++kind.uses & (RELEARN - 1)) > 1 && limits.maxBulk >= KEPT_MAX) {
      const argv = this.#read(kind, buf, start, stop, limits);
      if (argv !== undefined) return argv;
    }
    const argv = this.#read(undefined, buf, start, stop, limits);
    if (argv !== undefined) (kind ?? (this.#kinds[slot] = new Kind())).learn(argv);
    return argv;
  }

  /** @param kind what the request must have in common with others; undefined if it is read word by word */
  #read(
    kind: Kind | undefined,
    buf: Buffer,
    start: number,
    stop: number,
    limits: DecodeLimits,
  ): Bytes[] | undefined {
    let pos = start;
    let argv: Bytes[];
    let missing: number;
    if (kind !== undefined) {
      if (buf !== this.#buf) this.#enter(buf);
      argv = kind.words.slice();
      missing = kind.differing.length;
    } else {
      missing = buf[start + 1]! - 48;
      if (missing < 1 || missing > 9) return undefined;
      pos += 2;
      if (buf[pos] !== CR) {
        const digit = buf[pos++]! - 48;
        if (digit < 0 || digit > 9 || buf[pos] !== CR || !limits.authenticated) return undefined;
        missing = missing * 10 + digit;
      }
      if (limits.checksLines === true && buf[pos + 1] !== LF) return undefined;
      pos += 2;
      argv = new Array<Bytes>(missing);
    }
    const { maxBulk, checksLines = false } = limits;
    let compared = 0;
    for (let step = 0; step < missing; step++) {
      if (kind !== undefined) {
        const before = kind.before[step]!;
        if (!this.#has(kind.common, compared, before, pos, stop)) return undefined;
        pos += before - compared;
        compared = before;
      }
      if (pos + 4 > stop || buf[pos] !== DOLLAR) return undefined;
      let length = buf[pos + 1]! - 48;
      if (length < 0 || length > 9) return undefined;
      pos += 2;
      let code = buf[pos]!;
      if (code !== CR) {
        if (length === 0) return undefined;
        for (let digits = 1; code !== CR; digits++) {
          if (code < 48 || code > 57 || digits === 4) return undefined;
          length = length * 10 + code - 48;
          code = buf[++pos]!;
          if (pos >= stop) return undefined;
        }
      }
      pos += 2;
      const end = pos + length;
      if (end + 2 > stop || length > maxBulk) return undefined;
      if (checksLines && (buf[pos - 1] !== LF || buf[end] !== CR || buf[end + 1] !== LF)) return undefined;
      argv[kind === undefined ? step : kind.differing[step]!] =
        length <= SHORT_MAX ? shortWord(buf, pos, end) : buf.latin1Slice(pos, end);
      pos = end + 2;
    }
    if (kind !== undefined) {
      if (!this.#has(kind.common, compared, kind.length, pos, stop)) return undefined;
      pos += kind.length - compared;
    }
    this.end = pos;
    return argv;
  }

  /** Whether the buffer has a part of what is common. Equal doubles without a NUL have equal bytes. */
  #has(common: DataView, from: number, to: number, pos: number, stop: number): boolean {
    if (pos + to - from > stop) return false;
    const view = this.#view;
    let at = this.#base + pos;
    let i = from;
    for (; i + 8 <= to; i += 8, at += 8)
      if (view.getFloat64(at, true) !== common.getFloat64(i, true)) return false;
    for (; i < to; i++, at++) if (view.getUint8(at) !== common.getUint8(i)) return false;
    return true;
  }

  #enter(buf: Buffer): void {
    this.#buf = buf;
    this.#base = buf.byteOffset;
    const { buffer } = buf;
    if (buffer !== this.#view.buffer) this.#view = new DataView(buffer);
  }
}
