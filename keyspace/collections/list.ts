/** A list of byte strings. A ring buffer makes access to both ends and to every index O(1). */
import type { Bytes } from '../../protocol/bytes.ts';
import { elementSize } from '../format/listpack.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from './encoding.ts';
import { Ring } from './ring.ts';

/** What list-max-listpack-size -1 to -5 stand for, in bytes. */
const NODE_BYTES = [4096, 8192, 16384, 32768, 65536];
/** A listpack's head and end, in bytes. */
const LISTPACK_FRAME = 7;
/** The bytes of the shortest element in a listpack. */
const SHORTEST = 2;

/** How many elements LREM takes out one by one. For more, the list is made anew. */
const MOVED = 8;

/** When LTRIM removes more elements than this, the rest of the list is measured anew, and only when its size matters. */
const UNMEASURED = 64;

/** The value of a key of type list. */
export class ListValue {
  readonly type = 'list';
  #items: Ring<Bytes>;
  #bytes = 0;
  /** Bytes of the elements in a listpack; 0 where lists are no listpacks. */
  #packed = 0;
  /** False when the elements of a quicklist have to be measured again before that is used. */
  #isMeasured = true;
  /** True when the list has outgrown a listpack. */
  #quick = true;
  readonly #limits: Readonly<EncodingLimits>;

  constructor(items: Bytes[] = [], limits: Readonly<EncodingLimits> = DEFAULT_LIMITS) {
    this.#items = new Ring(items);
    this.#limits = limits;
    this.#bytes = lengthIn(this.#items, 0, items.length);
    this.#measure();
    if (limits.packsLists) this.#quick = this.#exceeds(this.#packed, items.length, 1);
  }

  get size(): number {
    return this.#items.length;
  }

  /** The total size of all elements, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  #measure(): void {
    this.#isMeasured = true;
    if (!this.#limits.packsLists) return;
    this.#packed = 0;
    for (let i = 0; i < this.#items.length; i++) this.#packed += elementSize(this.#items.at(i)!);
  }

  /** The size of all elements in one listpack, in bytes. O(1) where lists are listpacks, otherwise O(n). */
  countPackedBytes(): number {
    if (!this.#isMeasured) this.#measure();
    if (this.#limits.packsLists) return LISTPACK_FRAME + this.#packed;
    let size = LISTPACK_FRAME;
    for (let i = 0; i < this.#items.length; i++) size += elementSize(this.#items.at(i)!);
    return size;
  }

  /**
   * Prepares the list for elements that a request names, whether or not it will add them: a list with more than a listpack
   * may have becomes a quicklist.
   */
  expect(values: readonly Bytes[]): void {
    if (this.#quick || !this.#limits.packsLists) return;
    this.#quick = this.#exceeds(this.#packed + lengthOf(values), this.size + values.length, 1);
  }

  /** Makes a list that was stored in several nodes a quicklist, however short it is. */
  outgrow(): void {
    this.#quick = true;
  }

  /** Adds an element at the head and returns the new length. */
  pushLeft(value: Bytes): number {
    this.#grow(value);
    return this.#items.unshift(value);
  }

  pushRight(value: Bytes): number {
    this.#grow(value);
    return this.#items.push(value);
  }

  popLeft(): Bytes | undefined {
    const value = this.#items.shift();
    if (value !== undefined) this.#shrink(value);
    return value;
  }

  popRight(): Bytes | undefined {
    const value = this.#items.pop();
    if (value !== undefined) this.#shrink(value);
    return value;
  }

  /** The element at an index, 0 to size - 1. */
  at(index: number): Bytes | undefined {
    return this.#items.at(index);
  }

  /** Replaces the element at an index, which must exist. */
  setAt(index: number, value: Bytes): void {
    this.#replace(this.at(index) ?? '', value);
    this.#items.set(index, value);
  }

  /** The elements from start to stop, both inclusive and between 0 and size - 1; empty when start > stop. */
  range(start: number, stop: number): Bytes[] {
    return start > stop ? [] : this.#items.slice(start, stop + 1);
  }

  /** Inserts a value before the element at the index, or after the last element when index = size. */
  insertAt(index: number, value: Bytes): void {
    this.#grow(value);
    if (index >= this.#items.length) this.#items.push(value);
    else this.#items.insert(index, value);
  }

  /**
   * LREM: deletes up to |count| equal elements from the head (count > 0) or the tail (count < 0), or all of them (0).
   * Returns how many.
   */
  removeMatching(value: Bytes, count: number): number {
    const items = this.#items;
    const most = count === 0 ? items.length : Math.abs(count);
    const found: number[] = [];
    const step = count < 0 ? -1 : 1;
    for (
      let i = count < 0 ? items.length - 1 : 0;
      i >= 0 && i < items.length && found.length < most;
      i += step
    ) {
      if (items.at(i) === value) found.push(i);
    }
    if (found.length <= MOVED) for (const at of found.sort((a, b) => b - a)) items.remove(at);
    else {
      const removed = new Set(found);
      this.#items = new Ring(items.toArray().filter((_, i) => !removed.has(i)));
    }
    for (let i = 0; i < found.length; i++) this.#leave(value);
    if (found.length > 0) this.#settle();
    return found.length;
  }

  /** LTRIM: keeps the elements from start to stop, both inclusive and normalised; none when start > stop. */
  keep(start: number, stop: number): void {
    const items = this.#items;
    if (start > stop) {
      items.clear();
      this.#bytes = this.#packed = 0;
      this.#isMeasured = true;
      return;
    }
    const { length } = items;
    const kept = stop - start + 1;
    if (kept === length) return;
    if (this.#quick && length - kept > UNMEASURED) {
      this.#isMeasured = false;
      if (kept < length / 2) this.#bytes = lengthIn(items, start, stop + 1);
      else this.#bytes -= lengthIn(items, 0, start) + lengthIn(items, stop + 1, length);
    } else {
      for (let i = 0; i < start; i++) this.#leave(items.at(i)!);
      for (let i = stop + 1; i < length; i++) this.#leave(items.at(i)!);
    }
    items.keep(start, stop + 1);
    this.#settle();
  }

  *values(): Generator<Bytes, undefined> {
    for (let i = 0; i < this.#items.length; i++) yield this.#items.at(i)!;
  }

  /** Redis 7.0 keeps every list as a quicklist, however short. */
  encoding(): 'listpack' | 'quicklist' {
    return this.#quick ? 'quicklist' : 'listpack';
  }

  copy(): ListValue {
    const copy = new ListValue([], this.#limits);
    copy.#items = this.#items.copy();
    copy.#bytes = this.#bytes;
    copy.#packed = this.#packed;
    copy.#isMeasured = this.#isMeasured;
    copy.#quick = this.#quick;
    return copy;
  }

  #grow(value: Bytes): void {
    this.#bytes += value.length;
    if (!this.#limits.packsLists) return;
    this.#packed += elementSize(value);
  }

  #shrink(value: Bytes): void {
    this.#leave(value);
    this.#settle();
  }

  #leave(value: Bytes): void {
    this.#bytes -= value.length;
    if (this.#limits.packsLists) this.#packed -= elementSize(value);
  }

  /** A list becomes a listpack again when it takes half of what one may. */
  #settle(): void {
    if (!this.#limits.packsLists || !this.#quick) return;
    if (!this.#isMeasured) {
      // Even the shortest elements are too many.
      if (this.#exceeds(this.size * SHORTEST, this.size, 2)) return;
      this.#measure();
    }
    this.#quick = this.#exceeds(this.#packed, this.size, 2);
  }

  #replace(old: Bytes, value: Bytes): void {
    this.#bytes += value.length - old.length;
    if (!this.#limits.packsLists) return;
    this.#packed += elementSize(value) - elementSize(old);
    // Of several elements, each may have a node of its own.
    if (this.#quick && this.size === 1) this.#quick = this.#exceeds(this.#packed, 1, 2);
  }

  /** Whether the elements are more than one part of the largest listpack. */
  #exceeds(packed: number, count: number, part: number): boolean {
    const { listMaxListpackSize: fill } = this.#limits;
    if (fill >= 0) return count > Math.max(1, fill) / part;
    const most = NODE_BYTES[Math.min(-fill, NODE_BYTES.length) - 1] ?? 0;
    return packed + LISTPACK_FRAME > most / part;
  }
}

function lengthOf(items: readonly Bytes[]): number {
  let bytes = 0;
  for (const item of items) bytes += item.length;
  return bytes;
}

function lengthIn(items: Ring<Bytes>, from: number, end: number): number {
  let bytes = 0;
  for (let i = from; i < end; i++) bytes += items.at(i)!.length;
  return bytes;
}
