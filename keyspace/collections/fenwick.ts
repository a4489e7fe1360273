/** A Fenwick tree: prefix sums of small counts. A change, a query and a search each take O(log n). */

/** Counts, numbered from 0. */
export class Fenwick {
  /** One-based: node i has the sum of the counts i - lowbit(i) to i - 1. */
  readonly #sums: number[];
  readonly #top: number;

  constructor(counts: readonly number[]) {
    const length = counts.length;
    const sums = new Array<number>(length + 1).fill(0);
    for (let i = 1; i <= length; i++) {
      sums[i]! += counts[i - 1]!;
      const parent = i + (i & -i);
      if (parent <= length) sums[parent]! += sums[i]!;
    }
    this.#sums = sums;
    this.#top = length === 0 ? 0 : 2 ** (31 - Math.clz32(length));
  }

  /** Adds `by` to a count. */
  add(number: number, by: number): void {
    const sums = this.#sums;
    for (let i = number + 1; i < sums.length; i += i & -i) sums[i]! += by;
  }

  /** The sum of all counts before that number. */
  prefix(number: number): number {
    const sums = this.#sums;
    let sum = 0;
    for (let i = number; i > 0; i -= i & -i) sum += sums[i]!;
    return sum;
  }

  /** The number whose count includes the item of this rank: the last one whose prefix is not greater than the rank. */
  find(rank: number): number {
    const sums = this.#sums;
    let number = 0;
    let left = rank;
    for (let step = this.#top; step > 0; step >>>= 1) {
      const next = number + step;
      if (next < sums.length && sums[next]! <= left) {
        number = next;
        left -= sums[next]!;
      }
    }
    return number;
  }
}
