/** A list of byte strings. A ring buffer makes access to both ends and to every index O(1). */
import Denque from 'denque';
import type { Bytes } from '../../protocol/bytes.ts';
import { elementSize } from '../format/listpack.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from './encoding.ts';

/** What list-max-listpack-size -1 to -5 stand for, in bytes. */
const NODE_BYTES = [4096, 8192, 16384, 32768, 65536];
/** A listpack's head and end, in bytes. */
const LISTPACK_FRAME = 7;

/** The value of a key of type list. */
export class ListValue {
  readonly type = 'list';
  #items: Denque<Bytes>;
  #bytes: number;
  /** Bytes of the elements in a listpack; 0 where lists are no listpacks. */
  #packed = 0;
  /** True when the list has outgrown a listpack. */
  #quick = true;
  readonly #limits: Readonly<EncodingLimits>;

  constructor(items: Bytes[] = [], limits: Readonly<EncodingLimits> = DEFAULT_LIMITS) {
    this.#items = new Denque(items);
    this.#limits = limits;
    this.#bytes = items.length === 0 ? 0 : lengthOf(items);
    if (!limits.packsLists) return;
    for (const item of items) this.#packed += elementSize(item);
    this.#quick = this.#exceeds(this.#packed, items.length, 1);
  }

  get size(): number {
    return this.#items.length;
  }

  /** The total size of all elements, in bytes. */
  get bytes(): number {
    return this.#bytes;
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
    return index < 0 ? undefined : this.#items.peekAt(index);
  }

  /**
   * Replaces the element at an index, which must exist. As in Redis, this takes time proportional to the distance to
   * the nearer end.
   */
  setAt(index: number, value: Bytes): void {
    this.#replace(this.at(index) ?? '', value);
    this.#open(index, (items, fromLeft) => {
      if (fromLeft) {
        items.shift();
        items.unshift(value);
      } else {
        items.pop();
        items.push(value);
      }
    });
  }

  /** The elements from start to stop, both inclusive and between 0 and size - 1; empty when start > stop. */
  range(start: number, stop: number): Bytes[] {
    const items = this.#items;
    const out: Bytes[] = [];
    for (let i = start; i <= stop; i++) out.push(items.peekAt(i)!);
    return out;
  }

  /** Inserts a value before the element at the index, or after the last element when index = size. */
  insertAt(index: number, value: Bytes): void {
    this.#grow(value);
    if (index >= this.#items.length) {
      this.#items.push(value);
      return;
    }
    this.#open(index, (items, fromLeft) => {
      if (fromLeft) items.unshift(value);
      else {
        const behind = items.pop()!;
        items.push(value);
        items.push(behind);
      }
    });
  }

  /**
   * LREM: deletes up to |count| equal elements from the head (count > 0) or the tail (count < 0), or all of them (0).
   * Returns how many.
   */
  removeMatching(value: Bytes, count: number): number {
    const items = this.#items.toArray();
    const most = count === 0 ? items.length : Math.abs(count);
    if (count < 0) items.reverse();
    let removed = 0;
    const kept = items.filter((item) => item !== value || removed === most || ++removed === 0);
    if (removed === 0) return 0;
    if (count < 0) kept.reverse();
    this.#items = new Denque(kept);
    for (let i = 0; i < removed; i++) this.#shrink(value);
    return removed;
  }

  /** LTRIM: keeps the elements from start to stop, both inclusive and normalised; none when start > stop. */
  keep(start: number, stop: number): void {
    const items = this.#items;
    if (start > stop) {
      items.clear();
      this.#bytes = this.#packed = 0;
      return;
    }
    const tail = items.length - 1 - stop;
    if (start + tail > stop - start + 1) {
      const dropped = [...this.range(0, start - 1), ...this.range(stop + 1, items.length - 1)];
      this.#items = new Denque(this.range(start, stop));
      for (const item of dropped) this.#shrink(item);
      return;
    }
    for (let i = 0; i < start; i++) this.popLeft();
    for (let i = 0; i < tail; i++) this.popRight();
  }

  *values(): Generator<Bytes, undefined> {
    for (let i = 0; i < this.#items.length; i++) yield this.#items.peekAt(i)!;
  }

  /** Redis 7.0 keeps every list as a quicklist, however short. */
  encoding(): 'listpack' | 'quicklist' {
    return this.#quick ? 'quicklist' : 'listpack';
  }

  copy(): ListValue {
    const copy = new ListValue(this.#items.toArray(), this.#limits);
    copy.#quick = this.#quick;
    return copy;
  }

  #grow(value: Bytes): void {
    this.#bytes += value.length;
    if (!this.#limits.packsLists) return;
    this.#packed += elementSize(value);
  }

  /** A list becomes a listpack again when it takes half of what one may. */
  #shrink(value: Bytes): void {
    this.#bytes -= value.length;
    if (!this.#limits.packsLists) return;
    this.#packed -= elementSize(value);
    if (this.#quick) this.#quick = this.#exceeds(this.#packed, this.size, 2);
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

  /**
   * Removes the elements on the shorter side of the index, so that the element at the index is at an end of the ring,
   * calls `change`, and puts the others back.
   */
  #open(index: number, change: (items: Denque<Bytes>, fromLeft: boolean) => void): void {
    const items = this.#items;
    const fromLeft = index < items.length / 2;
    const aside: Bytes[] = [];
    for (let i = fromLeft ? index : items.length - 1 - index; i > 0; i--) {
      aside.push(fromLeft ? items.shift()! : items.pop()!);
    }
    change(items, fromLeft);
    while (aside.length > 0) {
      if (fromLeft) items.unshift(aside.pop()!);
      else items.push(aside.pop()!);
    }
  }
}

function lengthOf(items: readonly Bytes[]): number {
  let bytes = 0;
  for (const item of items) bytes += item.length;
  return bytes;
}
