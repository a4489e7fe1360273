/**
 * Reads one field of an element's attributes, as FILTER does: it looks for the field from the beginning and reads no
 * further, so what comes later need not be JSON.
 */
import { type Bytes, parseAnyDouble } from '../../../protocol/bytes.ts';
import { type FilterValue, isBlank, numberValue } from './values.ts';

/** How many characters of a number are read. */
const NUMBER_MAX = 255;
/** Lists that are nested more deeply are not read. */
const DEPTH_MAX = 1000;
/** Escapes that stand for another character. Any other character stands for itself. */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** The value of a field; undefined when it is missing, an object, or no JSON. */
export function readField(json: Bytes, field: Bytes): FilterValue | undefined {
  const reader = new Reader(json);
  return reader.seek(field) ? reader.value(0) : undefined;
}

class Reader {
  readonly #json: Bytes;
  #at = 0;

  constructor(json: Bytes) {
    this.#json = json;
  }

  /** Goes to the value of a field; false when there is none. */
  seek(field: Bytes): boolean {
    if (!this.#takes('{')) return false;
    for (;;) {
      this.#skipBlanks();
      const start = this.#at + 1;
      if (!this.#skipString()) return false;
      const found = this.#json.slice(start, this.#at - 1) === field;
      if (!this.#takes(':')) return false;
      this.#skipBlanks();
      if (found) return this.#at < this.#json.length;
      if (!this.#skipValue() || !this.#takes(',')) return false;
    }
  }

  /** Reads the value here; undefined for an object, and for what is no JSON. */
  value(depth: number): FilterValue | undefined {
    this.#skipBlanks();
    const char = this.#json[this.#at];
    if (char === '"') return this.#string();
    if (char === '[') return depth < DEPTH_MAX ? this.#list(depth) : undefined;
    if (char === 't') return this.#literal('true', numberValue(1));
    if (char === 'f') return this.#literal('false', numberValue(0));
    if (char === 'n') return this.#literal('null', { kind: 'null' });
    return char !== undefined && /[\d+-]/.test(char) ? this.#number() : undefined;
  }

  #skipBlanks(): void {
    while (isBlank(this.#json[this.#at])) this.#at++;
  }

  /** Skips blanks and then this character; false when there is another. */
  #takes(char: Bytes): boolean {
    this.#skipBlanks();
    if (this.#json[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #skipString(): boolean {
    if (this.#json[this.#at] !== '"') return false;
    for (this.#at++; this.#at < this.#json.length; this.#at++) {
      const char = this.#json[this.#at];
      if (char === '\\') this.#at++;
      else if (char === '"') {
        this.#at++;
        return true;
      }
    }
    return false;
  }

  #skipValue(): boolean {
    const rest = (word: Bytes): boolean => {
      if (!this.#json.startsWith(word, this.#at)) return false;
      this.#at += word.length;
      return true;
    };
    switch (this.#json[this.#at]) {
      case '"':
        return this.#skipString();
      case '{':
        return this.#skipBrackets('{', '}');
      case '[':
        return this.#skipBrackets('[', ']');
      case 't':
        return rest('true');
      case 'f':
        return rest('false');
      case 'n':
        return rest('null');
      default:
        return this.#numberText() !== '';
    }
  }

  /** Skips to the closing bracket. Brackets of the other kind are not looked at. */
  #skipBrackets(opening: Bytes, closing: Bytes): boolean {
    let depth = 0;
    while (this.#at < this.#json.length) {
      const char = this.#json[this.#at];
      if (char === '"') {
        if (!this.#skipString()) return false;
        continue;
      }
      this.#at++;
      if (char === opening) depth++;
      else if (char === closing && --depth === 0) return true;
    }
    return false;
  }

  #string(): FilterValue | undefined {
    const start = this.#at + 1;
    if (!this.#skipString()) return undefined;
    const raw = this.#json.slice(start, this.#at - 1);
    const text = raw.replace(/\\([\s\S])/g, (_, char: string) => ESCAPES[char] ?? char);
    return { kind: 'string', text };
  }

  #list(depth: number): FilterValue | undefined {
    this.#at++;
    const items: FilterValue[] = [];
    if (this.#takes(']')) return { kind: 'list', items };
    for (;;) {
      const item = this.value(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
      if (this.#takes(']')) return { kind: 'list', items };
      if (!this.#takes(',')) return undefined;
    }
  }

  /** A word, which must end before a blank, a comma, a closing bracket, or at the end. */
  #literal(word: Bytes, value: FilterValue): FilterValue | undefined {
    if (!this.#json.startsWith(word, this.#at)) return undefined;
    const next = this.#json[this.#at + word.length];
    if (next !== undefined && !isBlank(next) && !',]}'.includes(next)) return undefined;
    this.#at += word.length;
    return value;
  }

  #number(): FilterValue | undefined {
    const number = parseAnyDouble(this.#numberText(NUMBER_MAX));
    return number === undefined ? undefined : numberValue(number);
  }

  /** Takes the characters that numbers have. */
  #numberText(most = Infinity): Bytes {
    const start = this.#at;
    while (this.#at - start < most && /[\d+.eE-]/.test(this.#json[this.#at] ?? '')) this.#at++;
    return this.#json.slice(start, this.#at);
  }
}
