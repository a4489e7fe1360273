/** pcall and xpcall, and how an error looks to a script that catches it. */
import { isFrame, watching } from '../runtime/frames.ts';
import { callBack, enterCallBack, index } from '../runtime/operations.ts';
import { NATIVE } from '../runtime/site.ts';
import { S } from '../runtime/state.ts';
import { TableOverflow } from '../runtime/table.ts';
import {
  type Frame,
  firstOf,
  LuaError,
  type LuaFunction,
  LuaTable,
  type LuaValue,
  listOf,
  type Result,
  Signal,
} from '../runtime/values.ts';
import { checkAny } from './args.ts';
import { PROTECTED_ERROR } from './base.ts';
import { PROTECTED_CALL } from './redis.ts';

/**
 * The Lua error for a value that was thrown.
 * @throws what no script may catch: the engine's own signals, and errors of our own code
 */
export function luaErrorOf(thrown: unknown): LuaError {
  if (thrown instanceof LuaError) return thrown;
  if (thrown instanceof TableOverflow) return new LuaError('not enough memory', NATIVE);
  if (thrown instanceof RangeError) {
    if (!/stack/.test(thrown.message)) return new LuaError('not enough memory', NATIVE);
    if (!S.resumable) throw new Signal('depth');
    return new LuaError('stack overflow', NATIVE);
  }
  throw thrown;
}

/**
 * Variants of functions that return what pcall returns for them. To throw the error and catch it would take longer than most
 * commands do.
 */
const PROTECTED: ReadonlyMap<LuaValue, LuaFunction> = new Map([PROTECTED_ERROR, PROTECTED_CALL]);

/** Throwing and catching in JavaScript takes as long as this many steps. */
const CATCHING = 300;

/** pcall's result for an error. Redis unwraps a value with a field `err`, using metamethods. */
function* caught(error: LuaError): Frame {
  S.fuel -= CATCHING;
  const { value } = error;
  if (!(value instanceof LuaTable)) return [false, value];
  const inside: Result = index(value, 'err', NATIVE);
  return [false, firstOf(isFrame(inside) ? yield inside : inside) ?? value];
}

/** Calls a function from a library function, which is the place of the callee's errors. */
function* attempt(callee: LuaValue, args: LuaValue[]): Frame {
  const result = callBack(callee, args, NATIVE);
  if (!isFrame(result)) return result;
  S.nested++;
  return yield result;
}

/** pcall(f, …). Without a function, it calls the value that happens to be on Redis' stack. */
export const protectedCall = watching(function* (...args: LuaValue[]): Frame {
  const { nested } = S;
  try {
    const direct = PROTECTED.get(args[0]);
    if (direct !== undefined) return callBack(direct, args.slice(1), NATIVE);
    return [true, ...listOf(yield* attempt(args.length === 0 ? true : args[0], args.slice(1)))];
  } catch (thrown) {
    S.nested = nested;
    return yield* caught(luaErrorOf(thrown));
  } finally {
    S.nested = nested;
  }
});

/** pcall in the fast form, in which no call waits. V8 takes a microsecond each time that an error passes a try: here it passes one. */
export function protectedCallAtOnce(...args: LuaValue[]): Result {
  const { nested, depth } = S;
  try {
    const called = enterCallBack(args.length === 0 ? true : args[0], NATIVE);
    const direct = PROTECTED.get(called);
    return direct === undefined ? [true, ...listOf(called(...args.slice(1)))] : direct(...args.slice(1));
  } catch (thrown) {
    S.nested = nested;
    S.depth = depth;
    S.site = NATIVE;
    return caught(luaErrorOf(thrown)).next().value as Result;
  } finally {
    S.nested = nested;
    S.depth = depth;
    S.site = NATIVE;
  }
}

/** xpcall(f, handler) */
export const protectedCallHandled = watching(function* (...args: LuaValue[]): Frame {
  checkAny(args, 1);
  const { nested } = S;
  try {
    return [true, ...listOf(yield* attempt(args[0], []))];
  } catch (thrown) {
    S.nested = nested;
    return yield* handle(args[1], luaErrorOf(thrown).value);
  } finally {
    S.nested = nested;
  }
});

function* handle(handler: LuaValue, value: LuaValue): Frame {
  S.fuel -= CATCHING;
  try {
    return [false, listOf(yield* attempt(handler, [value]))[0]];
  } catch (again) {
    luaErrorOf(again);
    return [false, 'error in error handling'];
  }
}
