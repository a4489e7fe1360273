/** What a key maps to: its value, its deadline, and how it has been used. */
import type { Millis } from '../protocol/bytes.ts';
import { EditedString } from './collections/edited-string.ts';
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
  /** What it took of memory when it was last written, in bytes. */
  footprint = 0;

  constructor(value: Value, serial: number, usedAt: Millis) {
    this.#held = value;
    this.serial = serial;
    this.usedAt = usedAt;
  }

  /** The value; a string that is being edited is put together for it. */
  get value(): Value {
    const held = this.#held;
    if (typeof held === 'string' || !(held instanceof EditedString)) return held;
    const text = held.toString();
    this.#held = text;
    return text;
  }

  set value(value: Value) {
    this.#held = value;
  }

  /** The value in the form in which it is held: for whoever asks for its type or its length, or for a part of a string. */
  get held(): Held {
    return this.#held;
  }

  /** Its string, made `length` bytes long at least, to be changed in place until somebody asks for the whole of it. */
  edit(length: number): EditedString {
    const held = this.#held;
    if (held instanceof EditedString) held.grow(length);
    else this.#held = new EditedString(held as string, length);
    return this.#held as EditedString;
  }
}
