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
const FIRST_ROWS = 8;

/** The frequency of a new key. */
const NEW_FREQUENCY = 5;

/** The columns of some rows. The first chunk gets longer ones when it grows. */
export class RowChunk {
  /** undefined for a row that is free. */
  keys: (Bytes | undefined)[];
  values: (Held | undefined)[];
  serials: Float64Array;
  /** Times of the last use, in milliseconds since the epoch. */
  uses: Float64Array;
  /** Deadlines; in a free row, the number of the next one. */
  deadlines: Int32Array;
  /** In bytes. */
  footprints: Uint32Array;
  frequencies: Uint8Array;
  encodings: Uint8Array;

  constructor(rows: number) {
    this.keys = new Array<undefined>(rows).fill(undefined);
    this.values = new Array<undefined>(rows).fill(undefined);
    this.serials = new Float64Array(rows);
    this.uses = new Float64Array(rows);
    this.deadlines = new Int32Array(rows);
    this.footprints = new Uint32Array(rows);
    this.frequencies = new Uint8Array(rows);
    this.encodings = new Uint8Array(rows);
  }

  /** Doubles the number of rows. */
  grow(): void {
    const longer = new RowChunk(2 * this.keys.length);
    for (let at = 0; at < this.keys.length; at++) longer.copy(at, this, at);
    Object.assign(this, longer);
  }

  /** Copies a row of another chunk, or of this one. */
  copy(to: number, other: RowChunk, from: number): void {
    this.keys[to] = other.keys[from];
    this.values[to] = other.values[from];
    this.serials[to] = other.serials[from]!;
    this.uses[to] = other.uses[from]!;
    this.deadlines[to] = other.deadlines[from]!;
    this.footprints[to] = other.footprints[from]!;
    this.frequencies[to] = other.frequencies[from]!;
    this.encodings[to] = other.encodings[from]!;
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
    return this.#chunks[row >> BITS]!.keys[row & WITHIN];
  }

  /** Stores a new key. Returns the number of its row. */
  add(key: Bytes, value: Held, serial: number, usedAt: Millis): number {
    const row = this.#take();
    const chunk = this.chunk(row);
    const at = row & WITHIN;
    chunk.keys[at] = key;
    chunk.values[at] = value;
    chunk.serials[at] = serial;
    chunk.uses[at] = usedAt;
    chunk.deadlines[at] = 0;
    chunk.footprints[at] = 0;
    chunk.frequencies[at] = NEW_FREQUENCY;
    chunk.encodings[at] = 0;
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
    const at = row & WITHIN;
    chunk.keys[at] = undefined;
    chunk.values[at] = undefined;
    chunk.deadlines[at] = this.#free;
    this.#free = row;
  }

  /**
   * The numbers of the rows in use, in the order in which their keys were made.
   * @param size how many there are
   */
  ordered(size: number): Float64Array {
    const used = new Float64Array(size);
    let end = 0;
    for (let row = 1; row < this.#length; row++) if (this.key(row) !== undefined) used[end++] = row;
    return this.#inOrder ? used : this.#sorted(used);
  }

  #take(): number {
    const row = this.#free;
    if (row !== 0) {
      this.#free = this.chunk(row).deadlines[row & WITHIN]!;
      this.#inOrder = false;
      return row;
    }
    const next = this.#length++;
    const chunk = this.#chunks[next >> BITS];
    if (chunk === undefined) this.#chunks.push(new RowChunk(next < ROWS ? FIRST_ROWS : ROWS));
    else if ((next & WITHIN) === chunk.keys.length) chunk.grow();
    return next;
  }

  /** Sorts the numbers of rows by the serials of their keys. */
  #sorted(used: Float64Array): Float64Array {
    const count = this.#length;
    const serial = (row: number): number => this.chunk(row).serials[row & WITHIN]!;
    const newest = used.reduce((most, row) => Math.max(most, serial(row)), 0);
    if (newest >= Number.MAX_SAFE_INTEGER / count) return used.sort((a, b) => serial(a) - serial(b));
    // A million numbers are sorted ten times as fast without a function that compares them.
    return used
      .map((row) => serial(row) * count + row)
      .sort()
      .map((rank) => rank % count);
  }
}
