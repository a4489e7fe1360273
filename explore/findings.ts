/** Turns broken promises into findings, and tells which of them are the same. */
import { replayText } from './anchors/replay-text.ts';
import { causeOf } from './cause/cause.ts';
import type { Cause } from './cause/reason.ts';
import { acceptedBy, fingerprintOf, isLeaseLimit } from './fingerprint.ts';
import type { UserPromise } from './judge.ts';
import type { PlayedWorld } from './played-world.ts';
import { keyOf, NO_ERROR } from './promises/broken.ts';
import type { Finding } from './report-data.ts';
import type { Failing } from './search/shrink.ts';
import { storyOf } from './story/story.ts';
import type { Breach } from './visit.ts';

/**
 * The first breach of the known promises, of which others may be consequences, and of each promise of the user; and whatever
 * failed.
 */
export function firstOfEach<T extends { readonly breach: Breach }>(
  broken: readonly T[],
  own: readonly UserPromise[],
): T[] {
  const owned = new Set(own.map(({ name }) => name));
  const seen = new Set<string>();
  return broken.filter(({ breach: { promise, what } }) => {
    const which = owned.has(promise) ? `own ${promise}` : promise === NO_ERROR ? what : '';
    return !seen.has(which) && seen.add(which);
  });
}

/** The breaches of a world with their reasons: those that the user has accepted, and the others. Each is in the order of time. */
export function sorted(
  world: PlayedWorld,
  breaches: readonly Breach[],
  accept: readonly string[],
): { readonly accepted: ReasonedFailing[]; readonly others: { readonly breach: Breach }[] } {
  if (accept.length === 0) return { accepted: [], others: breaches.map((breach) => ({ breach })) };
  // Two clients that are inside together break a promise with each act.
  const ids = breaches.map(
    ({ promise, visits, what }) => `${promise} ${visits.join()} ${visits.length > 0 ? '' : what}`,
  );
  const each = breaches
    .filter((_, i) => ids.indexOf(ids[i] as string) === i)
    .map((breach) => reasoned({ plan: world.plan, world, breach }));
  const isAccepted = ({ reason }: ReasonedFailing): boolean => acceptedBy(accept, reason) !== undefined;
  return { accepted: each.filter(isAccepted), others: each.filter((one) => !isAccepted(one)) };
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
  const reason = `${keyOf({ promise, what })} (${cause})`;
  const fingerprint = fingerprintOf({ resource: '', shape: reason });
  return {
    ...{
      promise,
      cause,
      what,
      sentence: what,
      fingerprint,
      reason,
      events: [],
      story,
      replay,
      worlds: 1,
      firstIn,
    },
    ...{ strategy: '', notRepeatable: undefined },
  };
}

/** A broken promise in a played world, with the reason. */
export interface ReasonedFailing extends Failing {
  readonly reason: Cause;
  readonly fingerprint: string;
}

/** Works out why the promise broke. */
export function reasoned({ plan, world, breach }: Failing): ReasonedFailing {
  const reason = causeOf(world, breach);
  return { plan, world, breach, reason, fingerprint: fingerprintOf(reason) };
}

/** How a finding came about. */
export interface FindingOrigin {
  /** The number of the world in which it was found. */
  readonly firstIn: number;
  /** The strategy that played this world. */
  readonly strategy: string;
  /** What was different when this world was played again. */
  readonly difference: string | undefined;
}

export function findingOf(
  name: string,
  { world, breach, reason, fingerprint }: ReasonedFailing,
  { firstIn, strategy, difference }: FindingOrigin,
): Finding {
  const cause = kindsOf(world).join(' + ') || 'no fault';
  const title = `${name}: ${breach.promise} is broken (${cause})`;
  const { sentence, events, text } = storyOf(world, breach, title);
  const unstable = difference === undefined ? '' : `\nThis world did not repeat: ${difference}`;
  return {
    promise: breach.promise,
    cause,
    what: breach.what,
    sentence,
    fingerprint,
    reason: reason.shape,
    events,
    story: text + unstable,
    replay: replayText(world),
    worlds: 1,
    firstIn,
    strategy,
    notRepeatable: difference,
    isLimit: isLeaseLimit(reason),
  };
}
