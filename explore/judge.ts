/** Judges a played world: the promises that need the whole history, and those of the user. */

import { type History, type HistoryWrite, historyOf, timedWrites } from './history.ts';
import type { Breach, Visit } from './ledger.ts';
import { NO_ERROR } from './names.ts';
import type { PlayedWorld } from './played-world.ts';
import { describe } from './player.ts';

/** A promise of the user: returns what is wrong with the history, or nothing. Its name is the function's. */
export type UserPromise = (history: History) => string | readonly string[] | undefined | null | false;

/** Every broken promise of the world, in order of time. What fails in a world, or in a function of the user, is one of them. */
export function judge(
  world: PlayedWorld,
  promises: ReadonlySet<string>,
  own: readonly UserPromise[],
): Breach[] {
  const found = [...world.breaches];
  const history = historyOf(world);
  if (promises.has('fencing')) found.push(...fencing(history, timedWrites(world)));
  if (promises.has('durable-acks')) found.push(...durability(history));
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

/** Fences that two clients got, and fences that are smaller than one that was in use before they were asked for. */
function* fencing(history: History, writes: readonly HistoryWrite[]): Iterable<Breach> {
  // The probe is a new client like any other: a fence that it gets twice is as wrong.
  const fenced = [...history.visits, ...history.probe].filter(({ fence }) => fence !== undefined);
  for (const [i, visit] of fenced.entries()) {
    for (const other of fenced.slice(0, i)) {
      if (other.resource !== visit.resource || other.client === visit.client) continue;
      const [before, now] = [other.fence as number, visit.fence as number];
      if (now > before || (now < before && !askedAfter(writes, visit, other))) continue;
      const what =
        now === before
          ? `${other.client} and ${visit.client} both got fence ${now} for ${visit.resource}`
          : `${visit.client} got fence ${now} for ${visit.resource}, although ${other.client} had got ${before} before`;
      yield { promise: 'fencing', at: visit.from, what, visits: [other.id, visit.id] };
      return;
    }
  }
}

/** True when whatever gave the client its fence was executed after the other had entered. */
function askedAfter(writes: readonly HistoryWrite[], visit: Visit, other: Visit): boolean {
  const first = writes.find(
    ({ client, at }) => client === visit.client && at >= Math.floor(visit.askedAfter) && at <= visit.from,
  );
  return first !== undefined && first.at > other.from;
}

function* durability({ lost }: History): Iterable<Breach> {
  const [first] = lost;
  if (first === undefined) return;
  const what = `${first.client ?? first.node}'s ${first.command.join(' ')} was acknowledged and then lost`;
  yield { promise: 'durable-acks', at: first.at, what, visits: [] };
}
