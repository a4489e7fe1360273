/**
 * table.sort, foreach and foreachi, which call back into scripts. `sort` takes exactly the steps of Lua's own
 * quicksort.
 */
import { isFrame, pays } from '../runtime/frames.ts';
import { allocatePlaces } from '../runtime/memory.ts';
import { callBack, enterCallBack, isTrue, less } from '../runtime/operations.ts';
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

/** The beginning of table.sort(t, before): what is left to do; undefined when the table is sorted. */
function sorting(args: readonly LuaValue[]): Quicksort | undefined {
  const table = checkTable(args, 0);
  if (args[1] !== undefined) checkFunction(args, 1);
  else if (sortPlainly(table)) return undefined;
  return new Quicksort(table, S.site);
}

/** table.sort(t, before) */
export function* sort(...args: LuaValue[]): Frame {
  const work = sorting(args);
  if (work === undefined) return NOTHING;
  const inside = inLibrary(S.site);
  for (let goesOn = work.begin(); goesOn; ) {
    let result: Result;
    if (args[1] === undefined) result = less(work.left, work.right, inside);
    else result = callBack(args[1], [work.left, work.right], inside);
    if (isFrame(result)) {
      S.nested++;
      result = yield result;
      S.nested--;
    }
    if (pays()) yield undefined;
    goesOn = work.next(isTrue(result));
  }
  return NOTHING;
}

/** table.sort in the fast form: it enters the function that compares once for all calls. */
export function sortAtOnce(...args: LuaValue[]): Result {
  const work = sorting(args);
  if (work === undefined) return NOTHING;
  const { nested, depth, site } = S;
  const inside = inLibrary(site);
  const before = args[1] === undefined ? undefined : enterCallBack(args[1], inside);
  try {
    for (let goesOn = work.begin(); goesOn; ) {
      const { left, right } = work;
      S.site = inside;
      const result = before === undefined ? less(left, right, inside) : before(left, right);
      pays();
      goesOn = work.next(isTrue(result));
    }
  } finally {
    S.nested = nested;
    S.depth = depth;
    S.site = site;
  }
  return NOTHING;
}

/** Sorts numbers or strings, which have only one sorted order, with JavaScript's sort. */
function sortPlainly(table: LuaTable): boolean {
  const size = table.length();
  if (!table.plain || size > table.arr.length || size < 2) return false;
  allocatePlaces(2 * size);
  const items = table.arr.slice(0, size);
  // The order of 0 and -0 shows how a table was sorted.
  if (items.every((item) => typeof item === 'number' && !Number.isNaN(item) && !Object.is(item, -0))) {
    const sorted = Float64Array.from(items as number[]).sort();
    for (let i = 0; i < size; i++) table.arr[i] = sorted[i];
  } else if (items.every((item) => typeof item === 'string')) {
    (items as string[]).sort();
    for (let i = 0; i < size; i++) table.arr[i] = items[i];
  } else return false;
  S.fuel -= size * 4;
  return true;
}

/** What a quicksort asks for: whether `left` comes before `right`. */
const ENDS = 0;
const LOWER_HALF = 1;
const UPPER_HALF = 2;
const FROM_LEFT = 3;
const FROM_RIGHT = 4;

/**
 * Lua's own quicksort, which stops whenever it needs to know whether `left` comes before `right`. It takes the median of
 * three, with the pivot second to last. Scripts can observe the order of equal items.
 */
class Quicksort {
  left: LuaValue;
  right: LuaValue;
  readonly #table: LuaTable;
  readonly #site: Site;
  #asks = ENDS;
  /** The part that is being sorted, and the two positions that its partition has reached. */
  #low = 1;
  #high: number;
  #i = 0;
  #j = 0;
  #pivot: LuaValue;
  /** Where the parts begin and end that are sorted later. */
  readonly #later: number[] = [];

  constructor(table: LuaTable, site: Site) {
    this.#table = table;
    this.#site = site;
    this.#high = table.length();
  }

  /** Asks the first question. False when there is none. */
  begin(): boolean {
    return this.#low < this.#high && this.#ask(ENDS, this.#high, this.#low);
  }

  /** Goes on with an answer. False when the table is sorted. */
  next(isBefore: boolean): boolean {
    switch (this.#asks) {
      case ENDS:
        return this.#orderEnds(isBefore);
      case LOWER_HALF:
        if (!isBefore) return this.#ask(UPPER_HALF, this.#high, this.#middle);
        this.#swap(this.#middle, this.#low);
        return this.#split();
      case UPPER_HALF:
        if (isBefore) this.#swap(this.#middle, this.#high);
        return this.#split();
      case FROM_LEFT:
        if (!isBefore) return this.#askRight();
        if (this.#i > this.#high) this.#invalid();
        return this.#askLeft();
      default:
        if (!isBefore) return this.#meet();
        if (this.#j < this.#low) this.#invalid();
        return this.#askRight();
    }
  }

  get #middle(): number {
    return (this.#low + this.#high) >> 1;
  }

  #ask(question: number, left: number, right: number): true {
    this.#asks = question;
    this.left = this.#table.get(left);
    this.right = this.#table.get(right);
    return true;
  }

  /** Whether the next item from the left comes before the pivot. */
  #askLeft(): true {
    this.#asks = FROM_LEFT;
    this.left = this.#table.get(++this.#i);
    this.right = this.#pivot;
    return true;
  }

  #askRight(): true {
    this.#asks = FROM_RIGHT;
    this.left = this.#pivot;
    this.right = this.#table.get(--this.#j);
    return true;
  }

  #orderEnds(isBefore: boolean): boolean {
    if (isBefore) this.#swap(this.#low, this.#high);
    if (this.#high - this.#low === 1) return this.#takeLater();
    return this.#ask(LOWER_HALF, this.#middle, this.#low);
  }

  /** Begins the partition, unless the part has three items, which are sorted by now. */
  #split(): boolean {
    if (this.#high - this.#low === 2) return this.#takeLater();
    this.#pivot = this.#table.get(this.#middle);
    this.#swap(this.#middle, this.#high - 1);
    this.#i = this.#low;
    this.#j = this.#high - 1;
    return this.#askLeft();
  }

  /** Swaps the two items at which the partition stopped; or when both sides have met, goes on with the smaller one. */
  #meet(): boolean {
    if (this.#j >= this.#i) {
      this.#swap(this.#i, this.#j);
      return this.#askLeft();
    }
    const [low, high, at] = [this.#low, this.#high, this.#i];
    this.#swap(high - 1, at);
    if (at - low < high - at) this.#later.push(at + 1, high, low, at - 1);
    else this.#later.push(low, at - 1, at + 1, high);
    return this.#takeLater();
  }

  #takeLater(): boolean {
    while (this.#later.length > 0) {
      this.#high = this.#later.pop()!;
      this.#low = this.#later.pop()!;
      if (this.#low < this.#high) return this.#ask(ENDS, this.#high, this.#low);
    }
    return false;
  }

  #swap(i: number, j: number): void {
    const value = this.#table.get(i);
    rawSetValue(this.#table, i, this.#table.get(j));
    rawSetValue(this.#table, j, value);
  }

  #invalid(): never {
    S.site = this.#site;
    raise('invalid order function for sorting');
  }
}
