/** Broken promises: which of them are the same, and what they are called. */
import { promises } from './index.ts';

/**
 * The promise that every exploration checks: nothing fails in a world that no client of it catches, and every world ends.
 * It cannot be left out, because a world that fails is judged only in part.
 */
export const NO_ERROR = 'no-error';

/** The promise that a program checks by itself, and says that it is broken. */
export const OF_PROGRAM = 'program';

/** A broken promise, and what was observed. */
export interface Broken {
  readonly promise: string;
  readonly what: string;
}

/** True when both are the same promise, broken in the same way as far as that can be told: by the same error. */
export function isSame(one: Broken, other: Broken): boolean {
  return keyOf(one) === keyOf(other);
}

/** What findings of the same promise have in common: for errors, what failed. */
export function keyOf({ promise, what }: Broken): string {
  return promise === NO_ERROR ? `${promise} ${gist(what)}` : promise;
}

/** An error's text without numbers and tokens, which differ from world to world. */
export function gist(what: string): string {
  const short = what.replace(/\S*\d\S*/g, '#');
  // A text of one word, such as `E2BIG`, still has to say something.
  return /[^#\s]/.test(short) ? short : what.replace(/\d+/g, '#');
}

/** Says in a sentence that a promise is broken, and how. */
export function brokenText({ promise, what }: Broken): string {
  const known = promises.find(({ name }) => name === promise)?.broken;
  const said = promise === NO_ERROR ? 'Something failed' : (known ?? `${promise} is broken`);
  return `${said}: ${ended(what)}`;
}

/** The text with a full stop, unless it has one. */
export function ended(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}
