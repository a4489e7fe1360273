/** Lua's table library, sorting with the very steps of Lua's own quicksort. */
import type { Bytes } from '../../protocol/bytes.ts';
import { callBack, isTrue, less, MAX_STRING } from '../operations.ts';
import { inLibrary, raise, raiseBare, S, type Site } from '../state.ts';
import type { LuaTable } from '../table.ts';
import { firstOf, type LuaFunction, type LuaValue, NOTHING, toText, typeName } from '../values.ts';
import { checkFunction, checkInt32, checkTable, optionalInteger, optionalString } from './args.ts';
import { rawSetValue } from './base.ts';
import type { Module } from './builder.ts';

const insert: LuaFunction = (...args) => {
  const table = checkTable(args, 0);
  const end = table.length() + 1;
  if (args.length === 2) {
    rawSetValue(table, end, args[1]);
    return NOTHING;
  }
  if (args.length !== 3) raise("wrong number of arguments to 'insert'");
  const position = checkInt32(args, 1);
  for (let i = Math.max(end, position); i > position; i--) rawSetValue(table, i, table.get(i - 1));
  rawSetValue(table, position, args[2]);
  return NOTHING;
};

const remove: LuaFunction = (...args) => {
  const table = checkTable(args, 0);
  const end = table.length();
  const position = optionalInteger(args, 1, end) | 0;
  if (position < 1 || position > end) return NOTHING;
  const value = table.get(position);
  for (let i = position; i < end; i++) rawSetValue(table, i, table.get(i + 1));
  rawSetValue(table, end, undefined);
  return value;
};

const concat: LuaFunction = (...args) => {
  const table = checkTable(args, 0);
  const separator = optionalString(args, 1, '');
  const from = optionalInteger(args, 2, 1) | 0;
  const to = args[3] === undefined ? table.length() : checkInt32(args, 3);
  const parts: Bytes[] = [];
  let size = 0;
  for (let i = from; i <= to; i++) {
    const value = table.get(i);
    const text = toText(value);
    if (text === undefined) {
      raise(`invalid value (${typeName(value)}) at index ${i} in table for 'concat'`);
    }
    size += text.length + separator.length;
    if (size > MAX_STRING) raiseBare('not enough memory');
    parts.push(text);
  }
  S.fuel -= parts.length >> 3;
  return parts.join(separator);
};

const maxn: LuaFunction = (...args) => {
  const table = checkTable(args, 0);
  let largest = 0;
  for (let at = table.advance(0); at > 0; at = table.advance(at)) {
    const key = table.keyAt(at);
    if (typeof key === 'number' && key > largest) largest = key;
  }
  return largest;
};

const getn: LuaFunction = (...args) => checkTable(args, 0).length();

const setn: LuaFunction = (...args) => {
  checkTable(args, 0);
  raise("'setn' is obsolete");
};

const foreach: LuaFunction = (...args) => {
  const table = checkTable(args, 0);
  const { site } = S;
  checkFunction(args, 1);
  const inside = inLibrary(site);
  for (let key: LuaValue, at = table.advance(0); at > 0; ) {
    key = table.keyAt(at);
    const result = firstOf(callBack(args[1], [key, table.valueAt(at)], inside));
    if (result !== undefined) return result;
    S.site = site;
    const here = table.position(key);
    if (here < 0) raiseBare("invalid key to 'next'");
    at = table.advance(here);
  }
  return NOTHING;
};

const foreachi: LuaFunction = (...args) => {
  const table = checkTable(args, 0);
  checkFunction(args, 1);
  const inside = inLibrary(S.site);
  const size = table.length();
  for (let i = 1; i <= size; i++) {
    const result = firstOf(callBack(args[1], [i, table.get(i)], inside));
    if (result !== undefined) return result;
  }
  return NOTHING;
};

/** The order that a sort without a function goes by; fails as the operator does, with no name for the operands. */
export function naturalOrder(site: Site): (a: LuaValue, b: LuaValue) => boolean {
  return (a, b) => less(a, b, site);
}

/** Checks sort's arguments; answers the table. */
export function checkSort(args: readonly LuaValue[]): LuaTable {
  const table = checkTable(args, 0);
  if (args[1] !== undefined) checkFunction(args, 1);
  return table;
}

const sort: LuaFunction = (...args) => {
  const table = checkSort(args);
  const { site } = S;
  const compare = args[1];
  const inside = inLibrary(site);
  const before =
    compare === undefined
      ? naturalOrder(inside)
      : (a: LuaValue, b: LuaValue) => isTrue(callBack(compare, [a, b], inside));
  quicksort(table, 1, table.length(), before, site);
  return NOTHING;
};

function swap(table: LuaTable, i: number, j: number): void {
  const value = table.get(i);
  rawSetValue(table, i, table.get(j));
  rawSetValue(table, j, value);
}

/** Lua sorts by median of three, with the pivot second to last; scripts can see the order of equal items. */
function quicksort(
  table: LuaTable,
  from: number,
  to: number,
  before: (a: LuaValue, b: LuaValue) => boolean,
  site: Site,
): void {
  let low = from;
  let high = to;
  while (low < high) {
    S.fuel--;
    if (before(table.get(high), table.get(low))) swap(table, low, high);
    if (high - low === 1) return;
    const middle = (low + high) >> 1;
    if (before(table.get(middle), table.get(low))) swap(table, middle, low);
    else if (before(table.get(high), table.get(middle))) swap(table, middle, high);
    if (high - low === 2) return;
    const pivot = table.get(middle);
    swap(table, middle, high - 1);
    const split = partition(table, low, high, pivot, before, site);
    swap(table, high - 1, split);
    if (split - low < high - split) {
      quicksort(table, low, split - 1, before, site);
      low = split + 1;
    } else {
      quicksort(table, split + 1, high, before, site);
      high = split - 1;
    }
  }
}

function partition(
  table: LuaTable,
  low: number,
  high: number,
  pivot: LuaValue,
  before: (a: LuaValue, b: LuaValue) => boolean,
  site: Site,
): number {
  let i = low;
  let j = high - 1;
  for (;;) {
    while (before(table.get(++i), pivot)) if (i > high) invalidOrder(site);
    while (before(pivot, table.get(--j))) if (j < low) invalidOrder(site);
    if (j < i) return i;
    swap(table, i, j);
  }
}

/** Complains about a comparison that contradicts itself. */
export function invalidOrder(site: Site): never {
  S.site = site;
  raise('invalid order function for sorting');
}

export const TABLE: Module = {
  entries: [
    ['concat', concat],
    ['foreach', foreach],
    ['foreachi', foreachi],
    ['getn', getn],
    ['maxn', maxn],
    ['insert', insert],
    ['remove', remove],
    ['setn', setn],
    ['sort', sort],
  ],
  announced: 9,
  single: ['concat', 'getn', 'maxn'],
};
