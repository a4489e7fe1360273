/** A set: an intset in numeric order while it is small and has only integers, otherwise a listpack where those exist, or a hash table. */
import { type Bytes, parseInteger } from '../../protocol/bytes.ts';
import { MemberRoll, type Step } from '../key-roll.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from './encoding.ts';
import { IndexedKeys } from './random-map.ts';
import { LARGE, ReusedSet } from './reused.ts';

type Integer = number | bigint;

/** The common part of Set, ReusedSet and IndexedKeys, whose `add` return different values. */
type MemberTable = Set<Bytes> | ReusedSet<Bytes> | IndexedKeys;

/** The value of a key of type set. */
export class SetValue {
  readonly type = 'set';
  /** Ascending 64-bit integers; undefined once the set has become a hash table. */
  #integers: Integer[] | undefined = [];
  /** The hash table. It is replaced by one with numbered members when a number is first needed. */
  #members: MemberTable | undefined;
  /** True while the members that are no intset count as a listpack. */
  #packed = false;
  /** The total size of the hash table's members, in bytes. */
  #bytes = 0;
  /** The hash table's members in scan order, kept from the first scan on. */
  #roll: MemberRoll | undefined;
  readonly #limits: Readonly<EncodingLimits>;

  constructor(limits: Readonly<EncodingLimits> = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Prepares the set for a number of members, the first of which is given: Redis 7.2 and later choose the encoding by the
   * number of arguments. Earlier servers do not, nor does this.
   */
  expect(first: Bytes, count: number): void {
    const { setMaxIntset, setMaxEntries, sizesValues } = this.#limits;
    if (!sizesValues) return;
    const integers = this.#integers;
    if (integers === undefined) this.#packed &&= count <= setMaxEntries;
    else if (integers.length > 0) {
      if (count > setMaxIntset) this.#toHashTable();
    } else if (count > setMaxIntset || parseInteger(first) === undefined) {
      this.#toHashTable(count <= setMaxEntries);
    }
  }

  /** Makes a set without members a listpack or a hash table, whatever it will hold. */
  leaveIntset(encoding: 'listpack' | 'hashtable'): void {
    this.#toHashTable(encoding === 'listpack');
  }

  /** Makes a set that is no intset a listpack, however long its members are. */
  stayPacked(): void {
    this.#packed = this.#integers === undefined;
  }

  get size(): number {
    return this.#integers !== undefined ? this.#integers.length : this.#members!.size;
  }

  /** The total size of all members, in bytes; for an intset, that of its numbers. */
  get bytes(): number {
    return this.#integers !== undefined ? this.#integers.length * 8 : this.#bytes;
  }

  has(member: Bytes): boolean {
    const integers = this.#integers;
    if (integers === undefined) return this.#members!.has(member);
    const value = parseInteger(member);
    return value !== undefined && integers[lowerBound(integers, value)] === value;
  }

  /** Adds a member; true when it is new. */
  add(member: Bytes): boolean {
    const integers = this.#integers;
    if (integers === undefined) return this.#addTo(this.#members!, member);
    const value = parseInteger(member);
    if (value === undefined) {
      const packed = this.#fits(member, integers.length + 1);
      return this.#addTo(this.#toHashTable(packed), member);
    }
    const position = lowerBound(integers, value);
    if (integers[position] === value) return false;
    integers.splice(position, 0, value);
    if (integers.length > this.#limits.setMaxIntset) this.#toHashTable();
    return true;
  }

  /** Deletes a member; false when it does not exist. */
  delete(member: Bytes): boolean {
    const integers = this.#integers;
    if (integers === undefined) {
      if (!this.#deletable().delete(member)) return false;
      this.#roll?.delete(member);
      this.#bytes -= member.length;
      return true;
    }
    const value = parseInteger(member);
    if (value === undefined) return false;
    const position = lowerBound(integers, value);
    if (integers[position] !== value) return false;
    integers.splice(position, 1);
    return true;
  }

  /** The member with that number, 0 to size - 1. Numbers change when the set changes. */
  at(index: number): Bytes | undefined {
    const integers = this.#integers;
    if (integers === undefined) return this.#numbered().at(index);
    const value = integers[index];
    return value === undefined ? undefined : String(value);
  }

  /** One step of a scan over the hash table. An intset or a listpack is returned whole. */
  scan(cursor: number, count: number): Step {
    if (this.#integers !== undefined || this.#packed) return { names: [...this.values()], next: 0 };
    this.#roll ??= new MemberRoll(this.#members!.values());
    return this.#roll.walk(cursor, count);
  }

  /** Ascending for an intset, otherwise in the order of insertion. */
  values(): IterableIterator<Bytes> {
    return this.#integers === undefined ? this.#members!.values() : texts(this.#integers);
  }

  /** A set that was once a hash table stays one. */
  encoding(): 'intset' | 'listpack' | 'hashtable' {
    if (this.#integers !== undefined) return 'intset';
    return this.#packed ? 'listpack' : 'hashtable';
  }

  copy(): SetValue {
    const copy = new SetValue(this.#limits);
    copy.#integers = this.#integers?.slice();
    if (this.#members !== undefined) copy.#members = new Set(this.#members.values());
    copy.#packed = this.#packed;
    copy.#bytes = this.#bytes;
    return copy;
  }

  #addTo(members: MemberTable, member: Bytes): boolean {
    const before = members.size;
    members.add(member);
    if (members.size === before) return false;
    if (this.#packed && !this.#fits(member, members.size)) this.#packed = false;
    this.#roll?.add(member);
    this.#bytes += member.length;
    return true;
  }

  /** True when a listpack of so many members may hold this one. */
  #fits(member: Bytes, size: number): boolean {
    return size <= this.#limits.setMaxEntries && member.length <= this.#limits.setMaxValue;
  }

  #toHashTable(packed = false): Set<Bytes> {
    this.#packed = packed;
    const members = new Set(texts(this.#integers!));
    for (const member of members) this.#bytes += member.length;
    this.#members = members;
    this.#integers = undefined;
    return members;
  }

  /** The members, in a table from which many can be deleted. */
  #deletable(): MemberTable {
    const members = this.#members!;
    if (members instanceof Set && members.size >= LARGE) this.#members = new ReusedSet(members);
    return this.#members!;
  }

  #numbered(): IndexedKeys {
    const members = this.#members!;
    if (members instanceof IndexedKeys) return members;
    const numbered = new IndexedKeys(members.values());
    this.#members = numbered;
    return numbered;
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
