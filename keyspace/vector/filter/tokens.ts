/** Splits a filter expression into values, selectors and operators. */
import { type Bytes, parseAnyDouble } from '../../../protocol/bytes.ts';
import { type FilterValue, isBlank, numberValue } from './values.ts';

/** The operators by name. Those of greater precedence are applied first. */
export const OPERATORS = {
  '(': { name: '(', precedence: 7, operands: 0 },
  ')': { name: ')', precedence: 7, operands: 0 },
  '!': { name: 'not', precedence: 6, operands: 1 },
  not: { name: 'not', precedence: 6, operands: 1 },
  '**': { name: '**', precedence: 5, operands: 2 },
  '*': { name: '*', precedence: 4, operands: 2 },
  '/': { name: '/', precedence: 4, operands: 2 },
  '%': { name: '%', precedence: 4, operands: 2 },
  '+': { name: '+', precedence: 3, operands: 2 },
  '-': { name: '-', precedence: 3, operands: 2 },
  '>': { name: '>', precedence: 2, operands: 2 },
  '>=': { name: '>=', precedence: 2, operands: 2 },
  '<': { name: '<', precedence: 2, operands: 2 },
  '<=': { name: '<=', precedence: 2, operands: 2 },
  '==': { name: '==', precedence: 2, operands: 2 },
  '!=': { name: '!=', precedence: 2, operands: 2 },
  in: { name: 'in', precedence: 2, operands: 2 },
  and: { name: 'and', precedence: 1, operands: 2 },
  '&&': { name: 'and', precedence: 1, operands: 2 },
  or: { name: 'or', precedence: 0, operands: 2 },
  '||': { name: 'or', precedence: 0, operands: 2 },
} as const;

/** An operator of filter expressions. */
export type FilterOperator = (typeof OPERATORS)[keyof typeof OPERATORS];

/** A part of an expression. A selector names a field of the attributes. */
export type Token =
  | { readonly kind: 'value'; readonly value: FilterValue }
  | { readonly kind: 'selector'; readonly field: Bytes }
  | { readonly kind: 'operator'; readonly operator: FilterOperator };

/** The longest names first, because the longest that fits is taken. */
const NAMES = Object.keys(OPERATORS).sort((a, b) => b.length - a.length);
const NUMBER_MAX = 255;

/** An expression that is not valid from a position on. */
export class FilterError extends Error {
  readonly at: number;
  constructor(at: number) {
    super(`filter expression, byte ${at}`);
    this.name = 'FilterError';
    this.at = at;
  }
}

/** Splits an expression. Throws FilterError with the position at which redis-server stops reading. */
export function tokenize(expression: Bytes): Token[] {
  return new Tokenizer(expression).tokens();
}

class Tokenizer {
  readonly #text: Bytes;
  #at = 0;

  constructor(text: Bytes) {
    this.#text = text;
  }

  tokens(): Token[] {
    const tokens: Token[] = [];
    for (;;) {
      this.#skipBlanks();
      if (this.#at >= this.#text.length) return tokens;
      tokens.push(this.#token(tokens.at(-1)));
    }
  }

  #token(before: Token | undefined): Token {
    const char = this.#text[this.#at] ?? '';
    const next = this.#text[this.#at + 1] ?? '';
    // A minus is a sign at the beginning, and after an operator or an opening bracket.
    const signed = before === undefined || (before.kind === 'operator' && before.operator.name !== ')');
    if (/\d/.test(char) || (signed && char === '-' && /\d/.test(next))) return this.#value(this.#number());
    if (char === '"' || char === "'") return this.#value(this.#string(char));
    if (char === '.' && /^[\w-]?$/.test(next)) return this.#selector();
    if (char === '[') return this.#value(this.#list());
    if (/[a-zA-Z+\-*%/!()<>=|&]/.test(char)) return this.#word();
    throw this.#failure();
  }

  #failure(): FilterError {
    return new FilterError(this.#at);
  }

  #value(value: FilterValue): Token {
    return { kind: 'value', value };
  }

  #skipBlanks(): void {
    while (isBlank(this.#text[this.#at])) this.#at++;
  }

  /** Takes the characters that the pattern matches, at most so many. */
  #take(pattern: RegExp, most = Infinity): Bytes {
    const start = this.#at;
    while (this.#at - start < most && pattern.test(this.#text[this.#at] ?? '')) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  #selector(): Token {
    this.#at++;
    return { kind: 'selector', field: this.#take(/[\w-]/) };
  }

  #number(): FilterValue {
    const sign = this.#text[this.#at] === '-' ? '-' : '';
    this.#at += sign.length;
    const digits = this.#take(/[\d.eE]/, NUMBER_MAX - sign.length);
    // One more character is too many.
    if (/[\d.eE]/.test(this.#text[this.#at] ?? '')) throw this.#failure();
    return numberValue(parseAnyDouble(sign + digits) ?? this.#fail());
  }

  #fail(): never {
    throw this.#failure();
  }

  /** A text in quotes. Backslashes stay in it: they only keep a quote from ending it. */
  #string(quote: Bytes): FilterValue {
    const start = ++this.#at;
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at];
      if (char === '\\') {
        if (this.#at + 1 < this.#text.length) this.#at++;
      } else if (char === quote) {
        return { kind: 'string', text: this.#text.slice(start, this.#at++) };
      }
    }
    throw this.#failure();
  }

  #list(): FilterValue {
    const items: FilterValue[] = [];
    this.#at++;
    for (;;) {
      this.#skipBlanks();
      if (this.#ends()) return { kind: 'list', items };
      const char = this.#text[this.#at] ?? '';
      if (/[\d-]/.test(char)) items.push(this.#number());
      else if (char === '"' || char === "'") items.push(this.#string(char));
      else throw this.#failure();
      this.#skipBlanks();
      if (this.#ends()) return { kind: 'list', items };
      if (this.#text[this.#at] !== ',') throw this.#failure();
      this.#at++;
    }
  }

  #ends(): boolean {
    if (this.#text[this.#at] !== ']') return false;
    this.#at++;
    return true;
  }

  /** An operator, or null. Letters and signs run together: `null)` is neither. */
  #word(): Token {
    const start = this.#at;
    const run = this.#take(/[a-zA-Z+\-*%/!()<>=|&]/);
    if (run === 'null') return this.#value({ kind: 'null' });
    const name = NAMES.find((each) => run.startsWith(each)) as keyof typeof OPERATORS | undefined;
    if (name === undefined) throw this.#failure();
    this.#at = start + name.length;
    return { kind: 'operator', operator: OPERATORS[name] };
  }
}
