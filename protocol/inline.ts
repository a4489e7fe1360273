/** The words of an inline request, as typed into telnet, with Redis' quoting rules: reading and writing them. */
import type { Bytes } from './bytes.ts';

const ESCAPES: Readonly<Record<string, Bytes>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' };
const HEX = /^[0-9a-fA-F]{2}$/;

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 32;
const DOUBLE = 34;
const SINGLE = 39;

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
 * A closing quote must be followed by a blank or the end of the line. Undefined for unbalanced quotes.
 */
export function splitInline(line: Bytes): Bytes[] | undefined {
  const argv: Bytes[] = [];
  let at = 0;
  for (;;) {
    while (at < line.length && isBlank(line.charCodeAt(at))) at++;
    if (at === line.length) return argv;
    const word = readWord(line, at);
    if (word === undefined) return undefined;
    argv.push(word.text);
    at = word.end;
  }
}

function readWord(line: Bytes, start: number): { text: Bytes; end: number } | undefined {
  let end = start;
  for (; end < line.length; end++) {
    const code = line.charCodeAt(end);
    if (endsWord(code)) break;
    if (code !== DOUBLE && code !== SINGLE) continue;
    const quoted = code === DOUBLE ? readDouble(line, end + 1) : readSingle(line, end + 1);
    if (quoted === undefined) return undefined;
    if (quoted.end < line.length && !isBlank(line.charCodeAt(quoted.end))) return undefined;
    return { text: line.slice(start, end) + quoted.text, end: quoted.end };
  }
  return { text: line.slice(start, end), end };
}

function readDouble(line: Bytes, start: number): { text: Bytes; end: number } | undefined {
  let text = '';
  for (let at = start; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '"') return { text, end: at + 1 };
    if (char !== '\\') {
      text += char;
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

function readSingle(line: Bytes, start: number): { text: Bytes; end: number } | undefined {
  let text = '';
  for (let at = start; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === "'") return { text, end: at + 1 };
    if (char === '\\' && line.charAt(at + 1) === "'") at++;
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
