/** Glob patterns of KEYS, SCAN and PSUBSCRIBE: `*`, `?`, `[…]` and backslash, matched on bytes without recursion. */
import type { Bytes } from './bytes.ts';

const STAR = 42;
const QUESTION = 63;
const OPEN = 91;
const BACKSLASH = 92;
const CLOSE = 93;
const CARET = 94;
const DASH = 45;

/** Redis gives up on a pattern with more nested stars than this. */
const STARS_MAX = 1000;

/**
 * True when the whole text matches the pattern. As in Redis, only the pattern '' matches the empty text (not even '*'
 * does), a class may lack its closing bracket, and its ranges treat bytes above 127 as negative.
 * @param nocase whether to ignore the case of A to Z
 */
export function globMatch(pattern: Bytes, text: Bytes, nocase = false): boolean {
  if (text.length === 0) return pattern.length === 0;
  let p = 0;
  let t = 0;
  let stars = 0;
  // Only the last star has to be remembered: an earlier one could not give back anything that this one cannot take.
  let star = -1;
  let resume = 0;
  while (t < text.length || p < pattern.length) {
    if (pattern.charCodeAt(p) === STAR) {
      while (pattern.charCodeAt(p + 1) === STAR) p++;
      if (p + 1 === pattern.length) return true;
      if (++stars > STARS_MAX) return false;
      star = p++;
      resume = t;
      continue;
    }
    const next = t < text.length && p < pattern.length ? step(pattern, p, text.charCodeAt(t), nocase) : -1;
    if (next >= 0) {
      p = next;
      t++;
    } else if (star >= 0 && resume < text.length) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return true;
}

/**
 * Returns a test for many texts. It gives what `globMatch` gives, but first compares the part of the pattern before its first
 * special character. Most patterns are a prefix and a star.
 */
export function globTest(pattern: Bytes): (text: Bytes) => boolean {
  const special = pattern.search(/[*?[\\]/);
  if (special < 0) return (text) => text === pattern;
  const prefix = pattern.slice(0, special);
  if (pattern.slice(special) === '*') return (text) => text.length > 0 && text.startsWith(prefix);
  return (text) => text.startsWith(prefix) && globMatch(pattern, text);
}

/** The position after the pattern element at `p` when it matches the byte; otherwise -1. */
function step(pattern: Bytes, p: number, byte: number, nocase: boolean): number {
  const code = pattern.charCodeAt(p);
  if (code === QUESTION) return p + 1;
  if (code === OPEN) return stepClass(pattern, p + 1, byte, nocase);
  if (code === BACKSLASH && p + 1 < pattern.length) {
    return same(pattern.charCodeAt(p + 1), byte, nocase) ? p + 2 : -1;
  }
  return same(code, byte, nocase) ? p + 1 : -1;
}

function stepClass(pattern: Bytes, from: number, byte: number, nocase: boolean): number {
  let p = from;
  const inverted = pattern.charCodeAt(p) === CARET;
  if (inverted) p++;
  let found = false;
  for (; p < pattern.length; p++) {
    const code = pattern.charCodeAt(p);
    if (code === BACKSLASH && p + 1 < pattern.length) {
      p++;
      if (pattern.charCodeAt(p) === byte) found = true;
    } else if (code === CLOSE) {
      break;
    } else if (pattern.charCodeAt(p + 1) === DASH && p + 2 < pattern.length) {
      if (inRange(byte, code, pattern.charCodeAt(p + 2), nocase)) found = true;
      p += 2;
    } else if (same(code, byte, nocase)) {
      found = true;
    }
  }
  return found !== inverted ? p + 1 : -1;
}

/** Either end may be the smaller one. They are swapped before letters are folded, so [Z-a] without case is empty. */
function inRange(byte: number, first: number, second: number, nocase: boolean): boolean {
  const from = signed(first);
  const to = signed(second);
  const low = fold(Math.min(from, to), nocase);
  const high = fold(Math.max(from, to), nocase);
  const value = fold(signed(byte), nocase);
  return value >= low && value <= high;
}

function same(a: number, b: number, nocase: boolean): boolean {
  return a === b || (nocase && fold(a, true) === fold(b, true));
}

function fold(code: number, nocase: boolean): number {
  return nocase && code >= 65 && code <= 90 ? code + 32 : code;
}

/** A byte as C's signed char. */
function signed(byte: number): number {
  return byte > 127 ? byte - 256 : byte;
}
