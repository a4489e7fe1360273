/** Judges a played world: the promises that need the whole history, and those of the user. */

import { defined } from '../base/defined.ts';
import { accountOfWorld } from './cause/recorded.ts';
import { describe } from './describe.ts';
import { type History, historyOf, timedWrites } from './history.ts';
import type { PlayedWorld } from './played-world.ts';
import { NO_ERROR } from './promises/broken.ts';
import { promises } from './promises/index.ts';
import type { Breach, FindingEvent } from './visit.ts';

/** What a promise of the user found, with what its story should tell. */
export interface BrokenPromise {
  /** What is wrong. */
  readonly what: string;
  /** When, in milliseconds since the clients started; by default, when the world ended. */
  readonly at?: number;
  /** The resource that it is about. */
  readonly resource?: string;
  /**
   * The clients whose acts show it. Their last visits to the resource, up to `at`, are told: of a client that is named twice, the
   * last two.
   */
  readonly clients?: readonly string[];
  /** The visits that show it, by their numbers, in place of those that `clients` stands for. */
  readonly visits?: readonly number[];
  /** Events that the story must have. */
  readonly events?: readonly FindingEvent[];
}

/** What a promise of the user returns: what is wrong, as text or with more about it, one or several; or nothing. */
export type PromiseAnswer =
  | string
  | BrokenPromise
  | readonly (string | BrokenPromise)[]
  | undefined
  | null
  | false;

/** A promise of the user: returns what is wrong with the history, or nothing. Its name is the function's. */
export type UserPromise = (history: History) => PromiseAnswer;

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
    for (const breach of ofHistory(history, timedWrites(world), () => accountOfWorld(world).account))
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
  const error = (what: string): Breach[] => [{ promise: NO_ERROR, at: endedAt, what, visits: [] }];
  try {
    const said = promise(history);
    const all = said ? [said].flat() : [];
    const wrong = all.find(
      (each) => typeof each !== 'string' && typeof (each as BrokenPromise).what !== 'string',
    );
    if (wrong !== undefined)
      return error(
        `the promise ${promise.name} returns ${describe(wrong)}: it must return a text, an object with \`what\`, an array of them, or nothing`,
      );
    return all.map((each) =>
      breachOf(promise.name, typeof each === 'string' ? { what: each } : each, history, endedAt),
    );
  } catch (thrown) {
    return error(`the promise ${promise.name} throws ${describe(thrown)}`);
  }
}

function breachOf(
  promise: string,
  { what, resource, clients, visits, events, ...rest }: BrokenPromise,
  history: History,
  endedAt: number,
): Breach {
  const { at = endedAt } = rest;
  const lastOf = (name: string): number[] =>
    history.visits
      .filter(({ client, from }) => client === name && from <= at)
      .filter((visit) => resource === undefined || visit.resource === resource)
      .slice(-(clients ?? []).filter((each) => each === name).length)
      .map(({ id }) => id);
  const last = [...new Set(clients)].flatMap(lastOf).sort((a, b) => a - b);
  return {
    ...{ promise, at, what, visits: visits ?? last },
    ...defined({ resource, clients, events }),
  };
}
