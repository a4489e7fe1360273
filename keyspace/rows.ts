/**
 * The rows of a database: what it stores for each key, in columns. A row takes 42 bytes. An object with the same members
 * takes 88, with its place in an array, and the collector must look at every object.
 *
 * Rows come in chunks, so that no column is copied as a whole when it grows.
 */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import type { Held } from './value.ts';

const BITS = 10;
/** How many rows a chunk has. */
const ROWS = 1 << BITS;
const WITHIN = ROWS - 1;
/** The first chunk begins with this many, because most databases have few keys. V8 keeps columns this short on its heap. */
const FIRST_ROWS = 4;

/** The frequency of a new key. */
const NEW_FREQUENCY = 5;

/**
 * The columns of some rows. Columns that are used together lie side by side, so that a row of many is in four lines of the
 * processor's cache and not in eight. The first chunk gets longer columns when it grows.
 */
export class RowChunk {
  /** Keys and values by turns; undefined for a row that is free. */
  pairs: (Bytes | Held | undefined)[];
  /** Serials and times of the last use by turns, the latter in milliseconds since the epoch. */
  moments: Float64Array;
  /** Deadlines and footprints by turns, the latter in bytes. A free row has the number of the next one as its deadline. */
  numbers: Uint32Array;
  /** Frequencies and encodings by turns. */
  traits: Uint8Array;

  constructor(rows: number) {
    this.pairs = new Array<undefined>(2 * rows).fill(undefined);
    this.moments = new Float64Array(2 * rows);
    this.numbers = new Uint32Array(2 * rows);
    this.traits = new Uint8Array(2 * rows);
  }

  /** How many rows it has room for. */
  get room(): number {
    return this.moments.length / 2;
  }

  /** Doubles the number of rows. */
  grow(): void {
    const longer = new RowChunk(2 * this.room);
    for (let at = 0; at < this.room; at++) longer.copy(at, this, at);
    Object.assign(this, longer);
  }

  /** Copies a row of another chunk, or of this one. */
  copy(to: number, other: RowChunk, from: number): void {
    for (let column = 0; column < 2; column++) {
      this.pairs[2 * to + column] = other.pairs[2 * from + column];
      this.moments[2 * to + column] = other.moments[2 * from + column]!;
      this.numbers[2 * to + column] = other.numbers[2 * from + column]!;
      this.traits[2 * to + column] = other.traits[2 * from + column]!;
    }
  }
}

/** Rows by their numbers. Row 0 is not used: the number means that there is no row. */
export class Rows {
  readonly #chunks: RowChunk[] = [];
  /** How many rows were ever used, and row 0. */
  #length = 1;
  #free = 0;
  /** False once a free row was used again: rows are then no longer in the order in which keys were made. */
  #inOrder = true;

  /** More than the number of any row. */
  get length(): number {
    return this.#length;
  }

  /** The chunk that has the row, where it is number `within(row)`. */
  chunk(row: number): RowChunk {
    return this.#chunks[row >> BITS]!;
  }

  within(row: number): number {
    return row & WITHIN;
  }

  /** The key of a row; undefined if the row is free. */
  key(row: number): Bytes | undefined {
    return this.#chunks[row >> BITS]!.pairs[2 * (row & WITHIN)] as Bytes | undefined;
  }

  /** The serial of the key of a row in use. */
  serial(row: number): number {
    return this.#chunks[row >> BITS]!.moments[2 * (row & WITHIN)]!;
  }

  /** Stores a new key. Returns the number of its row. */
  add(key: Bytes, value: Held, serial: number, usedAt: Millis): number {
    const row = this.#take();
    const chunk = this.chunk(row);
    const at = 2 * (row & WITHIN);
    chunk.pairs[at] = key;
    chunk.pairs[at + 1] = value;
    chunk.moments[at] = serial;
    chunk.moments[at + 1] = usedAt;
    chunk.numbers[at] = 0;
    chunk.numbers[at + 1] = 0;
    chunk.traits[at] = NEW_FREQUENCY;
    chunk.traits[at + 1] = 0;
    return row;
  }

  /** Copies a row of others. Returns the number of the copy. */
  adopt(others: Rows, row: number): number {
    const copy = this.#take();
    this.chunk(copy).copy(copy & WITHIN, others.chunk(row), row & WITHIN);
    return copy;
  }

  /** Gives up a row. Its number is used again. */
  release(row: number): void {
    const chunk = this.chunk(row);
    const at = 2 * (row & WITHIN);
    chunk.pairs[at] = undefined;
    chunk.pairs[at + 1] = undefined;
    chunk.numbers[at] = this.#free;
    this.#free = row;
  }

  /**
   * The numbers of the rows in use, in the order in which their keys were made.
   * @param size how many rows are in use
   * @param test leaves out the keys for which it returns false; by default there is none
   */
  ordered(size: number, test?: (key: Bytes) => boolean): Float64Array {
    const used = new Float64Array(size);
    let end = 0;
    for (let row = 1; row < this.#length; row++) {
      const key = this.key(row);
      if (key !== undefined && (test === undefined || test(key))) used[end++] = row;
    }
    const found = used.subarray(0, end);
    return this.#inOrder ? found : this.#sorted(found);
  }

  #take(): number {
    const row = this.#free;
    if (row !== 0) {
      this.#free = this.chunk(row).numbers[2 * (row & WITHIN)]!;
      this.#inOrder = false;
      return row;
    }
    const next = this.#length++;
    const chunk = this.#chunks[next >> BITS];
    if (chunk === undefined) this.#chunks.push(new RowChunk(next < ROWS ? FIRST_ROWS : ROWS));
    else if ((next & WITHIN) === chunk.room) chunk.grow();
    return next;
  }

  /** Sorts the numbers of rows by the serials of their keys. */
  #sorted(used: Float64Array): Float64Array {
    const count = this.#length;
    const newest = used.reduce((most, row) => Math.max(most, this.serial(row)), 0);
    if (newest >= Number.MAX_SAFE_INTEGER / count)
      return used.sort((a, b) => this.serial(a) - this.serial(b));
    // A million numbers are sorted ten times as fast without a function that compares them.
    return used
      .map((row) => this.serial(row) * count + row)
      .sort()
      .map((rank) => rank % count);
  }
}
