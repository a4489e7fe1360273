/**
 * A HyperLogLog as Redis stores it in a string: 16,384 registers, either sparse (runs) or dense (6 bits each), and a
 * cached count.
 */
import { type Bytes, fromBuffer, toBuffer } from '../../protocol/bytes.ts';
import { murmurHash64A } from './murmur.ts';
import { decodeRuns, MAX_SPARSE_VALUE, setInRuns } from './runs.ts';

const INDEX_BITS = 14;
/** The bits of the hash that determine a register's rank. */
const RANK_BITS = 50;
/** The number of registers. */
export const REGISTERS = 1 << INDEX_BITS;
const SEED = 0xadc83b19;
const MAGIC = 'HYLL';
const ENCODING_AT = 4;
const CARD_AT = 8;
const HEADER = 16;
const DENSE = 0;
const SPARSE = 1;
const DENSE_SIZE = HEADER + (REGISTERS * 6) / 8;
/** 1 / (2 ln 2), the estimator's constant. */
const ALPHA = 0.7213475204444817;
/** The top bit of the cached count, which marks it as outdated. */
const STALE = 1n << 63n;

/** The register of an element, and the number of leading zeros in the rest of its hash, plus 1. */
function place(element: Bytes): { index: number; rank: number } {
  const { high, low } = murmurHash64A(element, SEED);
  const rest = (low >>> INDEX_BITS) | (high << (32 - INDEX_BITS));
  const above = (high >>> INDEX_BITS) | (1 << (RANK_BITS - 32));
  const zeros = rest === 0 ? 32 + trailingZeros(above) : trailingZeros(rest);
  return { index: low & (REGISTERS - 1), rank: zeros + 1 };
}

/** The zeros below the lowest bit that is set. */
function trailingZeros(word: number): number {
  return 31 - Math.clz32(word & -word);
}

function readRegister(registers: Uint8Array, index: number): number {
  const bit = index * 6;
  const at = bit >>> 3;
  return ((registers[at]! | ((registers[at + 1] ?? 0) << 8)) >>> (bit & 7)) & 63;
}

/** Reads a register of the string that a key holds, without a copy. */
function readHeld(text: Bytes, index: number): number {
  const bit = index * 6;
  const at = HEADER + (bit >>> 3);
  const next = at + 1 < text.length ? text.charCodeAt(at + 1) : 0;
  return ((text.charCodeAt(at) | (next << 8)) >>> (bit & 7)) & 63;
}

function writeRegister(registers: Uint8Array, index: number, value: number): void {
  const bit = index * 6;
  const at = bit >>> 3;
  const shift = bit & 7;
  const both = registers[at]! | ((registers[at + 1] ?? 0) << 8);
  const changed = (both & ~(63 << shift)) | (value << shift);
  registers[at] = changed & 255;
  if (at + 1 < registers.length) registers[at + 1] = changed >>> 8;
}

/** The first and the third of four registers in 24 bits, and the bit above each of the two, which is free when the others are masked. */
const EVERY_OTHER = 0x3f03f;
const ABOVE = 0x40040;

/**
 * The greater registers, for the first and the third of four. After the subtraction, the bit above a register is set if the register of the
 * other is at least as great.
 */
function greater(mine: number, other: number): number {
  const more = (other | ABOVE) - mine;
  const isMore = more & ABOVE;
  return mine + (more & (isMore - (isMore >>> 6)));
}

/** The greater registers, for all of four in 24 bits. */
function greaterOfFour(mine: number, other: number): number {
  const odd = greater((mine >>> 6) & EVERY_OTHER, (other >>> 6) & EVERY_OTHER);
  return greater(mine & EVERY_OTHER, other & EVERY_OTHER) | (odd << 6);
}

/** Raises packed registers to others, four at a time: one by one takes twice as long. */
function raisePacked(mine: Uint8Array, other: Uint8Array): void {
  for (let at = 0; at < mine.length; at += 3) {
    const four = mine[at]! | (mine[at + 1]! << 8) | (mine[at + 2]! << 16);
    const others = other[at]! | (other[at + 1]! << 8) | (other[at + 2]! << 16);
    const raised = greaterOfFour(four, others);
    mine[at] = raised;
    mine[at + 1] = raised >>> 8;
    mine[at + 2] = raised >>> 16;
  }
}

/** Raises the given registers to the packed ones. Three bytes have four registers. */
function unpackInto(max: Uint8Array, packed: Uint8Array): void {
  for (let i = 0, at = 0; i < REGISTERS; i += 4, at += 3) {
    const three = packed[at]! | (packed[at + 1]! << 8) | (packed[at + 2]! << 16);
    const [a, b, c, d] = [three & 63, (three >>> 6) & 63, (three >>> 12) & 63, three >>> 18];
    if (a > max[i]!) max[i] = a;
    if (b > max[i + 1]!) max[i + 1] = b;
    if (c > max[i + 2]!) max[i + 2] = c;
    if (d > max[i + 3]!) max[i + 3] = d;
  }
}

/** The outcome of a change to a register. */
export type Change = 'changed' | 'same' | 'corrupt';

/** A HyperLogLog, decoded from a string. See https://redis.io/docs/latest/develop/data-types/probabilistic/hyperloglogs/. */
export class HyperLogLog {
  /** The string that it was read from, until something else is needed: it has 12 KB, and most requests change nothing. */
  #held: Bytes | undefined;
  #copy: Buffer | undefined;

  private constructor(data: Bytes | Buffer) {
    if (typeof data === 'string') this.#held = data;
    else this.#copy = data;
  }

  /** The bytes, which may be changed. */
  #editable(): Buffer {
    if (this.#copy !== undefined) return this.#copy;
    return this.#become(toBuffer(this.#held as Bytes));
  }

  #become(data: Buffer): Buffer {
    this.#held = undefined;
    this.#copy = data;
    return data;
  }

  /** An empty HyperLogLog: one run of zeros. */
  static empty(): HyperLogLog {
    const data = Buffer.alloc(HEADER + 2);
    data.latin1Write(MAGIC, 0);
    data[ENCODING_AT] = SPARSE;
    data[HEADER] = 0x7f;
    data[HEADER + 1] = 0xff;
    return new HyperLogLog(data);
  }

  /** Decodes a string; undefined when its first bytes and length are not those of a HyperLogLog. */
  static read(value: Bytes): HyperLogLog | undefined {
    if (value.length < HEADER || !value.startsWith(MAGIC)) return undefined;
    const encoding = value.charCodeAt(ENCODING_AT);
    if (encoding > SPARSE || (encoding === DENSE && value.length !== DENSE_SIZE)) return undefined;
    return new HyperLogLog(value);
  }

  get dense(): boolean {
    return (this.#held?.charCodeAt(ENCODING_AT) ?? this.#editable()[ENCODING_AT]) === DENSE;
  }

  bytes(): Bytes {
    return fromBuffer(this.#editable());
  }

  /** Counts an element. @param sparseMax the size in bytes above which the runs are converted to registers */
  add(element: Bytes, sparseMax: number): Change {
    const { index, rank } = place(element);
    return this.raise(index, rank, sparseMax);
  }

  /** Raises a register to a rank, if it is lower. */
  raise(index: number, rank: number, sparseMax: number): Change {
    if (this.dense) return this.#raiseDense(index, rank) ? 'changed' : 'same';
    if (rank <= MAX_SPARSE_VALUE) {
      const result = setInRuns(this.#editable(), HEADER, index, rank, sparseMax);
      if (result instanceof Uint8Array) {
        this.#become(Buffer.from(result.buffer, result.byteOffset, result.length));
        this.invalidate();
        return 'changed';
      }
      if (result !== 'full') return result;
    }
    if (!this.toDense()) return 'corrupt';
    return this.#raiseDense(index, rank) ? 'changed' : 'same';
  }

  /** Raises all registers to the given ones. */
  raiseAll(ranks: Uint8Array, sparseMax: number): void {
    for (let i = 0; i < REGISTERS; i++) if (ranks[i]! > 0) this.raise(i, ranks[i]!, sparseMax);
  }

  /** Raises all registers to those of another one. Both are dense. */
  raiseTo(other: HyperLogLog): void {
    raisePacked(this.#editable().subarray(HEADER), other.#editable().subarray(HEADER));
  }

  /** Becomes dense, with the registers of another one, which has those of this one. */
  takeRegisters(other: HyperLogLog): void {
    this.#become(Buffer.concat([this.#editable().subarray(0, HEADER), other.#editable().subarray(HEADER)]));
    this.#editable()[ENCODING_AT] = DENSE;
  }

  #raiseDense(index: number, rank: number): boolean {
    if (this.#held !== undefined && readHeld(this.#held, index) >= rank) return false;
    const registers = this.#editable().subarray(HEADER);
    if (readRegister(registers, index) >= rank) return false;
    writeRegister(registers, index, rank);
    return true;
  }

  /** Converts the runs to registers; false when they are inconsistent. */
  toDense(): boolean {
    if (this.dense) return true;
    const dense = Buffer.alloc(DENSE_SIZE);
    this.#editable().copy(dense, 0, 0, HEADER);
    dense[ENCODING_AT] = DENSE;
    const registers = dense.subarray(HEADER);
    let index = 0;
    for (const { length, value } of this.runs()) {
      if (value > 0) {
        if (index + length > REGISTERS) break;
        for (let i = 0; i < length; i++) writeRegister(registers, index + i, value);
      }
      index += length;
    }
    if (index !== REGISTERS) return false;
    this.#become(dense);
    return true;
  }

  /** The runs of a sparse HyperLogLog. */
  runs(): Iterable<{ length: number; value: number; name: string }> {
    return decodeRuns(this.#editable(), HEADER);
  }

  /** The registers of a dense HyperLogLog. */
  registers(): number[] {
    const registers = this.#editable().subarray(HEADER);
    return Array.from({ length: REGISTERS }, (_, index) => readRegister(registers, index));
  }

  /** Raises the given registers to this HyperLogLog's; false when its runs are inconsistent. */
  mergeInto(max: Uint8Array): boolean {
    if (this.dense) {
      unpackInto(max, this.#editable().subarray(HEADER));
      return true;
    }
    let index = 0;
    for (const { length, value } of this.runs()) {
      if (value > 0) {
        if (index + length > REGISTERS) break;
        for (let i = 0; i < length; i++) max[index + i] = Math.max(max[index + i]!, value);
      }
      index += length;
    }
    return index === REGISTERS;
  }

  /** The cached estimate, a signed 64-bit number; undefined when elements were added since. */
  cached(): bigint | undefined {
    const card =
      this.#held === undefined
        ? this.#editable().readBigUInt64LE(CARD_AT)
        : toBuffer(this.#held.slice(CARD_AT, HEADER)).readBigUInt64LE(0);
    return (card & STALE) === 0n ? card : undefined;
  }

  cache(count: number): void {
    this.#editable().writeBigUInt64LE(BigInt(count), CARD_AT);
  }

  invalidate(): void {
    this.#editable()[CARD_AT + 7]! |= 0x80;
  }

  /** Computes the estimate; undefined when the runs are inconsistent. */
  count(): number | undefined {
    if (this.dense) {
      const registers = new Uint8Array(REGISTERS);
      unpackInto(registers, this.#editable().subarray(HEADER));
      return countRegisters(registers);
    }
    const histogram = new Float64Array(64);
    let index = 0;
    for (const { length, value } of this.runs()) {
      histogram[value]! += length;
      index += length;
    }
    return index === REGISTERS ? estimate(histogram) : undefined;
  }
}

/** The estimate for merged, unpacked registers. */
export function countRegisters(registers: Uint8Array): number {
  const histogram = new Float64Array(64);
  for (let i = 0; i < registers.length; i++) histogram[registers[i]!]!++;
  return estimate(histogram);
}

/** Otmar Ertl's estimator (arXiv:1702.01284), computed in the same order as in Redis, so that all digits agree. */
function estimate(histogram: Float64Array): number {
  let z = REGISTERS * tau((REGISTERS - histogram[RANK_BITS + 1]!) / REGISTERS);
  for (let rank = RANK_BITS; rank >= 1; rank--) z = (z + histogram[rank]!) * 0.5;
  z += REGISTERS * sigma(histogram[0]! / REGISTERS);
  return Math.round((ALPHA * REGISTERS * REGISTERS) / z);
}

function tau(share: number): number {
  if (share === 0 || share === 1) return 0;
  let x = share;
  let y = 1;
  let z = 1 - x;
  for (let before = Number.NaN; before !== z; ) {
    x = Math.sqrt(x);
    before = z;
    y *= 0.5;
    z -= (1 - x) * (1 - x) * y;
  }
  return z / 3;
}

function sigma(share: number): number {
  if (share === 1) return Infinity;
  let x = share;
  let y = 1;
  let z = x;
  for (let before = Number.NaN; before !== z; ) {
    x *= x;
    before = z;
    z += x * y;
    y += y;
  }
  return z;
}
