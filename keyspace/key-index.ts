/**
 * The index of a database: finds the entry of a key. It is a hash table with open addressing in one Int32Array, whose
 * slots refer to rows.
 *
 * A Map of V8 copies all its keys at once when it has become too small, and again when three quarters of them are gone.
 * With a million keys that takes 40 ms, in which no client gets an answer. Here the slots move to a larger table a part
 * at a time, whenever a key is added.
 */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { slotOf } from '../protocol/slot.ts';
import { Entry } from './entry.ts';
import { hashOf } from './key-hash.ts';
import type { Step } from './key-roll.ts';
import { Rows } from './rows.ts';
import { SlotRows } from './slot-rows.ts';
import type { Held } from './value.ts';

/** A slot is two numbers: the hash of a key and its row. The row is 0 in a free slot. */
const SLOT = 2;
const FIRST_SLOTS = 8;
/** An index without keys has this one free slot. */
const NO_SLOTS = new Int32Array(SLOT);
/** The row of a slot that was emptied in a table whose slots are being moved. It is below those of keys. */
const EMPTIED = -1;
/** How many slots are moved when a key is added. */
const MOVED_AT_ONCE = 512;
/** More rows than this are given back when only one in SPARSE is used. */
const KEPT_ROWS = 1024;
const SPARSE = 64;

/** Entries by key. Iterates in the order in which the keys were made. */
export class KeyIndex {
  #size = 0;
  #slots = NO_SLOTS;
  /** The smaller table while its slots are being moved, and the place in it up to which they have been. */
  #old: Int32Array | undefined;
  #moved = 0;
  #rows = new Rows();
  /** The rows by cluster slot, kept from the first question about a slot on. */
  #bySlot: SlotRows | undefined;
  /** The row at which the last step of a scan of a slot ended. */
  #scanned = 0;

  /** The number of keys. */
  get size(): number {
    return this.#size;
  }

  get(key: Bytes): Entry | undefined {
    const row = this.#rowOf(key);
    return row === 0 ? undefined : entryOf(this.#rows, row);
  }

  has(key: Bytes): boolean {
    return this.#rowOf(key) !== 0;
  }

  /** Adds a key that does not exist. Its serial must be higher than all others. */
  add(key: Bytes, value: Held, serial: number, usedAt: Millis): Entry {
    if (this.#rows.length > KEPT_ROWS && this.#size * SPARSE < this.#rows.length) this.#shrink();
    const row = this.#rows.add(key, value, serial, usedAt);
    this.#insert(key, row);
    this.#bySlot?.add(slotOf(key), row);
    return entryOf(this.#rows, row);
  }

  /** Removes a key; false when it does not exist. Its entry must not be used any more. */
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
    this.#bySlot?.delete(slotOf(key), row);
    this.#rows.release(row);
    if (--this.#size === 0 && this.#rows.length > KEPT_ROWS) this.clear();
    return true;
  }

  clear(): void {
    this.#size = 0;
    this.#slots = NO_SLOTS;
    this.#old = undefined;
    this.#rows = new Rows();
    this.#bySlot = undefined;
  }

  /** Keys added during the iteration may be left out. After `clear`, it goes on with the keys that were removed. */
  *[Symbol.iterator](): IterableIterator<[Bytes, Entry]> {
    const rows = this.#rows;
    for (const row of rows.ordered(this.#size)) {
      const key = rows.key(row);
      if (key !== undefined) yield [key, entryOf(rows, row)];
    }
  }

  *keys(): IterableIterator<Bytes> {
    for (const [key] of this) yield key;
  }

  /** The entries of the keys for which the test returns true, in the order in which the keys were made. */
  *matching(test: (key: Bytes) => boolean): IterableIterator<Entry> {
    for (const row of this.#rows.ordered(this.#size, test)) yield entryOf(this.#rows, row);
  }

  /**
   * The entries in any order. Unlike the other iterators, it does not sort what it may never get to.
   * @param step for a sample: only every so many rows are looked at
   */
  *unordered(step = 1): IterableIterator<Entry> {
    const rows = this.#rows;
    for (let row = 1; row < rows.length; row += step)
      if (rows.key(row) !== undefined) yield entryOf(rows, row);
  }

  /** At most `most` keys of a cluster slot, the newest first. The first call for any slot goes through all keys. */
  keysOfSlot(slot: number, most = Infinity): Bytes[] {
    return this.#slotRows()
      .rows(slot, most)
      .map((row) => this.#rows.key(row)!);
  }

  /**
   * One step of a scan of a cluster slot, from its newest key to its oldest. A key that exists during the whole scan is
   * returned exactly once.
   * @param below the cursor: the serial of the last key of the step before, or 0
   * @returns at most `most` keys, and the cursor of the next step, or 0 if these are the last
   */
  scanSlot(slot: number, below: number, most: number): Step {
    const lists = this.#slotRows();
    const rows = this.#rows;
    const names: Bytes[] = [];
    let row = this.#resume(slot, below);
    for (; row !== 0 && names.length < most; row = lists.olderThan(row)) {
      names.push(rows.key(row)!);
      this.#scanned = row;
    }
    return { names, next: row === 0 || names.length === 0 ? 0 : rows.serial(this.#scanned) };
  }

  /** The newest row of a slot whose serial is below a cursor. It is found at once where the last scan stopped. */
  #resume(slot: number, below: number): number {
    const lists = this.#slotRows();
    const rows = this.#rows;
    if (below === 0) return lists.newest(slot);
    const last = this.#scanned;
    const stands = last < rows.length && rows.key(last) !== undefined && rows.serial(last) === below;
    if (stands && slotOf(rows.key(last)!) === slot) return lists.olderThan(last);
    let row = lists.newest(slot);
    while (row !== 0 && rows.serial(row) >= below) row = lists.olderThan(row);
    return row;
  }

  /** How many keys each cluster slot has now. The first call goes through all keys. */
  countsOfSlots(): Readonly<Uint32Array> {
    return this.#slotRows().counts;
  }

  #slotRows(): SlotRows {
    if (this.#bySlot !== undefined) return this.#bySlot;
    const made = new SlotRows();
    for (const row of this.#rows.ordered(this.#size)) made.add(slotOf(this.#rows.key(row)!), row);
    this.#bySlot = made;
    return made;
  }

  /** The number of a key's row, or 0. */
  #rowOf(key: Bytes): number {
    const hash = hashOf(key);
    const slot = find(this.#slots, this.#rows, key, hash);
    if (slot >= 0) return this.#slots[slot + 1]!;
    const old = this.#old;
    if (old === undefined) return 0;
    const place = find(old, this.#rows, key, hash);
    return place < 0 ? 0 : old[place + 1]!;
  }

  #insert(key: Bytes, row: number): void {
    this.#size++;
    if (this.#size * SLOT * 4 > this.#slots.length * 3) this.#grow();
    insert(this.#slots, hashOf(key), row);
    if (this.#old !== undefined) this.#move(this.#old, MOVED_AT_ONCE);
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

  /** Moves the keys to rows without gaps. Entries that were got before read their keys as they were until now. */
  #shrink(): void {
    const before = this.#rows;
    const used = before.ordered(this.#size);
    this.clear();
    for (const row of used) this.#insert(before.key(row)!, this.#rows.adopt(before, row));
  }
}

function entryOf(rows: Rows, row: number): Entry {
  return new Entry(rows.chunk(row), rows.within(row));
}

/** The slot where a hash would belong if the table never wrapped around: SLOT times the hash. */
function homeOf(hash: number): number {
  return hash << 1;
}

/** The slot of a key, or -1. */
function find(slots: Int32Array, rows: Rows, key: Bytes, hash: number): number {
  const mask = slots.length - 1;
  for (let slot = homeOf(hash) & mask; ; slot = (slot + SLOT) & mask) {
    const row = slots[slot + 1]!;
    if (row === 0) return -1;
    if (slots[slot] === hash && row > 0 && rows.key(row) === key) return slot;
  }
}

function insert(slots: Int32Array, hash: number, row: number): void {
  const mask = slots.length - 1;
  let slot = homeOf(hash) & mask;
  while (slots[slot + 1] !== 0) slot = (slot + SLOT) & mask;
  slots[slot] = hash;
  slots[slot + 1] = row;
}

/** Frees a slot. Entries after it that it had displaced move back. */
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
