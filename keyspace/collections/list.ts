/** A list of byte strings. A ring buffer makes access to both ends and to every index O(1). */
import Denque from 'denque';
import type { Bytes } from '../../protocol/bytes.ts';

/** The value of a key of type list. */
export class ListValue {
  readonly type = 'list';
  #items: Denque<Bytes>;
  #bytes: number;

  constructor(items: Bytes[] = []) {
    this.#items = new Denque(items);
    this.#bytes = items.length === 0 ? 0 : lengthOf(items);
  }

  get size(): number {
    return this.#items.length;
  }

  /** The total size of all elements, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an element at the head and returns the new length. */
  pushLeft(value: Bytes): number {
    this.#bytes += value.length;
    return this.#items.unshift(value);
  }

  pushRight(value: Bytes): number {
    this.#bytes += value.length;
    return this.#items.push(value);
  }

  popLeft(): Bytes | undefined {
    const value = this.#items.shift();
    this.#bytes -= value?.length ?? 0;
    return value;
  }

  popRight(): Bytes | undefined {
    const value = this.#items.pop();
    this.#bytes -= value?.length ?? 0;
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
    this.#bytes += value.length - (this.at(index)?.length ?? 0);
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
    this.#bytes += value.length;
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
    this.#bytes -= removed * value.length;
    return removed;
  }

  /** LTRIM: keeps the elements from start to stop, both inclusive and normalised; none when start > stop. */
  keep(start: number, stop: number): void {
    const items = this.#items;
    if (start > stop) {
      items.clear();
      this.#bytes = 0;
      return;
    }
    const tail = items.length - 1 - stop;
    if (start + tail > stop - start + 1) {
      const kept = this.range(start, stop);
      this.#items = new Denque(kept);
      this.#bytes = lengthOf(kept);
      return;
    }
    for (let i = 0; i < start; i++) this.popLeft();
    for (let i = 0; i < tail; i++) this.popRight();
  }

  *values(): Generator<Bytes, undefined> {
    for (let i = 0; i < this.#items.length; i++) yield this.#items.peekAt(i)!;
  }

  /** Redis 7.0 keeps every list as a quicklist, however short. */
  encoding(): 'quicklist' {
    return 'quicklist';
  }

  copy(): ListValue {
    return new ListValue(this.#items.toArray());
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
