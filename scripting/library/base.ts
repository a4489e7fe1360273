/** Lua's basic functions, as far as Redis' sandbox offers them. */
import { approximate, type Bytes, cString } from '../../protocol/bytes.ts';
import { after } from '../runtime/frames.ts';
import { listNext, nextEntry, setPairsNext } from '../runtime/iterate.ts';
import { callBack, metamethod } from '../runtime/operations.ts';
import { raise, raiseBare, S } from '../runtime/state.ts';
import { identityOf } from '../runtime/table.ts';
import {
  firstOf,
  type LuaFunction,
  LuaTable,
  type LuaValue,
  NOTHING,
  numberToString,
  Signal,
  stringToNumber,
  toText,
  typeName,
  Userdata,
} from '../runtime/values.ts';
import {
  argumentError,
  checkAny,
  checkInt32,
  checkString,
  checkTable,
  optionalInteger,
  optionalString,
} from './args.ts';
import type { Module } from './builder.ts';

const MAX_UNPACK = 8000;
const COLLECT_OPTIONS = ['stop', 'restart', 'collect', 'count', 'step', 'setpause', 'setstepmul'];

/** `table: 0x…` and the like. The number is our own, and the same when a script is run again. */
export function address(value: LuaValue): Bytes {
  if (value instanceof Userdata) return value.text;
  return `${typeName(value)}: 0x${(0x7f0000000000 + identityOf(value as object) * 32).toString(16)}`;
}

/** tostring(value) */
export const toStringValue: LuaFunction = (...args) => {
  const value = args[0];
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return numberToString(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'undefined':
      checkAny(args, 0);
      return 'nil';
  }
  const handler = metamethod(value, '__tostring');
  if (handler === undefined) return address(value);
  return after(callBack(handler, [value], S.site), firstOf);
};

const type: LuaFunction = (...args) => typeName(checkAny(args, 0));

const toNumberValue: LuaFunction = (...args) => {
  const value = args[0];
  if (args.length < 2 || args[1] === undefined) {
    if (typeof value === 'number') return value;
    if (typeof value === 'string') return stringToNumber(value);
    checkAny(args, 0);
    return undefined;
  }
  const base = checkInt32(args, 1);
  if (base === 10) return typeof value === 'string' ? stringToNumber(value) : toNumberValue(value);
  const text = checkString(args, 0);
  if (base < 2 || base > 36) argumentError(1, 'base out of range');
  return parseBase(text, base);
};

const DIGITS = /^[ \t\n\v\f\r]*([+-]?)([0-9a-zA-Z]+)[ \t\n\v\f\r]*(?:\0|$)/;
const HEXADECIMAL = /^[ \t\n\v\f\r]*([+-]?)(?:0[xX](?=[0-9a-fA-F]))?([0-9a-zA-Z]+)[ \t\n\v\f\r]*(?:\0|$)/;

/**
 * C's strtoul: an optional sign (negative numbers wrap around), for base 16 an optional 0x, and only blanks after the
 * number.
 */
function parseBase(text: Bytes, base: number): number | undefined {
  const match = (base === 16 ? HEXADECIMAL : DIGITS).exec(text);
  if (match === null) return undefined;
  const [, sign, digits = ''] = match;
  let value = 0n;
  const most = 1n << 64n;
  for (let i = 0; i < digits.length; i++) {
    const code = digits.charCodeAt(i);
    const digit = code <= 57 ? code - 48 : (code | 32) - 87;
    if (digit >= base) return undefined;
    if (value < most) value = value * BigInt(base) + BigInt(digit);
  }
  if (value >= most) return approximate(most - 1n);
  return approximate(sign === '-' ? BigInt.asUintN(64, -value) : value);
}

const next: LuaFunction = (...args) => nextEntry(checkTable(args, 0), args[1]);
setPairsNext(next);

const pairs: LuaFunction = (...args) => [next, checkTable(args, 0), undefined];
const ipairs: LuaFunction = (...args) => [listNext, checkTable(args, 0), 0];

const select: LuaFunction = (...args) => {
  const count = args.length;
  const selector = args[0];
  if (typeof selector === 'string' && selector.charCodeAt(0) === 35) return count - 1;
  let from = checkInt32(args, 0);
  if (from < 0) from += count;
  else if (from > count) from = count;
  if (from < 1) argumentError(0, 'index out of range');
  return args.slice(from);
};

const unpack: LuaFunction = (...args) => {
  const table = checkTable(args, 0);
  const from = optionalInteger(args, 1, 1) | 0;
  const to = args[2] === undefined ? table.length() : checkInt32(args, 2);
  if (from > to) return NOTHING;
  if (to - from + 1 + args.length > MAX_UNPACK) raise('too many results to unpack');
  const values: LuaValue[] = [];
  for (let i = from; i <= to; i++) values.push(table.get(i));
  return values;
};

const assertTrue: LuaFunction = (...args) => {
  const value = checkAny(args, 0);
  if (value === undefined || value === false) raise(cString(optionalString(args, 1, 'assertion failed!')));
  return args;
};

const getMetatable: LuaFunction = (...args) => {
  const value = checkAny(args, 0);
  const meta = value instanceof LuaTable ? value.meta : typeof value === 'string' ? S.stringMeta : undefined;
  return meta?.get('__metatable') ?? meta;
};

const setMetatable: LuaFunction = (...args) => {
  const table = checkTable(args, 0);
  const meta = args[1];
  if (args.length < 2 || (meta !== undefined && !(meta instanceof LuaTable))) {
    argumentError(1, 'nil or table expected');
  }
  if (table.meta?.get('__metatable') !== undefined) raise('cannot change a protected metatable');
  if (table.readonly) raiseBare('Attempt to modify a readonly table');
  table.meta = meta as LuaTable | undefined;
  table.plain = meta === undefined;
  return table;
};

/** Assigns as library functions do: without metamethods, and with errors that name no place. */
export function rawSetValue(table: LuaTable, key: LuaValue, value: LuaValue): void {
  if (table.readonly) raiseBare('Attempt to modify a readonly table');
  if (key === undefined) raiseBare('table index is nil');
  if (typeof key === 'number' && Number.isNaN(key)) raiseBare('table index is NaN');
  table.set(key, value);
}

const rawSet: LuaFunction = (...args) => {
  const table = checkTable(args, 0);
  const key = checkAny(args, 1);
  rawSetValue(table, key, checkAny(args, 2));
  return table;
};

const rawGet: LuaFunction = (...args) => {
  const table = checkTable(args, 0);
  return table.get(checkAny(args, 1));
};

const rawEqual: LuaFunction = (...args) => checkAny(args, 0) === checkAny(args, 1);

/** JavaScript collects garbage by itself, so this only returns values like Lua's. */
const collectGarbage: LuaFunction = (...args) => {
  const option = optionalString(args, 0, 'collect');
  if (!COLLECT_OPTIONS.includes(option)) argumentError(0, `invalid option '${option}'`);
  if (option === 'count') return 64;
  if (option === 'step') return true;
  return option.startsWith('set') ? 200 : 0;
};

/** Raises an error. With a level, it may switch to the resumable form, which knows the lines of its callers. */
const error: LuaFunction = (value, level) => {
  const depth = level === undefined ? 1 : checkInt32([value, level], 1);
  const text = toText(value);
  if (text === undefined || depth <= 0) return raiseBare(value);
  if (depth === 1) return raise(text);
  if (!S.resumable) throw new Signal('levels');
  return raiseBare(S.callerPlace(depth) + text);
};

/** What pcall(error, …) returns. */
const errorProtected: LuaFunction = (...args) => {
  const [value, level] = args;
  if (level === undefined && !(value instanceof LuaTable)) return [false, toText(value) ?? value];
  return error(...args);
};

/** The variant that pcall calls. */
export const PROTECTED_ERROR = [error, errorProtected] as const;

/** The basic functions that never call back into a script, or can do so safely. */
export const BASE: Module = {
  entries: [
    ['assert', assertTrue],
    ['collectgarbage', collectGarbage],
    ['error', error],
    ['gcinfo', () => 64],
    ['getmetatable', getMetatable],
    ['ipairs', ipairs],
    ['next', next],
    ['pairs', pairs],
    ['rawequal', rawEqual],
    ['rawget', rawGet],
    ['rawset', rawSet],
    ['select', select],
    ['setmetatable', setMetatable],
    ['tonumber', toNumberValue],
    ['tostring', toStringValue],
    ['type', type],
    ['unpack', unpack],
    ['_VERSION', 'Lua 5.1'],
    ['__redis__err__handler', (value) => value],
  ],
  single: ['getmetatable', 'rawequal', 'rawget', 'rawset', 'setmetatable', 'tonumber', 'tostring', 'type'],
};
