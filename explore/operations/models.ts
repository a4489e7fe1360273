/** What objects do when one operation follows the other: what a history of operations is compared with. */
import { type RecordedOperation, valueText } from './operation.ts';

/** An object as a rule: from a state and an operation to the next state. */
export interface ObjectModel<State> {
  readonly initial: State;
  /** Its operations. */
  readonly operations: readonly string[];
  /**
   * The state after the operation; undefined when the operation cannot have given this result in this state. The result of
   * an operation whose outcome is `unknown` may be any.
   */
  step(state: State, operation: RecordedOperation): State | undefined;
  /** The state as text: equal states have equal texts. */
  text(state: State): string;
}

/** True when the operation may have returned this. */
function returns({ outcome, output }: RecordedOperation, expected: unknown): boolean {
  return outcome === 'unknown' || valueText(output) === valueText(expected);
}

/** The same, where programs may leave the result out. */
function mayReturn(operation: RecordedOperation, expected: unknown): boolean {
  return operation.output === undefined || returns(operation, expected);
}

/** True for what Redis and programs say instead of false. */
function isRefusal(output: unknown): boolean {
  return output === false || output === 0 || output === null;
}

/** `write(value)`, `read()` and `cas([from, to])`, which returns whether it was done. It begins as null. */
const register: ObjectModel<string> = {
  initial: 'null',
  operations: ['read', 'write', 'cas'],
  step(state, each) {
    const { operation, input, output, outcome } = each;
    if (operation === 'write') return valueText(input);
    if (operation === 'read') return returns(each, state) ? state : undefined;
    const [from, to] = (Array.isArray(input) ? input : []).map(valueText);
    const isDone = state === from;
    if (outcome === 'ok' && !isRefusal(output) !== isDone) return undefined;
    return isDone ? to : state;
  },
  text: (state) => state,
};

/** `add(number)`, which may return the sum, and `read()`. It begins as 0. */
const counter: ObjectModel<number> = {
  initial: 0,
  operations: ['add', 'read'],
  step(state, each) {
    if (each.operation === 'read') return returns(each, state) ? state : undefined;
    const sum = state + Number(each.input ?? 1);
    return mayReturn(each, sum) ? sum : undefined;
  },
  text: String,
};

/** `enqueue(value)`, and `dequeue()`, which returns the oldest value, or null from an empty queue. */
const queue: ObjectModel<readonly string[]> = {
  initial: [],
  operations: ['enqueue', 'dequeue'],
  step(state, each) {
    if (each.operation === 'enqueue') return [...state, valueText(each.input)];
    const [oldest = 'null', ...rest] = state;
    return returns(each, oldest) ? rest : undefined;
  },
  text: (state) => JSON.stringify(state),
};

/** `add(value)` and `remove(value)`, which may return whether they changed it, `has(value)`, and `read()`, which returns all. */
const set: ObjectModel<readonly string[]> = {
  initial: [],
  operations: ['add', 'remove', 'has', 'read'],
  step(state, each) {
    const { operation, output } = each;
    const value = valueText(each.input);
    const has = state.includes(value);
    const said = each.outcome === 'unknown' || output === undefined ? undefined : !isRefusal(output);
    if (operation === 'read') {
      const all = Array.isArray(output) ? output.map(valueText).sort() : [];
      return each.outcome === 'unknown' || JSON.stringify(all) === JSON.stringify(state) ? state : undefined;
    }
    const expected = operation === 'add' ? !has : has;
    if (said !== undefined && said !== expected) return undefined;
    if (operation === 'add' && !has) return [...state, value].sort();
    return operation === 'remove' ? state.filter((member) => member !== value) : state;
  },
  text: (state) => JSON.stringify(state),
};

/** `acquire()` and `release()` of one holder at a time. One that returns false is a refusal, which is always allowed. */
const lock: ObjectModel<string> = {
  initial: '',
  operations: ['acquire', 'release'],
  step(state, each) {
    if (each.outcome === 'ok' && isRefusal(each.output)) return state;
    const owner = `${each.client} ${each.life}`;
    if (each.operation === 'acquire') return state === '' ? owner : undefined;
    return state === owner ? '' : undefined;
  },
  text: (state) => state,
};

/** The objects that histories can be compared with. */
export const MODELS = { register, counter, queue, set, lock } satisfies Record<string, ObjectModel<unknown>>;

/** The name of an object that histories can be compared with. */
export type ModelName = keyof typeof MODELS;
