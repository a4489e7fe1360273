/** The words of an inline request, as typed into telnet, with Redis' quoting rules: reading and writing them. */
import type { Bytes } from './bytes.ts';

const ESCAPES: Readonly<Record<string, Bytes>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' };
const HEX = /^[0-9a-fA-F]{2}$/;

/**
 * C's isspace. Of these, \v and \f separate arguments only where blanks are skipped; they do not end an unquoted word.
 */
function isBlank(char: string): boolean {
  return char !== '' && ' \t\n\v\f\r'.includes(char);
}

/**
 * The arguments of a line: unquoted words, "double quotes" with \n \r \t \b \a \xHH and \<any>, 'single quotes' with \'.
 * A closing quote must be followed by a blank or the end of the line. Undefined for unbalanced quotes.
 */
export function splitInline(line: Bytes): Bytes[] | undefined {
  const argv: Bytes[] = [];
  let at = 0;
  for (;;) {
    while (isBlank(line.charAt(at))) at++;
    if (at >= line.length) return argv;
    const word = readWord(line, at);
    if (word === undefined) return undefined;
    argv.push(word.text);
    at = word.end;
  }
}

function readWord(line: Bytes, start: number): { text: Bytes; end: number } | undefined {
  let text = '';
  for (let at = start; ; at++) {
    const char = line.charAt(at);
    if (char === '' || ' \n\r\t'.includes(char)) return { text, end: at };
    if (char !== '"' && char !== "'") {
      text += char;
      continue;
    }
    const quoted = char === '"' ? readDouble(line, at + 1) : readSingle(line, at + 1);
    if (quoted === undefined) return undefined;
    const after = line.charAt(quoted.end);
    if (after !== '' && !isBlank(after)) return undefined;
    return { text: text + quoted.text, end: quoted.end };
  }
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
