/** string.find, match, gmatch and gsub. */
import type { Bytes } from '../../protocol/bytes.ts';
import { after, isFrame, pays } from '../frames.ts';
import { callBack, index, MAX_STRING } from '../operations.ts';
import { Matcher } from '../patterns.ts';
import { inLibrary, raise, raiseBare, S, type Site } from '../state.ts';
import { LuaTable } from '../table.ts';
import {
  type Frame,
  firstOf,
  type LuaFunction,
  type LuaValue,
  type Result,
  toText,
  typeName,
} from '../values.ts';
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
  const anchored = pattern.charCodeAt(0) === 94;
  const matcher = new Matcher(subject, pattern);
  for (let at = start; at <= subject.length; at++) {
    const end = matcher.match(at, anchored ? 1 : 0);
    if (end >= 0) {
      if (!find) return matcher.captures(at, end);
      return matcher.level === 0 ? [at + 1, end] : [at + 1, end, ...matcher.captures(at, end)];
    }
    if (anchored) break;
  }
  return undefined;
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
  let from = 0;
  return () => {
    for (let at = from; at <= subject.length; at++) {
      const end = matcher.match(at, 0);
      if (end < 0) continue;
      from = end === at ? end + 1 : end;
      return matcher.captures(at, end);
    }
    from = subject.length + 1;
    return undefined;
  };
};

/** A replacement text with its %0 to %9 filled in. */
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
  return from === 0 ? template : out + template.slice(from);
}

/** A gsub under way, match by match. */
class Substitution {
  readonly #matcher: Matcher;
  readonly #site: Site = S.site;
  readonly #inside: Site = inLibrary(S.site);
  readonly #replacement: LuaValue;
  readonly #anchored: boolean;
  readonly #limit: number;
  #out = '';
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

  /** Goes to the next match; false at the end. */
  next(): boolean {
    S.site = this.#site;
    while (!this.#done && this.#count < this.#limit) {
      const end = this.#matcher.match(this.#at, this.#anchored ? 1 : 0);
      if (end >= 0) {
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
    if (this.#at < subject.length) this.#out += subject.charAt(this.#at++);
    else this.#done = true;
    if (this.#anchored) this.#done = true;
  }

  /** What the present match is to become, as the replacement says it. */
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

  /** Puts the replacement in and moves past the match. */
  replace(value: LuaValue): void {
    const { subject } = this.#matcher;
    const text = value === undefined || value === false ? subject.slice(this.#at, this.#to) : toText(value);
    S.site = this.#site;
    if (text === undefined) raise(`invalid replacement value (a ${typeName(value)})`);
    this.#out += text;
    if (this.#out.length > MAX_STRING) raiseBare('not enough memory');
    if (this.#to === this.#at) this.#skip();
    else {
      this.#at = this.#to;
      if (this.#anchored) this.#done = true;
    }
  }

  get result(): LuaValue[] {
    return [this.#out + this.#matcher.subject.slice(this.#at), this.#count];
  }
}

/** string.gsub(s, pattern, replacement, n) */
export function* gsub(...args: LuaValue[]): Frame {
  const work = new Substitution(args);
  while (work.next()) {
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
