/** A set: an intset in numeric order while it is small and holds integers only, else a hash table. */
import { type Bytes, parseInteger } from '../protocol/bytes.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from './encoding.ts';
import { IndexedKeys } from './random-map.ts';

type Integer = number | bigint;

export class SetValue {
  readonly type = 'set';
  /** Ascending 64-bit integers; undefined once the set has become a hash table. */
  #integers: Integer[] | undefined = [];
  #members: IndexedKeys | undefined;
  readonly #limits: Readonly<EncodingLimits>;

  constructor(limits: Readonly<EncodingLimits> = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#integers !== undefined ? this.#integers.length : this.#members!.size;
  }

  has(member: Bytes): boolean {
    const integers = this.#integers;
    if (integers === undefined) return this.#members!.has(member);
    const value = parseInteger(member);
    return value !== undefined && integers[lowerBound(integers, value)] === value;
  }

  /** True when the member is new. */
  add(member: Bytes): boolean {
    const integers = this.#integers;
    if (integers === undefined) return this.#members!.add(member);
    const value = parseInteger(member);
    if (value === undefined) return this.#toHashTable().add(member);
    const position = lowerBound(integers, value);
    if (integers[position] === value) return false;
    integers.splice(position, 0, value);
    if (integers.length > this.#limits.setMaxIntset) this.#toHashTable();
    return true;
  }

  /** True when the member was there. */
  delete(member: Bytes): boolean {
    const integers = this.#integers;
    if (integers === undefined) return this.#members!.delete(member);
    const value = parseInteger(member);
    if (value === undefined) return false;
    const position = lowerBound(integers, value);
    if (integers[position] !== value) return false;
    integers.splice(position, 1);
    return true;
  }

  /** The member of that number, 0 to size - 1; numbers are only stable while the set does not change. */
  at(index: number): Bytes | undefined {
    const integers = this.#integers;
    if (integers === undefined) return this.#members!.at(index);
    const value = integers[index];
    return value === undefined ? undefined : String(value);
  }

  /** Ascending while the set is an intset, afterwards in the order of adding. */
  values(): IterableIterator<Bytes> {
    return this.#integers === undefined ? this.#members!.values() : texts(this.#integers);
  }

  /** A set that was once a hash table stays one. */
  encoding(): 'intset' | 'hashtable' {
    return this.#integers === undefined ? 'hashtable' : 'intset';
  }

  copy(): SetValue {
    const copy = new SetValue(this.#limits);
    copy.#integers = this.#integers?.slice();
    if (this.#members !== undefined) copy.#members = new IndexedKeys(this.#members.values());
    return copy;
  }

  #toHashTable(): IndexedKeys {
    this.#members = new IndexedKeys(texts(this.#integers!));
    this.#integers = undefined;
    return this.#members;
  }
}

function* texts(integers: readonly Integer[]): Generator<Bytes, undefined> {
  for (const value of integers) yield String(value);
}

/** The position of the first integer that is not less than the value. */
function lowerBound(integers: readonly Integer[], value: Integer): number {
  let low = 0;
  let high = integers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (integers[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
