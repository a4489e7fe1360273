/** Lua's operators where JavaScript's behave differently: coercion, metamethods, and errors. */
import type { Bytes } from '../../protocol/bytes.ts';
import { after } from './frames.ts';
import { joined } from './memory.ts';
import type { Naming, Site } from './site.ts';
import { raiseAt, raiseBare, S } from './state.ts';
import { hashString } from './table.ts';
import {
  firstOf,
  type LuaFunction,
  LuaTable,
  type LuaValue,
  power,
  type Result,
  Signal,
  stringToNumber,
  toNumber,
  toText,
  typeName,
} from './values.ts';

/** The maximum length of a string. V8's limit is 2^29 - 24, and a longer one would not fit into a reply either. */
export const MAX_STRING = 2 ** 29 - 1024;
/** The maximum nesting of calls from library functions and metamethods, as LUAI_MAXCCALLS counts it. */
const MAX_NESTED = 198;
/** How much of JavaScript's stack the fast form may use, in estimated bytes. */
export const MAX_DEPTH = 300_000;
const NATIVE_FRAME = 700;
const MAX_LOOP = 100;

/** Raises `attempt to index local 'x' (a nil value)`. */
export function typeError(site: Site, value: LuaValue, action: Bytes, naming: Naming): never {
  const type = typeName(value);
  raiseAt(site, `attempt to ${action} ${naming === '' ? `a ${type} value` : `${naming} (a ${type} value)`}`);
}

/** The metamethod of a value for an event; undefined if it has none. */
export function metamethod(value: LuaValue, event: Bytes): LuaValue {
  if (value instanceof LuaTable) return value.meta?.get(event);
  return typeof value === 'string' ? S.stringMeta.get(event) : undefined;
}

/** Calls back into a script from an operator or a library function, and restores the current call afterwards. */
export function callBack(handler: LuaValue, args: LuaValue[], site: Site): Result {
  const { depth } = S;
  const called = enterCallBack(handler, site);
  try {
    return called(...args);
  } finally {
    S.nested--;
    S.depth = depth;
    S.site = site;
  }
}

/** Begins a call from a library function. Its caller restores what this changes. */
export function enterCallBack(handler: LuaValue, site: Site): LuaFunction {
  if (S.nested >= MAX_NESTED) raiseAt(site, 'C stack overflow');
  const called = typeof handler === 'function' ? handler : callable(handler, site);
  const { depth } = S;
  if (depth > MAX_DEPTH) throw new Signal('depth');
  S.nested++;
  S.depth = depth + NATIVE_FRAME;
  S.site = site;
  return called;
}

/** `object[key]` */
export function index(object: LuaValue, key: LuaValue, site: Site): LuaValue {
  if (object instanceof LuaTable) {
    const value = object.get(key);
    if (value !== undefined || object.meta === undefined) return value;
  }
  return indexSlowly(object, key, site);
}

/** `object.name` */
export function indexString(object: LuaValue, key: Bytes, hash: number, site: Site): LuaValue {
  if (object instanceof LuaTable) {
    const value = object.getString(key, hash);
    if (value !== undefined || object.meta === undefined) return value;
  }
  return indexSlowly(object, key, site);
}

/** `object[i]` for a number. */
export function indexNumber(object: LuaValue, key: number, site: Site): LuaValue {
  if (object instanceof LuaTable) {
    const at = key - 1;
    if (at >= 0 && at < object.arr.length) {
      const value = object.arr[at];
      if (value !== undefined) return value;
    }
    if (object.meta === undefined) return object.get(key);
  }
  return index(object, key, site);
}

function indexSlowly(start: LuaValue, key: LuaValue, site: Site): LuaValue {
  let object = start;
  for (let loop = 0; loop < MAX_LOOP; loop++) {
    let handler: LuaValue;
    if (object instanceof LuaTable) {
      const value = object.get(key);
      if (value !== undefined || object.meta === undefined) return value;
      handler = object.meta.get('__index');
      if (handler === undefined) return undefined;
    } else {
      handler = metamethod(object, '__index');
      if (handler === undefined) typeError(site, object, 'index', loop === 0 ? site.left : '');
    }
    if (typeof handler === 'function') {
      return after(callBack(handler, [object, key], site), firstOf) as LuaValue;
    }
    object = handler;
  }
  raiseAt(site, 'loop in gettable');
}

/** `object[key] = value`. Returns a frame when a metamethod still has to be run. */
export function setIndex(object: LuaValue, key: LuaValue, value: LuaValue, site: Site): Result {
  if (object instanceof LuaTable && object.plain) {
    if (typeof key === 'number') {
      const at = key - 1;
      if (at >= 0 && at < object.arr.length && Math.floor(at) === at) {
        object.arr[at] = value;
        return undefined;
      }
    } else if (typeof key === 'string') {
      object.setString(key, hashString(key), value);
      return undefined;
    }
  }
  return setSlowly(object, key, value, site);
}

/** `object.name = value` */
export function setString(object: LuaValue, key: Bytes, hash: number, value: LuaValue, site: Site): Result {
  if (object instanceof LuaTable && object.plain) {
    object.setString(key, hash, value);
    return undefined;
  }
  return setSlowly(object, key, value, site);
}

function setSlowly(start: LuaValue, key: LuaValue, value: LuaValue, site: Site): Result {
  let object = start;
  for (let loop = 0; loop < MAX_LOOP; loop++) {
    let handler: LuaValue;
    if (object instanceof LuaTable) {
      if (object.readonly) raiseAt(site, 'Attempt to modify a readonly table');
      if (key === undefined) raiseAt(site, 'table index is nil');
      if (typeof key === 'number' && Number.isNaN(key)) raiseAt(site, 'table index is NaN');
      if (object.meta !== undefined && object.get(key) === undefined) {
        handler = object.meta.get('__newindex');
      }
      if (handler === undefined) {
        object.set(key, value);
        return undefined;
      }
    } else {
      handler = metamethod(object, '__newindex');
      if (handler === undefined) typeError(site, object, 'index', loop === 0 ? site.left : '');
    }
    if (typeof handler === 'function') return callBack(handler, [object, key, value], site);
    object = handler;
  }
  raiseAt(site, 'loop in settable');
}

/**
 * The function that a call of this value runs. A value that cannot be called fails only when it is called, after its
 * arguments were evaluated.
 */
export function callable(value: LuaValue, site: Site): LuaFunction {
  const handler = metamethod(value, '__call');
  if (typeof handler === 'function') return (...args) => handler(value, ...args);
  return () => typeError(site, value, 'call', site.left);
}

function arithmetic(event: Bytes, a: LuaValue, b: LuaValue, site: Site): LuaValue {
  const handler = metamethod(a, event) ?? metamethod(b, event);
  if (handler === undefined) {
    const leftIsFine = toNumber(a) !== undefined;
    typeError(site, leftIsFine ? b : a, 'perform arithmetic on', leftIsFine ? site.right : site.left);
  }
  return after(callBack(handler, [a, b], site), firstOf) as LuaValue;
}

type Operator = (a: LuaValue, b: LuaValue, site: Site) => LuaValue;

function operator(event: Bytes, compute: (x: number, y: number) => number): Operator {
  return (a, b, site) => {
    const x = toNumber(a);
    const y = toNumber(b);
    return x !== undefined && y !== undefined ? compute(x, y) : arithmetic(event, a, b, site);
  };
}

/** `a + b` */
export const add = operator('__add', (x, y) => x + y);
/** `a - b` */
export const subtract = operator('__sub', (x, y) => x - y);
/** `a * b` */
export const multiply = operator('__mul', (x, y) => x * y);
/** `a / b` */
export const divide = operator('__div', (x, y) => x / y);
/** `a % b` */
export const modulo = operator('__mod', (x, y) => x - Math.floor(x / y) * y);
/** `a ^ b` */
export const raisePower = operator('__pow', power);

/** `-a` */
export function negate(a: LuaValue, site: Site): LuaValue {
  const x = typeof a === 'string' ? stringToNumber(a) : undefined;
  return x !== undefined ? -x : arithmetic('__unm', a, a, site);
}

/** `a .. b` */
export function concatenate(a: LuaValue, b: LuaValue, site: Site): LuaValue {
  const x = toText(a);
  const y = toText(b);
  if (x !== undefined && y !== undefined) {
    if (x.length + y.length > MAX_STRING) raiseBare('not enough memory');
    return joined(x + y);
  }
  const handler = metamethod(a, '__concat') ?? metamethod(b, '__concat');
  if (handler === undefined) {
    typeError(site, x === undefined ? a : b, 'concatenate', x === undefined ? site.left : site.right);
  }
  return after(callBack(handler, [a, b], site), firstOf) as LuaValue;
}

/** `#value` */
export function lengthOf(value: LuaValue, site: Site): LuaValue {
  if (value instanceof LuaTable) return value.length();
  if (typeof value === 'string') return value.length;
  typeError(site, value, 'get length of', site.left);
}

/** True for every value except nil and false. */
export function isTrue(result: Result): boolean {
  const value = firstOf(result);
  return value !== undefined && value !== false;
}

/** `a == b` for values that are not identical. */
export function equal(a: LuaValue, b: LuaValue, site: Site): boolean {
  if (a === b) return true;
  if (!(a instanceof LuaTable) || !(b instanceof LuaTable)) return false;
  const handler = a.meta?.get('__eq');
  if (handler === undefined || b.meta === undefined) return false;
  if (a.meta !== b.meta && b.meta.get('__eq') !== handler) return false;
  return after(callBack(handler, [a, b], site), isTrue) as boolean;
}

function order(event: Bytes, a: LuaValue, b: LuaValue, site: Site): Result {
  if (typeName(a) !== typeName(b)) return undefined;
  const handler = metamethod(a, event);
  if (handler === undefined || handler !== metamethod(b, event)) return undefined;
  return after(callBack(handler, [a, b], site), isTrue);
}

function orderError(a: LuaValue, b: LuaValue, site: Site): never {
  const left = typeName(a);
  const right = typeName(b);
  const same = left.charAt(2) === right.charAt(2);
  raiseAt(site, same ? `attempt to compare two ${left} values` : `attempt to compare ${left} with ${right}`);
}

/** `a < b` */
export function less(a: LuaValue, b: LuaValue, site: Site): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  if (typeof a === 'string' && typeof b === 'string') return a < b;
  return (order('__lt', a, b, site) ?? orderError(a, b, site)) as boolean;
}

/** `a <= b` */
export function lessOrEqual(a: LuaValue, b: LuaValue, site: Site): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a <= b;
  if (typeof a === 'string' && typeof b === 'string') return a <= b;
  const direct = order('__le', a, b, site);
  if (direct !== undefined) return direct as boolean;
  const reverse = order('__lt', b, a, site) ?? orderError(a, b, site);
  return after(reverse, (result) => !isTrue(result)) as boolean;
}
