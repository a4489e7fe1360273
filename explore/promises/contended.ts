/** The promise that an exploration proves something: that clients waited for each other, and that faults struck. */
import type { ExplorationTotals, LockPromise } from './promise.ts';

/** Each way in which an exploration proves nothing. */
const CAUSES: readonly [cause: string, what: string, happened: (totals: ExplorationTotals) => boolean][] = [
  [
    'no contention',
    'no client ever waited for another, so the run proves nothing',
    ({ clients, contended }) => clients > 1 && contended === 0,
  ],
  [
    'no fault struck',
    'no fault ever struck, so the run proves nothing',
    ({ faults, struck }) => faults > 0 && struck === 0,
  ],
];

export const contended: LockPromise = {
  sentence:
    'in some world a client waited for another, and some fault struck. Otherwise the run proves nothing',
  nothing: 'with one client and without faults',
  *ofAllWorlds(totals) {
    for (const [cause, what, happened] of CAUSES) if (happened(totals)) yield [cause, what];
  },
};
