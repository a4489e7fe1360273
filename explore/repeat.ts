/** Compares two plays of one plan: where code is not deterministic, it says from which event on. */
import type { TraceEvent } from '../lab/time/event.ts';
import type { PlayedWorld } from './played-world.ts';
import { keyOf, NO_ERROR } from './promises/broken.ts';

const CAUSES =
  'usual causes: state that outlives a world (a module-level cache or counter), a module that was loaded before ' +
  "'lostlock/router' and kept Node's own timers or randomness, or real input and output";

/** What is different when a world is played again; undefined when it is the same. */
export function differenceOf(first: PlayedWorld, again: PlayedWorld): string | undefined {
  if (again.hash() === first.hash()) return undefined;
  const [one, other] = [first.failure, again.failure].map(
    (failure) => failure && keyOf({ promise: NO_ERROR, ...failure }),
  );
  // Where exactly a failure ends a world may depend on real time.
  if (one !== undefined && one === other) return undefined;
  return describeDifference(first, again);
}

/** The first event in which the two differ, and what usually causes that. */
function describeDifference(one: PlayedWorld, other: PlayedWorld): string {
  const length = Math.max(one.events.length, other.events.length);
  for (let i = 0; i < length; i++) {
    const [first, second] = [one.events[i], other.events[i]];
    if (first !== undefined && second !== undefined && isSame(first, second)) continue;
    return `event ${i} was ${textOf(first, one)}, and then ${textOf(second, other)}; ${CAUSES}`;
  }
  return `the traces have different hashes; ${CAUSES}`;
}

function isSame(one: TraceEvent, other: TraceEvent): boolean {
  return (
    one.at === other.at && one.who === other.who && one.what === other.what && one.detail === other.detail
  );
}

function textOf(event: TraceEvent | undefined, { begunAt }: PlayedWorld): string {
  if (event === undefined) return 'nothing';
  const { at, who, what, detail } = event;
  const shown = JSON.stringify(detail.length > 60 ? `${detail.slice(0, 60)}...` : detail);
  return `'${who} ${what} ${shown}' at ${((at - begunAt) / 1000).toFixed(3)} ms`;
}
