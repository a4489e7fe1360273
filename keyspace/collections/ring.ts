/** A ring buffer: both ends and every index in O(1), insertion and removal elsewhere by moving the shorter side. */

/** The least room of a ring. A power of two, like every room. */
const LEAST = 4;

/** A ring with more room than this gives it back when a quarter is used. */
const LARGE = 16_384;

/** A sequence of items, of which undefined is none. A copy shares the array until one of the two gets another item. */
export class Ring<T> {
  #items: (T | undefined)[];
  #isShared = false;
  #mask: number;
  #head = 0;
  #size: number;

  constructor(items: readonly T[] = []) {
    const room = roomFor(items.length);
    this.#items = roomy(items, room);
    this.#mask = room - 1;
    this.#size = items.length;
  }

  get length(): number {
    return this.#size;
  }

  /** The item at an index; undefined if there is none. */
  at(index: number): T | undefined {
    return index < 0 || index >= this.#size ? undefined : this.#items[(this.#head + index) & this.#mask];
  }

  /** The items from `from` to before `end`, which must exist. */
  slice(from: number, end: number): T[] {
    const [start, stop] = [this.#head + from, this.#head + end];
    const room = this.#mask + 1;
    if (start >= room) return this.#items.slice(start - room, stop - room) as T[];
    if (stop <= room) return this.#items.slice(start, stop) as T[];
    return [...this.#items.slice(start), ...this.#items.slice(0, stop - room)] as T[];
  }

  /** Replaces the item at an index, which must exist. */
  set(index: number, item: T): void {
    if (this.#isShared) this.#part();
    this.#items[(this.#head + index) & this.#mask] = item;
  }

  /** Adds an item at the end. Returns the new length. */
  push(item: T): number {
    if (this.#size > this.#mask) this.#resize(2 * (this.#mask + 1));
    else if (this.#isShared) this.#part();
    this.#items[(this.#head + this.#size) & this.#mask] = item;
    return ++this.#size;
  }

  /** Adds an item at the beginning. Returns the new length. */
  unshift(item: T): number {
    if (this.#size > this.#mask) this.#resize(2 * (this.#mask + 1));
    else if (this.#isShared) this.#part();
    this.#head = (this.#head - 1) & this.#mask;
    this.#items[this.#head] = item;
    return ++this.#size;
  }

  /** Removes the last item. */
  pop(): T | undefined {
    if (this.#size === 0) return undefined;
    const place = (this.#head + --this.#size) & this.#mask;
    const item = this.#items[place];
    if (!this.#isShared) this.#items[place] = undefined;
    this.#giveBack();
    return item;
  }

  /** Removes the first item. */
  shift(): T | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#items[this.#head];
    if (!this.#isShared) this.#items[this.#head] = undefined;
    this.#head = (this.#head + 1) & this.#mask;
    this.#size--;
    this.#giveBack();
    return item;
  }

  /** Keeps only the items from `from` to before `end`, which must exist. */
  keep(from: number, end: number): void {
    if (!this.#isShared) {
      this.#empty(end, this.#size);
      this.#empty(0, from);
    }
    this.#head = (this.#head + from) & this.#mask;
    this.#size = end - from;
    this.#giveBack();
  }

  #empty(from: number, end: number): void {
    const [start, stop] = [this.#head + from, this.#head + end];
    const room = this.#mask + 1;
    this.#items.fill(undefined, Math.min(start, room), stop);
    if (stop > room) this.#items.fill(undefined, Math.max(0, start - room), stop - room);
  }

  /** Inserts an item before the one at the index, which must exist. */
  insert(index: number, item: T): void {
    if (index < this.#size / 2) {
      this.unshift(item);
      for (let i = 0; i < index; i++) this.set(i, this.at(i + 1)!);
    } else {
      this.push(item);
      for (let i = this.#size - 1; i > index; i--) this.set(i, this.at(i - 1)!);
    }
    this.set(index, item);
  }

  /** Removes the item at an index, which must exist. */
  remove(index: number): void {
    if (index < this.#size / 2) {
      for (let i = index; i > 0; i--) this.set(i, this.at(i - 1)!);
      this.shift();
    } else {
      for (let i = index; i < this.#size - 1; i++) this.set(i, this.at(i + 1)!);
      this.pop();
    }
  }

  /** A ring with the same items. */
  copy(): Ring<T> {
    const copy = new Ring<T>();
    copy.#items = this.#items;
    copy.#isShared = this.#isShared = true;
    copy.#mask = this.#mask;
    copy.#head = this.#head;
    copy.#size = this.#size;
    return copy;
  }

  toArray(): T[] {
    const out: T[] = [];
    for (let i = 0; i < this.#size; i++) out.push(this.at(i)!);
    return out;
  }

  clear(): void {
    this.#take([]);
  }

  /** Makes the array its own. */
  #part(): void {
    this.#items = this.#items.slice();
    this.#isShared = false;
    // Items that were removed from a shared array are still in it.
    this.#empty(this.#size, this.#mask + 1);
  }

  #giveBack(): void {
    let room = this.#mask + 1;
    while (room > LARGE && this.#size <= room / 4) room /= 2;
    if (room <= this.#mask) this.#resize(room);
  }

  #resize(room: number): void {
    this.#take(this.toArray(), room);
  }

  /** Has these items from now on. */
  #take(items: readonly T[], room = roomFor(items.length)): void {
    this.#items = roomy(items, room);
    this.#isShared = false;
    this.#mask = room - 1;
    this.#head = 0;
    this.#size = items.length;
  }
}

function roomFor(length: number): number {
  let room = LEAST;
  while (room < length) room *= 2;
  return room;
}

/** The items in an array with more room, made at once: V8 makes a hash table of an array that grows by a gap. */
function roomy<T>(items: readonly T[], room: number): (T | undefined)[] {
  const out: (T | undefined)[] = new Array(room);
  for (let i = 0; i < items.length; i++) out[i] = items[i];
  return out;
}
