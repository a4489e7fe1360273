/** A hash: fields and values, in the order the fields were added. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { MemberRoll, type Step } from '../key-roll.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from './encoding.ts';
import { FieldTimes } from './field-times.ts';
import { IndexedKeys } from './random-map.ts';

/** Up to so many fields lie in one array: a lock's hash has one or two, and a Map costs three times as much to make. */
const PAIRS_MAX = 8;

/** What few hashes have: one field for both keeps the others small. */
class Extras {
  /** Numbers for the fields, made when one is first asked for. */
  index: IndexedKeys | undefined = undefined;
  /** The fields for scans, kept from the first one on. */
  roll: MemberRoll | undefined = undefined;
  /** When fields end, once one had a TTL. */
  times: FieldTimes | undefined = undefined;
}

export class HashValue {
  readonly type = 'hash';
  /** Fields and values, alternating, while there are few. */
  #pairs: Bytes[] | undefined = [];
  /** Fields and values once there were many. */
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

  /** Bytes of all fields and values. */
  get bytes(): number {
    return this.#bytes;
  }

  /** When fields end; undefined as long as none ever had a TTL. */
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

  /** Sets a field, which loses its TTL unless it is to be kept; true when it is new. */
  set(field: Bytes, value: Bytes, keepTtl = false): boolean {
    if (!keepTtl) this.#extras?.times?.delete(field);
    const isNew = this.#store(field, value);
    if (isNew) this.#extras?.roll?.add(field);
    if (!this.#large) {
      const limits = this.#limits;
      const longest = limits.hashMaxValue;
      this.#large = this.size > limits.hashMaxEntries || field.length > longest || value.length > longest;
    }
    return isNew;
  }

  /** True when the field was there. */
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

  /** Sets when a field that is there ends. */
  expireAt(field: Bytes, at: Millis): void {
    this.#extras ??= new Extras();
    this.#extras.times ??= new FieldTimes();
    this.#extras.times.set(field, at);
  }

  keys(): IterableIterator<Bytes> {
    return this.#pairs === undefined ? this.#fields!.keys() : everySecond(this.#pairs, 0);
  }

  values(): IterableIterator<Bytes> {
    return this.#pairs === undefined ? this.#fields!.values() : everySecond(this.#pairs, 1);
  }

  entries(): IterableIterator<[Bytes, Bytes]> {
    return this.#pairs === undefined ? this.#fields!.entries() : couples(this.#pairs);
  }

  /**
   * The field of that number, 0 to size - 1: every field has one, so a random number picks a random field.
   * Numbers are only stable while no field is added or deleted.
   */
  at(index: number): Bytes | undefined {
    if (this.#pairs !== undefined) return this.#pairs[index * 2];
    this.#extras ??= new Extras();
    this.#extras.index ??= new IndexedKeys(this.#fields!.keys());
    return this.#extras.index.at(index);
  }

  /** One step of a scan over a hash table; a listpack is answered whole. */
  scan(cursor: number, count: number): Step {
    if (!this.#large) return { names: [...this.keys()], next: 0 };
    this.#extras ??= new Extras();
    this.#extras.roll ??= new MemberRoll(this.keys());
    return this.#extras.roll.walk(cursor, count);
  }

  /** A hash that has outgrown a listpack stays a hash table, even when it shrinks again; one that had TTLs stays so too. */
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
    pairs.push(field, value);
    if (pairs.length > PAIRS_MAX * 2) {
      this.#fields = new Map(couples(pairs));
      this.#pairs = undefined;
    }
    return true;
  }
}

function* everySecond(pairs: readonly Bytes[], from: number): Generator<Bytes, undefined> {
  for (let i = from; i < pairs.length; i += 2) yield pairs[i]!;
}

function* couples(pairs: readonly Bytes[]): Generator<[Bytes, Bytes], undefined> {
  for (let i = 0; i < pairs.length; i += 2) yield [pairs[i]!, pairs[i + 1]!];
}
