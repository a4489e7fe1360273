/** The promise that a lock whose holder is gone can be had again. */
import { beginning, readable } from '../../page/text.ts';
import type { LockPromise } from './promise.ts';

export const noOrphan: LockPromise = {
  sentence:
    'when the holder is gone, a new client gets the lock within twice the lease: the longest one of a key that clients delete',
  nothing:
    'if a new client has nothing to do even without faults: it returns, or waits for something else than a lock',
  hasCase: (_, { calm }) => calm === undefined || calm.probe === 'enters',
  broken: 'The lock is orphaned',
  ofClosed({ how, orphan }) {
    if (orphan === '') return undefined;
    const text = readable(orphan);
    const shown = text.length > 80 ? `${beginning(text, 77)}...` : text;
    return `nobody is inside, but a new client ${how}; left behind: ${shown}`;
  },
};
