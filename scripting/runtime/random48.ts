/** The generator behind math.random in Redis: the 48-bit linear congruence of drand48, the same on every machine. */
import { approximate } from '../../protocol/bytes.ts';

const MULTIPLIER = 0x5deece66dn;
const MASK = 0xffffffffffffn;

/** A node's generator. It starts as a fresh Redis does, so a new server always gives the same numbers. */
export class Random48 {
  #state = 0x1234abcd330en;

  /** The state, to be put back when a script is run again. */
  get state(): bigint {
    return this.#state;
  }

  set state(state: bigint) {
    this.#state = state;
  }

  /** math.randomseed: only 32 bits of the seed count. */
  seed(seed: number): void {
    this.#state = (BigInt(seed >>> 0) << 16n) | 0x330en;
  }

  /** The next number, from 0 to 2^31 - 1. */
  next(): number {
    this.#state = (this.#state * MULTIPLIER + 11n) & MASK;
    return approximate(this.#state >> 17n);
  }
}
