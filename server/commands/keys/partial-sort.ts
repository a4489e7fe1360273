/**
 * The sort that Redis uses if only a part of the sorted items is needed: Bentley and McIlroy's quicksort ("Engineering
 * a Sort Function", 1993), which leaves the other parts unsorted. It is not stable, and equal items end in the same
 * order as in Redis.
 */

type Compare<T> = (a: T, b: T) => number;

const INSERTION_MAX = 7;
const NINTHER_MIN = 40;

/** Sorts in place until the items from `first` to `last`, inclusive, are those of a full sort. */
export function sortPart<T>(items: T[], compare: Compare<T>, first: number, last: number): void {
  new Sorter(items, compare, first, last).sort(0, items.length);
}

class Sorter<T> {
  readonly #items: T[];
  readonly #compare: Compare<T>;
  readonly #first: number;
  readonly #last: number;

  constructor(items: T[], compare: Compare<T>, first: number, last: number) {
    this.#items = items;
    this.#compare = compare;
    this.#first = first;
    this.#last = last;
  }

  /** Sorts `count` items, starting at `from`. */
  sort(from: number, count: number): void {
    let [start, n] = [from, count];
    for (;;) {
      if (n < INSERTION_MAX) {
        this.#insertionSort(start, n);
        return;
      }
      const [smaller, larger] = this.#partition(start, n);
      if (smaller > 1 && this.#wanted(start, smaller)) this.sort(start, smaller);
      if (larger <= 1 || !this.#wanted(start + n - larger, larger)) return;
      start += n - larger;
      n = larger;
    }
  }

  #wanted(start: number, count: number): boolean {
    return this.#last >= start && this.#first < start + count;
  }

  #order(a: number, b: number): number {
    return this.#compare(this.#items[a]!, this.#items[b]!);
  }

  #swap(a: number, b: number): void {
    const items = this.#items;
    [items[a], items[b]] = [items[b]!, items[a]!];
  }

  #swapRuns(a: number, b: number, count: number): void {
    for (let i = 0; i < count; i++) this.#swap(a + i, b + i);
  }

  #insertionSort(start: number, n: number): void {
    for (let i = start + 1; i < start + n; i++) {
      for (let at = i; at > start && this.#order(at - 1, at) > 0; at--) this.#swap(at, at - 1);
    }
  }

  #pivot(start: number, n: number): number {
    let low = start;
    let middle = start + Math.floor(n / 2);
    let high = start + n - 1;
    if (n === INSERTION_MAX) return middle;
    if (n > NINTHER_MIN) {
      const eighth = Math.floor(n / 8);
      low = this.#median(low, low + eighth, low + 2 * eighth);
      middle = this.#median(middle - eighth, middle, middle + eighth);
      high = this.#median(high - 2 * eighth, high - eighth, high);
    }
    return this.#median(low, middle, high);
  }

  #median(a: number, b: number, c: number): number {
    if (this.#order(a, b) < 0) {
      if (this.#order(b, c) < 0) return b;
      return this.#order(a, c) < 0 ? c : a;
    }
    if (this.#order(b, c) > 0) return b;
    return this.#order(a, c) < 0 ? a : c;
  }

  /** Partitions around one item. Returns how many items are smaller and how many are larger. */
  #partition(start: number, n: number): readonly [smaller: number, larger: number] {
    this.#swap(start, this.#pivot(start, n));
    let equalLow = start + 1;
    let low = start + 1;
    let high = start + n - 1;
    let equalHigh = high;
    for (;;) {
      for (let order = 0; low <= high; low++) {
        order = this.#order(low, start);
        if (order > 0) break;
        if (order === 0) this.#swap(equalLow++, low);
      }
      for (let order = 0; low <= high; high--) {
        order = this.#order(high, start);
        if (order < 0) break;
        if (order === 0) this.#swap(high, equalHigh--);
      }
      if (low > high) break;
      this.#swap(low++, high--);
    }
    const end = start + n;
    const left = Math.min(equalLow - start, low - equalLow);
    this.#swapRuns(start, low - left, left);
    const right = Math.min(equalHigh - high, end - equalHigh - 1);
    this.#swapRuns(low, end - right, right);
    return [low - equalLow, equalHigh - high];
  }
}
