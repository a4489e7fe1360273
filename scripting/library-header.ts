/** Parses the `#!lua name=…` line at the beginning of a library of functions. */
import { asciiLower, type Bytes, cString } from '../protocol/bytes.ts';
import { fail } from '../protocol/errors.ts';

/** The parts of a library's code. */
export interface LibraryHeader {
  readonly name: Bytes;
  readonly code: Bytes;
  /** The text to compile. An empty first line replaces the shebang, so that line numbers stay correct. */
  readonly body: Bytes;
}

/** Why a library or function cannot have this name; undefined if it can. */
export function badName(name: Bytes, what: 'Library' | 'Function'): Bytes | undefined {
  return /^[A-Za-z0-9_]+$/.test(name)
    ? undefined
    : `${what} names can only contain letters, numbers, or underscores(_) and must be at least one character long`;
}

/**
 * Parses the line.
 * @throws ReplyError with Redis' text for a line that is missing or wrong, or that names another engine
 */
export function readLibraryHeader(code: Bytes): LibraryHeader {
  if (!code.startsWith('#!')) fail('ERR Missing library metadata');
  const end = code.indexOf('\n');
  const words = end < 0 || code.slice(0, end).includes('\0') ? undefined : splitWords(code.slice(0, end));
  if (words === undefined) fail('ERR Invalid library metadata');
  const [first = '#!', ...options] = words;
  let name: Bytes | undefined;
  for (const option of options) {
    if (asciiLower(option.slice(0, 5)) !== 'name=')
      fail(`ERR Invalid metadata value given: ${cString(option)}`);
    if (name !== undefined) fail('ERR Invalid metadata value, name argument was given multiple times');
    name = option.slice(5);
  }
  if (name === undefined) fail('ERR Library name was not given');
  const wrong = badName(name, 'Library');
  if (wrong !== undefined) fail(`ERR ${wrong}`);
  const engine = first.slice(2);
  if (asciiLower(engine) !== 'lua') fail(`ERR Engine '${engine}' not found`);
  return { name, code, body: code.slice(end) };
}

const ESCAPES: Readonly<Record<string, Bytes>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' };
const BLANK = /[ \t\n\v\f\r]/;

/**
 * Splits a line like Redis splits the lines of its configuration: at blanks, with two kinds of quotes. Undefined for an
 * open quote.
 */
function splitWords(line: Bytes): Bytes[] | undefined {
  const words: Bytes[] = [];
  let at = 0;
  while (at < line.length) {
    if (BLANK.test(line[at]!)) {
      at++;
      continue;
    }
    let word = '';
    while (at < line.length && !BLANK.test(line[at]!)) {
      const char = line[at]!;
      if (char !== '"' && char !== "'") {
        word += char;
        at++;
        continue;
      }
      const quoted = readQuoted(line, at + 1, char);
      if (quoted === undefined) return undefined;
      word += quoted.text;
      at = quoted.end;
    }
    words.push(word);
  }
  return words;
}

/** Reads up to the closing quote, which must be followed by a blank or the end of the line. */
function readQuoted(line: Bytes, from: number, quote: Bytes): { text: Bytes; end: number } | undefined {
  let text = '';
  for (let at = from; at < line.length; at++) {
    const char = line[at]!;
    if (char === quote) {
      const end = at + 1;
      return end === line.length || BLANK.test(line[end]!) ? { text, end } : undefined;
    }
    const next = line[at + 1] ?? '';
    if (char !== '\\' || next === '' || (quote === "'" && next !== "'")) {
      text += char;
      continue;
    }
    const hex = quote === '"' ? /^x[0-9a-fA-F]{2}/.exec(line.slice(at + 1, at + 4)) : null;
    if (hex !== null) text += String.fromCharCode(+`0${hex[0]}`);
    else text += quote === '"' ? (ESCAPES[next] ?? next) : next;
    at += hex === null ? 1 : 3;
  }
  return undefined;
}
