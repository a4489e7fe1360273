/** Lua values as JavaScript values, and Lua's implicit conversions between numbers and strings. */
import { approximate, type Bytes } from '../../protocol/bytes.ts';
import { formatFloat } from './format.ts';
import type { Site } from './site.ts';
import { Table } from './table.ts';

/** A Lua value. nil is undefined; a string contains bytes as latin1. */
export type LuaValue = undefined | boolean | number | Bytes | Reference;

/** The values that are objects. */
type Reference = LuaTable | LuaFunction | Userdata | Thread;

/** A table of Lua values. */
export type LuaTable = Table<Reference>;
/** The class of Lua tables. */
export const LuaTable = Table<Reference>;

/**
 * The result of a call: a single value as it is, any other number of values as an array; in the resumable form possibly
 * a frame that still has to be run.
 */
export type Result = LuaValue | LuaValue[] | Frame;

/** A Lua or library function. In the resumable form a Lua function returns a frame. */
export type LuaFunction = (...args: LuaValue[]) => Result;

/** A call in the resumable form. It yields what must be done for it, or undefined to pause. */
export type Frame = Generator<Frame | Switch | undefined, Result, Result>;

/** Tells the driver to enter a coroutine, or without a thread, to leave the current one. */
export class Switch {
  readonly thread: Thread | undefined;
  readonly values: LuaValue[];
  constructor(thread: Thread | undefined, values: LuaValue[]) {
    this.thread = thread;
    this.values = values;
  }
}

/** A light userdata. The only one is cjson.null. */
export class Userdata {
  readonly text: Bytes;
  constructor(text: Bytes) {
    this.text = text;
  }
}

/** A coroutine. The main chunk also runs in one. */
export class Thread {
  status: 'suspended' | 'running' | 'normal' | 'dead' = 'suspended';
  readonly body: LuaFunction;
  /**
   * Its frames that wait or run, the innermost one last; the place of the call of each; and how many frames it replaced
   * by tail calls, if any. They are lists, because an object for each frame would double what a deep recursion allocates.
   */
  readonly frames: Frame[] = [];
  readonly sites: Site[] = [];
  readonly tails: number[] = [];
  /** The positions behind those frames that look at an error which passes through them. */
  readonly watchers: number[] = [];
  /** The thread that resumed it. */
  resumer: Thread | undefined = undefined;
  /** The nesting depth of library calls when it was resumed. It may yield only at that depth. */
  nested = 0;
  constructor(body: LuaFunction) {
    this.body = body;
  }
}

/** No result at all, in contrast to a single nil. */
export const NOTHING: LuaValue[] = [];

/** A Lua error: any value, with the place of the function that raised it. */
export class LuaError {
  readonly value: LuaValue;
  readonly site: Site;
  constructor(value: LuaValue, site: Site) {
    this.value = value;
    this.site = site;
  }
}

/** Thrown when the fast form cannot continue and the resumable form takes over. Scripts cannot catch it. */
export class Signal {
  readonly reason: 'fuel' | 'depth' | 'levels' | 'coroutine';
  constructor(reason: Signal['reason']) {
    this.reason = reason;
  }
}

/** The name of a value's type, as type() returns it. */
export function typeName(value: LuaValue): Bytes {
  switch (typeof value) {
    case 'undefined':
      return 'nil';
    case 'object':
      return value instanceof Userdata ? 'userdata' : value instanceof Thread ? 'thread' : 'table';
    default:
      return typeof value;
  }
}

const TEXT = { flags: '', width: 0, precision: 14 };

/** A number as Lua prints it, with 14 significant digits. */
export function numberToString(value: number): Bytes {
  if (Number.isInteger(value)) {
    if (value < 1e14 && value > -1e14) return value === 0 && 1 / value < 0 ? '-0' : `${value}`;
  } else {
    const size = Math.abs(value);
    if (size >= 1e-4 && size < 1e13) return `${+value.toPrecision(14)}`;
    if (Number.isNaN(value)) return '-nan';
  }
  return formatFloat(value, 'g', TEXT);
}

const PLAIN = /^(0|[1-9][0-9]{0,14})$/;
const DECIMAL =
  /^[ \t\n\v\f\r]*([+-]?)(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(inf(?:inity)?|nan(?:\([0-9a-z_]*\))?)|0x([0-9a-f]*)\.?([0-9a-f]*)(?:p([+-]?\d+))?)[ \t\n\v\f\r]*$/i;

/** Converts a string to a number like C's strtod; undefined when it is not a number. Stops at a NUL, as in C. */
export function stringToNumber(text: Bytes): number | undefined {
  if (PLAIN.test(text)) return +text;
  const end = text.indexOf('\0');
  const match = DECIMAL.exec(end < 0 ? text : text.slice(0, end));
  if (match === null) return undefined;
  const [, sign, decimal, word, whole = '', part = '', power = '0'] = match;
  let value: number;
  if (decimal !== undefined) value = +decimal;
  else if (word !== undefined) value = word.charCodeAt(0) % 32 === 9 ? Infinity : NaN;
  else if (whole.length + part.length === 0) return undefined;
  else value = hexadecimal(whole, part, +power);
  return sign === '-' ? -value : value;
}

function hexadecimal(whole: string, part: string, power: number): number {
  const digits = BigInt(`0x${whole}${part}`);
  return approximate(digits) * 2 ** (power - 4 * part.length);
}

/** A number, or a string converted to a number; undefined for everything else. */
export function toNumber(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? stringToNumber(value) : undefined;
}

/** A string, or a number converted to a string; undefined for everything else. */
export function toText(value: LuaValue): Bytes | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? numberToString(value) : undefined;
}

/** C's pow, which differs from JavaScript's for 1 and -1, and is exact for powers of integers. */
export function power(x: number, y: number): number {
  if (x === 1) return 1;
  if (x === -1 && (y === Infinity || y === -Infinity)) return 1;
  const result = x ** y;
  if (!Number.isInteger(x) || !Number.isInteger(y) || !Number.isFinite(result)) return result;
  // JavaScript's result can be off by one bit.
  if (y < 0) {
    const inverse = x ** -y;
    return Math.abs(inverse) < 2 ** 53 ? 1 / Math.round(inverse) : result;
  }
  return Math.abs(result) < 2 ** 53 ? Math.round(result) : approximate(BigInt(x) ** BigInt(y));
}

/** The values of a call's result. */
export function listOf(result: Result): LuaValue[] {
  return Array.isArray(result) ? result : [result as LuaValue];
}

/** The first value of a call's result. */
export function firstOf(result: Result): LuaValue {
  return Array.isArray(result) ? result[0] : (result as LuaValue);
}
