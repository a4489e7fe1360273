/**
 * Names in the order of their creation, for scans and RANDOMKEY. Appending takes O(1), and a serial number finds its
 * name.
 */
import type { Bytes } from '../protocol/bytes.ts';
import { ReusedMap } from './collections/reused.ts';

/** Removed names stay in the roll until they outnumber the others by this many. */
const SLACK = 64;

/** One step of a scan: the names found, and the cursor of the next step, or 0 at the end. */
export interface Step {
  readonly names: Bytes[];
  readonly next: number;
}

/** The roll of a database's keys. */
export class KeyRoll {
  readonly #serialOf: (name: Bytes) => number | undefined;
  readonly #size: () => number;
  #names: Bytes[] = [];
  /** Ascending serials. */
  #serials: number[] = [];

  /**
   * @param serialOf the serial of an existing name
   * @param size the number of existing names
   */
  constructor(serialOf: (name: Bytes) => number | undefined, size: () => number) {
    this.#serialOf = serialOf;
    this.#size = size;
  }

  /** The number of places in the roll; those of removed names are empty. */
  get length(): number {
    return this.#names.length;
  }

  /** Adds a new name, whose serial must be higher than all before. */
  add(name: Bytes, serial: number): void {
    this.#names.push(name);
    this.#serials.push(serial);
  }

  /** Removes the places of removed names once they are the majority. */
  shorten(): void {
    if (this.#names.length > 2 * this.#size() + SLACK) this.#compact();
  }

  /** The name at a place; undefined when it was removed. */
  at(place: number): Bytes | undefined {
    const name = this.#names[place];
    return name !== undefined && this.#serialOf(name) === this.#serials[place] ? name : undefined;
  }

  /**
   * One step of a scan that returns at most `count` names. The cursor is the serial of the last name returned. The scan
   * goes from the newest name to the oldest, so a name that exists during the whole scan is returned exactly once, and
   * a name that is added during the scan is not returned.
   */
  walk(cursor: number, count: number): Step {
    const names: Bytes[] = [];
    let place = cursor === 0 ? this.length : this.#placesBelow(cursor);
    let last = 0;
    while (names.length < count && place > 0) {
      const name = this.at(--place);
      if (name === undefined) continue;
      names.push(name);
      last = this.#serials[place]!;
    }
    return { names, next: place === 0 ? 0 : last };
  }

  /** How many places have a serial below this one. */
  #placesBelow(serial: number): number {
    let low = 0;
    let high = this.#serials.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#serials[middle]! < serial) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compact(): void {
    const names: Bytes[] = [];
    const serials: number[] = [];
    for (let place = 0; place < this.#names.length; place++) {
      const name = this.at(place);
      if (name === undefined) continue;
      names.push(name);
      serials.push(this.#serials[place]!);
    }
    this.#names = names;
    this.#serials = serials;
  }
}

/** The keys of a database, in the order of their serials. */
interface Numbered extends Iterable<[Bytes, { readonly serial: number }]> {
  readonly size: number;
  get(key: Bytes): { readonly serial: number } | undefined;
}

/** Makes the roll of a database's keys. */
export function rollOf(entries: Numbered): KeyRoll {
  const roll = new KeyRoll(
    (key) => entries.get(key)?.serial,
    () => entries.size,
  );
  for (const [key, { serial }] of entries) roll.add(key, serial);
  return roll;
}

/** The roll of a collection's members, which have no serials of their own. */
export class MemberRoll {
  readonly #serials: ReusedMap<Bytes, number>;
  readonly #roll = new KeyRoll(
    (member) => this.#serials.get(member),
    () => this.#serials.size,
  );
  #next = 1;

  constructor(members: Iterable<Bytes>) {
    const serials = new Map<Bytes, number>();
    for (const member of members) {
      serials.set(member, this.#next);
      this.#roll.add(member, this.#next++);
    }
    this.#serials = new ReusedMap(serials);
  }

  add(member: Bytes): void {
    this.#serials.set(member, this.#next);
    this.#roll.add(member, this.#next++);
    this.#roll.shorten();
  }

  /** Removes a member. */
  delete(member: Bytes): void {
    this.#serials.delete(member);
  }

  /** One step of a scan; see KeyRoll.walk. */
  walk(cursor: number, count: number): Step {
    this.#roll.shorten();
    return this.#roll.walk(cursor, count);
  }
}
