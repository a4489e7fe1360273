/** The cmsgpack library: MessagePack as Redis writes and reads it. */
import { allocate } from '../../protocol/allowance.ts';
import { approximate, type Bytes } from '../../protocol/bytes.ts';
import { TABLE_BYTES } from '../runtime/memory.ts';
import { raise, raiseBare, S } from '../runtime/state.ts';
import { TextBuilder } from '../runtime/text-builder.ts';
import type { LuaFunction, LuaValue } from '../runtime/values.ts';
import { LuaTable } from '../runtime/values.ts';
import { argumentError, checkInteger, checkString, optionalInteger } from './args.ts';
import type { Module } from './builder.ts';

const MAX_NESTING = 16;
const MAX_DECODE_NESTING = 1500;
/** The maximum number of values on the stack of a C function. */
const MAX_STACK = 8000;
const TOO_MANY = 'stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)';
const view = new DataView(new ArrayBuffer(8));

/** The big-endian bytes of the value that was just written to the view. */
function viewed(size: number): Bytes {
  let out = '';
  for (let i = 0; i < size; i++) out += String.fromCharCode(view.getUint8(i));
  return out;
}

function tagged(tag: number, size: 1 | 2 | 4, value: number): Bytes {
  if (size === 1) view.setUint8(0, value);
  else if (size === 2) view.setUint16(0, value);
  else view.setUint32(0, value);
  return String.fromCharCode(tag) + viewed(size);
}

function packNumber(value: number): Bytes {
  if (!Number.isInteger(value) || value >= 2 ** 63 || value < -(2 ** 63)) return packFloat(value);
  if (value >= 0) {
    if (value < 128) return String.fromCharCode(value);
    if (value < 2 ** 8) return tagged(0xcc, 1, value);
    if (value < 2 ** 16) return tagged(0xcd, 2, value);
    if (value < 2 ** 32) return tagged(0xce, 4, value);
  } else {
    if (value >= -32) return String.fromCharCode(value + 256);
    if (value >= -128) return tagged(0xd0, 1, value + 256);
    if (value >= -32768) return tagged(0xd1, 2, value + 65536);
    if (value >= -2147483648) return tagged(0xd2, 4, value + 2 ** 32);
  }
  view.setBigInt64(0, BigInt(value));
  return (value < 0 ? '\xd3' : '\xcf') + viewed(8);
}

function packFloat(value: number): Bytes {
  if (Math.fround(value) === value) {
    view.setFloat32(0, value);
    return `\xca${viewed(4)}`;
  }
  view.setFloat64(0, value);
  return `\xcb${viewed(8)}`;
}

function packString(text: Bytes): Bytes {
  const size = text.length;
  if (size < 32) return String.fromCharCode(0xa0 | size) + text;
  if (size < 2 ** 8) return tagged(0xd9, 1, size) + text;
  return (size < 2 ** 16 ? tagged(0xda, 2, size) : tagged(0xdb, 4, size)) + text;
}

function header(small: number, large: number, size: number): Bytes {
  if (size < 16) return String.fromCharCode(small | size);
  return size < 2 ** 16 ? tagged(large, 2, size) : tagged(large + 1, 4, size);
}

function packTable(table: LuaTable, level: number, out: TextBuilder): void {
  let count = 0;
  let largest = 0;
  let list = true;
  for (let at = table.advance(0); at > 0; at = table.advance(at)) {
    const key = table.keyAt(at);
    count++;
    if (typeof key !== 'number' || key < 1 || !Number.isInteger(key)) list = false;
    else if (key > largest) largest = key;
  }
  S.fuel -= count >> 2;
  if (list && largest === count) {
    out.add(header(0x90, 0xdc, count));
    for (let i = 1; i <= count; i++) packValue(table.get(i), level + 1, out);
    return;
  }
  out.add(header(0x80, 0xde, count));
  for (let at = table.advance(0); at > 0; at = table.advance(at)) {
    packValue(table.keyAt(at), level + 1, out);
    packValue(table.valueAt(at), level + 1, out);
  }
}

function packValue(value: LuaValue, level: number, out: TextBuilder): void {
  if (typeof value === 'string') out.add(packString(value));
  else if (typeof value === 'number') out.add(packNumber(value));
  else if (typeof value === 'boolean') out.add(value ? '\xc3' : '\xc2');
  else if (value instanceof LuaTable && level < MAX_NESTING) packTable(value, level, out);
  else out.add('\xc0');
}

const pack: LuaFunction = (...args) => {
  if (args.length === 0) argumentError(-1, 'MessagePack pack needs input.');
  if (args.length > MAX_STACK / 2) argumentError(-1, 'Too many arguments for MessagePack pack.');
  const out = new TextBuilder();
  for (const value of args) packValue(value, 0, out);
  return out.take();
};

/** Reads one value after another. */
class Unpacker {
  readonly #text: Bytes;
  at: number;

  constructor(text: Bytes, at: number) {
    this.#text = text;
    this.at = at;
  }

  get left(): number {
    return this.#text.length - this.at;
  }

  #need(size: number): void {
    if (this.left < size) raise('Missing bytes in input.');
  }

  /** Skips the tag and loads the bytes after it into the view. */
  #load(size: number): void {
    this.#need(1 + size);
    for (let i = 0; i < size; i++) view.setUint8(i, this.#text.charCodeAt(this.at + 1 + i));
    this.at += 1 + size;
  }

  #size(bytes: 1 | 2 | 4): number {
    this.#load(bytes);
    return bytes === 1 ? view.getUint8(0) : bytes === 2 ? view.getUint16(0) : view.getUint32(0);
  }

  #string(size: number): Bytes {
    this.#need(size);
    this.at += size;
    allocate(32);
    return this.#text.slice(this.at - size, this.at);
  }

  /** A string. Its header is not consumed before the whole string is available. */
  #sized(bytes: 1 | 2 | 4): Bytes {
    return this.#string(this.#size(bytes));
  }

  #list(size: number, depth: number): LuaTable {
    allocate(TABLE_BYTES);
    const table = new LuaTable();
    for (let i = 1; i <= size; i++) table.set(i, this.value(depth + 1));
    return table;
  }

  #map(size: number, depth: number): LuaTable {
    allocate(TABLE_BYTES);
    const table = new LuaTable();
    for (let i = 0; i < size; i++) {
      const key = this.value(depth + 1);
      const value = this.value(depth + 1);
      if (key === undefined) raiseBare('table index is nil');
      if (typeof key === 'number' && Number.isNaN(key)) raiseBare('table index is NaN');
      table.set(key, value);
    }
    return table;
  }

  value(depth: number): LuaValue {
    this.#need(1);
    if (depth > MAX_DECODE_NESTING) raise('stack overflow (in function mp_decode_to_lua_type)');
    const tag = this.#text.charCodeAt(this.at);
    if (tag >= 0xcc && tag <= 0xd3) return this.#integer(tag);
    if (tag >= 0xc0 && tag < 0xe0) return this.#tagged(tag, depth);
    this.at++;
    if (tag < 0x80) return tag;
    if (tag >= 0xe0) return tag - 256;
    if (tag < 0x90) return this.#map(tag & 15, depth);
    return tag < 0xa0 ? this.#list(tag & 15, depth) : this.#string(tag & 31);
  }

  #integer(tag: number): LuaValue {
    const size = 1 << (tag & 3);
    this.#load(size);
    const signed = tag >= 0xd0;
    if (size === 1) return signed ? view.getInt8(0) : view.getUint8(0);
    if (size === 2) return signed ? view.getInt16(0) : view.getUint16(0);
    if (size === 4) return signed ? view.getInt32(0) : view.getUint32(0);
    // Redis keeps both in a signed integer.
    return approximate(view.getBigInt64(0));
  }

  #tagged(tag: number, depth: number): LuaValue {
    switch (tag) {
      case 0xc0:
      case 0xc2:
      case 0xc3:
        this.at++;
        return tag === 0xc0 ? undefined : tag === 0xc3;
      case 0xca:
        this.#load(4);
        return view.getFloat32(0);
      case 0xcb:
        this.#load(8);
        return view.getFloat64(0);
      case 0xd9:
        return this.#sized(1);
      case 0xda:
        return this.#sized(2);
      case 0xdb:
        return this.#sized(4);
      case 0xdc:
      case 0xdd:
        return this.#list(this.#size(tag === 0xdc ? 2 : 4), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#size(tag === 0xde ? 2 : 4), depth);
      default:
        return raise('Bad data format in input.');
    }
  }
}

function unpackFrom(args: readonly LuaValue[], limit: number, offset: number): LuaValue[] {
  const text = checkString(args, 0);
  if (offset < 0 || limit < 0) {
    raise(`Invalid request to unpack with offset of ${offset | 0} and limit of ${text.length}.`);
  }
  if (offset > text.length) {
    raise(`Start offset ${offset | 0} greater than input length ${text.length}.`);
  }
  const all = limit === 0 && offset === 0;
  const reader = new Unpacker(text, offset);
  const values: LuaValue[] = [];
  while (reader.left > 0 && (all || values.length < limit)) {
    if (args.length + values.length >= MAX_STACK) raise(TOO_MANY);
    values.push(reader.value(0));
  }
  S.fuel -= text.length >> 4;
  if (all) return values;
  return [reader.left === 0 ? -1 : reader.at, ...values];
}

const COPYRIGHT = '_COPYRIGHT';

/** The table `cmsgpack`, without its owner. */
export const CMSGPACK: Module = {
  entries: [
    ['pack', pack],
    ['unpack', (...args) => unpackFrom(args, 0, 0)],
    ['unpack_one', (...args) => unpackFrom(args, 1, optionalInteger(args, 1, 0))],
    [
      'unpack_limit',
      (...args) => {
        const limit = checkInteger(args, 1);
        return unpackFrom(args, limit, optionalInteger(args, 2, 0));
      },
    ],
    ['_NAME', 'cmsgpack'],
    ['_VERSION', 'lua-cmsgpack 0.4.0'],
    [COPYRIGHT, ''],
    ['_DESCRIPTION', 'MessagePack C implementation for Lua'],
  ],
  single: ['pack'],
};

/** The table `cmsgpack` that names its owner. */
export function packing(owner: Bytes): Module {
  const entries = CMSGPACK.entries.map(([name, value]): [Bytes, LuaValue] => [
    name,
    name === COPYRIGHT ? `Copyright (C) 2012, ${owner}` : value,
  ]);
  return { ...CMSGPACK, entries };
}
