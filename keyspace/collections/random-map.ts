/** Keys that can be picked by number, for RANDOMKEY, SPOP, SRANDMEMBER and HRANDFIELD. */
import type { Bytes } from '../../protocol/bytes.ts';
import { LARGE, ReusedMap } from './reused.ts';

/**
 * Keys with O(1) add, delete, has and at. Numbers run from 0 to size - 1 without gaps, because a deletion moves the
 * last key into the gap. Iteration is in insertion order, whatever the numbers are.
 */
export class IndexedKeys {
  #positions: Map<Bytes, number> | ReusedMap<Bytes, number> = new Map();
  readonly #keys: Bytes[] = [];

  constructor(keys: Iterable<Bytes> = []) {
    for (const key of keys) this.add(key);
  }

  get size(): number {
    return this.#keys.length;
  }

  has(key: Bytes): boolean {
    return this.#positions.has(key);
  }

  /** Adds a key; true when it is new. */
  add(key: Bytes): boolean {
    const positions = this.#positions;
    const end = this.#keys.length;
    if (positions.has(key)) return false;
    positions.set(key, end);
    this.#keys.push(key);
    return true;
  }

  /** Deletes a key; false when it does not exist. */
  delete(key: Bytes): boolean {
    const position = this.#positions.get(key);
    if (position === undefined) return false;
    if (this.#positions instanceof Map && this.size >= LARGE)
      this.#positions = new ReusedMap(this.#positions);
    this.#positions.delete(key);
    const last = this.#keys.pop()!;
    if (last !== key) {
      this.#keys[position] = last;
      this.#positions.set(last, position);
    }
    return true;
  }

  /** The key with that number, 0 to size - 1. */
  at(index: number): Bytes | undefined {
    return this.#keys[index];
  }

  clear(): void {
    this.#positions.clear();
    this.#keys.length = 0;
  }

  /** All keys, in insertion order. */
  values(): IterableIterator<Bytes> {
    return this.#positions.keys();
  }
}
