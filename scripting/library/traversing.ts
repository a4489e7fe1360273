/**
 * table.sort, foreach and foreachi, which call back into scripts. `sort` takes exactly the steps of Lua's own
 * quicksort.
 */
import { isFrame, pays } from '../runtime/frames.ts';
import { allocatePlaces } from '../runtime/memory.ts';
import { callBack, isTrue, less } from '../runtime/operations.ts';
import { inLibrary, type Site } from '../runtime/site.ts';
import { raise, raiseBare, S } from '../runtime/state.ts';
import {
  type Frame,
  firstOf,
  type LuaTable,
  type LuaValue,
  NOTHING,
  type Result,
} from '../runtime/values.ts';
import { checkFunction, checkTable } from './args.ts';
import { rawSetValue } from './base.ts';

/** table.foreach(t, f): stops when f returns a value. */
export function* foreach(...args: LuaValue[]): Frame {
  const table = checkTable(args, 0);
  checkFunction(args, 1);
  const inside = inLibrary(S.site);
  for (let at = table.advance(0); at > 0; ) {
    const key = table.keyAt(at);
    if (pays()) yield undefined;
    const result = firstOf(yield* called(args[1], [key, table.valueAt(at)], inside));
    if (result !== undefined) return result;
    const here = table.position(key);
    if (here < 0) raiseBare("invalid key to 'next'");
    at = table.advance(here);
  }
  return NOTHING;
}

/** table.foreachi(t, f) */
export function* foreachi(...args: LuaValue[]): Frame {
  const table = checkTable(args, 0);
  checkFunction(args, 1);
  const inside = inLibrary(S.site);
  const size = table.length();
  for (let i = 1; i <= size; i++) {
    if (pays()) yield undefined;
    const result = firstOf(yield* called(args[1], [i, table.get(i)], inside));
    if (result !== undefined) return result;
  }
  return NOTHING;
}

function* called(callee: LuaValue, args: LuaValue[], site: Site): Frame {
  const result = callBack(callee, args, site);
  if (!isFrame(result)) return result;
  S.nested++;
  const settled = yield result;
  S.nested--;
  return settled;
}

/** table.sort(t, before) */
export function* sort(...args: LuaValue[]): Frame {
  const table = checkTable(args, 0);
  if (args[1] !== undefined) checkFunction(args, 1);
  const { site } = S;
  const inside = inLibrary(site);
  const compare = args[1];
  if (compare === undefined && sortPlainly(table)) return NOTHING;
  const steps = new Quicksort(table, site);
  const work = steps.run(1, table.length());
  for (let step = work.next(false); !step.done; ) {
    let result: Result;
    if (compare === undefined) result = less(steps.left, steps.right, inside);
    else result = callBack(compare, [steps.left, steps.right], inside);
    if (isFrame(result)) {
      S.nested++;
      result = yield result;
      S.nested--;
    }
    if (pays()) yield undefined;
    step = work.next(isTrue(result));
  }
  return NOTHING;
}

/** Sorts numbers or strings, which have only one sorted order, with JavaScript's sort. */
function sortPlainly(table: LuaTable): boolean {
  const size = table.length();
  if (!table.plain || size > table.arr.length || size < 2) return false;
  allocatePlaces(2 * size);
  const items = table.arr.slice(0, size);
  if (items.every((item) => typeof item === 'number' && (item > 0 || item < 0))) {
    const sorted = Float64Array.from(items as number[]).sort();
    for (let i = 0; i < size; i++) table.arr[i] = sorted[i];
  } else if (items.every((item) => typeof item === 'string')) {
    (items as string[]).sort();
    for (let i = 0; i < size; i++) table.arr[i] = items[i];
  } else return false;
  S.fuel -= size * 4;
  return true;
}

/** Yields whenever it needs to know whether `left` comes before `right`. */
class Quicksort {
  left: LuaValue;
  right: LuaValue;
  readonly #table: LuaTable;
  readonly #site: Site;

  constructor(table: LuaTable, site: Site) {
    this.#table = table;
    this.#site = site;
  }

  #compare(left: LuaValue, right: LuaValue): void {
    this.left = left;
    this.right = right;
  }

  #swap(i: number, j: number): void {
    const value = this.#table.get(i);
    rawSetValue(this.#table, i, this.#table.get(j));
    rawSetValue(this.#table, j, value);
  }

  /** Median of three, with the pivot second to last. Scripts can observe the order of equal items. */
  *run(from: number, to: number): Generator<undefined, void, boolean> {
    const table = this.#table;
    let low = from;
    let high = to;
    while (low < high) {
      this.#compare(table.get(high), table.get(low));
      if (yield) this.#swap(low, high);
      if (high - low === 1) return;
      const middle = (low + high) >> 1;
      this.#compare(table.get(middle), table.get(low));
      if (yield) this.#swap(middle, low);
      else {
        this.#compare(table.get(high), table.get(middle));
        if (yield) this.#swap(middle, high);
      }
      if (high - low === 2) return;
      const pivot = table.get(middle);
      this.#swap(middle, high - 1);
      const split = yield* this.#partition(low, high, pivot);
      this.#swap(high - 1, split);
      if (split - low < high - split) {
        yield* this.run(low, split - 1);
        low = split + 1;
      } else {
        yield* this.run(split + 1, high);
        high = split - 1;
      }
    }
  }

  *#partition(low: number, high: number, pivot: LuaValue): Generator<undefined, number, boolean> {
    const table = this.#table;
    let i = low;
    let j = high - 1;
    for (;;) {
      for (;;) {
        this.#compare(table.get(++i), pivot);
        if (!(yield)) break;
        if (i > high) this.#invalid();
      }
      for (;;) {
        this.#compare(pivot, table.get(--j));
        if (!(yield)) break;
        if (j < low) this.#invalid();
      }
      if (j < i) return i;
      this.#swap(i, j);
    }
  }

  #invalid(): never {
    S.site = this.#site;
    raise('invalid order function for sorting');
  }
}
