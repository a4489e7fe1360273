/** Compares two plays of one plan: where code is not deterministic, it says from which event on, and what the likely source is. */
import type { TraceEvent } from '../lab/time/event.ts';
import type { PlayedWorld } from './played-world.ts';
import { keyOf, NO_ERROR } from './promises/broken.ts';
import { timeNear } from './times.ts';

const MODULE_STATE = 'state that outlives a world, such as a cache, a counter or a queue at module level';
const KEPT =
  "a module that was loaded before 'lostlock/router' and kept Node's own functions, or a function that is not virtual, such as process.uptime()";

const CAUSES = `usual causes: ${MODULE_STATE}; ${KEPT}; or real input and output`;

/**
 * What is different when a world is played again, and the likely source; undefined when it is the same.
 * @param playOnce plays the world a third time, which tells what differs each time from what differs once
 */
export async function differenceOf(
  first: PlayedWorld,
  again: PlayedWorld,
  playOnce: () => Promise<PlayedWorld>,
): Promise<string | undefined> {
  if (again.hash() === first.hash()) return undefined;
  const [one, other] = [first.failure, again.failure].map(
    (failure) => failure && keyOf({ promise: NO_ERROR, ...failure }),
  );
  // Where exactly a failure ends a world may depend on real time.
  if (one !== undefined && one === other) return undefined;
  const third = await playOnce().catch(() => undefined);
  return described(first, again, third?.hash() === again.hash());
}

/**
 * The same for the two plays of the world without faults. They are compared until the clients are done, or told to end: the
 * first play does not know yet how long to wait, and what is left then, and looks whether the lock can be had.
 * @param settled the second play and a third were alike
 */
export function calmDifferenceOf(
  survey: PlayedWorld,
  first: PlayedWorld,
  settled = false,
): string | undefined {
  const until = Math.min(
    ...[survey, first].map(
      ({ begunAt, stopped, span, toldAt, endedAt }) =>
        begunAt + (stopped ? endedAt : Math.min(span, toldAt)) * 1000,
    ),
  );
  // Links to resources are not known before the first play, so only the second one sets their delays to 0.
  const [one, other] = [survey, first].map(({ events }) =>
    events.filter(({ at, what, detail }) => at < until && !(what === 'delay' && detail === '0 ms')),
  );
  return described({ ...survey, events: one ?? [] }, { ...first, events: other ?? [] }, settled, true);
}

/** What a difference is described by. */
type Events = Pick<PlayedWorld, 'events' | 'begunAt'>;

/** The first event in which the two differ, and the likely source. @param settled the second play and a third were alike */
function described(one: Events, other: Events, settled: boolean, mayBeSame: true): string | undefined;
function described(one: Events, other: Events, settled: boolean): string;
function described(one: Events, other: Events, settled: boolean, mayBeSame = false): string | undefined {
  const length = Math.max(one.events.length, other.events.length);
  for (let i = 0; i < length; i++) {
    const [first, second] = [one.events[i], other.events[i]];
    if (first !== undefined && second !== undefined && isSame(first, second)) continue;
    const source = sourceOf(first, second, settled) ?? CAUSES;
    return `event ${i} was ${textOf(first, one)}, and then ${textOf(second, other)}; ${source}`;
  }
  return mayBeSame ? undefined : `the traces have different hashes; ${CAUSES}`;
}

/** The likely source of a difference, as far as the two events show it. */
function sourceOf(
  one: TraceEvent | undefined,
  other: TraceEvent | undefined,
  settled: boolean,
): string | undefined {
  const [before, after] = differingWords(one, other);
  if (before !== undefined && after !== undefined) {
    const [a, b] = [Number(before), Number(after)];
    if ([a, b].every(isRealTime))
      return `likely source: ${before} is the real time of this machine. Date.now or new Date came from ${KEPT}`;
    if (/^-?\d+\.\d+$/.test(before) && /^-?\d+\.\d+$/.test(after) && !settled)
      return `likely source: a number with a fraction that differs each time: Math.random or performance.now from ${KEPT}`;
    if (Number.isSafeInteger(a) && b > a && b - a < 10_000 && before.length < 12)
      return `likely source: ${before} became ${after}, as a counter does: ${MODULE_STATE}`;
    if (before.length >= 6 && Math.abs(before.length - after.length) <= 2 && !settled)
      return `likely source: ${before} and ${after} are random: Math.random, crypto or a library's ids from ${KEPT}`;
  }
  if (settled) return `likely source: only the first play differs, and later ones are alike: ${MODULE_STATE}`;
  if (one !== undefined && other !== undefined && one.who === other.who && one.detail === other.detail)
    return `likely source: the same event at another time: a real timer or real input and output, from ${KEPT}`;
  return undefined;
}

/** The first two words of the details that differ, without the lengths of RESP. */
function differingWords(
  one: TraceEvent | undefined,
  other: TraceEvent | undefined,
): readonly (string | undefined)[] {
  if (one === undefined || other === undefined || one.what !== other.what || one.who !== other.who) return [];
  const [before, after] = [one, other].map(({ detail }) =>
    detail.replace(/[$*]\d+\r\n/g, ' ').split(/[^\w.-]+/),
  );
  const at = before?.findIndex((word, i) => word !== after?.[i]) ?? -1;
  return at < 0 ? [] : [before?.[at], after?.[at]];
}

function isRealTime(value: number): boolean {
  return timeNear(value, Date.now()) !== undefined;
}

function isSame(one: TraceEvent, other: TraceEvent): boolean {
  return (
    one.at === other.at && one.who === other.who && one.what === other.what && one.detail === other.detail
  );
}

function textOf(event: TraceEvent | undefined, { begunAt }: Events): string {
  if (event === undefined) return 'nothing';
  const { at, who, what, detail } = event;
  const shown = JSON.stringify(detail.length > 60 ? `${detail.slice(0, 60)}...` : detail);
  return `'${who} ${what} ${shown}' at ${((at - begunAt) / 1000).toFixed(3)} ms`;
}
