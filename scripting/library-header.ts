/** Parses the `#!lua name=…` line at the beginning of a library of functions. */
import { asciiLower, type Bytes, cString } from '../protocol/bytes.ts';
import { fail } from '../protocol/errors.ts';
import { splitInline, type WordRules } from '../protocol/inline.ts';

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
 * @param rules how the server splits the line
 * @throws ReplyError with Redis' text for a line that is missing or wrong, or that names another engine
 */
export function readLibraryHeader(code: Bytes, rules: WordRules): LibraryHeader {
  if (!code.startsWith('#!')) fail('ERR Missing library metadata');
  const end = code.indexOf('\n');
  const words =
    end < 0 || code.slice(0, end).includes('\0') ? undefined : splitInline(code.slice(0, end), rules);
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
