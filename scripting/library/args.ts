/** Checks the arguments of library functions, and raises Lua's errors for wrong ones. */
import type { Bytes } from '../../protocol/bytes.ts';
import { raise, S } from '../runtime/state.ts';
import { LuaTable, type LuaValue, stringToNumber, toText, typeName } from '../runtime/values.ts';

/** Raises `bad argument #1 to 'x' (…)`, where the number is the caller's. @param at the argument's index, from 0 */
export function argumentError(at: number, message: Bytes): never {
  const naming = S.site.left;
  const name = naming === '' ? '?' : naming.slice(naming.indexOf("'") + 1, -1);
  const position = naming.startsWith('method') ? at : at + 1;
  if (position === 0 && at === 0) raise(`calling '${name}' on bad self (${message})`);
  raise(`bad argument #${position} to '${name}' (${message})`);
}

function typeMismatch(args: readonly LuaValue[], at: number, expected: Bytes): never {
  const got = at < args.length ? typeName(args[at]) : 'no value';
  argumentError(at, `${expected} expected, got ${got}`);
}

/** Any value, even nil. A missing argument is an error. */
export function checkAny(args: readonly LuaValue[], at: number): LuaValue {
  if (at >= args.length) argumentError(at, 'value expected');
  return args[at];
}

export function checkTable(args: readonly LuaValue[], at: number): LuaTable {
  const value = args[at];
  return value instanceof LuaTable ? value : typeMismatch(args, at, 'table');
}

/** A string, or a number converted to a string. */
export function checkString(args: readonly LuaValue[], at: number): Bytes {
  const value = args[at];
  if (typeof value === 'string') return value;
  return toText(value) ?? typeMismatch(args, at, 'string');
}

/** A number, or a string that is a number. */
export function checkNumber(args: readonly LuaValue[], at: number): number {
  const value = args[at];
  if (typeof value === 'number') return value;
  return (typeof value === 'string' ? stringToNumber(value) : undefined) ?? typeMismatch(args, at, 'number');
}

/**
 * A number cast to a 64-bit integer as in C: rounded towards zero. A number that does not fit becomes the smallest
 * integer.
 */
export function toInt64(value: number): number {
  return Math.abs(value) < 2 ** 63 ? Math.trunc(value) + 0 : -(2 ** 63);
}

/** Like checkNumber, rounded towards zero to a 64-bit integer (exact up to 2^53). */
export function checkInteger(args: readonly LuaValue[], at: number): number {
  return toInt64(checkNumber(args, at));
}

/** Like checkNumber, rounded towards zero to a 32-bit integer. */
export function checkInt32(args: readonly LuaValue[], at: number): number {
  return toInt64(checkNumber(args, at)) | 0;
}

/** Like checkInteger, with a default for nil and for a missing argument. */
export function optionalInteger(args: readonly LuaValue[], at: number, otherwise: number): number {
  return args[at] === undefined ? otherwise : checkInteger(args, at);
}

/** Like checkString, with a default for nil and for a missing argument. */
export function optionalString(args: readonly LuaValue[], at: number, otherwise: Bytes): Bytes {
  return args[at] === undefined ? otherwise : checkString(args, at);
}

/** Raises a type error unless the argument is a function. */
export function checkFunction(args: readonly LuaValue[], at: number): (...args: LuaValue[]) => unknown {
  const value = args[at];
  return typeof value === 'function' ? value : typeMismatch(args, at, 'function');
}
