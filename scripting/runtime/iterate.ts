/** Loops over tables with pairs and ipairs, without a call for each step. */
import { raiseBare } from './state.ts';
import { type LuaFunction, LuaTable, type LuaValue, NOTHING } from './values.ts';

/** A traversal. After a step that returns true, `key` and `value` are the current entry. */
export interface Stepper {
  key: LuaValue;
  value: LuaValue;
  step(): boolean;
}

class PairsStepper implements Stepper {
  key: LuaValue;
  value: LuaValue = undefined;
  readonly #table: LuaTable;
  #at: number;
  #moves = -1;

  constructor(table: LuaTable, key: LuaValue) {
    this.#table = table;
    this.key = key;
    this.#at = 0;
    if (key === undefined) this.#moves = table.moves;
  }

  step(): boolean {
    const table = this.#table;
    if (table.moves !== this.#moves) {
      this.#at = table.position(this.key);
      this.#moves = table.moves;
      if (this.#at < 0) raiseBare("invalid key to 'next'");
    }
    const at = table.advance(this.#at);
    if (at === 0) return false;
    this.#at = at;
    this.key = table.keyAt(at);
    this.value = table.valueAt(at);
    return true;
  }
}

class ListStepper implements Stepper {
  key: number;
  value: LuaValue = undefined;
  readonly #table: LuaTable;

  constructor(table: LuaTable, key: number) {
    this.#table = table;
    this.key = key;
  }

  step(): boolean {
    const table = this.#table;
    const at = this.key++;
    this.value = at < table.arr.length ? table.arr[at] : table.get(at + 1);
    return this.value !== undefined;
  }
}

/** next(table, key): the entry after the key, or nil at the end. */
export function nextEntry(table: LuaTable, key: LuaValue): LuaValue[] | undefined {
  const from = table.position(key);
  if (from < 0) raiseBare("invalid key to 'next'");
  const at = table.advance(from);
  return at === 0 ? undefined : [table.keyAt(at), table.valueAt(at)];
}

/** The iterator of ipairs. */
export const listNext: LuaFunction = (table, key) => {
  const at = (key as number) + 1;
  const value = (table as LuaTable).get(at);
  return value === undefined ? NOTHING : [at, value];
};

let pairsNext: LuaFunction | undefined;

/** Tells the loops which function is the library's `next`. */
export function setPairsNext(next: LuaFunction): void {
  pairsNext = next;
}

/** A traversal for the three values of a loop; undefined when the loop has to call its iterator. */
export function iterate(next: LuaValue, table: LuaValue, key: LuaValue): Stepper | undefined {
  if (!(table instanceof LuaTable)) return undefined;
  if (next === pairsNext) return new PairsStepper(table, key);
  if (next === listNext && typeof key === 'number') return new ListStepper(table, key);
  return undefined;
}
