/** Listpacks: Redis' compact lists of strings and integers, in which small values are stored. */
import { allocate } from '../../protocol/allowance.ts';
import { type Bytes, narrow, parseInteger } from '../../protocol/bytes.ts';
import { badFormat } from './errors.ts';
import { ELEMENT_BYTES, RdbReader } from './reader.ts';
import { RdbWriter } from './writer.ts';

const HEADER = 6;
const END = 0xff;
/** The header's count when the count does not fit 16 bits. */
const COUNT_UNKNOWN = 0xffff;

/** The elements of a listpack, with integers as text. */
export function readListpack(data: Buffer): Bytes[] {
  const reader = new RdbReader(data);
  if (reader.uint32() !== data.length) throw badFormat('listpack size');
  const count = reader.uint16();
  const elements: Bytes[] = [];
  for (;;) {
    const start = reader.position;
    const first = reader.byte();
    if (first === END) break;
    allocate(ELEMENT_BYTES);
    elements.push(readElement(reader, first));
    checkBack(reader, reader.position - start);
  }
  if (reader.left !== 0) throw badFormat('listpack end');
  if (count !== COUNT_UNKNOWN && count !== elements.length) throw badFormat('listpack count');
  return elements;
}

/** Checks the length behind an element, which allows reading backwards. */
function checkBack(reader: RdbReader, length: number): void {
  for (const byte of backBytes(length)) if (reader.byte() !== byte) throw badFormat('listpack back length');
}

/** Encodes a length with seven bits per byte, the top bit set on all but the first. */
function backBytes(length: number): number[] {
  const bytes: number[] = [];
  for (let i = backLength(length) - 1; i >= 0; i--) {
    const bits = Math.floor(length / 128 ** i) & 127;
    bytes.push(bytes.length === 0 ? bits : bits | 128);
  }
  return bytes;
}

function readElement(reader: RdbReader, first: number): Bytes {
  if (first < 0x80) return String(first);
  if (first < 0xc0) return reader.raw(first & 0x3f);
  if (first < 0xe0) {
    const value = ((first & 0x1f) << 8) | reader.byte();
    return String(value >= 0x1000 ? value - 0x2000 : value);
  }
  if (first < 0xf0) return reader.raw(((first & 0x0f) << 8) | reader.byte());
  if (first === 0xf0) return reader.raw(reader.uint32());
  if (first === 0xf1) return String(reader.int16());
  if (first === 0xf2) return String(reader.int24());
  if (first === 0xf3) return String(reader.int32());
  if (first === 0xf4) return String(reader.int64());
  throw badFormat('listpack element');
}

/** The size in bytes of the length behind an element. Redis' bounds are one below the powers of two. */
function backLength(length: number): number {
  if (length <= 127) return 1;
  if (length < 16383) return 2;
  if (length < 2097151) return 3;
  return length < 268435455 ? 4 : 5;
}

/** The size in bytes of a string as an element, including its back length. */
export function elementSize(value: Bytes): number {
  const integer = value.length <= 20 && beginsAsInteger(value) ? parseInteger(value) : undefined;
  if (integer !== undefined) return integerSize(integer);
  const length = value.length;
  const size = length + (length < 64 ? 1 : length < 4096 ? 2 : 5);
  return size + backLength(size);
}

/** The size in bytes of an integer as an element, including its back length. */
export function integerSize(value: number | bigint): number {
  if (value >= 0 && value <= 127) return 2;
  if (value >= -4096 && value <= 4095) return 3;
  if (value >= -32768 && value <= 32767) return 4;
  if (value >= -8388608 && value <= 8388607) return 5;
  return value >= -2147483648 && value <= 2147483647 ? 6 : 10;
}

/** False for most strings that are no integers. */
function beginsAsInteger(value: Bytes): boolean {
  const first = value.charCodeAt(0);
  return (first >= 0x30 && first <= 0x39) || first === 0x2d;
}

/** Builds one listpack. */
export class ListpackBuilder {
  readonly #out: RdbWriter;
  readonly #start: number;
  #count = 0;

  /** @param out where it is built, behind what is there */
  constructor(out = new RdbWriter()) {
    this.#out = out;
    this.#start = out.length;
    out.raw('\0\0\0\0\0\0');
  }

  /** The size in bytes so far, without the end mark. */
  get length(): number {
    return this.#out.length - this.#start;
  }

  /** The number of elements added. */
  get count(): number {
    return this.#count;
  }

  /** Adds a string, as an integer if it is one. */
  add(value: Bytes): void {
    const integer = value.length <= 20 && beginsAsInteger(value) ? parseInteger(value) : undefined;
    if (integer !== undefined) {
      this.addInteger(integer);
      return;
    }
    const start = this.#out.length;
    const length = value.length;
    if (length < 64) {
      this.#out.framed(0x80 | length, value, length + 1);
      this.#count++;
      return;
    }
    if (length < 4096) {
      this.#out.byte(0xe0 | (length >>> 8));
      this.#out.byte(length & 0xff);
    } else {
      this.#out.byte(0xf0);
      this.#little(length, 4);
    }
    this.#out.raw(value);
    this.#finish(start);
  }

  addInteger(integer: number | bigint): void {
    const start = this.#out.length;
    const value = typeof integer === 'bigint' ? narrow(integer) : integer;
    if (typeof value === 'bigint' || value < -2147483648 || value > 2147483647) {
      this.#out.byte(0xf4);
      this.#out.int64(value);
    } else if (value >= 0 && value <= 127) {
      this.#out.byte(value);
    } else if (value >= -4096 && value <= 4095) {
      this.#out.byte(0xc0 | ((value >>> 8) & 0x1f));
      this.#out.byte(value & 0xff);
    } else if (value >= -32768 && value <= 32767) {
      this.#out.byte(0xf1);
      this.#little(value, 2);
    } else if (value >= -8388608 && value <= 8388607) {
      this.#out.byte(0xf2);
      this.#little(value, 3);
    } else {
      this.#out.byte(0xf3);
      this.#little(value, 4);
    }
    this.#finish(start);
  }

  /** The finished listpack. Nothing can be added afterwards. */
  finish(): Buffer {
    this.#out.byte(END);
    const data = this.#out.data().subarray(this.#start);
    data.writeUInt32LE(data.length, 0);
    data.writeUInt16LE(Math.min(this.#count, COUNT_UNKNOWN), HEADER - 2);
    return data;
  }

  #little(value: number, bytes: number): void {
    for (let i = 0; i < bytes; i++) this.#out.byte((value >>> (8 * i)) & 0xff);
  }

  #finish(start: number): void {
    const length = this.#out.length - start;
    if (length <= 127) this.#out.byte(length);
    else for (const byte of backBytes(length)) this.#out.byte(byte);
    this.#count++;
  }
}
