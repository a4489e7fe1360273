/** Turns broken promises into findings, and tells which of them are the same. */
import { replayText } from './anchors/replay-text.ts';
import type { UserPromise } from './judge.ts';
import type { PlayedWorld } from './played-world.ts';
import { NO_ERROR } from './promises/broken.ts';
import type { Finding } from './report-data.ts';
import type { Failing } from './search/shrink.ts';
import { storyOf } from './story/story.ts';
import type { Breach } from './visit.ts';

/**
 * The first breach of the known promises, of which others may be consequences, and of each promise of the user; and whatever
 * failed.
 */
export function firstOfEach(breaches: readonly Breach[], own: readonly UserPromise[]): Breach[] {
  const owned = new Set(own.map(({ name }) => name));
  const seen = new Set<string>();
  return breaches.filter(({ promise, what }) => {
    const which = owned.has(promise) ? `own ${promise}` : promise === NO_ERROR ? what : '';
    return !seen.has(which) && seen.add(which);
  });
}

/** The kinds of the faults that struck; `jitter` is one where messages take random times. */
export function kindsOf({ struck, plan }: PlayedWorld): string[] {
  const kinds: string[] = struck.map(({ kind }) => kind);
  return [...new Set(plan.jitter === 0 ? kinds : [...kinds, 'jitter'])].sort();
}

/** A finding without a story of events. */
export function toldFinding(
  name: string,
  { promise, what }: Pick<Breach, 'promise' | 'what'>,
  cause: string,
  firstIn: number,
  replay: string,
): Finding {
  const story = `${name}: ${promise} is broken: ${what}`;
  return { promise, cause, what, events: [], story, replay, worlds: 1, firstIn, notRepeatable: undefined };
}

/** True when all kinds of the cause are among those that struck. */
export function isPartOf(cause: string, kinds: readonly string[]): boolean {
  return cause === 'no fault' || cause.split(' + ').every((kind) => kinds.includes(kind));
}

export function findingOf(
  name: string,
  { world, breach }: Failing,
  cause: string,
  firstIn: number,
  difference: string | undefined,
): Finding {
  const title = `${name}: ${breach.promise} is broken (${cause})`;
  const { events, text } = storyOf(world, breach, title);
  const unstable = difference === undefined ? '' : `\nThis world did not repeat: ${difference}`;
  return {
    promise: breach.promise,
    cause,
    what: breach.what,
    events,
    story: text + unstable,
    replay: replayText(world),
    worlds: 1,
    firstIn,
    notRepeatable: difference,
  };
}
