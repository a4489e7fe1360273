/** The entry of a key: its value, its deadline, and how it was used. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { fail, WRONGTYPE } from '../protocol/errors.ts';
import { EditedString, type HeldString } from './collections/edited-string.ts';
import type { StringEncoding } from './collections/encoding.ts';
import type { Deadline } from './expiry/deadlines.ts';
import type { RowChunk } from './rows.ts';
import { type Held, type TypeName, type Types, typeOf, type Value } from './value.ts';

/** A row has the index in this list. */
const ENCODINGS: readonly (StringEncoding | undefined)[] = [undefined, 'int', 'embstr', 'raw'];
/** The largest footprint that a row has, in bytes. */
const FOOTPRINT_MAX = 2 ** 32 - 1;

/**
 * A key's entry in a database. It refers to the key's row, and lives as long as a command needs it. It must not be used
 * after the key was removed: another key may have the row then.
 */
export class Entry {
  // Not #private, so that V8 inlines the getters below into every caller.
  private readonly chunk: RowChunk;
  private readonly at: number;

  /** @param at the number of the row in the chunk */
  constructor(chunk: RowChunk, at: number) {
    this.chunk = chunk;
    this.at = at;
  }

  get key(): Bytes {
    return this.chunk.keys[this.at] as Bytes;
  }

  /** Grows with every key created. SCAN walks in this order, which stays stable while keys are added and removed. */
  get serial(): number {
    return this.chunk.serials[this.at]!;
  }

  /** Its deadline in the node's table, or NONE. `Keyspace.expiresAt` returns the time. */
  get deadline(): Deadline {
    return this.chunk.deadlines[this.at]!;
  }

  set deadline(deadline: Deadline) {
    this.chunk.deadlines[this.at] = deadline;
  }

  /** How much memory it used when it was last written, in bytes. */
  get footprint(): number {
    return this.chunk.footprints[this.at]!;
  }

  set footprint(bytes: number) {
    this.chunk.footprints[this.at] = Math.min(bytes, FOOTPRINT_MAX);
  }

  /** The time of the last use in milliseconds since the epoch, for OBJECT IDLETIME and eviction. */
  get usedAt(): Millis {
    return this.chunk.uses[this.at]!;
  }

  set usedAt(at: Millis) {
    this.chunk.uses[this.at] = at;
  }

  /** How often the key is used, on a logarithmic scale from 0 to 255 (OBJECT FREQ). Updated only under an LFU policy. */
  get frequency(): number {
    return this.chunk.frequencies[this.at]!;
  }

  set frequency(frequency: number) {
    this.chunk.frequencies[this.at] = frequency;
  }

  /** The encoding of its string, when a command created it in another way than by setting it as a whole. */
  get madeAs(): StringEncoding | undefined {
    return ENCODINGS[this.chunk.encodings[this.at]!];
  }

  set madeAs(encoding: StringEncoding | undefined) {
    this.chunk.encodings[this.at] = ENCODINGS.indexOf(encoding);
  }

  /** The value in its stored form, for callers that need its type, its length or a part of a string. */
  get held(): Held {
    return this.chunk.values[this.at] as Held;
  }

  #hold(value: Held): void {
    this.chunk.values[this.at] = value;
  }

  /** Reads the whole value. A string that is being edited is converted back, and is stored as a whole from then on. */
  read(): Value {
    const held = this.held;
    if (typeof held === 'string' || !(held instanceof EditedString)) return held;
    const text = held.toString();
    this.#hold(text);
    return text;
  }

  /** Replaces the value. */
  replace(value: Value): void {
    this.#hold(value);
    this.chunk.encodings[this.at] = 0;
  }

  /** The string, extended to at least `length` bytes, to be changed in place until someone needs the whole string. */
  edit(length: number): EditedString {
    this.madeAs = undefined;
    const held = this.held;
    if (held instanceof EditedString) {
      held.grow(length);
      return held;
    }
    const edited = new EditedString(held as string, length);
    this.#hold(edited);
    return edited;
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
