/** string.find, match, gmatch and gsub. */
import type { Bytes } from '../../protocol/bytes.ts';
import { after, isFrame, pays } from '../runtime/frames.ts';
import { joined } from '../runtime/memory.ts';
import { callBack, index } from '../runtime/operations.ts';
import { Matcher, NO_MATCH, PAUSED } from '../runtime/patterns.ts';
import { inLibrary, type Site } from '../runtime/site.ts';
import { raise, S } from '../runtime/state.ts';
import { TextBuilder } from '../runtime/text-builder.ts';
import {
  type Frame,
  firstOf,
  type LuaFunction,
  LuaTable,
  type LuaValue,
  type Result,
  toText,
  typeName,
} from '../runtime/values.ts';
import { argumentError, checkInt32, checkString, optionalInteger } from './args.ts';
import { absolutePosition } from './string.ts';

const SPECIAL = /[\^$*+?.([%-]/;

function search(args: readonly LuaValue[], find: boolean): Result {
  const subject = checkString(args, 0);
  const pattern = checkString(args, 1);
  const wanted = absolutePosition(optionalInteger(args, 2, 1), subject.length) - 1;
  const start = Math.max(0, Math.min(wanted, subject.length));
  if (find && ((args[3] !== undefined && args[3] !== false) || !SPECIAL.test(untilNul(pattern)))) {
    const at = subject.indexOf(pattern, start);
    return at < 0 ? undefined : [at + 1, at + pattern.length];
  }
  return settle(new Search(new Matcher(subject, pattern), start, pattern.charCodeAt(0) === 94, find));
}

/** Searches for one match, starting at one position after another. */
class Search {
  result: Result;
  /** The end of the match. */
  end = 0;
  /** The current position of the search, or the start of the match. */
  at: number;
  readonly #matcher: Matcher;
  readonly #anchored: boolean;
  readonly #find: boolean;
  readonly #site: Site = S.site;

  constructor(matcher: Matcher, start: number, anchored: boolean, find: boolean) {
    this.#matcher = matcher;
    this.at = start;
    this.#anchored = anchored;
    this.#find = find;
  }

  /** True when the result is known; false when the search has to continue later. */
  run(): boolean {
    const matcher = this.#matcher;
    S.site = this.#site;
    for (; this.at <= matcher.subject.length; this.at++) {
      const end = matcher.match(this.at, this.#anchored ? 1 : 0);
      if (end === PAUSED) return false;
      if (end !== NO_MATCH) {
        this.end = end;
        this.result = this.#found(end);
        return true;
      }
      if (this.#anchored) break;
    }
    // After the end of the subject, so that gmatch does not start again.
    this.end = this.at;
    return true;
  }

  #found(end: number): Result {
    const matcher = this.#matcher;
    if (!this.#find) return matcher.captures(this.at, end);
    return matcher.level === 0 ? [this.at + 1, end] : [this.at + 1, end, ...matcher.captures(this.at, end)];
  }
}

/** The result of a search, or in the resumable form a frame that finishes it. */
function settle(work: Search): Result {
  return work.run() ? work.result : later(work);
}

function* later(work: Search): Frame {
  do yield undefined;
  while (!work.run());
  return work.result;
}

function untilNul(text: Bytes): Bytes {
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}

/** string.find(s, pattern, init, plain) */
export const find: LuaFunction = (...args) => search(args, true);

/** string.match(s, pattern, init) */
export const match: LuaFunction = (...args) => search(args, false);

/** string.gmatch(s, pattern) */
export const gmatch: LuaFunction = (...args) => {
  const subject = checkString(args, 0);
  const matcher = new Matcher(subject, checkString(args, 1));
  let last: Search | undefined;
  return () => {
    const empty = last !== undefined && last.end === last.at;
    last = new Search(matcher, last === undefined ? 0 : empty ? last.end + 1 : last.end, false, false);
    return settle(last);
  };
};

/** A replacement text with %0 to %9 replaced. */
function expand(matcher: Matcher, template: Bytes, start: number, end: number): Bytes {
  let out = '';
  let from = 0;
  for (let at = template.indexOf('%'); at >= 0; at = template.indexOf('%', from)) {
    const next = at + 1 < template.length ? template.charAt(at + 1) : '\0';
    out += template.slice(from, at);
    if (next === '0') out += matcher.subject.slice(start, end);
    else if (next >= '1' && next <= '9') out += toText(matcher.capture(+next - 1, start, end));
    else out += next;
    from = at + 2;
  }
  return from === 0 ? template : joined(out + template.slice(from));
}

/** A gsub in progress, match by match. */
class Substitution {
  readonly #matcher: Matcher;
  readonly #site: Site = S.site;
  readonly #inside: Site = inLibrary(S.site);
  readonly #replacement: LuaValue;
  readonly #anchored: boolean;
  readonly #limit: number;
  readonly #out = new TextBuilder();
  #at = 0;
  #to = 0;
  #count = 0;
  #done = false;

  constructor(args: readonly LuaValue[]) {
    const subject = checkString(args, 0);
    const pattern = checkString(args, 1);
    const replacement = args[2];
    const isText = typeof replacement === 'string' || typeof replacement === 'number';
    if (!isText && typeof replacement !== 'function' && !(replacement instanceof LuaTable)) {
      argumentError(2, 'string/function/table expected');
    }
    this.#limit = args[3] === undefined ? subject.length + 1 : checkInt32(args, 3);
    this.#anchored = pattern.charCodeAt(0) === 94;
    this.#matcher = new Matcher(subject, pattern);
    this.#replacement = isText ? toText(replacement) : replacement;
  }

  /** Moves to the next match; false at the end, undefined when it has to continue later. */
  next(): boolean | undefined {
    S.site = this.#site;
    while (!this.#done && this.#count < this.#limit) {
      const end = this.#matcher.match(this.#at, this.#anchored ? 1 : 0);
      if (end === PAUSED) return undefined;
      if (end !== NO_MATCH) {
        this.#count++;
        this.#to = end;
        return true;
      }
      this.#skip();
    }
    return false;
  }

  #skip(): void {
    const { subject } = this.#matcher;
    if (this.#at < subject.length) this.#out.add(subject.charAt(this.#at++));
    else this.#done = true;
    if (this.#anchored) this.#done = true;
  }

  /** The replacement for the current match. */
  replacement(): Result {
    const { subject } = this.#matcher;
    const wanted = this.#replacement;
    if (typeof wanted === 'string') return expand(this.#matcher, wanted, this.#at, this.#to);
    if (typeof wanted === 'function') {
      return callBack(wanted, this.#matcher.captures(this.#at, this.#to), this.#inside);
    }
    const key = this.#matcher.level === 0 ? subject.slice(this.#at, this.#to) : this.#first();
    return after(index(wanted, key, this.#inside), firstOf);
  }

  #first(): LuaValue {
    return this.#matcher.capture(0, this.#at, this.#to);
  }

  /** Inserts the replacement and moves past the match. */
  replace(value: LuaValue): void {
    const { subject } = this.#matcher;
    const text = value === undefined || value === false ? subject.slice(this.#at, this.#to) : toText(value);
    S.site = this.#site;
    if (text === undefined) raise(`invalid replacement value (a ${typeName(value)})`);
    this.#out.add(text);
    if (this.#to === this.#at) this.#skip();
    else {
      this.#at = this.#to;
      if (this.#anchored) this.#done = true;
    }
  }

  get result(): LuaValue[] {
    this.#out.add(this.#matcher.subject.slice(this.#at));
    return [this.#out.take(), this.#count];
  }
}

/** string.gsub(s, pattern, replacement, n) */
export function* gsub(...args: LuaValue[]): Frame {
  const work = new Substitution(args);
  for (let found = work.next(); found !== false; found = work.next()) {
    if (found === undefined) {
      yield undefined;
      continue;
    }
    let result = work.replacement();
    if (isFrame(result)) {
      S.nested++;
      result = yield result;
      S.nested--;
    }
    work.replace(firstOf(result));
    if (pays()) yield undefined;
  }
  return work.result;
}
