/**
 * Seeded pseudo-random numbers. Each name has an independent stream, so that a new consumer does not change the numbers
 * of the others.
 */

/** A stream of numbers determined by a seed and a name (xoshiro128**, https://prng.di.unimi.it/). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number | string, stream: string) {
    const word = splitMix(hash(`${seed}/${stream}`));
    this.#a = word();
    this.#b = word();
    this.#c = word();
    this.#d = word();
  }

  /** The next 32 bits, unsigned. */
  word(): number {
    const scrambled = Math.imul(rotate(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotate(this.#d, 11);
    return scrambled;
  }

  /** A number in [0, 1) with the 53 random bits of a double. */
  next(): number {
    return ((this.word() >>> 5) * 67_108_864 + (this.word() >>> 6)) / 9_007_199_254_740_992;
  }

  /** An integer from `low` up to, but not including, `high`. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low));
  }

  /** Fills the array with random bytes. */
  fill(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i += 4) {
      let word = this.word();
      for (let k = i; k < i + 4 && k < bytes.length; k++) {
        bytes[k] = word & 255;
        word >>>= 8;
      }
    }
  }

  /** A random element. Throws RangeError when there is none. */
  pick<T>(elements: readonly T[]): T {
    if (elements.length === 0) throw new RangeError('nothing to pick from');
    return elements[this.between(0, elements.length)] as T;
  }
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** Hashes the seed's text to 32 bits (FNV-1a). */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return state;
}

/** Expands one word into a sequence of unrelated words, never all zero, which would be a fixed point of xoshiro. */
function splitMix(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let word = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return (word ^ (word >>> 15)) | 0;
  };
}
