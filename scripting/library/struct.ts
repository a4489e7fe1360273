/** The struct library: converts between values and C structures in strings. */
import { approximate, type Bytes } from '../../protocol/bytes.ts';
import { raise } from '../runtime/state.ts';
import { TextBuilder } from '../runtime/text-builder.ts';
import type { LuaFunction, LuaValue } from '../runtime/values.ts';
import { argumentError, checkNumber, checkString, optionalInteger } from './args.ts';
import type { Module } from './builder.ts';

const MAX_INTEGER_SIZE = 32;
const MAX_ALIGN = 8;
const INT_MAX = 2147483647;
const view = new DataView(new ArrayBuffer(8));

/** Reads a format string and keeps track of byte order and alignment. */
class Format {
  readonly #text: Bytes;
  #at = 0;
  little = true;
  #align = 1;

  constructor(text: Bytes) {
    const end = text.indexOf('\0');
    this.#text = end < 0 ? text : text.slice(0, end);
  }

  /** The next option and its size; undefined at the end. */
  next(): { option: Bytes; size: number } | undefined {
    if (this.#at >= this.#text.length) return undefined;
    const option = this.#text.charAt(this.#at++);
    return { option, size: this.#size(option) };
  }

  #isDigit(): boolean {
    const code = this.#text.charCodeAt(this.#at);
    return code >= 48 && code <= 57;
  }

  #number(otherwise: number): number {
    if (!this.#isDigit()) return otherwise;
    let value = 0;
    while (this.#isDigit()) {
      value = value * 10 + this.#text.charCodeAt(this.#at++) - 48;
      if (value > INT_MAX) raise('integral size overflow');
    }
    return value;
  }

  #size(option: Bytes): number {
    switch (option) {
      case 'B':
      case 'b':
      case 'x':
        return 1;
      case 'H':
      case 'h':
        return 2;
      case 'L':
      case 'l':
      case 'T':
      case 'd':
        return 8;
      case 'f':
        return 4;
      case 'c':
        return this.#number(1);
      case 'I':
      case 'i': {
        const size = this.#number(4);
        if (size > MAX_INTEGER_SIZE) {
          raise(`integral size ${size} is larger than limit of ${MAX_INTEGER_SIZE}`);
        }
        return size;
      }
      default:
        return 0;
    }
  }

  /** How many bytes to skip before an item of this size at this position. */
  padding(position: number, option: Bytes, size: number): number {
    if (size === 0 || option === 'c') return 0;
    const unit = Math.min(size, this.#align);
    return (unit - (position & (unit - 1))) & (unit - 1);
  }

  /** Applies an option that only changes how the rest is read. */
  control(option: Bytes): void {
    switch (option) {
      case ' ':
        return;
      case '>':
      case '<':
        this.little = option === '<';
        return;
      case '!': {
        const align = this.#number(MAX_ALIGN);
        if (align <= 0 || (align & (align - 1)) !== 0) raise(`alignment ${align} is not a power of 2`);
        this.#align = align;
        return;
      }
      default:
        argumentError(0, `invalid format option '${option}'`);
    }
  }
}

/** The bits of a number cast to 64 bits, as signed if it is below zero. */
function bitsOf(value: number): bigint {
  if (value >= 2 ** 64) return 0n;
  if (!(value >= -(2 ** 63))) return 1n << 63n;
  return BigInt.asUintN(64, BigInt(Math.trunc(value)));
}

function integerBytes(value: number, size: number, little: boolean): Bytes {
  let bits = bitsOf(value);
  let out = '';
  for (let i = 0; i < size; i++) {
    const byte = String.fromCharCode(approximate(bits & 255n));
    out = little ? out + byte : byte + out;
    bits >>= 8n;
  }
  return out;
}

function floatBytes(value: number, size: number, little: boolean): Bytes {
  if (size === 4) view.setFloat32(0, value, little);
  else view.setFloat64(0, value, little);
  let out = '';
  for (let i = 0; i < size; i++) out += String.fromCharCode(view.getUint8(i));
  return out;
}

/** The arguments as pack sees them: a nil marks the end. */
function marked(args: readonly LuaValue[]): LuaValue[] {
  return [...args, undefined];
}

const pack: LuaFunction = (...given) => {
  const format = new Format(checkString(given, 0));
  const args = marked(given);
  const out = new TextBuilder();
  let argument = 1;
  let total = 0;
  for (let item = format.next(); item !== undefined; item = format.next()) {
    const { option } = item;
    let { size } = item;
    const padding = format.padding(total, option, size);
    total += padding;
    out.add('\0'.repeat(padding));
    if ('bBhHlLTiI'.includes(option)) {
      out.add(integerBytes(checkNumber(args, argument++), size, format.little));
    } else if (option === 'x') out.add('\0');
    else if (option === 'f' || option === 'd') {
      out.add(floatBytes(checkNumber(args, argument++), size, format.little));
    } else if (option === 'c' || option === 's') {
      const text = checkString(args, argument++);
      if (size === 0) size = text.length;
      if (text.length < size) argumentError(argument, 'string too short');
      out.add(text.slice(0, size));
      if (option === 's') {
        out.add('\0');
        size++;
      }
    } else format.control(option);
    total += size;
  }
  return out.take();
};

function readInteger(text: Bytes, at: number, size: number, signed: boolean, little: boolean): number {
  let bits = 0n;
  for (let i = 0; i < size; i++) {
    const byte = text.charCodeAt(little ? at + size - 1 - i : at + i);
    bits = ((bits << 8n) | BigInt(byte)) & 0xffffffffffffffffn;
  }
  if (!signed) return approximate(bits);
  const mask = BigInt.asUintN(64, ~0n << BigInt((size * 8 - 1) & 63));
  if ((bits & mask) !== 0n) bits |= mask;
  return approximate(BigInt.asIntN(64, bits));
}

function readFloat(text: Bytes, at: number, size: number, little: boolean): number {
  for (let i = 0; i < size; i++) view.setUint8(i, text.charCodeAt(at + i));
  return size === 4 ? view.getFloat32(0, little) : view.getFloat64(0, little);
}

function checkRoom(size: number, at: number, text: Bytes): void {
  if (size > text.length || at < 0 || at > text.length - size) argumentError(1, 'data string too short');
}

const unpack: LuaFunction = (...args) => {
  const format = new Format(checkString(args, 0));
  const text = checkString(args, 1);
  let at = optionalInteger(args, 2, 1) - 1;
  if (at === -1) argumentError(2, 'offset must be 1 or greater');
  const values: LuaValue[] = [];
  for (let item = format.next(); item !== undefined; item = format.next()) {
    const { option } = item;
    let { size } = item;
    at += format.padding(at, option, size);
    checkRoom(size, at, text);
    if ('bBhHlLTiI'.includes(option)) {
      values.push(readInteger(text, at, size, option >= 'a', format.little));
    } else if (option === 'f' || option === 'd') values.push(readFloat(text, at, size, format.little));
    else if (option === 'c') {
      if (size === 0) {
        const previous = values.pop();
        if (typeof previous !== 'number') raise("format 'c0' needs a previous size");
        size = Math.trunc(previous) + 0;
        if (!(size >= 0)) argumentError(1, 'data string too short');
        checkRoom(size, at, text);
      }
      values.push(text.slice(at, at + size));
    } else if (option === 's') {
      const end = text.indexOf('\0', at);
      if (end < 0) raise('unfinished string in data');
      values.push(text.slice(at, end));
      size = end - at + 1;
    } else if (option !== 'x') format.control(option);
    at += size;
    if (values.length > 7990) raise('stack overflow (too many results)');
  }
  return [...values, at + 1];
};

const sizeOf: LuaFunction = (...args) => {
  const format = new Format(checkString(args, 0));
  let at = 0;
  for (let item = format.next(); item !== undefined; item = format.next()) {
    const { option, size } = item;
    at += format.padding(at, option, size);
    if (option === 's') argumentError(0, "option 's' has no fixed size");
    if (option === 'c' && size === 0) argumentError(0, "option 'c0' has no fixed size");
    if (!/[0-9A-Za-z]/.test(option)) format.control(option);
    at += size;
  }
  return at;
};

/** The table `struct`. */
export const STRUCT: Module = {
  entries: [
    ['pack', pack],
    ['unpack', unpack],
    ['size', sizeOf],
  ],
  announced: 3,
  single: ['pack', 'size'],
};
