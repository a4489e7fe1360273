/**
 * A large map and a large set in which the same keys can be deleted and added again and again.
 *
 * V8 leaves a mark where a key was deleted, until the whole table is made anew. The marks of one key are all in one chain,
 * which every later search for that key follows. In a set of 100,000 members, to add and delete one member took 40
 * microseconds after a while. Here, keys that are added later go into a small table of their own, whose chains stay short.
 * They move to the large one when they are many, or when all keys are read in order.
 */

/** Smaller tables have short chains anyway. */
export const LARGE = 256;

/** So many late keys move to the large table. */
const LATE_MAX = 1024;

/** A map with the methods of Map that collections use. Iterates in the order in which the keys were added. */
export class ReusedMap<K, V> {
  readonly #early: Map<K, V>;
  #late = new Map<K, V>();

  /** @param early a map, which belongs to this one from now on */
  constructor(early: Map<K, V>) {
    this.#early = early;
  }

  get size(): number {
    return this.#early.size + this.#late.size;
  }

  get(key: K): V | undefined {
    return this.#late.get(key) ?? this.#early.get(key);
  }

  has(key: K): boolean {
    return this.#late.has(key) || this.#early.has(key);
  }

  set(key: K, value: V): this {
    if (this.#early.has(key)) this.#early.set(key, value);
    else if (this.#late.set(key, value).size > LATE_MAX) this.#move();
    return this;
  }

  delete(key: K): boolean {
    return this.#late.delete(key) || this.#early.delete(key);
  }

  clear(): void {
    this.#early.clear();
    this.#late.clear();
  }

  keys(): MapIterator<K> {
    return this.#move().keys();
  }

  values(): MapIterator<V> {
    return this.#move().values();
  }

  entries(): MapIterator<[K, V]> {
    return this.#move().entries();
  }

  #move(): Map<K, V> {
    if (this.#late.size > 0) {
      for (const [key, value] of this.#late) this.#early.set(key, value);
      this.#late = new Map();
    }
    return this.#early;
  }
}

/** The same for a set. */
export class ReusedSet<K> {
  readonly #early: Set<K>;
  #late = new Set<K>();

  /** @param early a set, which belongs to this one from now on */
  constructor(early: Set<K>) {
    this.#early = early;
  }

  get size(): number {
    return this.#early.size + this.#late.size;
  }

  has(key: K): boolean {
    return this.#late.has(key) || this.#early.has(key);
  }

  add(key: K): this {
    if (!this.#early.has(key) && this.#late.add(key).size > LATE_MAX) this.#move();
    return this;
  }

  delete(key: K): boolean {
    return this.#late.delete(key) || this.#early.delete(key);
  }

  values(): SetIterator<K> {
    return this.#move().values();
  }

  #move(): Set<K> {
    if (this.#late.size > 0) {
      for (const key of this.#late) this.#early.add(key);
      this.#late = new Set();
    }
    return this.#early;
  }
}
