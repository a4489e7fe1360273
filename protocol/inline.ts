/** The words of an inline request, as typed into telnet, with Redis' quoting rules: reading and writing them. */
import type { Bytes } from './bytes.ts';

const ESCAPES: Readonly<Record<string, Bytes>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' };
const HEX = /^[0-9a-fA-F]{2}$/;

/** How a server splits lines into words, where servers differ. */
export interface WordRules {
  /**
   * Whether a quote may close within a word. If so, the last quote of a line closes even behind a backslash. Otherwise a
   * closing quote must be followed by a blank or the end of the line.
   */
  readonly closesWithin: boolean;
  /** Whether bytes 0xff are left out of words. */
  readonly drops: boolean;
}

export const REDIS_WORDS: WordRules = { closesWithin: false, drops: false };
export const VALKEY_8_WORDS: WordRules = { closesWithin: false, drops: true };
export const VALKEY_9_WORDS: WordRules = { closesWithin: true, drops: true };

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const DOUBLE = 34;
const SINGLE = 39;
/** What Valkey takes for the end of its input, and leaves out. */
const DROPPED = 255;

/**
 * C's isspace. Of these, \v and \f separate arguments only where blanks are skipped; they do not end an unquoted word.
 */
function isBlank(code: number): boolean {
  return code === SPACE || (code >= TAB && code <= CR);
}

/** True for a byte that ends an unquoted word. */
function endsWord(code: number): boolean {
  return code === SPACE || code === CR || code === LF || code === TAB;
}

/**
 * The arguments of a line: unquoted words, "double quotes" with \n \r \t \b \a \xHH and \<any>, 'single quotes' with \'.
 * Undefined for unbalanced quotes.
 */
export function splitInline(line: Bytes, rules = REDIS_WORDS): Bytes[] | undefined {
  const argv: Bytes[] = [];
  let at = 0;
  for (;;) {
    while (at < line.length && isBlank(line.charCodeAt(at))) at++;
    if (at === line.length) return argv;
    const word = readWord(line, at, rules);
    if (word === undefined) return undefined;
    argv.push(word.text);
    at = word.end;
  }
}

function readWord(line: Bytes, start: number, rules: WordRules): { text: Bytes; end: number } | undefined {
  let text = '';
  let end = start;
  while (end < line.length) {
    const code = line.charCodeAt(end);
    if (endsWord(code)) break;
    if (code !== DOUBLE && code !== SINGLE) {
      if (code !== DROPPED || !rules.drops) text += line.charAt(end);
      end++;
      continue;
    }
    const quoted = (code === DOUBLE ? readDouble : readSingle)(line, end + 1, rules);
    if (quoted === undefined) return undefined;
    text += quoted.text;
    end = quoted.end;
    if (rules.closesWithin || end === line.length) continue;
    return isBlank(line.charCodeAt(end)) ? { text, end } : undefined;
  }
  return { text, end };
}

/** True for a backslash whose next byte it changes: not for one before the last quote of a line, where that quote closes. */
function escapes(line: Bytes, at: number, quote: Bytes, rules: WordRules): boolean {
  const isLastQuote = at + 2 === line.length && line.charAt(at + 1) === quote;
  return line.charAt(at) === '\\' && !(isLastQuote && rules.closesWithin);
}

function readDouble(line: Bytes, start: number, rules: WordRules): { text: Bytes; end: number } | undefined {
  let text = '';
  for (let at = start; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '"') return { text, end: at + 1 };
    if (!escapes(line, at, '"', rules)) {
      if (char !== '\xff' || !rules.drops) text += char;
      continue;
    }
    const escaped = line.charAt(++at);
    const hex = line.slice(at + 1, at + 3);
    if (escaped === 'x' && HEX.test(hex)) {
      text += Buffer.from(hex, 'hex').latin1Slice();
      at += 2;
    } else {
      text += ESCAPES[escaped] ?? escaped;
    }
  }
  return undefined;
}

function readSingle(line: Bytes, start: number, rules: WordRules): { text: Bytes; end: number } | undefined {
  let text = '';
  for (let at = start; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === "'") return { text, end: at + 1 };
    if (line.charAt(at + 1) === "'" && escapes(line, at, "'", rules)) at++;
    else if (char === '\xff' && rules.drops) continue;
    text += line.charAt(at);
  }
  return undefined;
}

const ESCAPED: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\x07': '\\a',
  '\b': '\\b',
};

/** A word in double quotes, which `splitInline` reads back whatever bytes it has. */
export function quoted(word: Bytes): Bytes {
  const text = word.replace(
    /[^ !#-[\]-~]/g,
    (byte) => ESCAPED[byte] ?? `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `"${text}"`;
}

/** A word as it is, or in double quotes if `splitInline` would read it as something else. */
export function quotedIfNeeded(word: Bytes): Bytes {
  return /^[!#-&(-[\]-~]+$/.test(word) ? word : quoted(word);
}
