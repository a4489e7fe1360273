/** Checks the arguments of the lab's controls, so that a wrong one is refused before anything has changed. */
import { badOption, checkInteger } from '../embed/options.ts';

/** Throws unless the value is a duration in milliseconds, which may have a fraction. */
export function checkMillis(name: string, value: unknown): void {
  if (typeof value !== 'number' || !(value >= 0 && value < Infinity)) {
    throw badOption(name, value, 'milliseconds from 0');
  }
}

/** Throws unless the value is a function. */
export function checkCode(name: string, value: unknown): void {
  if (typeof value !== 'function')
    throw badOption(name, value, 'a function, which is called inside the world');
}

/** Throws unless the value can be awaited. */
export function checkPromise(name: string, value: unknown): void {
  if (typeof (value as PromiseLike<unknown> | undefined)?.then !== 'function') {
    throw badOption(name, value, 'a promise');
  }
}

/**
 * Throws unless the value is a finite number of at least `least`.
 * @param allowed what is allowed, as text for the error
 */
export function checkNumber(name: string, value: unknown, allowed: string, least = -Infinity): void {
  if (!Number.isFinite(value) || (value as number) <= least) throw badOption(name, value, allowed);
}

/** Throws unless the value is a number of bytes per second; Infinity means no limit. */
export function checkRate(name: string, value: unknown): void {
  if (typeof value !== 'number' || !(value > 0))
    throw badOption(name, value, 'bytes per second above 0, or Infinity');
}

/** Throws unless the value is a number of messages; Infinity means all that follow. */
export function checkMessages(name: string, value: unknown): void {
  if (value !== Infinity) checkInteger(name, value, 0, Number.MAX_SAFE_INTEGER);
}
