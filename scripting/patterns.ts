/** Lua patterns: a matcher of our own, bounded in steps and in depth, since a hostile pattern kills a real Redis. */
import type { Bytes } from '../protocol/bytes.ts';
import { raise, S } from './state.ts';
import type { LuaValue } from './values.ts';

const MAX_CAPTURES = 32;
/** Recursion that the JavaScript stack bears in any circumstance. */
const MAX_DEPTH = 1000;
/** About a second of matching. */
const MAX_STEPS = 1e8;
const UNFINISHED = -1;
const POSITION = -2;
const ESCAPE = 37;

function isAlpha(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** %a, %d and so on, as C's ctype decides for ASCII; an upper-case letter means the opposite. */
function matchesClass(code: number, letter: number): boolean {
  let result: boolean;
  switch (letter | 32) {
    case 97:
      result = isAlpha(code);
      break;
    case 99:
      result = code < 32 || code === 127;
      break;
    case 100:
      result = isDigit(code);
      break;
    case 108:
      result = code >= 97 && code <= 122;
      break;
    case 112:
      result = code > 32 && code < 127 && !isAlpha(code) && !isDigit(code);
      break;
    case 115:
      result = code === 32 || (code >= 9 && code <= 13);
      break;
    case 117:
      result = code >= 65 && code <= 90;
      break;
    case 119:
      result = isAlpha(code) || isDigit(code);
      break;
    case 120:
      result = isDigit(code) || ((code | 32) >= 97 && (code | 32) <= 102);
      break;
    case 122:
      result = code === 0;
      break;
    default:
      return letter === code;
  }
  if (!isAlpha(letter)) return letter === code;
  return letter >= 97 ? result : !result;
}

/** One pattern on one subject. */
export class Matcher {
  readonly subject: Bytes;
  readonly #pattern: Bytes;
  level = 0;
  readonly #starts: number[] = [];
  readonly #lengths: number[] = [];
  #depth = 0;
  #steps = 0;

  /** @param pattern it ends at its first NUL, as in C */
  constructor(subject: Bytes, pattern: Bytes) {
    this.subject = subject;
    const end = pattern.indexOf('\0');
    this.#pattern = end < 0 ? pattern : pattern.slice(0, end);
  }

  /** Matches from here, forgetting captures; answers where the match ends, or -1. */
  match(at: number, patternAt: number): number {
    this.level = 0;
    const before = this.#steps;
    const end = this.#match(at, patternAt);
    S.fuel -= (this.#steps - before) >> 2;
    return end;
  }

  /** The captures, or the whole match where the pattern has none. */
  captures(start: number, end: number): LuaValue[] {
    if (this.level === 0) return [this.subject.slice(start, end)];
    const values: LuaValue[] = [];
    for (let i = 0; i < this.level; i++) values.push(this.capture(i, start, end));
    return values;
  }

  capture(index: number, start: number, end: number): LuaValue {
    if (index >= this.level) {
      if (index !== 0) raise('invalid capture index');
      return this.subject.slice(start, end);
    }
    const length = this.#lengths[index]!;
    const from = this.#starts[index]!;
    if (length === UNFINISHED) raise('unfinished capture');
    return length === POSITION ? from + 1 : this.subject.slice(from, from + length);
  }

  #count(): void {
    if (++this.#steps > MAX_STEPS) raise('pattern too complex');
  }

  #match(from: number, patternFrom: number): number {
    if (++this.#depth > MAX_DEPTH) raise('pattern too complex');
    const result = this.#run(from, patternFrom);
    this.#depth--;
    return result;
  }

  #run(from: number, patternFrom: number): number {
    const pattern = this.#pattern;
    const subject = this.subject;
    let at = from;
    let p = patternFrom;
    for (;;) {
      if (p >= pattern.length) return at;
      const code = pattern.charCodeAt(p);
      if (code === 40) return this.#open(at, p);
      if (code === 41) return this.#close(at, p + 1);
      if (code === 36 && p + 1 === pattern.length) return at === subject.length ? at : -1;
      if (code === ESCAPE) {
        const special = this.#special(at, p);
        if (special !== undefined) {
          if (special < 0) return -1;
          at = special;
          p += pattern.charCodeAt(p + 1) === 98 ? 4 : 2;
          if (pattern.charCodeAt(p - 1) === 102 && pattern.charCodeAt(p - 2) === ESCAPE)
            p = this.#classEnd(p);
          continue;
        }
      }
      const end = this.#classEnd(p);
      this.#count();
      const fits = at < subject.length && this.#single(subject.charCodeAt(at), p, end);
      const suffix = end < pattern.length ? pattern.charCodeAt(end) : 0;
      if (suffix === 63) {
        if (fits) {
          const result = this.#match(at + 1, end + 1);
          if (result >= 0) return result;
        }
        p = end + 1;
        continue;
      }
      if (suffix === 42) return this.#greedy(at, p, end);
      if (suffix === 43) return fits ? this.#greedy(at + 1, p, end) : -1;
      if (suffix === 45) return this.#lazy(at, p, end);
      if (!fits) return -1;
      at++;
      p = end;
    }
  }

  /** %b, %f and back references: the position after them, -1 for no match, undefined for an ordinary escape. */
  #special(at: number, p: number): number | undefined {
    const pattern = this.#pattern;
    const kind = pattern.charCodeAt(p + 1);
    if (kind === 98) return this.#balanced(at, p + 2);
    if (kind === 102) {
      const start = p + 2;
      if (pattern.charCodeAt(start) !== 91) raise("missing '[' after '%f' in pattern");
      const end = this.#classEnd(start) - 1;
      const before = at === 0 ? 0 : this.subject.charCodeAt(at - 1);
      const here = at < this.subject.length ? this.subject.charCodeAt(at) : 0;
      return this.#inSet(before, start, end) || !this.#inSet(here, start, end) ? -1 : at;
    }
    if (!isDigit(kind)) return undefined;
    const index = this.#checkCapture(kind);
    const length = this.#lengths[index]!;
    const from = this.#starts[index]!;
    if (length < 0 || !this.subject.startsWith(this.subject.slice(from, from + length), at)) return -1;
    return at + length;
  }

  #checkCapture(code: number): number {
    const index = code - 49;
    if (index < 0 || index >= this.level || this.#lengths[index] === UNFINISHED) {
      raise('invalid capture index');
    }
    return index;
  }

  #balanced(at: number, p: number): number {
    if (p + 1 >= this.#pattern.length) raise('unbalanced pattern');
    const open = this.#pattern.charCodeAt(p);
    const close = this.#pattern.charCodeAt(p + 1);
    if (at >= this.subject.length || this.subject.charCodeAt(at) !== open) return -1;
    let depth = 1;
    for (let i = at + 1; i < this.subject.length; i++) {
      this.#count();
      const code = this.subject.charCodeAt(i);
      if (code === close) {
        if (--depth === 0) return i + 1;
      } else if (code === open) depth++;
    }
    return -1;
  }

  #open(at: number, p: number): number {
    const level = this.level;
    if (level >= MAX_CAPTURES) raise('too many captures');
    const isPosition = this.#pattern.charCodeAt(p + 1) === 41;
    this.#starts[level] = at;
    this.#lengths[level] = isPosition ? POSITION : UNFINISHED;
    this.level = level + 1;
    const result = this.#match(at, isPosition ? p + 2 : p + 1);
    if (result < 0) this.level--;
    return result;
  }

  #close(at: number, p: number): number {
    let index = this.level - 1;
    while (index >= 0 && this.#lengths[index] !== UNFINISHED) index--;
    if (index < 0) raise('invalid pattern capture');
    this.#lengths[index] = at - this.#starts[index]!;
    const result = this.#match(at, p);
    if (result < 0) this.#lengths[index] = UNFINISHED;
    return result;
  }

  #greedy(at: number, p: number, end: number): number {
    const subject = this.subject;
    let i = at;
    while (i < subject.length && this.#single(subject.charCodeAt(i), p, end)) {
      this.#count();
      i++;
    }
    for (; i >= at; i--) {
      const result = this.#match(i, end + 1);
      if (result >= 0) return result;
    }
    return -1;
  }

  #lazy(at: number, p: number, end: number): number {
    for (let i = at; ; i++) {
      const result = this.#match(i, end + 1);
      if (result >= 0) return result;
      this.#count();
      if (i >= this.subject.length || !this.#single(this.subject.charCodeAt(i), p, end)) return -1;
    }
  }

  /** Where the single-character class that starts here ends. */
  #classEnd(start: number): number {
    const pattern = this.#pattern;
    const code = pattern.charCodeAt(start);
    let p = start + 1;
    if (code === ESCAPE) {
      if (p >= pattern.length) raise("malformed pattern (ends with '%')");
      return p + 1;
    }
    if (code !== 91) return p;
    if (pattern.charCodeAt(p) === 94) p++;
    do {
      if (p >= pattern.length) raise("malformed pattern (missing ']')");
      if (pattern.charCodeAt(p++) === ESCAPE && p < pattern.length) p++;
    } while (pattern.charCodeAt(p) !== 93);
    return p + 1;
  }

  #single(code: number, p: number, end: number): boolean {
    const kind = this.#pattern.charCodeAt(p);
    if (kind === 46) return true;
    if (kind === ESCAPE) return matchesClass(code, this.#pattern.charCodeAt(p + 1));
    return kind === 91 ? this.#inSet(code, p, end - 1) : kind === code;
  }

  /** Whether the set between the bracket at `start` and the one at `last` has the character. */
  #inSet(code: number, start: number, last: number): boolean {
    const pattern = this.#pattern;
    let p = start;
    let found = true;
    if (pattern.charCodeAt(p + 1) === 94) {
      found = false;
      p++;
    }
    while (++p < last) {
      const item = pattern.charCodeAt(p);
      if (item === ESCAPE) {
        p++;
        if (matchesClass(code, pattern.charCodeAt(p))) return found;
      } else if (pattern.charCodeAt(p + 1) === 45 && p + 2 < last) {
        p += 2;
        if (item <= code && code <= pattern.charCodeAt(p)) return found;
      } else if (item === code) return found;
    }
    return !found;
  }
}
