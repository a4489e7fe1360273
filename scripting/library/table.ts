/** The functions of Lua's table library that call nothing back. */
import { allocate } from '../../protocol/allowance.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import { PLACE_BYTES } from '../runtime/memory.ts';
import { MAX_STRING } from '../runtime/operations.ts';
import { raise, raiseBare, S } from '../runtime/state.ts';
import { type LuaFunction, NOTHING, toText, typeName } from '../runtime/values.ts';
import { checkInt32, checkTable, optionalInteger, optionalString } from './args.ts';
import { rawSetValue } from './base.ts';
import type { Module } from './builder.ts';

/** In bytes. What table.concat puts together is counted in parts of this length. */
const PART = 4096;

const insert: LuaFunction = (...args) => {
  const table = checkTable(args, 0);
  const end = table.length() + 1;
  if (args.length === 2) {
    rawSetValue(table, end, args[1]);
    return NOTHING;
  }
  if (args.length !== 3) raise("wrong number of arguments to 'insert'");
  const position = checkInt32(args, 1);
  S.fuel -= Math.max(0, end - position) >> 3;
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
  S.fuel -= (end - position) >> 3;
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
  let counted = 0;
  for (let i = from; i <= to; i++) {
    const value = table.get(i);
    const text = toText(value);
    if (text === undefined) {
      raise(`invalid value (${typeName(value)}) at index ${i} in table for 'concat'`);
    }
    size += text.length + separator.length;
    if (size > MAX_STRING) raiseBare('not enough memory');
    parts.push(text);
    if (size + parts.length * PLACE_BYTES - counted >= PART) {
      allocate(size + parts.length * PLACE_BYTES * 2 - counted);
      counted = size + parts.length * PLACE_BYTES * 2;
    }
  }
  S.fuel -= (parts.length >> 3) + (size >>> 6);
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

/** The table `table`, without the functions of traversing.ts. */
export const TABLE: Module = {
  entries: [
    ['concat', concat],
    ['getn', getn],
    ['maxn', maxn],
    ['insert', insert],
    ['remove', remove],
    ['setn', setn],
  ],
  announced: 9,
  single: ['concat', 'getn', 'maxn'],
};
