/**
 * A table of deadlines: when a key ends, or the first field of a hash. A deadline is a row of 24 bytes in one
 * ArrayBuffer and a reference to its key, where an object with these members takes 96 bytes and the collector's time.
 *
 * Rows are numbered from 1, so that the memory of a new buffer, which is zero, means "none" wherever it is read. The
 * numbers of released deadlines are given to new ones. Memory behind the highest row is reserved, but not yet used: the
 * system provides it when it is first written to.
 */
import type { Bytes, Millis } from '../../protocol/bytes.ts';

/** A deadline's number in the table. Its owner releases it once, and must not use it after that. */
export type Deadline = number;

/** The number of no deadline. */
export const NONE: Deadline = 0;

/** The time of a deadline that is not armed. */
export const NO_TIME: Millis = Infinity;

/** A database, which removes what has expired. */
export interface DeadlineOwner {
  expire(deadline: Deadline): void;
}

/** A row as doubles: the time in the first of them. */
const DOUBLES = 3;
/** The same row as integers: the time in the first two, and then these. */
const INTEGERS = 6;
const PREVIOUS = 2;
const NEXT = 3;
const SLOT = 4;
/** The number of the owner, and in the lowest bit whether it is the deadline of fields. */
const OWNER = 5;

const ROW_BYTES = DOUBLES * Float64Array.BYTES_PER_ELEMENT;
const FIRST_CAPACITY = 16;
/** A table of more rows than this gives its memory back when its last deadline is released. */
const KEPT_CAPACITY = 1024;

/** Deadlines, and the links with which a wheel sorts them. */
export class DeadlineTable {
  #times = new Float64Array(0);
  #integers = new Int32Array(0);
  /** The keys by row. The first row is not used. */
  #keys: (Bytes | undefined)[] = [undefined];
  readonly #owners: DeadlineOwner[] = [];
  /** How many hashes of each owner have fields with a deadline. */
  readonly #hashes: number[] = [];
  #size = 0;
  /** A released row, which links to the next one. */
  #released: Deadline = NONE;

  /** How many deadlines there are, armed or not. */
  get size(): number {
    return this.#size;
  }

  /** How many bytes the rows take or reserve, beside the references to keys. */
  get bytes(): number {
    return this.#times.byteLength;
  }

  /** Returns the number by which deadlines refer to this owner. */
  enrol(owner: DeadlineOwner): number {
    this.#hashes.push(0);
    return this.#owners.push(owner) - 1;
  }

  /** Gives each of two owners the deadlines of the other one, for SWAPDB. Takes O(1). */
  exchange(first: number, second: number): void {
    const owners = this.#owners;
    [owners[first], owners[second]] = [owners[second]!, owners[first]!];
  }

  /** How many hashes of the owner with this number have fields with a deadline. */
  hashes(owner: number): number {
    return this.#hashes[owner]!;
  }

  /**
   * Adds a deadline without a time.
   * @param owner the owner's number
   * @param ofFields true for fields of a hash that expire; false for the key itself
   */
  add(owner: number, key: Bytes, ofFields = false): Deadline {
    let row = this.#released;
    if (row === NONE) {
      row = this.#keys.push(key) - 1;
      if (row * DOUBLES >= this.#times.length) this.#grow();
    } else {
      this.#released = this.next(row);
      this.#keys[row] = key;
    }
    this.#size++;
    this.#times[row * DOUBLES] = NO_TIME;
    this.setSlot(row, -1);
    this.#integers[row * INTEGERS + OWNER] = owner * 2 + (ofFields ? 1 : 0);
    if (ofFields) this.#hashes[owner]!++;
    return row;
  }

  /** Gives up a deadline, which must not be in a wheel. */
  release(row: Deadline): void {
    if (this.isOfFields(row)) this.#hashes[this.#integers[row * INTEGERS + OWNER]! >> 1]!--;
    this.#keys[row] = undefined;
    this.setNext(row, this.#released);
    this.#released = row;
    if (--this.#size === 0 && this.#keys.length > KEPT_CAPACITY) this.#startOver();
  }

  key(row: Deadline): Bytes {
    return this.#keys[row]!;
  }

  owner(row: Deadline): DeadlineOwner {
    return this.#owners[this.#integers[row * INTEGERS + OWNER]! >> 1]!;
  }

  /** True if the deadline was added with these arguments. */
  isOf(row: Deadline, owner: number, key: Bytes): boolean {
    return this.#integers[row * INTEGERS + OWNER]! >> 1 === owner && this.#keys[row] === key;
  }

  isOfFields(row: Deadline): boolean {
    return (this.#integers[row * INTEGERS + OWNER]! & 1) === 1;
  }

  /** The time of the deadline while it is armed, and after popDue; NO_TIME otherwise. */
  expiresAt(row: Deadline): Millis {
    return this.#times[row * DOUBLES]!;
  }

  /** Only the wheel calls this, and what follows. */
  setExpiresAt(row: Deadline, at: Millis): void {
    this.#times[row * DOUBLES] = at;
  }

  /** The neighbours in the list of a slot. */
  previous(row: Deadline): Deadline {
    return this.#integers[row * INTEGERS + PREVIOUS]!;
  }

  setPrevious(row: Deadline, previous: Deadline): void {
    this.#integers[row * INTEGERS + PREVIOUS] = previous;
  }

  next(row: Deadline): Deadline {
    return this.#integers[row * INTEGERS + NEXT]!;
  }

  setNext(row: Deadline, next: Deadline): void {
    this.#integers[row * INTEGERS + NEXT] = next;
  }

  /** The slot that it waits in, counted over all levels; -1 while it is not armed. */
  slot(row: Deadline): number {
    return this.#integers[row * INTEGERS + SLOT]!;
  }

  setSlot(row: Deadline, slot: number): void {
    this.#integers[row * INTEGERS + SLOT] = slot;
  }

  #grow(): void {
    const rows = this.#times.length / DOUBLES;
    const buffer = new ArrayBuffer(Math.max(FIRST_CAPACITY, 2 * rows) * ROW_BYTES);
    const integers = new Int32Array(buffer);
    integers.set(this.#integers);
    this.#integers = integers;
    this.#times = new Float64Array(buffer);
  }

  #startOver(): void {
    this.#times = new Float64Array(0);
    this.#integers = new Int32Array(0);
    this.#keys = [undefined];
    this.#released = NONE;
  }
}
