/** Checks the arguments of the lab's controls, so that a wrong one is refused before anything has changed. */
import { badOption, checkInteger } from '../base/options.ts';

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

/** The largest time that a clock of the lab shows, in milliseconds since the epoch: in microseconds it is still exact. */
export const LAST_INSTANT = 8.64e12;

/** Throws unless a clock that shows `now` can jump so far. Both are in milliseconds. */
export function checkJump(byMs: unknown, now: number): void {
  checkNumber('jump', byMs, 'milliseconds, negative ones for back');
  const shown = now + (byMs as number);
  if (shown < 0 || shown > LAST_INSTANT)
    throw badOption(
      'jump',
      byMs,
      `milliseconds after which the clock shows a time from 0 to ${LAST_INSTANT}`,
    );
}

/** Throws unless the value is the options of a client, which the client's library checks. */
export function checkClientOptions(value: unknown): void {
  if (value !== undefined && (typeof value !== 'object' || value === null))
    throw badOption('client.options', value, "an object of the client's options");
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
