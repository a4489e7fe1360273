/** Lua patterns. Alternatives are kept in a list, so that no pattern is too deep and every match can be paused. */
import type { Bytes } from '../../protocol/bytes.ts';
import { raise, refuel, S } from './state.ts';
import { type LuaValue, Signal } from './values.ts';

const MAX_CAPTURES = 32;
const UNFINISHED = -1;
const POSITION = -2;
const ESCAPE = 37;
const DOT = 46;
/** The characters `$%().[`, with which a pattern may mean others, and `*-?`, behind one that a match need not have. */
const SPECIAL = [36, ESCAPE, 40, 41, DOT, 91];
const REPEATS = [42, 45, 63];
/** Results of a match other than its end: no match, or paused, in which case it must be called again. */
export const NO_MATCH = -1;
/** The match has paused. */
export const PAUSED = -2;

/** How an attempt to advance ended. */
const DONE = 0;
const FAILED = 1;
const SPENT = 2;

/** The kinds of alternatives. Each is stored with three numbers. */
const GREEDY = 0;
const LAZY = 1;
const OPTIONAL = 2;
const OPENED = 3;
const CLOSED = 4;
const CHOICE = 4;

function isAlpha(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** True when the character is in a class such as %a, by C's ctype. An upper-case letter means the complement. */
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

/** A match of one pattern on one subject. */
export class Matcher {
  readonly subject: Bytes;
  readonly #pattern: Bytes;
  level = 0;
  readonly #starts: number[] = [];
  readonly #lengths: number[] = [];
  /** The alternatives so far: three numbers and a kind each. */
  readonly #choices: number[] = [];
  #top = 0;
  #at = 0;
  #p = 0;
  /** How far an item that matches many characters had come when it was paused; -1 when none was. */
  #scanned = -1;
  #paused = false;
  /** The number of steps that are left. */
  #left = 0;

  /** @param pattern the pattern, which ends at its first NUL, as in C */
  constructor(subject: Bytes, pattern: Bytes) {
    this.subject = subject;
    const end = pattern.indexOf('\0');
    this.#pattern = end < 0 ? pattern : pattern.slice(0, end);
  }

  /**
   * Matches from a position and forgets earlier captures. When the fuel is used up, the fast form of scripts throws a
   * Signal; in the resumable form, the same call continues later.
   * @returns the end of the match, NO_MATCH or PAUSED
   */
  match(at: number, patternAt: number): number {
    if (!this.#paused) {
      this.level = 0;
      this.#top = 0;
      this.#at = at;
      this.#p = patternAt;
    }
    do {
      this.#left = Math.max(0, S.fuel) * 2;
      const before = this.#left;
      let outcome = this.#advance();
      while (outcome === FAILED && this.#retreat()) outcome = this.#advance();
      S.fuel -= 1 + ((before - this.#left) >>> 1);
      this.#paused = outcome === SPENT;
      if (outcome === DONE) return this.#at;
      if (outcome === FAILED) return NO_MATCH;
    } while (refuel());
    if (!S.resumable) throw new Signal('fuel');
    return PAUSED;
  }

  /** The captures, or the whole match when the pattern has none. */
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

  /** Advances along the pattern as far as possible. */
  #advance(): typeof DONE | typeof FAILED | typeof SPENT {
    const pattern = this.#pattern;
    const subject = this.subject;
    let at = this.#at;
    let p = this.#p;
    for (; p < pattern.length; ) {
      if (this.#left-- <= 0) return this.#pause(at, p);
      const code = pattern.charCodeAt(p);
      if (code === 40) {
        p = this.#open(at, p);
        continue;
      }
      if (code === 41) {
        this.#close(at);
        p++;
        continue;
      }
      if (code === 36 && p + 1 === pattern.length) {
        if (at !== subject.length) return FAILED;
        break;
      }
      if (code === ESCAPE && this.#isSpecial(p)) {
        at = this.#special(at, p);
        if (at === PAUSED) return SPENT;
        if (at < 0) return FAILED;
        p = this.#specialEnd(p);
        continue;
      }
      const end = this.#classEnd(p);
      const suffix = end < pattern.length ? pattern.charCodeAt(end) : 0;
      if (suffix === 42 || suffix === 43) {
        at = this.#greedy(at, p, end, suffix === 43);
        if (at === PAUSED) return SPENT;
        if (at < 0) return FAILED;
        p = end + 1;
      } else if (suffix === 45) {
        at = this.#lazy(at, p, end);
        if (at < 0) return FAILED;
        this.#choose(at, p, end, LAZY);
        p = end + 1;
      } else if (at < subject.length && this.#single(subject.charCodeAt(at), p, end)) {
        if (suffix === 63) this.#choose(at, end + 1, 0, OPTIONAL);
        at++;
        p = suffix === 63 ? end + 1 : end;
      } else if (suffix === 63) p = end + 1;
      else return FAILED;
    }
    this.#at = at;
    return DONE;
  }

  #pause(at: number, p: number): typeof SPENT {
    this.#at = at;
    this.#p = p;
    return SPENT;
  }

  #choose(at: number, p: number, extra: number, kind: number): void {
    const choices = this.#choices;
    const top = this.#top;
    choices[top] = at;
    choices[top + 1] = p;
    choices[top + 2] = extra;
    choices[top + 3] = kind;
    this.#top = top + CHOICE;
  }

  /** Returns to the last alternative and takes it; false when there is none. */
  #retreat(): boolean {
    const choices = this.#choices;
    while (this.#top > 0) {
      const top = this.#top - CHOICE;
      const at = choices[top]!;
      const p = choices[top + 1]!;
      const extra = choices[top + 2]!;
      this.#left--;
      this.#at = at;
      this.#p = p;
      switch (choices[top + 3]) {
        case GREEDY:
          if (at > extra) choices[top] = at - 1;
          else this.#top = top;
          return true;
        case LAZY:
          if (at < this.subject.length && this.#single(this.subject.charCodeAt(at), p, extra)) {
            const next = this.#lazy(at + 1, p, extra);
            if (next >= 0) {
              choices[top] = this.#at = next;
              this.#p = extra + 1;
              return true;
            }
          }
          break;
        case OPTIONAL:
          this.#top = top;
          return true;
        case OPENED:
          this.level--;
          break;
        case CLOSED:
          this.#lengths[at] = UNFINISHED;
          break;
      }
      this.#top = top;
    }
    return false;
  }

  /** True for %b, %f or a back reference. */
  #isSpecial(p: number): boolean {
    const kind = this.#pattern.charCodeAt(p + 1);
    return kind === 98 || kind === 102 || isDigit(kind);
  }

  #specialEnd(p: number): number {
    const kind = this.#pattern.charCodeAt(p + 1);
    return kind === 98 ? p + 4 : kind === 102 ? this.#classEnd(p + 2) : p + 2;
  }

  /** The position after one of these items, NO_MATCH or PAUSED. */
  #special(at: number, p: number): number {
    const pattern = this.#pattern;
    const kind = pattern.charCodeAt(p + 1);
    if (kind === 98) return this.#balanced(at, p);
    if (kind === 102) {
      const start = p + 2;
      if (pattern.charCodeAt(start) !== 91) raise("missing '[' after '%f' in pattern");
      const end = this.#classEnd(start) - 1;
      const before = at === 0 ? 0 : this.subject.charCodeAt(at - 1);
      const here = at < this.subject.length ? this.subject.charCodeAt(at) : 0;
      return this.#inSet(before, start, end) || !this.#inSet(here, start, end) ? NO_MATCH : at;
    }
    const index = this.#checkCapture(kind);
    const length = this.#lengths[index]!;
    const from = this.#starts[index]!;
    this.#left -= Math.max(0, length) >>> 4;
    if (length < 0 || !this.subject.startsWith(this.subject.slice(from, from + length), at)) return NO_MATCH;
    return at + length;
  }

  #checkCapture(code: number): number {
    const index = code - 49;
    if (index < 0 || index >= this.level || this.#lengths[index] === UNFINISHED) {
      raise('invalid capture index');
    }
    return index;
  }

  /** Matches from the character after %b to the one that balances it. */
  #balanced(at: number, p: number): number {
    if (p + 3 >= this.#pattern.length) raise('unbalanced pattern');
    const { subject } = this;
    const open = this.#pattern.charCodeAt(p + 2);
    const close = this.#pattern.charCodeAt(p + 3);
    if (at >= subject.length || subject.charCodeAt(at) !== open) return NO_MATCH;
    let depth = 1;
    // Does not pause: it scans the subject at most once from here.
    for (let i = at + 1; i < subject.length; i++) {
      const code = subject.charCodeAt(i);
      if (code === close) {
        if (--depth > 0) continue;
        this.#left -= i - at;
        return i + 1;
      }
      if (code === open) depth++;
    }
    this.#left -= subject.length - at;
    return NO_MATCH;
  }

  #open(at: number, p: number): number {
    const { level } = this;
    if (level >= MAX_CAPTURES) raise('too many captures');
    const isPosition = this.#pattern.charCodeAt(p + 1) === 41;
    this.#starts[level] = at;
    this.#lengths[level] = isPosition ? POSITION : UNFINISHED;
    this.level = level + 1;
    this.#choose(0, 0, 0, OPENED);
    return isPosition ? p + 2 : p + 1;
  }

  #close(at: number): void {
    let index = this.level - 1;
    while (index >= 0 && this.#lengths[index] !== UNFINISHED) index--;
    if (index < 0) raise('invalid pattern capture');
    this.#lengths[index] = at - this.#starts[index]!;
    this.#choose(index, 0, 0, CLOSED);
  }

  /** Matches as many characters of a class as possible; fewer are the alternatives. Returns the same as #special. */
  #greedy(at: number, p: number, end: number, one: boolean): number {
    const { subject } = this;
    let i = this.#scanned < 0 ? at : this.#scanned;
    this.#scanned = -1;
    while (i < subject.length && this.#single(subject.charCodeAt(i), p, end)) {
      i++;
      if (this.#left-- > 0) continue;
      this.#scanned = i;
      this.#pause(at, p);
      return PAUSED;
    }
    const fewest = one ? at + 1 : at;
    if (i > fewest) this.#choose(i - 1, end + 1, fewest, GREEDY);
    return i < fewest ? NO_MATCH : i;
  }

  /** The next position at which a lazy item may end: before the character that must follow it. NO_MATCH if there is none. */
  #lazy(at: number, p: number, end: number): number {
    const next = this.#certain(end + 1);
    if (next < 0) return at;
    const { subject } = this;
    // Does not pause: it scans the subject at most once from here.
    let i = at;
    if (this.#pattern.charCodeAt(p) === DOT) i = subject.indexOf(String.fromCharCode(next), at);
    else {
      while (i < subject.length && subject.charCodeAt(i) !== next) {
        if (!this.#single(subject.charCodeAt(i++), p, end)) return NO_MATCH;
        this.#left--;
      }
    }
    const isFound = i >= 0 && i < subject.length;
    this.#left -= ((isFound ? i : subject.length) - at) >>> 5;
    return isFound ? i : NO_MATCH;
  }

  /** The character that a match must have if the pattern goes on here; -1 if more than one would do. */
  #certain(p: number): number {
    if (p >= this.#pattern.length) return -1;
    const code = this.#pattern.charCodeAt(p);
    return SPECIAL.includes(code) || REPEATS.includes(this.#pattern.charCodeAt(p + 1)) ? -1 : code;
  }

  /** The end of the single-character class that starts here. */
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
    if (kind === DOT) return true;
    if (kind === ESCAPE) return matchesClass(code, this.#pattern.charCodeAt(p + 1));
    if (kind !== 91) return kind === code;
    this.#left -= (end - p) >>> 3;
    return this.#inSet(code, p, end - 1);
  }

  /** True when the set between the brackets at `start` and `last` contains the character. */
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
