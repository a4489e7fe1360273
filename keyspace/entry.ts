/** The entry of a key: its value, its deadline, and how it was used. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { fail, WRONGTYPE } from '../protocol/errors.ts';
import { EditedString, type HeldString } from './collections/edited-string.ts';
import type { StringEncoding } from './collections/encoding.ts';
import type { Deadline } from './expiry/deadlines.ts';
import type { RowChunk } from './rows.ts';
import { type Held, type TypeName, type Types, typeOf, type Value } from './value.ts';

/** A row stores an index into this list. */
const ENCODINGS: readonly (StringEncoding | undefined)[] = [undefined, 'int', 'embstr', 'raw'];
/** The largest footprint that a row can store, in bytes. */
const FOOTPRINT_MAX = 2 ** 32 - 1;

/**
 * A key's entry in a database. It refers to the key's row, and lives as long as a command needs it. It must not be used
 * after the key was removed: another key may have the row then.
 */
export class Entry {
  // Not #private, so that V8 inlines the getters below into every caller.
  private readonly chunk: RowChunk;
  /** The first place of the row in each column. The second one follows. */
  private readonly at: number;

  /** @param row the number of the row in the chunk */
  constructor(chunk: RowChunk, row: number) {
    this.chunk = chunk;
    this.at = 2 * row;
  }

  get key(): Bytes {
    return this.chunk.pairs[this.at] as Bytes;
  }

  /** Grows with every key created. SCAN walks in this order, which stays stable while keys are added and removed. */
  get serial(): number {
    return this.chunk.moments[this.at]!;
  }

  /** Its deadline in the node's table, or NONE. `Keyspace.expiresAt` returns the time. */
  get deadline(): Deadline {
    return this.chunk.numbers[this.at]!;
  }

  set deadline(deadline: Deadline) {
    this.chunk.numbers[this.at] = deadline;
  }

  /** How much memory it used when it was last written, in bytes. */
  get footprint(): number {
    return this.chunk.numbers[this.at + 1]!;
  }

  set footprint(bytes: number) {
    this.chunk.numbers[this.at + 1] = Math.min(bytes, FOOTPRINT_MAX);
  }

  /** The time of the last use in milliseconds since the epoch, for OBJECT IDLETIME and eviction. */
  get usedAt(): Millis {
    return this.chunk.moments[this.at + 1]!;
  }

  set usedAt(at: Millis) {
    this.chunk.moments[this.at + 1] = at;
  }

  /** How often the key is used, on a logarithmic scale from 0 to 255 (OBJECT FREQ). Updated only under an LFU policy. */
  get frequency(): number {
    return this.chunk.traits[this.at]!;
  }

  set frequency(frequency: number) {
    this.chunk.traits[this.at] = frequency;
  }

  /** The encoding of its string, when a command created it in another way than by setting it as a whole. */
  get madeAs(): StringEncoding | undefined {
    return ENCODINGS[this.chunk.traits[this.at + 1]!];
  }

  set madeAs(encoding: StringEncoding | undefined) {
    this.chunk.traits[this.at + 1] = ENCODINGS.indexOf(encoding);
  }

  /** The value in its stored form, for callers that need its type, its length or a part of a string. */
  get held(): Held {
    return this.chunk.pairs[this.at + 1] as Held;
  }

  #hold(value: Held): void {
    this.chunk.pairs[this.at + 1] = value;
  }

  /** Reads the whole value. A string that is being edited is converted back, and is stored as a whole from then on. */
  read(): Value {
    const held = this.held;
    if (typeof held === 'string' || !(held instanceof EditedString)) return held;
    const text = held.toString();
    this.#hold(text);
    return text;
  }

  replace(value: Value): void {
    this.#hold(value);
    this.chunk.traits[this.at + 1] = 0;
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
