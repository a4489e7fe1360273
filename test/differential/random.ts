/** Seeded chance for generated programs: the same seed gives the same draws on every machine. */

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number from 0 to 2^32 - 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** A whole number from 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor((this.next() / 2 ** 32) * end);
  }

  /** A whole number between two, both included. */
  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  /** True in so many of a hundred cases. */
  percent(share: number): boolean {
    return this.next() / 2 ** 32 < share / 100;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** A new array with the items in any order. */
  shuffle<T>(items: readonly T[]): T[] {
    const out = [...items];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [out[i], out[j]] = [out[j] as T, out[i] as T];
    }
    return out;
  }

  /** An item by its weight; the weights are whole numbers. */
  weighted<T>(items: readonly (readonly [T, number])[]): T {
    let left = this.below(items.reduce((sum, [, weight]) => sum + weight, 0));
    for (const [item, weight] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    return (items[0] as readonly [T, number])[0];
  }
}

/** The seed of one program among those of a run. */
export function seedOf(seed: number, program: number): number {
  return (Math.imul(seed, 0x9e3779b1) ^ Math.imul(program + 1, 0x85ebca6b)) | 0;
}
