/** Checks of the locks' options: a wrong option is refused before anything is sent. */
import { badOption } from '../base/options.ts';
import { didYouMean } from '../base/similar.ts';

/** The values that an option allows, and how the error describes them. */
export interface AllowedValue {
  readonly allowed: string;
  fits(value: unknown): boolean;
}

/** The options that a call allows, and their values. */
export type AllowedOptions = { readonly [option: string]: AllowedValue };

const isNumber = (value: unknown, least: number): value is number =>
  typeof value === 'number' && value >= least;

/** An integer of at least `least`. */
export const count = (least: number): AllowedValue => ({
  allowed: `an integer from ${least}`,
  fits: (value) => Number.isSafeInteger(value) && (value as number) >= least,
});

/** A time span of at least `least` milliseconds. @param endless whether Infinity is allowed */
export const millis = (least: number, endless = false): AllowedValue => ({
  allowed: `milliseconds from ${least}${endless ? ', or Infinity' : ''}`,
  fits: (value) => isNumber(value, least) && (endless || Number.isFinite(value)),
});

/** No value: the option would have no effect. @param why as the error says it */
export const nothing = (why: string): AllowedValue => ({ allowed: `no value (${why})`, fits: () => false });

/** A string that is not empty. */
export const text: AllowedValue = {
  allowed: 'a string that is not empty',
  fits: (value) => typeof value === 'string' && value !== '',
};

export const flag: AllowedValue = { allowed: 'true or false', fits: (value) => typeof value === 'boolean' };

/** One of the given strings. */
export const oneOf = (...values: readonly string[]): AllowedValue => ({
  allowed: values.map((value) => `'${value}'`).join(' or '),
  fits: (value) => values.includes(value as string),
});

/** An AbortSignal. */
export const abortSignal: AllowedValue = {
  allowed: 'an AbortSignal',
  fits: (value) =>
    typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value,
};

/** A fraction above 0 and below 1. */
export const share: AllowedValue = {
  allowed: 'a number above 0 and below 1',
  fits: (value) => isNumber(value, 0) && value > 0 && value < 1,
};

/** A fraction from 0 to 0.5. */
export const half: AllowedValue = {
  allowed: 'a number from 0 to 0.5',
  fits: (value) => isNumber(value, 0) && value <= 0.5,
};

/** A value that either of the two allows. */
export const either = (one: AllowedValue, other: AllowedValue): AllowedValue => ({
  allowed: `${one.allowed}, or ${other.allowed}`,
  fits: (value) => one.fits(value) || other.fits(value),
});

/** The options of every acquisition. @param leastLeaseMs the shortest lease that can be held, in milliseconds */
export const acquireRules = (leastLeaseMs: number): AllowedOptions => ({
  waitMs: millis(0, true),
  leaseMs: millis(leastLeaseMs),
  signal: abortSignal,
  owner: text,
});

/** Throws a TypeError when the value is not allowed. @param name the option as the error names it */
export function check(name: string, value: unknown, rule: AllowedValue): void {
  if (!rule.fits(value)) throw badOption(name, value, rule.allowed);
}

/**
 * Throws a TypeError for an option that is wrong or does not exist. An option that is undefined counts as left out.
 * @param where the call or object that the options belong to, as the error names it
 */
export function checkOptions(where: string, options: object, rules: AllowedOptions): void {
  if (typeof options !== 'object' || options === null)
    throw badOption(where, options, 'an object of options');
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) {
      const names = Object.keys(rules);
      const allowed = `the options ${names.join(', ')}${didYouMean(name, names)}`;
      throw badOption(`${where}.${name}`, value, allowed);
    }
    if (value !== undefined && !rule.fits(value)) throw badOption(`${where}.${name}`, value, rule.allowed);
  }
}
