/** The promise that somebody gets the lock when the faults are over. */
import type { LockPromise } from './promise.ts';

export const progress: LockPromise = {
  sentence: 'when the faults are over, somebody gets the lock',
  nothing: 'as for `no-orphan`',
  hasCase: (_, { calm }) => calm === undefined || calm.probe === 'enters',
  broken: 'There is no progress',
  ofClosed: ({ how, orphan }) => (orphan === '' ? `a new client ${how}` : undefined),
};
