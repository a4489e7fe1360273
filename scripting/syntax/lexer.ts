/** Splits Lua 5.1 text into tokens, with the error texts of Redis' own lexer. */
import { allocate } from '../../protocol/allowance.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import { stringToNumber } from '../runtime/values.ts';

const KEYWORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
);

/** So many digits are exact in a double. */
const EXACT = 15;

/** The length of the longest keywords. */
const LONGEST = 'function'.length;

/** '<name>', '<string>', '<number>', '<eof>', or the keyword or symbol itself. */
export type TokenKind = string;

/** A syntax error with Lua's text. */
export class LuaSyntaxError extends Error {}

/** Tokens are counted in parts of so many. */
const TOKENS = 64;
/** What the syntax tree takes for a token, in bytes. */
const NODE_BYTES = 100;

/** The symbols that end with '=', by their first character. */
const DOUBLE: Record<number, string> = { 61: '==', 60: '<=', 62: '>=', 126: '~=' };

const NEWLINE = 10;
const RETURN = 13;
const ESCAPES: Record<string, string> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isWord(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
}

/** Reads one token at a time; `kind`, `text` and `number` describe the current one. */
export class Lexer {
  readonly chunk: Bytes;
  readonly #source: Bytes;
  #at = 0;
  /** The line at which the current token ends. */
  line = 1;
  /** The line of the previous token. */
  lastLine = 1;
  kind: TokenKind = '';
  /** A name, or the contents of a string. */
  text: Bytes = '';
  number = 0;
  #raw: Bytes = '';
  /** How many tokens have been read. */
  tokens = 0;
  /** When tokens are counted next. */
  #due = TOKENS;
  #ahead: { kind: TokenKind; text: Bytes; number: number; raw: Bytes } | undefined;

  constructor(source: Bytes, chunk: Bytes) {
    this.#source = source;
    this.chunk = chunk;
  }

  /** Moves on to the next token. */
  next(): void {
    this.lastLine = this.line;
    if (++this.tokens > this.#due) {
      this.#due += TOKENS;
      allocate(TOKENS * NODE_BYTES);
    }
    if (this.#ahead !== undefined) {
      const { kind, text, number, raw } = this.#ahead;
      this.#ahead = undefined;
      this.kind = kind;
      this.text = text;
      this.number = number;
      this.#raw = raw;
      return;
    }
    this.kind = this.#scan();
  }

  /** The tree of all tokens after the first `tokens` is not kept. */
  forget(tokens: number): void {
    this.#due += this.tokens - tokens;
  }

  /** The kind of the next token. */
  peek(): TokenKind {
    const { kind, text, number } = this;
    const raw = this.#raw;
    const found = this.#scan();
    this.#ahead = { kind: found, text: this.text, number: this.number, raw: this.#raw };
    this.kind = kind;
    this.text = text;
    this.number = number;
    this.#raw = raw;
    return found;
  }

  /** Throws the message with the current token: `… near 'x'`. */
  fail(message: Bytes): never {
    this.#failNear(message, this.kind);
  }

  /** Throws the message without a token. */
  failPlain(message: Bytes): never {
    throw new LuaSyntaxError(`${this.chunk}:${this.line}: ${message}`);
  }

  #failNear(message: Bytes, kind: TokenKind): never {
    const hasText = kind === '<name>' || kind === '<string>' || kind === '<number>';
    let near = hasText ? this.#raw : kind;
    if (kind.length === 1 && (kind < ' ' || kind === '\x7f')) {
      if (kind === '\0') this.failPlain(message);
      near = `char(${kind.charCodeAt(0)})`;
    }
    const end = near.indexOf('\0');
    this.failPlain(`${message} near '${end < 0 ? near : near.slice(0, end)}'`);
  }

  #code(offset = 0): number {
    const at = this.#at + offset;
    return at < this.#source.length ? this.#source.charCodeAt(at) : -1;
  }

  #scan(): TokenKind {
    let code = this.#code();
    for (; code <= 45; code = this.#code()) {
      if (code < 0) return '<eof>';
      if (code === NEWLINE || code === RETURN) this.#newline();
      else if (code === 45 && this.#code(1) === 45) this.#comment();
      else if (code === 32 || (code >= 9 && code <= 12)) this.#at++;
      else break;
    }
    if (isDigit(code)) return this.#numeral();
    if (isWord(code)) return this.#word();
    if (code === 34 || code === 39) return this.#quoted(code);
    if (code === 91) return this.#bracket();
    return this.#symbol(code);
  }

  #newline(): void {
    const first = this.#code();
    const second = this.#code(1);
    this.#at += (second === NEWLINE || second === RETURN) && second !== first ? 2 : 1;
    this.line++;
  }

  #comment(): void {
    this.#at += 2;
    if (this.#code() === 91) {
      const level = this.#level();
      if (level >= 0) {
        this.#long(level, 'unfinished long comment');
        return;
      }
    }
    while (this.#code() >= 0 && this.#code() !== NEWLINE && this.#code() !== RETURN) this.#at++;
  }

  #word(): TokenKind {
    const start = this.#at;
    while (isWord(this.#code())) this.#at++;
    this.text = this.#raw = this.#source.slice(start, this.#at);
    const { length } = this.text;
    const isKeyword = length > 1 && length <= LONGEST && KEYWORDS.has(this.text);
    return isKeyword ? this.text : '<name>';
  }

  #numeral(): TokenKind {
    const start = this.#at;
    let digits = 0;
    for (; isDigit(this.#code()); this.#at++) digits = digits * 10 + this.#code() - 48;
    if (this.#at > start && this.#at - start <= EXACT && !isWord(this.#code()) && this.#code() !== 46) {
      this.#raw = this.#source.slice(start, this.#at);
      this.number = digits;
      return '<number>';
    }
    while (isDigit(this.#code()) || this.#code() === 46) this.#at++;
    if (this.#code() === 69 || this.#code() === 101) {
      this.#at++;
      if (this.#code() === 43 || this.#code() === 45) this.#at++;
    }
    while (isWord(this.#code())) this.#at++;
    this.#raw = this.#source.slice(start, this.#at);
    const value = stringToNumber(this.#raw);
    if (value === undefined) this.#failNear('malformed number', '<number>');
    this.number = value;
    return '<number>';
  }

  #symbol(code: number): TokenKind {
    const second = this.#code(1);
    if (code === 46 && second === 46) {
      const wide = this.#code(2) === 46;
      this.#at += wide ? 3 : 2;
      return wide ? '...' : '..';
    }
    if (code === 46 && isDigit(second)) return this.#numeral();
    const double = second === 61 ? DOUBLE[code] : undefined;
    this.#at += double === undefined ? 1 : 2;
    return double ?? String.fromCharCode(code);
  }

  #bracket(): TokenKind {
    const start = this.#at;
    const level = this.#level();
    if (level >= 0) {
      const text = this.#long(level, 'unfinished long string');
      this.text = text;
      this.#raw = this.#source.slice(start, this.#at);
      return '<string>';
    }
    if (level === -1) {
      this.#at = start + 1;
      return '[';
    }
    this.#raw = this.#source.slice(start, this.#at);
    this.#failNear('invalid long string delimiter', '<string>');
  }

  /**
   * The number of '=' in an opening long bracket, which is consumed; -1 for a single bracket, -2 for an invalid one.
   */
  #level(): number {
    let count = 0;
    const start = this.#at;
    while (this.#code(1 + count) === 61) count++;
    if (this.#code(1 + count) === 91) {
      this.#at += count + 2;
      return count;
    }
    this.#at = start + 1 + count;
    return count === 0 ? -1 : -2;
  }

  #long(level: number, unfinished: Bytes): Bytes {
    const close = `]${'='.repeat(level)}]`;
    let out = '';
    if (this.#code() === NEWLINE || this.#code() === RETURN) this.#newline();
    for (let start = this.#at; ; ) {
      const code = this.#code();
      if (code < 0) this.#failNear(unfinished, '<eof>');
      if (code === 93 && this.#source.startsWith(close, this.#at)) {
        out += this.#source.slice(start, this.#at);
        this.#at += close.length;
        return out;
      }
      if (code === NEWLINE || code === RETURN) {
        out += `${this.#source.slice(start, this.#at)}\n`;
        this.#newline();
        start = this.#at;
      } else this.#at++;
    }
  }

  #quoted(quote: number): TokenKind {
    const mark = this.#source.charAt(this.#at++);
    let out = '';
    for (let plain = this.#at; ; ) {
      const code = this.#code();
      if (code === quote) {
        this.text = out + this.#source.slice(plain, this.#at++);
        this.#raw = mark + this.text + mark;
        return '<string>';
      }
      if (code < 0) this.#failNear('unfinished string', '<eof>');
      if (code === NEWLINE || code === RETURN) {
        this.#raw = mark + out + this.#source.slice(plain, this.#at);
        this.#failNear('unfinished string', '<string>');
      }
      if (code === 92) {
        out += this.#source.slice(plain, this.#at++);
        out += this.#escape(mark + out);
        plain = this.#at;
      } else this.#at++;
    }
  }

  #escape(before: Bytes): Bytes {
    const code = this.#code();
    if (code < 0) return '';
    if (code === NEWLINE || code === RETURN) {
      this.#newline();
      return '\n';
    }
    if (!isDigit(code)) {
      const letter = this.#source.charAt(this.#at++);
      return ESCAPES[letter] ?? letter;
    }
    let value = 0;
    for (let i = 0; i < 3 && isDigit(this.#code()); i++, this.#at++) value = value * 10 + this.#code() - 48;
    if (value > 255) {
      this.#raw = before;
      this.#failNear('escape sequence too large', '<string>');
    }
    return String.fromCharCode(value);
  }
}
