/**
 * Results that are not available yet. In the resumable form a call returns a frame, which an outer function must run.
 */
import { refuel, S } from './state.ts';
import { type Frame, type LuaFunction, type LuaValue, type Result, Signal } from './values.ts';

/** The prototype that all generators inherit from. */
const GENERATOR: object = Object.getPrototypeOf(Object.getPrototypeOf(chain(undefined as never, identity)));

function identity(result: Result): Result {
  return result;
}

/** True for a call that still has to be run. */
export function isFrame(result: Result): result is Frame {
  // biome-ignore lint/suspicious/noPrototypeBuiltins: GENERATOR is our own object, and this runs at every call.
  return typeof result === 'object' && GENERATOR.isPrototypeOf(result);
}

/** Applies `finish` to a result, at once or after its frame has been run. */
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

/** True for the frame of an operator that called a metamethod, which does not count as a function. */
export function isOperator(frame: Frame): boolean {
  return frame instanceof chain;
}

/** A library function that calls back into scripts. Its frame counts as a level, unlike that of an operator. */
export type NativeFunction = (...args: LuaValue[]) => Frame;

/** Spends fuel for a step of a library function. True when it has to pause; the fast form throws instead. */
export function pays(): boolean {
  if (--S.fuel >= 0 || refuel()) return false;
  if (!S.resumable) throw new Signal('fuel');
  return true;
}

/** Lets the frames of a library function look at errors. An error drops all other frames without running them again. */
export function watching(native: NativeFunction): NativeFunction {
  return function* (...args) {
    const { thread } = S;
    thread?.watchers.push(thread.frames.length);
    try {
      return yield* native(...args);
    } finally {
      thread?.watchers.pop();
    }
  };
}

/** The plain form of such a function, for the fast form of scripts, in which calls never return frames. */
export function plain(native: NativeFunction): LuaFunction {
  return (...args) => native(...args).next().value as Result;
}
