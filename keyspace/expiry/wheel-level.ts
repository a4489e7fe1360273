/** The slots of one level of the expiry wheel: a list of deadlines in each, and a bit set of those that are occupied. */
import { type Deadline, NONE } from './deadlines.ts';

/** Each digit of a deadline has this many bits, and a level one slot for each digit. */
export const DIGIT_BITS = 9;
export const SLOTS = 1 << DIGIT_BITS;

/** A level. It takes 4 KB, so a wheel makes one when the first deadline arrives there. */
export class WheelLevel {
  /** How many deadlines wait here. The wheel counts them. */
  waiting = 0;
  /** The first and the last deadline of each slot. */
  readonly #ends: Int32Array;
  readonly #occupied: Int32Array;

  constructor(slots: number) {
    this.#ends = new Int32Array(2 * slots);
    this.#occupied = new Int32Array(Math.ceil(slots / 32));
  }

  first(digit: number): Deadline {
    return this.#ends[2 * digit]!;
  }

  last(digit: number): Deadline {
    return this.#ends[2 * digit + 1]!;
  }

  setFirst(digit: number, deadline: Deadline): void {
    this.#ends[2 * digit] = deadline;
    if (deadline === NONE) this.#occupied[digit >>> 5]! &= ~(1 << (digit & 31));
    else this.#occupied[digit >>> 5]! |= 1 << (digit & 31);
  }

  setLast(digit: number, deadline: Deadline): void {
    this.#ends[2 * digit + 1] = deadline;
  }

  /** The first occupied slot. At least one must be. */
  firstOccupied(): number {
    for (let word = 0; ; word++) {
      const bits = this.#occupied[word]!;
      if (bits !== 0) return word * 32 + 31 - Math.clz32(bits & -bits);
    }
  }
}
