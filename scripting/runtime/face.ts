/** The functions that compiled scripts call by name. */
import { argumentAt, keyAt } from './arguments.ts';
import { isFrame } from './frames.ts';
import { iterate } from './iterate.ts';
import { allocatePlaces, weighed } from './memory.ts';
import * as operations from './operations.ts';
import { type Site, siteAt } from './site.ts';
import { raiseAt, refuel } from './state.ts';
import { LuaTable, type LuaValue, listOf, NOTHING, power, Signal, toNumber } from './values.ts';

/** Fewer items than this are not counted by themselves. */
const MANY = 32;

/** A table of positional items; takes over the array. @param room the size that the constructor announced */
function tableOf(items: LuaValue[], room: number): LuaTable {
  const table = new LuaTable();
  // The items are there already: they are fewer than a call may return.
  if (items.length >= MANY || room >= MANY) allocatePlaces(Math.max(items.length, room));
  while (items.length < room) items.push(undefined);
  if (items.length > 0) table.arr = items;
  return table;
}

/** Adds a constructor's positional items to a table that also has fields. */
function fill(table: LuaTable, items: LuaValue[]): void {
  table.reserve(items.length);
  for (let i = 0; i < items.length; i++) table.set(i + 1, items[i]);
}

/** The `arg` table of Lua 5.1. */
function argTable(values: LuaValue[]): LuaTable {
  const table = LuaTable.from([...values]);
  table.set('n', values.length);
  return table;
}

function forNumber(value: LuaValue, what: string, site: Site): number {
  return toNumber(value) ?? raiseAt(site, `'for' ${what} must be a number`);
}

function remainder(x: number, y: number): number {
  return x - Math.floor(x / y) * y;
}

/** The steps are used up: goes on with the next ones, or leaves the fast form. */
function spent(): void {
  if (!refuel()) throw new Signal('fuel');
}

function tooDeep(): never {
  throw new Signal('depth');
}

/** Everything that compiled source may refer to as `R.name`. */
export const RUNTIME: Readonly<Record<string, unknown>> = {
  ...operations,
  LuaTable,
  NOTHING,
  allocatePlaces,
  argTable,
  argumentAt,
  fill,
  forNumber,
  isFrame,
  iterate,
  keyAt,
  listOf,
  power,
  remainder,
  siteAt,
  spent,
  tableOf,
  tooDeep,
  weighed,
};
