/**
 * Decides whether a history is linearizable: whether each operation can have taken effect at one moment between its invocation and its
 * response. It is the search of Wing and Gong with the improvements of Lowe and Porcupine: a list from which an operation is
 * lifted when it is next, and a memory of what has been tried.
 */
import type { ObjectModel } from './models.ts';
import type { RecordedOperation } from './operation.ts';

/** How many steps a search may take: some seconds. */
const MOST_STEPS = 1_000_000;

/** An invocation, or a response. */
interface SearchEntry {
  readonly index: number;
  readonly operation: RecordedOperation;
  /** For an invocation, its response; undefined if there was none. */
  response: SearchEntry | undefined;
  readonly isCall: boolean;
  before: SearchEntry | undefined;
  after: SearchEntry | undefined;
}

/**
 * True when the history is linearizable. Operations without a response may have taken effect at any time after their
 * invocation, or never. Throws RangeError when that cannot be decided within a million steps.
 */
export function isLinearizable<State>(
  { initial, step, text }: ObjectModel<State>,
  operations: readonly RecordedOperation[],
): boolean {
  const head = listOf(operations);
  let open = operations.filter(({ outcome }) => outcome === 'ok').length;
  const done = new Uint8Array(operations.length);
  const tried = new Set<string>();
  const path: { readonly entry: SearchEntry; readonly state: State }[] = [];
  let state = initial;
  let entry = head.after;
  for (let steps = 0; open > 0; steps++) {
    if (steps > MOST_STEPS)
      throw new RangeError(
        `whether ${operations.length} operations are linearizable takes too long to decide`,
      );
    if (entry?.isCall === true) {
      const next = step(state, entry.operation);
      if (next !== undefined) {
        done[entry.index] = 1;
        const what = `${done.join('')} ${text(next)}`;
        if (!tried.has(what)) {
          tried.add(what);
          path.push({ entry, state });
          state = next;
          if (entry.response !== undefined) open--;
          lift(entry);
          entry = head.after;
          continue;
        }
        done[entry.index] = 0;
      }
      entry = entry.after;
      continue;
    }
    // A response is next: its operation must have come before, and none of those that may come first leads on.
    const last = path.pop();
    if (last === undefined) return false;
    state = last.state;
    done[last.entry.index] = 0;
    if (last.entry.response !== undefined) open++;
    unlift(last.entry);
    entry = last.entry.after;
  }
  return true;
}

/** The invocations and responses in order of time, behind a head. Of those at the same time, invocations come first. */
function listOf(operations: readonly RecordedOperation[]): SearchEntry {
  const moments = operations.flatMap((operation, index) => {
    const common = { index, operation, before: undefined, after: undefined };
    const isDone = operation.outcome === 'ok';
    const response: SearchEntry | undefined = isDone
      ? { ...common, isCall: false, response: undefined }
      : undefined;
    const call: SearchEntry = { ...common, isCall: true, response };
    const all = [{ at: operation.from, entry: call }];
    return response === undefined ? all : [...all, { at: operation.to, entry: response }];
  });
  moments.sort((a, b) => a.at - b.at || Number(b.entry.isCall) - Number(a.entry.isCall));
  const head: SearchEntry = {
    index: -1,
    operation: undefined as never,
    isCall: false,
    response: undefined,
    before: undefined,
    after: undefined,
  };
  let last = head;
  for (const { entry } of moments) {
    last.after = entry;
    entry.before = last;
    last = entry;
  }
  return head;
}

/** Takes an operation out of the list. */
function lift(entry: SearchEntry): void {
  for (const each of [entry, entry.response]) {
    if (each?.before !== undefined) each.before.after = each.after;
    if (each?.after !== undefined) each.after.before = each.before;
  }
}

/** Puts it back, in the opposite order. */
function unlift(entry: SearchEntry): void {
  for (const each of [entry.response, entry]) {
    if (each?.before !== undefined) each.before.after = each;
    if (each?.after !== undefined) each.after.before = each;
  }
}

/** The first operation whose response makes the history one that is not linearizable; undefined if it is. */
export function firstMisfit<State>(
  model: ObjectModel<State>,
  history: readonly RecordedOperation[],
): RecordedOperation | undefined {
  const operations = history.filter(({ outcome }) => outcome !== 'failed');
  if (isLinearizable(model, operations)) return undefined;
  const done = operations.filter(({ outcome }) => outcome === 'ok').sort((a, b) => a.to - b.to);
  // A longer history is not linearizable either.
  let [low, high] = [0, done.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isLinearizable(model, upTo(operations, (done[middle] as RecordedOperation).to))) low = middle + 1;
    else high = middle;
  }
  return done[high];
}

/** What was known at this time: what had no response yet may or may not have taken effect. */
function upTo(operations: readonly RecordedOperation[], at: number): RecordedOperation[] {
  return operations
    .filter(({ from }) => from <= at)
    .map((each) => (each.to <= at ? each : { ...each, outcome: 'unknown', output: undefined, to: Infinity }));
}
