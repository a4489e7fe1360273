/** The entry of a key: its value, its deadline, and how it was used. */
import type { Millis } from '../protocol/bytes.ts';
import { fail, WRONGTYPE } from '../protocol/errors.ts';
import { EditedString, type HeldString } from './collections/edited-string.ts';
import type { StringEncoding } from './collections/encoding.ts';
import type { Deadline } from './expiry/deadline.ts';
import { type Held, type TypeName, type Types, typeOf, type Value } from './value.ts';

/** The frequency of a new key. */
const NEW_FREQUENCY = 5;

/** A key's entry in a database. */
export class Entry {
  #held: Held;
  deadline: Deadline | undefined = undefined;
  /** Grows with every key created. SCAN walks in this order, which stays stable while keys are added and removed. */
  readonly serial: number;
  /** The time of the last use in milliseconds since the epoch, for OBJECT IDLETIME and eviction. */
  usedAt: Millis;
  /** How often the key is used, on a logarithmic scale (OBJECT FREQ). Updated only under an LFU policy. */
  frequency = NEW_FREQUENCY;
  /** The encoding of its string, when a command created it in another way than by setting it as a whole. */
  madeAs: StringEncoding | undefined = undefined;
  /** How much memory it used when it was last written, in bytes. */
  footprint = 0;

  constructor(value: Value, serial: number, usedAt: Millis) {
    this.#held = value;
    this.serial = serial;
    this.usedAt = usedAt;
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
    this.madeAs = undefined;
  }

  /** The value in its stored form, for callers that need its type, its length or a part of a string. */
  get held(): Held {
    return this.#held;
  }

  /** The string, extended to at least `length` bytes, to be changed in place until someone needs the whole string. */
  edit(length: number): EditedString {
    this.madeAs = undefined;
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
