/** Results that are not there yet: in the resumable form a call answers a frame, which somebody further out must run. */
import { S } from './state.ts';
import type { Frame, Result } from './values.ts';

/** What all generators inherit from. */
const GENERATOR: object = Object.getPrototypeOf(Object.getPrototypeOf(blank()));

function* blank(): Frame {
  yield undefined;
  return undefined;
}

/** True for a call that has yet to be run. */
export function isFrame(result: Result): result is Frame {
  return typeof result === 'object' && GENERATOR.isPrototypeOf(result);
}

/** Applies `finish` to a result now, or once its frame has been run. */
export function after(result: Result, finish: (result: Result) => Result): Result {
  return isFrame(result) ? chain(result, finish) : finish(result);
}

function* chain(frame: Frame, finish: (result: Result) => Result): Frame {
  S.nested++;
  const result = yield frame;
  S.nested--;
  return finish(result);
}
