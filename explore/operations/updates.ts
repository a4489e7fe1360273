/** Finds an update that was lost: of two that saw the same value, one did not see the other. */
import { type RecordedOperation, valueText } from './operation.ts';

/** An update that was done: what it read, and what it wrote. */
interface Update {
  readonly operation: RecordedOperation;
  readonly read: string;
  readonly wrote: string;
}

/** An update that read a value which another had read and changed. */
export interface SecondUpdate extends Update {
  readonly other: RecordedOperation;
}

/** The first update that read a value once too often, of the first object that has one. */
export function secondUpdateIn(operations: readonly RecordedOperation[]): SecondUpdate | undefined {
  const updates = operations.filter(({ operation }) => operation === 'update');
  for (const of of new Set(updates.map((each) => each.of))) {
    const lost = firstLost(updates.filter((each) => each.of === of));
    if (lost !== undefined) return lost;
  }
  return undefined;
}

/**
 * The first update that read a value once too often. One value was there at the beginning, and an update whose outcome is not known
 * may have written any.
 */
function firstLost(updates: readonly RecordedOperation[]): SecondUpdate | undefined {
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

/** The update of an operation, if it is one that was done and says what it read and wrote. */
export function updateOf(operation: RecordedOperation): Update[] {
  const { outcome, output } = operation;
  if (operation.operation !== 'update' || outcome !== 'ok' || typeof output !== 'object' || output === null)
    return [];
  if (!('read' in output && 'wrote' in output)) return [];
  return [{ operation, read: valueText(output.read), wrote: valueText(output.wrote) }];
}
