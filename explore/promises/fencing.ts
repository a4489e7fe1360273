/** The promise that fences grow: each client gets a larger one than those that were in use before it asked. */
import type { HistoryWrite } from '../history.ts';
import type { Visit } from '../visit.ts';
import type { LockPromise } from './promise.ts';

export const fencing: LockPromise = {
  sentence:
    'no two clients get the same fence, and none is smaller than one that was in use before it was asked for',
  nothing: 'if no two clients enter with a fence',
  hasCase: ({ visits }) =>
    new Set(visits.flatMap(({ fence, client }) => (fence === undefined ? [] : [client]))).size > 1,
  broken: 'Fencing is broken',
  *ofHistory(history, writes) {
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
        yield { at: visit.from, what, visits: [other.id, visit.id] };
        return;
      }
    }
  },
};

/** True when whatever gave the client its fence was executed after the other had entered. */
function askedAfter(writes: readonly HistoryWrite[], visit: Visit, other: Visit): boolean {
  const first = writes.find(
    ({ client, at }) => client === visit.client && at >= Math.floor(visit.askedAfter) && at <= visit.from,
  );
  return first !== undefined && first.at > other.from;
}
