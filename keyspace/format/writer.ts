/** Writes the primitives of RDB (lengths, strings and numbers) into a growing buffer. */
import { type Bytes, narrow, parseSafeInteger } from '../../protocol/bytes.ts';

/** The maximum length of the text of an integer that fits 32 bits. */
const INT32_TEXT_MAX = 11;

/** Up to so many bytes are written one by one: a call of Node's own function takes as long as writing some tens of bytes. */
const SHORT = 24;

/** A buffer of RDB data. */
export class RdbWriter {
  #buffer: Buffer;
  #length = 0;

  /** @param expected about so many bytes will be written, if known: a buffer that grows is copied each time */
  constructor(expected = 256) {
    this.#buffer = Buffer.allocUnsafe(expected);
  }

  get length(): number {
    return this.#length;
  }

  /** A view of what was written; valid until the next write. */
  data(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Makes room for so many bytes. */
  expect(count: number): void {
    this.#reserve(count);
    this.#length -= count;
  }

  byte(value: number): void {
    const at = this.#reserve(1);
    this.#buffer[at] = value;
  }

  /** Writes bytes unchanged. */
  raw(bytes: Bytes): void {
    const { length } = bytes;
    const at = this.#reserve(length);
    if (length > SHORT) this.#buffer.latin1Write(bytes, at, length);
    else for (let i = 0; i < length; i++) this.#buffer[at + i] = bytes.charCodeAt(i);
  }

  /** Writes bytes with one byte before and one behind them. */
  framed(before: number, bytes: Bytes, behind: number): void {
    const { length } = bytes;
    const at = this.#reserve(length + 2);
    const buffer = this.#buffer;
    buffer[at] = before;
    if (length > SHORT) buffer.latin1Write(bytes, at + 1, length);
    else for (let i = 0; i < length; i++) buffer[at + 1 + i] = bytes.charCodeAt(i);
    buffer[at + 1 + length] = behind;
  }

  rawData(data: Uint8Array): void {
    const at = this.#reserve(data.length);
    this.#buffer.set(data, at);
  }

  double(value: number): void {
    const at = this.#reserve(8);
    this.#buffer.writeDoubleLE(value, at);
  }

  /** Writes a signed 64-bit number, least significant byte first, such as a deadline in milliseconds. */
  int64(value: number | bigint): void {
    const at = this.#reserve(8);
    if (typeof value === 'number' && Number.isSafeInteger(value)) {
      const high = Math.floor(value / 2 ** 32);
      this.#buffer.writeUInt32LE(value - high * 2 ** 32, at);
      this.#buffer.writeInt32LE(high, at + 4);
    } else this.#buffer.writeBigInt64LE(BigInt(value), at);
  }

  uint64be(value: bigint): void {
    const at = this.#reserve(8);
    this.#buffer.writeBigUInt64BE(value, at);
  }

  /** Writes a length in 1, 2, 5 or 9 bytes: any unsigned 64-bit number. */
  size(value: number | bigint): void {
    const small = typeof value === 'bigint' ? narrow(value) : value;
    if (typeof small === 'bigint' || small > 0xffffffff) {
      this.byte(0x81);
      this.uint64be(BigInt(small));
    } else if (small < 64) {
      this.byte(small);
    } else if (small < 16384) {
      const at = this.#reserve(2);
      this.#buffer.writeUInt16BE(0x4000 | small, at);
    } else {
      this.byte(0x80);
      const at = this.#reserve(4);
      this.#buffer.writeUInt32BE(small, at);
    }
  }

  /** Writes a string: short integers in binary, everything else as length and bytes. */
  string(value: Bytes): void {
    if (value.length <= INT32_TEXT_MAX && this.#integer(value)) return;
    this.size(value.length);
    this.raw(value);
  }

  /** Writes a string of binary data, which is never stored as an integer. */
  blob(data: Uint8Array): void {
    this.size(data.length);
    this.rawData(data);
  }

  #integer(text: Bytes): boolean {
    const value = parseSafeInteger(text);
    if (value === undefined) return false;
    if (value >= -128 && value <= 127) {
      this.byte(0xc0);
      this.byte(value & 0xff);
    } else if (value >= -32768 && value <= 32767) {
      this.byte(0xc1);
      const at = this.#reserve(2);
      this.#buffer.writeInt16LE(value, at);
    } else if (value >= -2147483648 && value <= 2147483647) {
      this.byte(0xc2);
      const at = this.#reserve(4);
      this.#buffer.writeInt32LE(value, at);
    } else {
      return false;
    }
    return true;
  }

  /** Reserves room for this many bytes and returns where they begin. */
  #reserve(count: number): number {
    const at = this.#length;
    const needed = at + count;
    if (needed > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
      this.#buffer.copy(grown, 0, 0, at);
      this.#buffer = grown;
    }
    this.#length = needed;
    return at;
  }
}
