/** A hash: fields and values, in the order in which the fields were added. While it is small, those with a TTL come first. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { MemberRoll, type Step } from '../key-roll.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from './encoding.ts';
import { FieldTimes } from './field-times.ts';
import { IndexedKeys } from './random-map.ts';

/**
 * Up to this many fields are kept in one array. A lock's hash has one or two, and creating a Map takes three times as
 * long.
 */
const PAIRS_MAX = 8;
/** The array of every new hash. It stays empty. */
const NO_PAIRS: Bytes[] = [];

/** What few hashes need. A single property for all of it keeps the other hashes small. */
class Extras {
  /** Numbers for the fields, created when a number is first needed. */
  index: IndexedKeys | undefined = undefined;
  /** The fields in scan order, kept from the first scan on. */
  roll: MemberRoll | undefined = undefined;
  /** Expiry times, kept once a field had a TTL. */
  times: FieldTimes | undefined = undefined;
}

/** The value of a key of type hash. */
export class HashValue {
  readonly type = 'hash';
  /** Alternating fields and values, while there are few. */
  #pairs: Bytes[] | undefined = NO_PAIRS;
  /** Fields and values, once there were many. */
  #fields: Map<Bytes, Bytes> | undefined;
  #large = false;
  #bytes = 0;
  #extras: Extras | undefined;
  readonly #limits: Readonly<EncodingLimits>;

  constructor(limits: Readonly<EncodingLimits> = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  get size(): number {
    const pairs = this.#pairs;
    return pairs === undefined ? this.#fields!.size : pairs.length >>> 1;
  }

  /** The total size of all fields and values, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The fields' expiry times; undefined if no field ever had one. */
  get times(): FieldTimes | undefined {
    return this.#extras?.times;
  }

  get(field: Bytes): Bytes | undefined {
    const pairs = this.#pairs;
    if (pairs === undefined) return this.#fields!.get(field);
    for (let i = 0; i < pairs.length; i += 2) if (pairs[i] === field) return pairs[i + 1];
    return undefined;
  }

  has(field: Bytes): boolean {
    return this.get(field) !== undefined;
  }

  /** Sets a field and removes its TTL unless `keepTtl` is true. Returns true when the field is new. */
  set(field: Bytes, value: Bytes, keepTtl = false): boolean {
    if (!keepTtl && this.#extras?.times?.delete(field) === true) this.#moveToEnd(field);
    const isNew = this.#store(field, value);
    if (isNew) this.#extras?.roll?.add(field);
    if (!this.#large) {
      const limits = this.#limits;
      const longest = limits.hashMaxValue;
      this.#large = this.size > limits.hashMaxEntries || field.length > longest || value.length > longest;
    }
    return isNew;
  }

  /**
   * Tells the hash how many fields a request is about to set, named twice or not: from Redis 7.2 on, more than a listpack
   * may have make it a hash table. Earlier servers wait for the fields themselves.
   */
  expect(count: number): void {
    if (this.#limits.sizesValues) this.#large ||= count > this.#limits.hashMaxEntries;
  }

  /** Deletes a field; false when it does not exist. */
  delete(field: Bytes): boolean {
    this.#extras?.times?.delete(field);
    this.#extras?.roll?.delete(field);
    const pairs = this.#pairs;
    if (pairs === undefined) {
      const value = this.#fields!.get(field);
      if (value === undefined) return false;
      this.#bytes -= field.length + value.length;
      this.#extras?.index?.delete(field);
      return this.#fields!.delete(field);
    }
    for (let i = 0; i < pairs.length; i += 2) {
      if (pairs[i] !== field) continue;
      this.#bytes -= field.length + pairs[i + 1]!.length;
      pairs.splice(i, 2);
      return true;
    }
    return false;
  }

  /** Gives the hash the form for fields with TTLs, which it keeps, even while no field has one. */
  keepTimes(): FieldTimes {
    this.#extras ??= new Extras();
    this.#extras.times ??= new FieldTimes();
    return this.#extras.times;
  }

  /** Sets the expiry time of an existing field. */
  expireAt(field: Bytes, at: Millis): void {
    this.keepTimes().set(field, at);
    this.#moveToEnd(field);
    if (!this.#limits.packsTimes) this.#large = true;
  }

  /** Removes a field's TTL. Returns false if it had none. */
  persist(field: Bytes): boolean {
    if (this.#extras?.times?.delete(field) !== true) return false;
    this.#moveToEnd(field);
    return true;
  }

  keys(): IterableIterator<Bytes> {
    if (this.#sorts)
      return this.#sorted()
        .map(([field]) => field)
        .values();
    return this.#pairs === undefined ? this.#fields!.keys() : everySecond(this.#pairs, 0);
  }

  values(): IterableIterator<Bytes> {
    if (this.#sorts)
      return this.#sorted()
        .map(([, value]) => value)
        .values();
    return this.#pairs === undefined ? this.#fields!.values() : everySecond(this.#pairs, 1);
  }

  entries(): IterableIterator<[Bytes, Bytes]> {
    if (this.#sorts) return this.#sorted().values();
    return this.#pairs === undefined ? this.#fields!.entries() : couples(this.#pairs);
  }

  /**
   * The field with that number, 0 to size - 1. Every field has a number, so a random number picks a random field.
   * Numbers change when fields are added or deleted.
   */
  at(index: number): Bytes | undefined {
    if (this.#pairs !== undefined) return this.#pairs[index * 2];
    this.#extras ??= new Extras();
    this.#extras.index ??= new IndexedKeys(this.#fields!.keys());
    return this.#extras.index.at(index);
  }

  /** One step of a scan over a hash table. A listpack is returned whole. */
  scan(cursor: number, count: number): Step {
    if (!this.#large) return { names: [...this.keys()], next: 0 };
    this.#extras ??= new Extras();
    this.#extras.roll ??= new MemberRoll(this.keys());
    return this.#extras.roll.walk(cursor, count);
  }

  /**
   * A hash that has outgrown a listpack stays a hash table even when it shrinks again. A hash that had TTLs stays a
   * listpackex.
   */
  encoding(): 'listpack' | 'listpackex' | 'hashtable' {
    if (this.#large) return 'hashtable';
    return this.times === undefined ? 'listpack' : 'listpackex';
  }

  copy(): HashValue {
    const copy = new HashValue(this.#limits);
    copy.#pairs = this.#pairs?.slice();
    if (this.#fields !== undefined) copy.#fields = new Map(this.#fields);
    copy.#large = this.#large;
    copy.#bytes = this.#bytes;
    if (this.times !== undefined) {
      copy.#extras = new Extras();
      copy.#extras.times = this.times.copy();
    }
    return copy;
  }

  /** True while Redis would keep the fields in order of their expiry times. */
  get #sorts(): boolean {
    return !this.#large && (this.times?.size ?? 0) > 0;
  }

  /** The fields with a TTL, earliest first, and of the same time the latest set first; then the others. */
  #sorted(): [Bytes, Bytes][] {
    const all = [...(this.#pairs === undefined ? this.#fields!.entries() : couples(this.#pairs))];
    const endOf = ([field]: [Bytes, Bytes]): Millis => this.times?.endOf(field) ?? Infinity;
    const timed = all.filter((each) => endOf(each) !== Infinity).reverse();
    timed.sort((a, b) => endOf(a) - endOf(b));
    return [...timed, ...all.filter((each) => endOf(each) === Infinity)];
  }

  /** Moves a field whose TTL has changed behind the others. */
  #moveToEnd(field: Bytes): void {
    if (this.#large) return;
    const pairs = this.#pairs;
    if (pairs === undefined) {
      const value = this.#fields!.get(field);
      if (value === undefined) return;
      this.#fields!.delete(field);
      this.#fields!.set(field, value);
      return;
    }
    for (let i = 0; i < pairs.length; i += 2) {
      if (pairs[i] === field) {
        pairs.push(...pairs.splice(i, 2));
        return;
      }
    }
  }

  #store(field: Bytes, value: Bytes): boolean {
    const pairs = this.#pairs;
    if (pairs === undefined) {
      const fields = this.#fields!;
      const old = fields.get(field);
      fields.set(field, value);
      if (old !== undefined) {
        this.#bytes += value.length - old.length;
        return false;
      }
      this.#bytes += field.length + value.length;
      this.#extras?.index?.add(field);
      return true;
    }
    for (let i = 0; i < pairs.length; i += 2) {
      if (pairs[i] !== field) continue;
      this.#bytes += value.length - pairs[i + 1]!.length;
      pairs[i + 1] = value;
      return false;
    }
    this.#bytes += field.length + value.length;
    if (pairs.length < PAIRS_MAX * 2) {
      this.#pairs = withPair(pairs, field, value);
    } else {
      this.#fields = new Map(couples(pairs)).set(field, value);
      this.#pairs = undefined;
    }
    return true;
  }
}

/** The pairs and a further one, in an array without room for more. `push` makes room for 17 more strings. */
function withPair(pairs: readonly Bytes[], field: Bytes, value: Bytes): Bytes[] {
  const { length } = pairs;
  const longer = new Array<Bytes>(length + 2);
  for (let i = 0; i < length; i++) longer[i] = pairs[i]!;
  longer[length] = field;
  longer[length + 1] = value;
  return longer;
}

function* everySecond(pairs: readonly Bytes[], from: number): Generator<Bytes, undefined> {
  for (let i = from; i < pairs.length; i += 2) yield pairs[i]!;
}

function* couples(pairs: readonly Bytes[]): Generator<[Bytes, Bytes], undefined> {
  for (let i = 0; i < pairs.length; i += 2) yield [pairs[i]!, pairs[i + 1]!];
}
