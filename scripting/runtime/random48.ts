/**
 * The generator behind math.random in Redis: the 48-bit linear congruential generator of drand48, which is the same on
 * every machine.
 */
import { approximate } from '../../protocol/bytes.ts';

const MULTIPLIER = 0x5deece66dn;
const MASK = 0xffffffffffffn;

/** A node's generator. It starts like that of a fresh Redis, so a new server always returns the same numbers. */
export class Random48 {
  #state = 0x1234abcd330en;

  /** The state, which is restored when a script is run again. */
  get state(): bigint {
    return this.#state;
  }

  set state(state: bigint) {
    this.#state = state;
  }

  /** math.randomseed. Only 32 bits of the seed are used. */
  seed(seed: number): void {
    this.#state = (BigInt(seed >>> 0) << 16n) | 0x330en;
  }

  /** The next number, 0 to 2^31 - 1. */
  next(): number {
    this.#state = (this.#state * MULTIPLIER + 11n) & MASK;
    return approximate(this.#state >> 17n);
  }
}
