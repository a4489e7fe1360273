/** pcall and xpcall of the fast form, and what an error becomes when a script catches it. */
import { callBack } from '../operations.ts';
import { NATIVE } from '../state.ts';
import { LuaTable, TableOverflow } from '../table.ts';
import { LuaError, type LuaFunction, type LuaValue, listOf, Signal } from '../values.ts';
import { checkAny } from './args.ts';

/**
 * The Lua error in whatever was thrown.
 * @throws what no script may catch: the engine's own signals, and mistakes of ours
 */
export function luaErrorOf(thrown: unknown): LuaError {
  if (thrown instanceof LuaError) return thrown;
  if (thrown instanceof TableOverflow) return new LuaError('not enough memory', NATIVE);
  if (thrown instanceof RangeError) {
    if (/stack/.test(thrown.message)) throw new Signal('depth');
    return new LuaError('not enough memory', NATIVE);
  }
  throw thrown;
}

/** What pcall answers for an error: Redis unwraps the tables of its own errors. */
export function caughtValue(error: LuaError): LuaValue {
  const { value } = error;
  return value instanceof LuaTable ? (value.get('err') ?? value) : value;
}

/** pcall() without a function calls what happens to lie on Redis' stack. */
export function protectedCallee(args: readonly LuaValue[]): LuaValue {
  return args.length === 0 ? true : args[0];
}

/** pcall(f, …) */
export const protectedCall: LuaFunction = (...args) => {
  try {
    return [true, ...listOf(callBack(protectedCallee(args), args.slice(1), NATIVE))];
  } catch (thrown) {
    return [false, caughtValue(luaErrorOf(thrown))];
  }
};

/** xpcall(f, handler) */
export const protectedCallHandled: LuaFunction = (...args) => {
  checkAny(args, 1);
  try {
    return [true, ...listOf(callBack(args[0], [], NATIVE))];
  } catch (thrown) {
    const { value } = luaErrorOf(thrown);
    try {
      return [false, listOf(callBack(args[1], [value], NATIVE))[0]];
    } catch (again) {
      luaErrorOf(again);
      return [false, 'error in error handling'];
    }
  }
};
