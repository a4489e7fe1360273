/**
 * The index of a database: finds the entry of a key. It is a hash table with open addressing in one Int32Array, whose
 * slots refer to rows of entries.
 *
 * A Map of V8 copies all its keys at once when it has become too small, and again when three quarters of them are gone.
 * With a million keys that takes 40 ms, in which no client gets an answer. Here the slots move to a larger table a part
 * at a time, whenever a key is added. A look-up also touches fewer places in memory than in a Map. That is why entries know
 * their keys: an array of keys would be one more.
 */
import type { Bytes } from '../protocol/bytes.ts';
import type { Entry } from './entry.ts';
import { hashOf } from './key-hash.ts';

/** A slot is two numbers: the hash of a key and its row. The row is 0 in a free slot. */
const SLOT = 2;
const FIRST_SLOTS = 8;
/** An index without keys has this one free slot. */
const NO_SLOTS = new Int32Array(SLOT);
/** The row of a slot that was emptied in a table whose slots are being moved. It is below those of entries. */
const EMPTIED = -1;
/** How many slots are moved when a key is added. */
const MOVED_AT_ONCE = 512;
/** More rows than this are given back when only one in SPARSE is used. */
const KEPT_ROWS = 1024;
const SPARSE = 64;

/** The entry of a row in use, or the number of the next free row. */
type Row = Entry | number;

/** Entries by key. Iterates in the order in which the entries were made. */
export class KeyIndex {
  #size = 0;
  #slots = NO_SLOTS;
  /** The smaller table while its slots are being moved, and the place in it up to which they have been. */
  #old: Int32Array | undefined;
  #moved = 0;
  /** Row 0 is not used. */
  #rows: Row[] = [0];
  #free = 0;
  /** False once a free row was used again: rows are then no longer in the order of the entries. */
  #inOrder = true;

  /** The number of keys. */
  get size(): number {
    return this.#size;
  }

  get(key: Bytes): Entry | undefined {
    const hash = hashOf(key);
    const slot = find(this.#slots, this.#rows, key, hash);
    if (slot >= 0) return this.#rows[this.#slots[slot + 1]!] as Entry;
    const old = this.#old;
    if (old === undefined) return undefined;
    const place = find(old, this.#rows, key, hash);
    return place < 0 ? undefined : (this.#rows[old[place + 1]!] as Entry);
  }

  has(key: Bytes): boolean {
    return this.get(key) !== undefined;
  }

  /** Adds the entry of a key that does not exist. It must be newer than all others. */
  add(entry: Entry): void {
    if (this.#rows.length > KEPT_ROWS && this.#size * SPARSE < this.#rows.length) this.#shrink();
    this.#size++;
    if (this.#size * SLOT * 4 > this.#slots.length * 3) this.#grow();
    insert(this.#slots, hashOf(entry.key), this.#takeRow(entry));
    if (this.#old !== undefined) this.#move(this.#old, MOVED_AT_ONCE);
  }

  /** Removes a key; false when it does not exist. */
  delete(key: Bytes): boolean {
    const hash = hashOf(key);
    const slots = this.#slots;
    const slot = find(slots, this.#rows, key, hash);
    let row = slot < 0 ? 0 : slots[slot + 1]!;
    if (slot >= 0) remove(slots, slot);
    const old = this.#old;
    if (old !== undefined) {
      // A slot that was moved is still here too.
      const place = find(old, this.#rows, key, hash);
      if (place >= 0) {
        row = old[place + 1]!;
        old[place] = ~hash;
        old[place + 1] = EMPTIED;
      }
    }
    if (row === 0) return false;
    this.#rows[row] = this.#free;
    this.#free = row;
    if (--this.#size === 0 && this.#rows.length > KEPT_ROWS) this.clear();
    return true;
  }

  clear(): void {
    this.#size = 0;
    this.#slots = NO_SLOTS;
    this.#old = undefined;
    this.#rows = [0];
    this.#free = 0;
    this.#inOrder = true;
  }

  /** Keys that are added meanwhile may be left out. After `clear`, it goes on with the keys that were removed. */
  *[Symbol.iterator](): IterableIterator<[Bytes, Entry]> {
    const rows = this.#rows;
    for (const row of this.#ordered()) {
      const entry = rows[row]!;
      if (typeof entry !== 'number') yield [entry.key, entry];
    }
  }

  *keys(): IterableIterator<Bytes> {
    for (const [key] of this) yield key;
  }

  /** The entries in any order. Unlike the other iterators, it does not sort what it may never get to. */
  *unordered(): IterableIterator<Entry> {
    for (const entry of this.#rows) if (typeof entry !== 'number') yield entry;
  }

  #takeRow(entry: Entry): number {
    const row = this.#free;
    if (row === 0) return this.#rows.push(entry) - 1;
    this.#free = this.#rows[row] as number;
    this.#rows[row] = entry;
    this.#inOrder = false;
    return row;
  }

  #grow(): void {
    if (this.#old !== undefined) this.#move(this.#old, Infinity);
    if (this.#slots !== NO_SLOTS) this.#old = this.#slots;
    this.#moved = 0;
    this.#slots = new Int32Array(Math.max(FIRST_SLOTS * SLOT, 2 * this.#slots.length));
  }

  #move(old: Int32Array, most: number): void {
    const end = Math.min(old.length, this.#moved + most * SLOT);
    for (let slot = this.#moved; slot < end; slot += SLOT) {
      const row = old[slot + 1]!;
      if (row > 0) insert(this.#slots, old[slot]!, row);
    }
    this.#moved = end;
    if (end === old.length) this.#old = undefined;
  }

  #shrink(): void {
    const all = [...this];
    this.clear();
    for (const [, entry] of all) this.add(entry);
  }

  /** The numbers of the rows in use, in the order of their entries. */
  #ordered(): Float64Array {
    const rows = this.#rows;
    const count = rows.length;
    const used = new Float64Array(this.#size);
    let end = 0;
    for (let row = 1; row < count; row++) if (typeof rows[row] !== 'number') used[end++] = row;
    return this.#inOrder ? used : sorted(used, rows);
  }
}

/** Sorts the numbers of rows by the serial numbers of their entries. */
function sorted(used: Float64Array, rows: readonly Row[]): Float64Array {
  const serial = (row: number): number => (rows[row] as Entry).serial;
  const count = rows.length;
  const newest = used.reduce((most, row) => Math.max(most, serial(row)), 0);
  if (newest >= Number.MAX_SAFE_INTEGER / count) return used.sort((a, b) => serial(a) - serial(b));
  // A million numbers are sorted ten times as fast without a function that compares them.
  return used
    .map((row) => serial(row) * count + row)
    .sort()
    .map((rank) => rank % count);
}

/** The slot where a hash belongs, in a table without end: SLOT times the hash. */
function homeOf(hash: number): number {
  return hash << 1;
}

/** The slot of a key, or -1. */
function find(slots: Int32Array, rows: readonly Row[], key: Bytes, hash: number): number {
  const mask = slots.length - 1;
  for (let slot = homeOf(hash) & mask; ; slot = (slot + SLOT) & mask) {
    const row = slots[slot + 1]!;
    if (row === 0) return -1;
    if (slots[slot] === hash && row > 0 && (rows[row] as Entry).key === key) return slot;
  }
}

function insert(slots: Int32Array, hash: number, row: number): void {
  const mask = slots.length - 1;
  let slot = homeOf(hash) & mask;
  while (slots[slot + 1] !== 0) slot = (slot + SLOT) & mask;
  slots[slot] = hash;
  slots[slot + 1] = row;
}

/** Frees a slot. Those behind it that were not free to stand where they belong move up. */
function remove(slots: Int32Array, slot: number): void {
  const mask = slots.length - 1;
  let gap = slot;
  for (let next = (gap + SLOT) & mask; slots[next + 1] !== 0; next = (next + SLOT) & mask) {
    const distance = (next - homeOf(slots[next]!)) & mask;
    if (distance < ((next - gap) & mask)) continue;
    slots[gap] = slots[next]!;
    slots[gap + 1] = slots[next + 1]!;
    gap = next;
  }
  slots[gap + 1] = 0;
}
