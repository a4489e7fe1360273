/** A database's keys in the order of their creation, for SCAN and RANDOMKEY: O(1) to extend, found by serial number. */
import type { Bytes } from '../protocol/bytes.ts';

/** What the roll asks of the entries it lists. */
interface Numbered {
  readonly serial: number;
}

/** Removed keys stay in the roll until they outnumber the others by this. */
const SLACK = 64;

export class KeyRoll {
  readonly #entries: ReadonlyMap<Bytes, Numbered>;
  #keys: Bytes[] = [];
  /** Ascending. */
  #serials: number[] = [];

  /** Lists the entries there are; their order must be that of their serials. */
  constructor(entries: ReadonlyMap<Bytes, Numbered>) {
    this.#entries = entries;
    for (const [key, entry] of entries) this.add(key, entry.serial);
  }

  /** Places in the roll; those of removed keys are empty. */
  get length(): number {
    return this.#keys.length;
  }

  /** Notes a new key; its serial is higher than all before. */
  add(key: Bytes, serial: number): void {
    this.#keys.push(key);
    this.#serials.push(serial);
  }

  /** Drops the places of removed keys once they are the most. */
  shorten(): void {
    if (this.#keys.length > 2 * this.#entries.size + SLACK) this.#compact();
  }

  /** The key at a place; undefined where it has been removed since. */
  at(place: number): Bytes | undefined {
    const key = this.#keys[place];
    return key !== undefined && this.#entries.get(key)?.serial === this.#serials[place] ? key : undefined;
  }

  /** The serial of a place. */
  serialAt(place: number): number {
    return this.#serials[place] ?? 0;
  }

  /** How many places have a serial below this one. */
  placesBelow(serial: number): number {
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
    const keys: Bytes[] = [];
    const serials: number[] = [];
    for (let place = 0; place < this.#keys.length; place++) {
      const key = this.at(place);
      if (key === undefined) continue;
      keys.push(key);
      serials.push(this.#serials[place]!);
    }
    this.#keys = keys;
    this.#serials = serials;
  }
}
