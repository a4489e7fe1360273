/** Reads the primitives of RDB, and refuses to read past the end. */
import { allocate } from '../../protocol/allowance.ts';
import { type Bytes, fromBuffer, narrow, sliceBytes, toBuffer } from '../../protocol/bytes.ts';
import { badFormat } from './errors.ts';
import { lzfExpand } from './lzf.ts';

/** What an element of a collection takes besides its text, in bytes. */
export const ELEMENT_BYTES = 100;

/** A position in RDB data. Its methods throw RdbError at the end of the data. */
export class RdbReader {
  readonly data: Buffer;
  position: number;
  readonly end: number;

  constructor(data: Buffer, position = 0, end = data.length) {
    this.data = data;
    this.position = position;
    this.end = end;
  }

  get left(): number {
    return this.end - this.position;
  }

  byte(): number {
    return this.data[this.#take(1)]!;
  }

  /** This many bytes, unchanged. */
  raw(length: number): Bytes {
    const at = this.#take(length);
    return sliceBytes(this.data, at, at + length);
  }

  /** This many bytes, as a view. */
  rawData(length: number): Buffer {
    const at = this.#take(length);
    return this.data.subarray(at, at + length);
  }

  int8(): number {
    return this.data.readInt8(this.#take(1));
  }

  uint16(): number {
    return this.data.readUInt16LE(this.#take(2));
  }

  int16(): number {
    return this.data.readInt16LE(this.#take(2));
  }

  int24(): number {
    return this.data.readIntLE(this.#take(3), 3);
  }

  int32(): number {
    return this.data.readInt32LE(this.#take(4));
  }

  uint32(): number {
    return this.data.readUInt32LE(this.#take(4));
  }

  uint32be(): number {
    return this.data.readUInt32BE(this.#take(4));
  }

  int64(): bigint {
    return this.data.readBigInt64LE(this.#take(8));
  }

  uint64be(): bigint {
    return this.data.readBigUInt64BE(this.#take(8));
  }

  double(): number {
    return this.data.readDoubleLE(this.#take(8));
  }

  /** A length or count. Throws RdbError when it is too large for the rest of the data. */
  count(): number {
    const value = this.size();
    if (typeof value === 'bigint' || value > this.left) throw badFormat('length');
    return value;
  }

  /** A length: any unsigned 64-bit number. */
  size(): number | bigint {
    const first = this.byte();
    const form = first >>> 6;
    if (form === 0) return first & 63;
    if (form === 1) return ((first & 63) << 8) | this.byte();
    if (first === 0x80) return this.uint32be();
    if (first === 0x81) return narrow(this.uint64be());
    throw badFormat('length');
  }

  /** A string in any of its stored forms. */
  string(): Bytes {
    allocate(ELEMENT_BYTES);
    if (!this.#special()) return this.raw(this.count());
    const first = this.byte();
    if (first === 0xc0) return String(this.int8());
    if (first === 0xc1) return String(this.int16());
    if (first === 0xc2) return String(this.int32());
    return fromBuffer(this.#compressed());
  }

  /** A string that holds binary data. */
  blob(): Buffer {
    if (!this.#special()) return this.rawData(this.count());
    if (this.data[this.position] !== 0xc3) return toBuffer(this.string());
    this.position++;
    return this.#compressed();
  }

  /** Skips bytes. */
  skip(length: number): void {
    this.#take(length);
  }

  #special(): boolean {
    return this.left > 0 && this.data[this.position]! >= 0xc0;
  }

  #compressed(): Buffer {
    if (this.data[this.position - 1] !== 0xc3) throw badFormat('string');
    const packed = this.count();
    const length = this.size();
    if (typeof length === 'bigint') throw badFormat('LZF length');
    allocate(length);
    return lzfExpand(this.rawData(packed), length);
  }

  /** Advances by this many bytes and returns where they begin. */
  #take(length: number): number {
    const at = this.position;
    if (length > this.end - at) throw badFormat('unexpected end');
    this.position = at + length;
    return at;
  }
}
