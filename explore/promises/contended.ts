/** The promise that an exploration proves something: that clients contended for something, and that faults struck. */
import type { LockPromise } from './promise.ts';

export const contended: LockPromise = {
  sentence:
    'in some world operations of two clients on one key or resource overlap, and some fault strikes. Otherwise the report is inconclusive',
  nothing: 'with one client and without faults',
  isOfReport: true,
};
