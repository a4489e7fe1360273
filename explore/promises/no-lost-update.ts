/** The promise that no update is lost: of two updates that saw the same value, one did not see the other. */
import { secondUpdateIn, updateOf } from '../operations/updates.ts';
import type { LockPromise } from './promise.ts';

export const noLostUpdate: LockPromise = {
  sentence:
    "no update that was acknowledged is lost: `record('update')` begins one, and `ok({ read, wrote })` says what it read and wrote. A value that was written once may be read by one update only",
  nothing: 'if no client records an `update` that is `ok` with what it read and wrote',
  hasCase: ({ operations }) => operations.some((each) => updateOf(each).length > 0),
  broken: 'An update is lost',
  *ofHistory({ operations }) {
    const lost = secondUpdateIn(operations);
    if (lost === undefined) return;
    const { operation, read, other } = lost;
    const which = operation.of === '' ? '' : ` of ${operation.of}`;
    const what = `${other.client} and ${operation.client} both updated the value ${read}${which}, so that one update is lost`;
    yield { at: operation.to, what, visits: [] };
  },
};
