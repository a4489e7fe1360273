/**
 * Lua's table, with the array part, hash part and growth of the original, so that `#`, `next` and `pairs` give the same
 * results in the same order.
 */

import { allocate } from '../../protocol/allowance.ts';
import { allocatePlaces, ENTRY_BYTES } from './memory.ts';

/** The contents of a table: plain values, and references `R` to Lua objects, which values.ts defines. */
type Item<R extends object> = undefined | boolean | number | string | R;

const EMPTY: never[] = [];
const DUMMY_KEYS: undefined[] = [undefined];
const DUMMY_VALUES: undefined[] = [undefined];
const DUMMY_LINKS: number[] = [-1];
const MAX_SIZE = 2 ** 26;
/** Fewer entries than this are not counted by themselves. */
const MANY = 16;

const doubles = new Float64Array(1);
const words = new Uint32Array(doubles.buffer);

/** Thrown when a table would exceed the limit for one script. */
export class TableOverflow extends Error {}

/** What a server's Lua hashes strings with: Lua 5.1's own hash, or MurmurHash3 as in Valkey. It decides the order of pairs. */
export type StringHash = 'Lua' | 'Murmur';

/** Whether the tables that are in use now, those of one kind of server, hash with MurmurHash3. */
let isMurmur = false;

/** Sets the hash of the tables that are used from now on. Returns the one before. */
export function hashWith(hash: StringHash): StringHash {
  const before = isMurmur ? 'Murmur' : 'Lua';
  isMurmur = hash === 'Murmur';
  return before;
}

/** The hash of a string. That of Lua 5.1 uses 32 characters at most. */
export function hashString(text: string): number {
  if (isMurmur) return murmur(text);
  let hash = text.length;
  const step = (hash >> 5) + 1;
  for (let at = hash; at >= step; at -= step) {
    hash ^= ((hash << 5) + (hash >>> 2) + text.charCodeAt(at - 1)) | 0;
  }
  return hash;
}

function scrambled(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

/** MurmurHash3 of 32 bits with the length as its seed. */
function murmur(text: string): number {
  const { length } = text;
  const whole = length & ~3;
  let hash = length;
  for (let at = 0; at < whole; at += 4) {
    hash ^= scrambled(
      text.charCodeAt(at) |
        (text.charCodeAt(at + 1) << 8) |
        (text.charCodeAt(at + 2) << 16) |
        (text.charCodeAt(at + 3) << 24),
    );
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  if (whole < length) {
    let rest = 0;
    for (let at = length - 1; at >= whole; at--) rest = (rest << 8) | text.charCodeAt(at);
    hash ^= scrambled(rest);
  }
  hash ^= length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

let lastIdentity = 0;
const identities = new WeakMap<object, number>();

/** A number for an object without an order of its own, in place of Lua's pointers. */
export function identityOf(value: object): number {
  if (value instanceof Table) return (value.identity ||= ++lastIdentity);
  let id = identities.get(value);
  if (id === undefined) identities.set(value, (id = ++lastIdentity));
  return id;
}

/** How many identities have been assigned in the current run. */
export function identityCount(): number {
  return lastIdentity;
}

/** Sets the count, so that a script that is run again or continued counts the same. */
export function setIdentityCount(count: number): void {
  lastIdentity = count;
}

/** A Lua table. `arr[i]` is key i + 1. The hash part is Lua's chained scatter table with Brent's variation. */
export class Table<R extends object> {
  arr: Item<R>[] = EMPTY;
  /** True when the table has no metatable and is not read-only, so that the fast paths may access it. */
  plain = true;
  meta: Table<R> | undefined = undefined;
  readonly = false;
  /** The table's identity; 0 until it is first needed. */
  identity = 0;
  /** Grows with each rehash, after which cursors must look their key up again. */
  moves = 0;
  keys: Item<R>[] = DUMMY_KEYS;
  values: Item<R>[] = DUMMY_VALUES;
  links: number[] = DUMMY_LINKS;
  mask = 0;
  free = 0;

  /**
   * @param slots how many hash entries to reserve room for
   * @param size how many array items to reserve room for
   */
  constructor(slots = 0, size = 0) {
    if (slots > 0) {
      if (slots >= MANY) allocate(slots * ENTRY_BYTES);
      this.#setSlots(slots);
    }
    // Most tables reserve nothing. A call here would keep V8 from doing without the object of a table that nobody keeps.
    if (size > 0) {
      allocatePlaces(size);
      this.arr = new Array<Item<R>>(size).fill(undefined);
    }
  }

  /** A table with the items as 1 to n, as if they had been appended one by one; takes over the array. */
  static from<R extends object = never>(items: Item<R>[]): Table<R> {
    const table = new Table<R>();
    let size = 1;
    while (size < items.length) size *= 2;
    allocatePlaces(size);
    if (items.length > 0) {
      for (let i = items.length; i < size; i++) items.push(undefined);
      table.arr = items;
    }
    return table;
  }

  /** The same with a part of a list, which is copied once, at its final size. */
  static fromPart<R extends object = never>(
    list: readonly Item<R>[],
    start: number,
    count: number,
  ): Table<R> {
    const table = new Table<R>();
    if (count === 0) return table;
    let size = 1;
    while (size < count) size *= 2;
    allocatePlaces(size);
    const items = new Array<Item<R>>(size);
    for (let i = 0; i < count; i++) items[i] = list[start + i];
    for (let i = count; i < size; i++) items[i] = undefined;
    table.arr = items;
    return table;
  }

  get(key: Item<R>): Item<R> {
    if (typeof key === 'string') return this.getString(key, hashString(key));
    if (typeof key === 'number') {
      const at = key - 1;
      if (at >= 0 && at < this.arr.length && Math.floor(at) === at) return this.arr[at];
    } else if (key === undefined) return undefined;
    const slot = this.#find(key, this.#main(key));
    return slot < 0 ? undefined : this.values[slot];
  }

  /** Like `get`, for a string whose hash is known. */
  getString(key: string, hash: number): Item<R> {
    const keys = this.keys;
    let at = hash & this.mask;
    do {
      if (keys[at] === key) return this.values[at];
      at = this.links[at]!;
    } while (at >= 0);
    return undefined;
  }

  /** Assigns without metamethods. The caller has checked that the key is neither nil nor NaN. */
  set(key: Item<R>, value: Item<R>): void {
    if (typeof key === 'string') {
      this.setString(key, hashString(key), value);
      return;
    }
    if (typeof key === 'number') {
      const at = key - 1;
      if (at >= 0 && at < this.arr.length && Math.floor(at) === at) {
        this.arr[at] = value;
        return;
      }
    }
    const slot = this.#find(key, this.#main(key));
    if (slot >= 0) this.values[slot] = value;
    else this.#insert(key, value);
  }

  /** Like `set`, for a string whose hash is known. */
  setString(key: string, hash: number, value: Item<R>): void {
    const keys = this.keys;
    let at = hash & this.mask;
    do {
      if (keys[at] === key) {
        this.values[at] = value;
        return;
      }
      at = this.links[at]!;
    } while (at >= 0);
    this.#insert(key, value);
  }

  /** A border, found like in Lua 5.1: the result of `#`. */
  length(): number {
    const arr = this.arr;
    let high = arr.length;
    if (high > 0 && arr[high - 1] === undefined) {
      let low = 0;
      while (high - low > 1) {
        const middle = (low + high) >>> 1;
        if (arr[middle - 1] === undefined) high = middle;
        else low = middle;
      }
      return low;
    }
    return this.keys === DUMMY_KEYS ? high : this.#unbound(high);
  }

  #unbound(from: number): number {
    let low = from;
    let high = from + 1;
    while (this.get(high) !== undefined) {
      low = high;
      high *= 2;
      if (high > 0x7ffffffd) {
        low = 1;
        while (this.get(low) !== undefined) low++;
        return low - 1;
      }
    }
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.get(middle) === undefined) high = middle;
      else low = middle;
    }
    return low;
  }

  /** The position of the key in the order of traversal; 0 for nil, -1 when the table does not have the key. */
  position(key: Item<R>): number {
    if (key === undefined) return 0;
    if (typeof key === 'number' && key >= 1 && key <= this.arr.length && Math.floor(key) === key) return key;
    const slot = this.#find(key, this.#main(key));
    return slot < 0 ? -1 : this.arr.length + slot + 1;
  }

  /** The first position after this one that has a value; 0 at the end. */
  advance(position: number): number {
    const size = this.arr.length;
    let at = position;
    for (; at < size; at++) if (this.arr[at] !== undefined) return at + 1;
    if (this.keys === DUMMY_KEYS) return 0;
    for (let slot = at - size; slot <= this.mask; slot++) {
      if (this.values[slot] !== undefined) return size + slot + 1;
    }
    return 0;
  }

  keyAt(position: number): Item<R> {
    return position <= this.arr.length ? position : this.keys[position - this.arr.length - 1];
  }

  valueAt(position: number): Item<R> {
    return position <= this.arr.length ? this.arr[position - 1] : this.values[position - this.arr.length - 1];
  }

  /** Reserves room for this many array items at once, as a constructor's list does. */
  reserve(size: number): void {
    if (size > this.arr.length) this.#resize(size, this.keys === DUMMY_KEYS ? 0 : this.mask + 1);
  }

  #main(key: Item<R>): number {
    if (typeof key === 'string') return hashString(key) & this.mask;
    if (typeof key === 'number') {
      if (key === 0) return 0;
      doubles[0] = key;
      return ((words[0]! + words[1]!) >>> 0) % (this.mask | 1);
    }
    if (typeof key === 'boolean') return (key ? 1 : 0) & this.mask;
    return identityOf(key as object) % (this.mask | 1);
  }

  #find(key: Item<R>, main: number): number {
    let at = main;
    do {
      if (this.keys[at] === key) return at;
      at = this.links[at]!;
    } while (at >= 0);
    return -1;
  }

  #insert(key: Item<R>, value: Item<R>): void {
    let at = this.#main(key);
    if (this.keys === DUMMY_KEYS || this.values[at] !== undefined) {
      const spare = this.keys === DUMMY_KEYS ? -1 : this.#spare();
      if (spare < 0) {
        this.#rehash(key);
        this.set(key, value);
        return;
      }
      at = this.#collide(at, spare);
    }
    this.keys[at] = key;
    this.values[at] = value;
  }

  /** Two keys need one slot: the one that is not in its main position moves. Returns the slot of the new key. */
  #collide(at: number, spare: number): number {
    const { keys, values, links } = this;
    const home = this.#main(keys[at]);
    if (home === at) {
      links[spare] = links[at]!;
      links[at] = spare;
      return spare;
    }
    let previous = home;
    while (links[previous] !== at) previous = links[previous]!;
    links[previous] = spare;
    keys[spare] = keys[at];
    values[spare] = values[at];
    links[spare] = links[at]!;
    links[at] = -1;
    values[at] = undefined;
    return at;
  }

  #spare(): number {
    while (this.free > 0) {
      this.free--;
      if (this.keys[this.free] === undefined) return this.free;
    }
    return -1;
  }

  #rehash(extra: Item<R>): void {
    const counts = new Array<number>(28).fill(0);
    let integers = 0;
    let total = 1;
    const arr = this.arr;
    for (let bound = 1, slice = 0, at = 0; at < arr.length; bound *= 2, slice++) {
      const end = Math.min(bound, arr.length);
      let used = 0;
      for (; at < end; at++) if (arr[at] !== undefined) used++;
      counts[slice]! += used;
      integers += used;
    }
    total += integers;
    if (this.keys !== DUMMY_KEYS) {
      for (let slot = this.mask; slot >= 0; slot--) {
        if (this.values[slot] === undefined) continue;
        total++;
        integers += countInteger(this.keys[slot], counts);
      }
    }
    integers += countInteger(extra, counts);
    let size = 0;
    let inArray = 0;
    for (let i = 0, bound = 1, sum = 0; bound / 2 < integers; i++, bound *= 2) {
      sum += counts[i]!;
      if (counts[i]! > 0 && sum > bound / 2) {
        size = bound;
        inArray = sum;
      }
      if (sum === integers) break;
    }
    this.#resize(size, total - inArray);
  }

  #resize(size: number, slots: number): void {
    if (size > MAX_SIZE || slots > MAX_SIZE) throw new TableOverflow();
    const { keys, values, arr } = this;
    // The array may be copied to a longer one.
    if (size > arr.length) allocatePlaces(size * 2);
    if (slots >= MANY) allocate(slots * ENTRY_BYTES);
    const old = keys === DUMMY_KEYS ? -1 : this.mask;
    this.moves++;
    if (size > arr.length) {
      const grown = arr === EMPTY ? [] : arr;
      for (let i = grown.length; i < size; i++) grown.push(undefined);
      this.arr = grown;
    }
    this.#setSlots(slots);
    if (size < arr.length) {
      const tail = arr.splice(size);
      if (size === 0) this.arr = EMPTY;
      for (let i = 0; i < tail.length; i++) if (tail[i] !== undefined) this.set(size + i + 1, tail[i]);
    }
    for (let slot = old; slot >= 0; slot--) {
      if (values[slot] !== undefined) this.set(keys[slot], values[slot]);
    }
  }

  #setSlots(count: number): void {
    if (count === 0) {
      this.keys = DUMMY_KEYS;
      this.values = DUMMY_VALUES;
      this.links = DUMMY_LINKS;
      this.mask = 0;
      this.free = 0;
      return;
    }
    let size = 1;
    while (size < count) size *= 2;
    this.keys = [];
    this.values = [];
    this.links = [];
    for (let i = 0; i < size; i++) {
      this.keys.push(undefined);
      this.values.push(undefined);
      this.links.push(-1);
    }
    this.mask = size - 1;
    this.free = size;
  }
}

function countInteger(key: unknown, counts: number[]): number {
  if (typeof key !== 'number' || key < 1 || key > MAX_SIZE || Math.floor(key) !== key) return 0;
  counts[key === 1 ? 0 : 32 - Math.clz32(key - 1)]!++;
  return 1;
}
