/** Decodes JSON to Lua values, as leniently and strictly as cjson, with its error texts. */
import { allocate } from '../../../protocol/allowance.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import { TABLE_BYTES } from '../../runtime/memory.ts';
import { type JsonSettings, raise, S } from '../../runtime/state.ts';
import { TextBuilder } from '../../runtime/text-builder.ts';
import { LuaTable, type LuaValue, stringToNumber } from '../../runtime/values.ts';

type TokenType =
  | 'T_OBJ_BEGIN'
  | 'T_OBJ_END'
  | 'T_ARR_BEGIN'
  | 'T_ARR_END'
  | 'T_STRING'
  | 'T_NUMBER'
  | 'T_BOOLEAN'
  | 'T_NULL'
  | 'T_COLON'
  | 'T_COMMA'
  | 'T_END'
  | 'T_ERROR';

const PUNCTUATION: Record<string, TokenType> = {
  '{': 'T_OBJ_BEGIN',
  '}': 'T_OBJ_END',
  '[': 'T_ARR_BEGIN',
  ']': 'T_ARR_END',
  ':': 'T_COLON',
  ',': 'T_COMMA',
};
const ESCAPES: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
const NUMBER =
  /[+-]?(?:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?\d+)?|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)/iy;
const INVALID_NUMBER = /\+|-?0x|-?0[0-9]|-?inf|-?nan/iy;
const QUOTE = 34;
const PLAIN_TEXT = /[^"\\\0]*/y;

/** The items of a list are counted in parts of so many. */
const ITEMS = 32;
/** The bytes of a number or a short text, with its place in a list. */
const ITEM_BYTES = 48;

/** Decodes one document. */
class Decoder {
  readonly #text: Bytes;
  readonly #settings: JsonSettings;
  readonly #null: LuaValue;
  #at = 0;
  #depth = 0;
  #type: TokenType = 'T_END';
  #value: LuaValue;
  #start = 0;
  #complaint = '';

  constructor(text: Bytes, settings: JsonSettings, nullValue: LuaValue) {
    this.#text = text;
    this.#settings = settings;
    this.#null = nullValue;
  }

  document(): LuaValue {
    if (this.#text.length >= 2 && this.#text.slice(0, 2).includes('\0')) {
      raise('JSON parser does not support UTF-16 or UTF-32');
    }
    this.#next();
    const value = this.#parse();
    if (this.#next() !== 'T_END') this.#fail('the end');
    S.fuel -= this.#text.length >> 4;
    return value;
  }

  #fail(expected: Bytes): never {
    const found = this.#type === 'T_ERROR' ? this.#complaint : this.#type;
    raise(`Expected ${expected} but found ${found} at character ${this.#start + 1}`);
  }

  #error(complaint: Bytes): void {
    this.#type = 'T_ERROR';
    this.#complaint = complaint;
    this.#start = this.#at;
  }

  /** Reads the next token and returns its type. */
  #next(): TokenType {
    this.#read();
    return this.#type;
  }

  #read(): void {
    const text = this.#text;
    while (this.#at < text.length && ' \t\n\r'.includes(text.charAt(this.#at))) this.#at++;
    this.#start = this.#at;
    const letter = this.#at < text.length ? text.charAt(this.#at) : '\0';
    if (letter === '\0') {
      this.#type = 'T_END';
      return;
    }
    const punctuation = PUNCTUATION[letter];
    if (punctuation !== undefined) {
      this.#type = punctuation;
      this.#at++;
    } else if (letter === '"') this.#string();
    else if (letter === '-' || (letter >= '0' && letter <= '9')) {
      if (!this.#settings.decodeInvalid && this.#isInvalid()) this.#error('invalid number');
      else this.#number();
    } else this.#word(letter);
  }

  #isInvalid(): boolean {
    INVALID_NUMBER.lastIndex = this.#at;
    return INVALID_NUMBER.test(this.#text);
  }

  #word(letter: Bytes): void {
    for (const [word, type, value] of [
      ['true', 'T_BOOLEAN', true],
      ['false', 'T_BOOLEAN', false],
      ['null', 'T_NULL', undefined],
    ] as const) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#type = type;
      this.#value = value;
      this.#at += word.length;
      return;
    }
    if (this.#settings.decodeInvalid && '+iInN'.includes(letter) && this.#isInvalid()) this.#number();
    else this.#error('invalid token');
  }

  #number(): void {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) {
      this.#error('invalid number');
      return;
    }
    this.#type = 'T_NUMBER';
    this.#value = stringToNumber(match[0]);
    this.#at += match[0].length;
  }

  #string(): void {
    const text = this.#text;
    this.#at++;
    PLAIN_TEXT.lastIndex = this.#at;
    const whole = PLAIN_TEXT.exec(text)![0];
    if (text.charCodeAt(this.#at + whole.length) === QUOTE) {
      this.#at += whole.length + 1;
      this.#type = 'T_STRING';
      this.#value = whole;
      return;
    }
    const out = new TextBuilder();
    for (;;) {
      PLAIN_TEXT.lastIndex = this.#at;
      const plain = PLAIN_TEXT.exec(text)![0];
      out.add(plain);
      this.#at += plain.length;
      const letter = this.#at < text.length ? text.charAt(this.#at) : '\0';
      if (letter === '"') break;
      if (letter === '\0') {
        this.#error('unexpected end of string');
        return;
      }
      const escaped = text.charAt(this.#at + 1);
      const decoded = escaped === 'u' ? this.#unicode() : ESCAPES[escaped];
      if (decoded === undefined) {
        this.#error(escaped === 'u' ? 'invalid unicode escape code' : 'invalid escape code');
        return;
      }
      out.add(decoded);
      if (escaped !== 'u') this.#at += 2;
    }
    this.#at++;
    this.#type = 'T_STRING';
    this.#value = out.take();
  }

  #hex(at: number): number {
    const digits = this.#text.slice(at, at + 4);
    return /^[0-9a-fA-F]{4}$/.test(digits) ? +`0x${digits}` : -1;
  }

  /** Decodes one or two \\u escapes to UTF-8. */
  #unicode(): Bytes | undefined {
    let code = this.#hex(this.#at + 2);
    let length = 6;
    if (code < 0) return undefined;
    if ((code & 0xf800) === 0xd800) {
      if ((code & 0x400) !== 0 || !this.#text.startsWith('\\u', this.#at + 6)) return undefined;
      const low = this.#hex(this.#at + 8);
      if (low < 0 || (low & 0xfc00) !== 0xdc00) return undefined;
      code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
      length = 12;
    }
    this.#at += length;
    return utf8(code);
  }

  #parse(): LuaValue {
    switch (this.#type) {
      case 'T_STRING':
      case 'T_NUMBER':
      case 'T_BOOLEAN':
        return this.#value;
      case 'T_NULL':
        return this.#null;
      case 'T_OBJ_BEGIN':
        return this.#object();
      case 'T_ARR_BEGIN':
        return this.#array();
      default:
        return this.#fail('value');
    }
  }

  #descend(): void {
    if (++this.#depth > this.#settings.decodeDepth) {
      raise(`Found too many nested data structures (${this.#depth}) at character ${this.#at}`);
    }
  }

  #object(): LuaTable {
    allocate(TABLE_BYTES);
    const table = new LuaTable();
    this.#descend();
    if (this.#next() !== 'T_OBJ_END') {
      for (;;) {
        if (this.#type !== 'T_STRING') this.#fail('object key string');
        const key = this.#value;
        if (this.#next() !== 'T_COLON') this.#fail('colon');
        this.#next();
        table.set(key, this.#parse());
        const after = this.#next();
        if (after === 'T_OBJ_END') break;
        if (after !== 'T_COMMA') this.#fail('comma or object end');
        this.#next();
      }
    }
    this.#depth--;
    return table;
  }

  #array(): LuaTable {
    const items: LuaValue[] = [];
    allocate(TABLE_BYTES);
    this.#descend();
    if (this.#next() !== 'T_ARR_END') {
      for (;;) {
        items.push(this.#parse());
        if (items.length % ITEMS === 0) allocate(ITEMS * ITEM_BYTES);
        const after = this.#next();
        if (after === 'T_ARR_END') break;
        if (after !== 'T_COMMA') this.#fail('comma or array end');
        this.#next();
      }
    }
    this.#depth--;
    const table = LuaTable.from(items) as LuaTable;
    if (this.#settings.marksArrays) markArray(table);
    return table;
  }
}

/** The field of a metatable that says that a table is an array. */
export const ARRAY_MARK = '__is_cjson_array';

/** Gives a table a metatable of its own, which says that it is an array and cannot be changed. */
function markArray(table: LuaTable): void {
  const meta = new LuaTable();
  meta.set(ARRAY_MARK, true);
  meta.readonly = true;
  meta.plain = false;
  table.meta = meta;
  table.plain = false;
}

function utf8(code: number): Bytes {
  if (code < 0x80) return String.fromCharCode(code);
  if (code < 0x800) return String.fromCharCode(0xc0 | (code >> 6), 0x80 | (code & 0x3f));
  if (code < 0x10000) {
    return String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
  }
  return String.fromCharCode(
    0xf0 | (code >> 18),
    0x80 | ((code >> 12) & 0x3f),
    0x80 | ((code >> 6) & 0x3f),
    0x80 | (code & 0x3f),
  );
}

/** cjson.decode(text). Raises cjson's errors. */
export function decodeJson(text: Bytes, settings: JsonSettings, nullValue: LuaValue): LuaValue {
  return new Decoder(text, settings, nullValue).document();
}
