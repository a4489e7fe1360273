/** The promise that no update is lost: of two updates that saw the same value, one did not see the other. */
import { type RecordedOperation, valueText } from '../operations/operation.ts';
import type { LockPromise } from './promise.ts';

/** An update that was done: what it read, and what it wrote. */
interface Update {
  readonly operation: RecordedOperation;
  readonly read: string;
  readonly wrote: string;
}

export const noLostUpdate: LockPromise = {
  sentence:
    "no update that was acknowledged is lost: `record('update')` begins one, and `ok({ read, wrote })` says what it read and wrote. A value that was written once may be read by one update only",
  nothing: 'if no client records an `update` that is `ok` with what it read and wrote',
  hasCase: ({ operations }) => operations.some((each) => updateOf(each).length > 0),
  broken: 'An update is lost',
  *ofHistory({ operations }) {
    const updates = operations.filter(({ operation }) => operation === 'update');
    for (const of of new Set(updates.map((each) => each.of))) {
      const all = updates.filter((each) => each.of === of);
      const lost = firstLost(all);
      if (lost === undefined) continue;
      const { operation, read, other } = lost;
      const which = of === '' ? '' : ` of ${of}`;
      const what = `${other.client} and ${operation.client} both updated the value ${read}${which}, so that one update is lost`;
      yield { at: operation.to, what, visits: [] };
      return;
    }
  },
};

/**
 * The first update that read a value once too often. One value was there at the beginning, and an update whose outcome is not known
 * may have written any.
 */
function firstLost(
  updates: readonly RecordedOperation[],
): (Update & { readonly other: RecordedOperation }) | undefined {
  const done = updates.flatMap(updateOf).sort((a, b) => a.operation.to - b.operation.to);
  const written = new Map<string, number>();
  for (const { wrote } of done) written.set(wrote, (written.get(wrote) ?? 0) + 1);
  let spare = 1 + updates.filter(({ outcome }) => outcome === 'unknown').length;
  const read = new Map<string, RecordedOperation>();
  for (const each of done) {
    const left = written.get(each.read) ?? 0;
    if (left > 0) written.set(each.read, left - 1);
    else if (spare > 0) spare--;
    else return { ...each, other: read.get(each.read) ?? each.operation };
    read.set(each.read, each.operation);
  }
  return undefined;
}

function updateOf(operation: RecordedOperation): Update[] {
  const { outcome, output } = operation;
  if (operation.operation !== 'update' || outcome !== 'ok' || typeof output !== 'object' || output === null)
    return [];
  if (!('read' in output && 'wrote' in output)) return [];
  return [{ operation, read: valueText(output.read), wrote: valueText(output.wrote) }];
}
