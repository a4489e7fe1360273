/** Names in the order of their creation, for scans and RANDOMKEY: O(1) to extend, found by serial number. */
import type { Bytes } from '../protocol/bytes.ts';

/** Removed names stay in the roll until they outnumber the others by this. */
const SLACK = 64;

/** One step of a scan: the names met, and the cursor of the next step; 0 at the end. */
export interface Step {
  readonly names: Bytes[];
  readonly next: number;
}

export class KeyRoll {
  readonly #serialOf: (name: Bytes) => number | undefined;
  readonly #size: () => number;
  #names: Bytes[] = [];
  /** Ascending. */
  #serials: number[] = [];

  /**
   * @param serialOf the serial of a name that is there
   * @param size how many names are there
   */
  constructor(serialOf: (name: Bytes) => number | undefined, size: () => number) {
    this.#serialOf = serialOf;
    this.#size = size;
  }

  /** Places in the roll; those of removed names are empty. */
  get length(): number {
    return this.#names.length;
  }

  /** Notes a new name; its serial is higher than all before. */
  add(name: Bytes, serial: number): void {
    this.#names.push(name);
    this.#serials.push(serial);
  }

  /** Drops the places of removed names once they are the most. */
  shorten(): void {
    if (this.#names.length > 2 * this.#size() + SLACK) this.#compact();
  }

  /** The name at a place; undefined where it has been removed since. */
  at(place: number): Bytes | undefined {
    const name = this.#names[place];
    return name !== undefined && this.#serialOf(name) === this.#serials[place] ? name : undefined;
  }

  /**
   * One step of a scan, of at most so many names. The cursor is the serial of the last name met, and the walk goes from
   * the newest name to the oldest: what is there all the while is met exactly once, and what comes meanwhile is not met.
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

/** The roll of a collection's members, which have no serials of their own. */
export class MemberRoll {
  readonly #serials = new Map<Bytes, number>();
  readonly #roll = new KeyRoll(
    (member) => this.#serials.get(member),
    () => this.#serials.size,
  );
  #next = 1;

  constructor(members: Iterable<Bytes>) {
    for (const member of members) this.add(member);
  }

  /** Notes a member that is new. */
  add(member: Bytes): void {
    this.#serials.set(member, this.#next);
    this.#roll.add(member, this.#next++);
    this.#roll.shorten();
  }

  /** Notes that a member has gone. */
  delete(member: Bytes): void {
    this.#serials.delete(member);
  }

  /** One step of a scan, as KeyRoll walks. */
  walk(cursor: number, count: number): Step {
    this.#roll.shorten();
    return this.#roll.walk(cursor, count);
  }
}
