/** A hash: fields and values, in the order in which the fields were added. While it is small, those with a TTL come first. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { MemberRoll, type Step } from '../key-roll.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from './encoding.ts';
import { FieldTimes } from './field-times.ts';
import { IndexedKeys } from './random-map.ts';
import { LARGE, ReusedMap } from './reused.ts';

/** Two to this many fields are kept in one array. Creating a Map takes three times as long. */
const PAIRS_MAX = 8;
/** The array of every new hash. It stays empty. */
const NO_PAIRS: Bytes[] = [];

/** Many fields and their values. */
type FieldTable = Map<Bytes, Bytes> | ReusedMap<Bytes, Bytes>;

/** What few hashes need. Other hashes have only the limits. */
class Extras {
  readonly limits: Readonly<EncodingLimits>;
  /** The hash has outgrown a listpack. */
  large = false;
  /** Numbers for the fields, created when a number is first needed. */
  index: IndexedKeys | undefined = undefined;
  /** The fields in scan order, kept from the first scan on. */
  roll: MemberRoll | undefined = undefined;
  /** Expiry times, kept once a field had a TTL. */
  times: FieldTimes | undefined = undefined;

  constructor(limits: Readonly<EncodingLimits>) {
    this.limits = limits;
  }
}

/** The value of a key of type hash. */
export class HashValue {
  // On the prototype, because a million locks are a million hashes.
  declare readonly type: 'hash';
  static {
    Object.assign(HashValue.prototype, { type: 'hash' });
  }

  /** The field, while there is exactly one, as in most locks: it needs no array. */
  #only: Bytes | undefined;
  /** The value of the only field; alternating fields and values, while there are few; a Map, once there were many. */
  #store: Bytes | Bytes[] | FieldTable = NO_PAIRS;
  #bytes = 0;
  /** The limits, or the extras, which have them too. */
  #more: Extras | Readonly<EncodingLimits>;

  constructor(limits: Readonly<EncodingLimits> = DEFAULT_LIMITS) {
    this.#more = limits;
  }

  get size(): number {
    const store = this.#store;
    if (typeof store === 'string') return 1;
    return Array.isArray(store) ? store.length >>> 1 : store.size;
  }

  /** The total size of all fields and values, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The fields' expiry times; undefined if no field ever had one. */
  get times(): FieldTimes | undefined {
    return this.extras?.times;
  }

  get(field: Bytes): Bytes | undefined {
    const store = this.#store;
    if (typeof store === 'string') return this.#only === field ? store : undefined;
    if (!Array.isArray(store)) return store.get(field);
    for (let i = 0; i < store.length; i += 2) if (store[i] === field) return store[i + 1];
    return undefined;
  }

  has(field: Bytes): boolean {
    return this.get(field) !== undefined;
  }

  /** Sets a field and removes its TTL unless `keepTtl` is true. Returns true when the field is new. */
  set(field: Bytes, value: Bytes, keepTtl = false): boolean {
    if (!keepTtl && this.extras?.times?.delete(field) === true) this.moveToEnd(field);
    const isNew = this.put(field, value);
    if (isNew) this.extras?.roll?.add(field);
    const limits = this.limits;
    const longest = limits.hashMaxValue;
    if (this.size > limits.hashMaxEntries || field.length > longest || value.length > longest) this.outgrow();
    return isNew;
  }

  /**
   * Tells the hash how many fields a request is about to set, named twice or not: from Redis 7.2 on, more than a listpack
   * may have make it a hash table. Earlier servers wait for the fields themselves.
   */
  expect(count: number): void {
    if (this.limits.sizesValues && count > this.limits.hashMaxEntries) this.outgrow();
  }

  /** Deletes a field; false when it does not exist. */
  delete(field: Bytes): boolean {
    this.extras?.times?.delete(field);
    this.extras?.roll?.delete(field);
    const value = this.get(field);
    if (value === undefined) return false;
    this.#bytes -= field.length + value.length;
    const store = this.#store;
    if (typeof store === 'string') this.keep(NO_PAIRS);
    else if (Array.isArray(store)) this.keep(withoutPair(store, field));
    else {
      this.extras?.index?.delete(field);
      this.deletable(store).delete(field);
    }
    return true;
  }

  /** Gives the hash the form for fields with TTLs, which it keeps, even while no field has one. */
  keepTimes(): FieldTimes {
    const extras = this.addExtras();
    extras.times ??= new FieldTimes();
    return extras.times;
  }

  /** Sets the expiry time of an existing field. */
  expireAt(field: Bytes, at: Millis): void {
    this.keepTimes().set(field, at);
    if (this.limits.packsTimes) this.moveToEnd(field);
    else this.outgrow();
  }

  /** Removes a field's TTL. Returns false if it had none. */
  persist(field: Bytes): boolean {
    if (this.extras?.times?.delete(field) !== true) return false;
    this.moveToEnd(field);
    return true;
  }

  keys(): IterableIterator<Bytes> {
    if (this.sorts)
      return this.sorted()
        .map(([field]) => field)
        .values();
    const store = this.inOrder;
    return Array.isArray(store) ? everySecond(store, 0) : store.keys();
  }

  values(): IterableIterator<Bytes> {
    if (this.sorts)
      return this.sorted()
        .map(([, value]) => value)
        .values();
    const store = this.inOrder;
    return Array.isArray(store) ? everySecond(store, 1) : store.values();
  }

  entries(): IterableIterator<[Bytes, Bytes]> {
    if (this.sorts) return this.sorted().values();
    return this.unsorted();
  }

  /**
   * The field with that number, 0 to size - 1. Every field has a number, so a random number picks a random field.
   * Numbers change when fields are added or deleted.
   */
  at(index: number): Bytes | undefined {
    const store = this.inOrder;
    if (Array.isArray(store)) return store[index * 2];
    const extras = this.addExtras();
    extras.index ??= new IndexedKeys(store.keys());
    return extras.index.at(index);
  }

  /** One step of a scan over a hash table. A listpack is returned whole. */
  scan(cursor: number, count: number): Step {
    if (!this.large) return { names: [...this.keys()], next: 0 };
    const extras = this.addExtras();
    extras.roll ??= new MemberRoll(this.keys());
    return extras.roll.walk(cursor, count);
  }

  /**
   * A hash that has outgrown a listpack stays a hash table even when it shrinks again. A hash that had TTLs stays a
   * listpackex.
   */
  encoding(): 'listpack' | 'listpackex' | 'hashtable' {
    if (this.large) return 'hashtable';
    return this.times === undefined ? 'listpack' : 'listpackex';
  }

  copy(): HashValue {
    const copy = new HashValue(this.limits);
    const store = this.#store;
    copy.#only = this.#only;
    if (typeof store === 'string') copy.#store = store;
    else copy.#store = Array.isArray(store) ? store.slice() : new Map(store.entries());
    if (this.large) copy.outgrow();
    copy.#bytes = this.#bytes;
    if (this.times !== undefined) {
      copy.addExtras().times = this.times.copy();
    }
    return copy;
  }

  // What follows is not #private: V8 gives every object whose class has private methods a member more.

  /** Makes the hash a listpack again, however long its values are. */
  stayPacked(): void {
    if (this.extras !== undefined) this.extras.large = false;
  }

  private get large(): boolean {
    return this.extras?.large === true;
  }

  private outgrow(): void {
    this.addExtras().large = true;
  }

  private get extras(): Extras | undefined {
    return this.#more instanceof Extras ? this.#more : undefined;
  }

  private addExtras(): Extras {
    if (!(this.#more instanceof Extras)) this.#more = new Extras(this.#more);
    return this.#more;
  }

  private get limits(): Readonly<EncodingLimits> {
    return this.#more instanceof Extras ? this.#more.limits : this.#more;
  }

  /** True while Redis would keep the fields in order of their expiry times. */
  private get sorts(): boolean {
    return !this.large && (this.times?.size ?? 0) > 0;
  }

  /** The fields with a TTL, earliest first, and of the same time the latest set first; then the others. */
  private sorted(): [Bytes, Bytes][] {
    const all = [...this.unsorted()];
    const endOf = ([field]: [Bytes, Bytes]): Millis => this.times?.endOf(field) ?? Infinity;
    const timed = all.filter((each) => endOf(each) !== Infinity).reverse();
    timed.sort((a, b) => endOf(a) - endOf(b));
    return [...timed, ...all.filter((each) => endOf(each) === Infinity)];
  }

  /** Moves a field whose TTL has changed behind the others. */
  private moveToEnd(field: Bytes): void {
    if (this.large) return;
    const value = this.get(field);
    const store = this.#store;
    if (value === undefined || typeof store === 'string') return;
    if (Array.isArray(store)) this.keep([...withoutPair(store, field), field, value]);
    else {
      const fields = this.deletable(store);
      fields.delete(field);
      fields.set(field, value);
    }
  }

  /** The fields, in a table from which many can be deleted. */
  private deletable(store: FieldTable): FieldTable {
    if (!(store instanceof Map) || store.size < LARGE) return store;
    const fields = new ReusedMap(store);
    this.#store = fields;
    return fields;
  }

  /** The fields and values in a form with an order. */
  private get inOrder(): Bytes[] | FieldTable {
    const store = this.#store;
    return typeof store === 'string' ? [this.#only!, store] : store;
  }

  private unsorted(): IterableIterator<[Bytes, Bytes]> {
    const store = this.inOrder;
    return Array.isArray(store) ? couples(store) : store.entries();
  }

  /** Keeps few fields and values. */
  private keep(pairs: Bytes[]): void {
    const isOne = pairs.length === 2;
    this.#only = isOne ? pairs[0] : undefined;
    this.#store = isOne ? pairs[1]! : pairs;
  }

  /** Stores a field. Returns true when it is new. */
  private put(field: Bytes, value: Bytes): boolean {
    const store = this.#store;
    if (typeof store === 'string') {
      const only = this.#only!;
      if (only === field) {
        this.#bytes += value.length - store.length;
        this.#store = value;
        return false;
      }
      this.keep([only, store, field, value]);
    } else if (!Array.isArray(store)) {
      const old = store.get(field);
      store.set(field, value);
      if (old !== undefined) {
        this.#bytes += value.length - old.length;
        return false;
      }
      this.extras?.index?.add(field);
    } else if (store.length === 0) {
      this.#only = field;
      this.#store = value;
    } else {
      for (let i = 0; i < store.length; i += 2) {
        if (store[i] !== field) continue;
        this.#bytes += value.length - store[i + 1]!.length;
        store[i + 1] = value;
        return false;
      }
      if (store.length < PAIRS_MAX * 2) this.#store = withPair(store, field, value);
      else this.#store = new Map(couples(store)).set(field, value);
    }
    this.#bytes += field.length + value.length;
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

/** The pairs but for that of one field. */
function withoutPair(pairs: readonly Bytes[], field: Bytes): Bytes[] {
  const at = pairs.findIndex((each, i) => i % 2 === 0 && each === field);
  return [...pairs.slice(0, at), ...pairs.slice(at + 2)];
}

function* everySecond(pairs: readonly Bytes[], from: number): Generator<Bytes, undefined> {
  for (let i = from; i < pairs.length; i += 2) yield pairs[i]!;
}

function* couples(pairs: readonly Bytes[]): Generator<[Bytes, Bytes], undefined> {
  for (let i = 0; i < pairs.length; i += 2) yield [pairs[i]!, pairs[i + 1]!];
}
