/** A hash: fields and values, in the order the fields were added. */
import type { Bytes } from '../protocol/bytes.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from './encoding.ts';
import { IndexedKeys } from './random-map.ts';

/** Up to here a field is found by walking; beyond, an index of numbers is built when one is first asked for. */
const WALK_MAX = 64;

export class HashValue {
  readonly type = 'hash';
  #fields = new Map<Bytes, Bytes>();
  #large = false;
  #index: IndexedKeys | undefined;
  readonly #limits: Readonly<EncodingLimits>;

  constructor(limits: Readonly<EncodingLimits> = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#fields.size;
  }

  get(field: Bytes): Bytes | undefined {
    return this.#fields.get(field);
  }

  has(field: Bytes): boolean {
    return this.#fields.has(field);
  }

  /** True when the field is new. */
  set(field: Bytes, value: Bytes): boolean {
    const fields = this.#fields;
    const before = fields.size;
    fields.set(field, value);
    const after = fields.size;
    if (!this.#large) {
      const limits = this.#limits;
      const longest = limits.hashMaxValue;
      this.#large = after > limits.hashMaxEntries || field.length > longest || value.length > longest;
    }
    if (after === before) return false;
    this.#index?.add(field);
    return true;
  }

  /** True when the field was there. */
  delete(field: Bytes): boolean {
    this.#index?.delete(field);
    return this.#fields.delete(field);
  }

  keys(): IterableIterator<Bytes> {
    return this.#fields.keys();
  }

  values(): IterableIterator<Bytes> {
    return this.#fields.values();
  }

  entries(): IterableIterator<[Bytes, Bytes]> {
    return this.#fields.entries();
  }

  /**
   * The field of that number, 0 to size - 1: every field has one, so a random number picks a random field.
   * Numbers are only stable while no field is added or deleted.
   */
  at(index: number): Bytes | undefined {
    if (this.#index === undefined && this.#fields.size > WALK_MAX) {
      this.#index = new IndexedKeys(this.#fields.keys());
    }
    if (this.#index !== undefined) return this.#index.at(index);
    let i = 0;
    for (const field of this.#fields.keys()) if (i++ === index) return field;
    return undefined;
  }

  /** A hash that has outgrown a listpack stays a hash table, even when it shrinks again. */
  encoding(): 'listpack' | 'hashtable' {
    return this.#large ? 'hashtable' : 'listpack';
  }

  copy(): HashValue {
    const copy = new HashValue(this.#limits);
    copy.#fields = new Map(this.#fields);
    copy.#large = this.#large;
    return copy;
  }
}
