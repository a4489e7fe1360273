/** Judges a played world: the promises that need the whole history, and those of the user. */

import { describe } from './describe.ts';
import { type History, historyOf, timedWrites } from './history.ts';
import { lockAccountOf } from './lock-account.ts';
import type { PlayedWorld } from './played-world.ts';
import { NO_ERROR } from './promises/broken.ts';
import { promises } from './promises/index.ts';
import type { Breach } from './visit.ts';

/** A promise of the user: returns what is wrong with the history, or nothing. Its name is the function's. */
export type UserPromise = (history: History) => string | readonly string[] | undefined | null | false;

/** Every broken promise of the world, in order of time. What fails in a world, or in a function of the user, is one of them. */
export function judge(
  world: PlayedWorld,
  checked: ReadonlySet<string>,
  own: readonly UserPromise[],
): Breach[] {
  const found = [...world.breaches];
  const history = historyOf(world);
  for (const { name, ofHistory, instead = [] } of promises) {
    if (ofHistory === undefined || !checked.has(name)) continue;
    if (found.some(({ promise }) => instead.includes(promise))) continue;
    for (const breach of ofHistory(history, timedWrites(world), () => lockAccountOf(world)))
      found.push({ promise: name, ...breach });
  }
  const { failure } = world;
  if (failure !== undefined)
    found.push({ promise: NO_ERROR, at: failure.at, what: failure.what, visits: [] });
  // The history of a world that failed is not whole: what it lacks may be what a promise of the user looks for.
  else for (const promise of own) found.push(...saidBy(promise, history, world.endedAt));
  return found.sort((a, b) => a.at - b.at);
}

/** What a promise of the user says about the history, which it knows only when the world has ended. */
function saidBy(promise: UserPromise, history: History, endedAt: number): Breach[] {
  const breach = (name: string, what: string): Breach => ({ promise: name, at: endedAt, what, visits: [] });
  try {
    const said = promise(history);
    return (said ? [said].flat() : []).map((what) => breach(promise.name, what));
  } catch (error) {
    return [breach(NO_ERROR, `the promise ${promise.name} throws ${describe(error)}`)];
  }
}
