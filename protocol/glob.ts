/** Glob patterns as KEYS, SCAN and PSUBSCRIBE understand them: `*`, `?`, `[…]` and backslash, on bytes, without recursion. */
import { asciiLower, type Bytes } from './bytes.ts';

const STAR = 42;
const QUESTION = 63;
const OPEN = 91;
const BACKSLASH = 92;
const CLOSE = 93;
const CARET = 94;
const DASH = 45;

/** True when the whole text fits the pattern; `nocase` folds A to Z. */
export function globMatch(pattern: Bytes, text: Bytes, nocase = false): boolean {
  if (nocase) return match(asciiLower(pattern), asciiLower(text));
  return match(pattern, text);
}

// Only the latest star needs to be remembered: an earlier one could give back nothing that this one cannot take.
function match(pattern: Bytes, text: Bytes): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  for (;;) {
    if (p < pattern.length && pattern.charCodeAt(p) === STAR) {
      while (pattern.charCodeAt(p + 1) === STAR) p++;
      if (p + 1 === pattern.length) return true;
      star = p++;
      resume = t;
      continue;
    }
    if (t === text.length) return p === pattern.length;
    const next = p < pattern.length ? step(pattern, p, text.charCodeAt(t)) : -1;
    if (next >= 0) {
      p = next;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
}

/** The position behind the element at `p` when it takes the byte; -1 when it does not. */
function step(pattern: Bytes, p: number, byte: number): number {
  const code = pattern.charCodeAt(p);
  if (code === QUESTION) return p + 1;
  if (code === OPEN) return stepClass(pattern, p + 1, byte);
  if (code === BACKSLASH && p + 1 < pattern.length) return pattern.charCodeAt(p + 1) === byte ? p + 2 : -1;
  return code === byte ? p + 1 : -1;
}

function stepClass(pattern: Bytes, from: number, byte: number): number {
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
      const end = pattern.charCodeAt(p + 2);
      if (byte >= Math.min(code, end) && byte <= Math.max(code, end)) found = true;
      p += 2;
    } else if (code === byte) {
      found = true;
    }
  }
  return found !== inverted ? Math.min(p + 1, pattern.length) : -1;
}
