/** Results that are not there yet: in the resumable form a call answers a frame, which somebody further out must run. */
import { S } from './state.ts';
import { type Frame, type LuaFunction, type LuaValue, type Result, Signal } from './values.ts';

/** What all generators inherit from. */
const GENERATOR: object = Object.getPrototypeOf(Object.getPrototypeOf(chain(undefined as never, identity)));

function identity(result: Result): Result {
  return result;
}

/** True for a call that has yet to be run. */
export function isFrame(result: Result): result is Frame {
  // biome-ignore lint/suspicious/noPrototypeBuiltins: GENERATOR is our own, and this runs at every call.
  return typeof result === 'object' && GENERATOR.isPrototypeOf(result);
}

/** Applies `finish` to a result now, or once its frame has been run. */
export function after(result: Result, finish: (result: Result) => Result): Result {
  return isFrame(result) ? chain(result, finish) : finish(result);
}

function* chain(frame: Frame, finish: (result: Result) => Result): Frame {
  S.nested++;
  try {
    return finish(yield frame);
  } finally {
    S.nested--;
  }
}

/** True for the frame of an operator that called a metamethod: not a function of its own in anybody's count. */
export function isOperator(frame: Frame): boolean {
  return frame instanceof chain;
}

/** A library function that calls back into scripts. Its frame counts as a level, unlike an operator's. */
export type NativeFunction = (...args: LuaValue[]) => Frame;

/** Pays for a step of a library function's own. True where it is now to pause; the fast form gives up instead. */
export function pays(): boolean {
  if (--S.fuel >= 0) return false;
  if (!S.resumable) throw new Signal('fuel');
  return true;
}

/** The plain form of such a function, for the fast form of scripts, where what it calls never answers frames. */
export function plain(native: NativeFunction): LuaFunction {
  return (...args) => native(...args).next().value as Result;
}
