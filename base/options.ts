/** Checks options. The error for a wrong option gives its name, its value and what is allowed. */
import { inspect } from 'node:util';
import { didYouMean } from './similar.ts';

/**
 * The error for a wrong option. `code` is `LOSTLOCK_BAD_OPTION`; `option`, `value` and `allowed` repeat the message's
 * parts. `value` is not enumerable: it may be a whole client, which would flood a printed error.
 */
export function badOption(option: string, value: unknown, allowed: string): TypeError {
  const error = new TypeError(`lostlock: option ${option} is ${inOneLine(value)}; allowed: ${allowed}`);
  Object.defineProperty(error, 'value', { value });
  return Object.assign(error, { code: 'LOSTLOCK_BAD_OPTION', option, allowed });
}

/** A value in one line, abbreviated where it is long. */
function inOneLine(value: unknown): string {
  const whole = inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 80 });
  if (whole.length <= 120 && !whole.includes('\n')) return whole;
  const brief = inspect(value, { depth: -1 });
  return brief.length <= 120 && !brief.includes('\n') ? brief : `[a ${typeof value}]`;
}

/** Throws for an option that does not exist, so that a typo does not go unnoticed. */
export function checkNames(options: object, allowed: readonly string[], where: string): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw badOption(where, options, 'an object of options');
  for (const name of Object.keys(options)) {
    if (!allowed.includes(name)) {
      throw badOption(
        `${where}.${name}`,
        (options as Record<string, unknown>)[name],
        `the options ${allowed.join(', ')}${didYouMean(name, allowed)}`,
      );
    }
  }
}

/** Throws unless the value is an integer between the bounds, inclusive. */
export function checkInteger(name: string, value: unknown, min: number, max: number): void {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw badOption(name, value, `an integer from ${min} to ${max}`);
  }
}

/** Throws unless the value is a string, and a non-empty one when `filled` is true. */
export function checkString(name: string, value: unknown, filled = true): void {
  if (typeof value !== 'string' || (filled && value === ''))
    throw badOption(name, value, 'a string that is not empty');
}

/** Throws unless the value is true or false. @param others further allowed values, as text for the error */
export function checkFlag(name: string, value: unknown, others = ''): void {
  if (typeof value !== 'boolean')
    throw badOption(name, value, others === '' ? 'true or false' : `true, false${others}`);
}
