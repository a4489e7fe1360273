/** The entry of a key: its value, its deadline, and how it was used. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { fail, WRONGTYPE } from '../protocol/errors.ts';
import { EditedString, type HeldString } from './collections/edited-string.ts';
import type { StringEncoding } from './collections/encoding.ts';
import { type Deadline, NONE } from './expiry/deadlines.ts';
import { type Held, type TypeName, type Types, typeOf, type Value } from './value.ts';

/** The frequency of a new key. */
const NEW_FREQUENCY = 5;

/** An entry's frequency is in the lower bits of one number; above them is the index of `madeAs` in this list. */
const FREQUENCY = 0xff;
const MADE_AS_SHIFT = 8;
const MADE_AS: readonly (StringEncoding | undefined)[] = [undefined, 'int', 'embstr', 'raw'];

/**
 * The time of the first use of any key. Entries keep times of use as distances from it. V8 keeps those of the 24 days
 * around it in the entry itself, and would make an object of 16 bytes for a time since 1970.
 */
let firstUse: Millis | undefined;

/** A key's entry in a database. */
export class Entry {
  readonly key: Bytes;
  #held: Held;
  /** Its deadline in the node's table, or NONE. `Keyspace.expiresAt` returns the time. */
  deadline: Deadline = NONE;
  /** Grows with every key created. SCAN walks in this order, which stays stable while keys are added and removed. */
  readonly serial: number;
  /** How much memory it used when it was last written, in bytes. */
  footprint = 0;
  /** The time of the last use, in milliseconds since the first use of any key. */
  #used = 0;
  #traits = NEW_FREQUENCY;

  constructor(key: Bytes, value: Value, serial: number, usedAt: Millis) {
    this.key = key;
    this.#held = value;
    this.serial = serial;
    firstUse ??= usedAt;
    this.usedAt = usedAt;
  }

  /** The time of the last use in milliseconds since the epoch, for OBJECT IDLETIME and eviction. */
  get usedAt(): Millis {
    return firstUse! + this.#used;
  }

  set usedAt(at: Millis) {
    const used = at - firstUse!;
    const small = used | 0;
    this.#used = small === used ? small : used;
  }

  /** How often the key is used, on a logarithmic scale from 0 to 255 (OBJECT FREQ). Updated only under an LFU policy. */
  get frequency(): number {
    return this.#traits & FREQUENCY;
  }

  set frequency(frequency: number) {
    this.#traits = (this.#traits & ~FREQUENCY) | frequency;
  }

  /** The encoding of its string, when a command created it in another way than by setting it as a whole. */
  get madeAs(): StringEncoding | undefined {
    return MADE_AS[this.#traits >> MADE_AS_SHIFT];
  }

  set madeAs(encoding: StringEncoding | undefined) {
    this.#traits = (MADE_AS.indexOf(encoding) << MADE_AS_SHIFT) | (this.#traits & FREQUENCY);
  }

  /** Reads the whole value. A string that is being edited is converted back, and is stored as a whole from then on. */
  read(): Value {
    const held = this.#held;
    if (typeof held === 'string' || !(held instanceof EditedString)) return held;
    const text = held.toString();
    this.#held = text;
    return text;
  }

  /** Replaces the value. */
  replace(value: Value): void {
    this.#held = value;
    this.#traits &= FREQUENCY;
  }

  /** The value in its stored form, for callers that need its type, its length or a part of a string. */
  get held(): Held {
    return this.#held;
  }

  /** The string, extended to at least `length` bytes, to be changed in place until someone needs the whole string. */
  edit(length: number): EditedString {
    this.#traits &= FREQUENCY;
    const held = this.#held;
    if (held instanceof EditedString) held.grow(length);
    else this.#held = new EditedString(held as string, length);
    return this.#held as EditedString;
  }
}

/** The string of an entry in the form in which it is stored. Throws WRONGTYPE when the entry has another type. */
export function stringIn({ held }: Entry): HeldString {
  if (typeOf(held) !== 'string') fail(WRONGTYPE);
  return held as HeldString;
}

/** The value of an entry. Throws WRONGTYPE when it has another type. */
export function valueIn<T extends TypeName>(entry: Entry, type: T): Types[T] {
  if (typeOf(entry.held) !== type) fail(WRONGTYPE);
  return entry.read() as Types[T];
}
