/** Seeded pseudo-randomness: one independent stream per name, so that a new consumer does not disturb the others. */

/** A stream of numbers that its seed and name decide (xoshiro128**). */
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

  /** A number in [0, 1) with all 53 bits of a double. */
  next(): number {
    return ((this.word() >>> 5) * 67_108_864 + (this.word() >>> 6)) / 9_007_199_254_740_992;
  }

  /** A whole number from `low` to below `high`. */
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

  /** One of the elements. Throws RangeError when there is none. */
  pick<T>(elements: readonly T[]): T {
    if (elements.length === 0) throw new RangeError('nothing to pick from');
    return elements[this.between(0, elements.length)] as T;
  }
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** FNV-1a: spreads the seed's text over 32 bits. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return state;
}

/** Turns one word into a sequence of unrelated ones; never all zero, which would be xoshiro's fixed point. */
function splitMix(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let word = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return (word ^ (word >>> 15)) | 0;
  };
}
