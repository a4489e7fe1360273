/** What a key maps to: its value, its deadline, and how it has been used. */
import type { Millis } from '../protocol/bytes.ts';
import { EditedString } from './collections/edited-string.ts';
import type { StringEncoding } from './collections/encoding.ts';
import type { Deadline } from './expiry/deadline.ts';
import type { Held, Value } from './value.ts';

/** The frequency of a key that has just been made. */
const NEW_FREQUENCY = 5;

export class Entry {
  #held: Held;
  deadline: Deadline | undefined = undefined;
  /** Grows with every key created: the order SCAN walks in, stable while keys come and go. */
  readonly serial: number;
  /** When it was last used, for OBJECT IDLETIME and eviction. */
  usedAt: Millis;
  /** How often it is used, on a logarithmic scale (OBJECT FREQ); kept under an LFU policy only. */
  frequency = NEW_FREQUENCY;
  /** The encoding of its string, where a command made it in another way than by setting it as a whole. */
  madeAs: StringEncoding | undefined = undefined;
  /** What it took of memory when it was last written, in bytes. */
  footprint = 0;

  constructor(value: Value, serial: number, usedAt: Millis) {
    this.#held = value;
    this.serial = serial;
    this.usedAt = usedAt;
  }

  /** Reads the whole value. A string that is being edited is put together, and held whole from here on. */
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

  /** The value in the form in which it is held: for reading its type, its length, or a part of a string. */
  get held(): Held {
    return this.#held;
  }

  /** Its string, made at least `length` bytes long, to be changed in place until the whole of it is read. */
  edit(length: number): EditedString {
    this.madeAs = undefined;
    const held = this.#held;
    if (held instanceof EditedString) held.grow(length);
    else this.#held = new EditedString(held as string, length);
    return this.#held as EditedString;
  }
}
