/** Which histories of operations are linearizable: known cases, and random ones beside all orders that there are. */
import { describe, expect, test } from 'vitest';
import { firstMisfit, isLinearizable } from '../../../explore/operations/linearize.ts';
import { MODELS, type ModelName, type ObjectModel } from '../../../explore/operations/models.ts';
import {
  OperationLog,
  operationText,
  type RecordedOperation,
} from '../../../explore/operations/operation.ts';
import { Random } from '../../../lab/time/random.ts';
import { sampleOf } from '../../support/long.ts';

/** One operation; without an end its outcome is not known. */
function op(
  client: string,
  what: string,
  input: unknown,
  from: number,
  to?: number,
  output?: unknown,
): RecordedOperation {
  const outcome = to === undefined ? 'unknown' : 'ok';
  return { client, life: 1, operation: what, of: '', input, output, from, to: to ?? Infinity, outcome };
}

const misfit = (name: ModelName, history: readonly RecordedOperation[]): string | undefined => {
  const found = firstMisfit<unknown>(MODELS[name], history);
  return found && operationText(found);
};

describe('a register', () => {
  test('a read that overlaps a write may see it or not, but not one value after the other', () => {
    const write = op('A', 'write', 1, 0, 10);
    const reads = (one: unknown, two: unknown) => [
      write,
      op('B', 'read', undefined, 1, 2, one),
      op('C', 'read', undefined, 3, 4, two),
    ];
    expect(misfit('register', reads(null, '1'))).toBeUndefined();
    expect(misfit('register', reads(null, null))).toBeUndefined();
    expect(misfit('register', reads('1', '1'))).toBeUndefined();
    expect(misfit('register', reads('1', null))).toBe('C read() = null');
  });

  test('an acknowledged write is seen by later reads, and one whose outcome is not known may come late or never', () => {
    expect(misfit('register', [op('A', 'write', 1, 0, 1), op('B', 'read', undefined, 2, 3, null)])).toBe(
      'B read() = null',
    );
    const unknown = [
      op('A', 'write', 1, 0),
      op('B', 'read', undefined, 5, 6, null),
      op('B', 'read', undefined, 7, 8, 1),
    ];
    expect(misfit('register', unknown)).toBeUndefined();
    expect(misfit('register', [...unknown, op('B', 'read', undefined, 9, 10, null)])).toBe('B read() = null');
  });

  test('of two swaps from the same value, one is refused', () => {
    const swap = (client: string, done: boolean) =>
      op(client, 'cas', [null, client], 0, client === 'A' ? 5 : 6, done);
    expect(misfit('register', [swap('A', true), swap('B', false)])).toBeUndefined();
    expect(misfit('register', [swap('A', true), swap('B', true)])).toBe('B cas([null,"B"]) = true');
  });
});

test('a counter adds up, and says so if it returns the sum', () => {
  const adds = [op('A', 'add', 1, 0, 5, 2), op('B', 'add', 1, 0, 5, 1)];
  expect(misfit('counter', [...adds, op('A', 'read', undefined, 6, 7, '2')])).toBeUndefined();
  expect(misfit('counter', [...adds, op('A', 'read', undefined, 6, 7, 1)])).toBe('A read() = 1');
  expect(misfit('counter', [op('A', 'add', 1, 0, 5, 1), op('B', 'add', 1, 6, 7, 1)])).toBe('B add(1) = 1');
});

test('a queue gives each value once, the oldest first', () => {
  const filled = [op('A', 'enqueue', 'a', 0, 1), op('A', 'enqueue', 'b', 2, 3)];
  const take = (client: string, from: number, value: unknown) =>
    op(client, 'dequeue', undefined, from, from + 1, value);
  expect(
    misfit('queue', [...filled, take('B', 4, 'a'), take('C', 6, 'b'), take('B', 8, null)]),
  ).toBeUndefined();
  expect(misfit('queue', [...filled, take('B', 4, 'a'), take('C', 6, 'a')])).toBe('C dequeue() = a');
  expect(misfit('queue', [...filled, take('B', 4, 'b')])).toBe('B dequeue() = b');
  // The client that died in dequeue may have taken it.
  expect(misfit('queue', [...filled, op('B', 'dequeue', undefined, 4), take('C', 6, 'b')])).toBeUndefined();
});

test('a set', () => {
  const both = [op('A', 'add', 1, 0, 1, 1), op('B', 'add', 1, 2, 3, 0)];
  expect(misfit('set', [...both, op('A', 'read', undefined, 4, 5, ['1'])])).toBeUndefined();
  expect(misfit('set', [...both, op('A', 'remove', 1, 4, 5), op('A', 'has', 1, 6, 7, true)])).toBe(
    'A has(1) = true',
  );
  expect(misfit('set', [op('A', 'add', 1, 0, 1, 1), op('B', 'add', 1, 2, 3, 1)])).toBe('B add(1) = 1');
});

test('a lock has one holder, and only the holder releases it', () => {
  const got = op('A', 'acquire', undefined, 0, 1, true);
  expect(
    misfit('lock', [
      got,
      op('B', 'acquire', undefined, 2, 3, false),
      op('A', 'release', undefined, 4, 5),
      op('B', 'acquire', undefined, 6, 7),
    ]),
  ).toBeUndefined();
  expect(misfit('lock', [got, op('B', 'acquire', undefined, 2, 3)])).toBe('B acquire()');
  expect(misfit('lock', [got, op('B', 'release', undefined, 2, 3)])).toBe('B release()');
});

/** All orders of the completed operations, with any of the others between: the definition itself. */
function isInSomeOrder<State>(
  model: ObjectModel<State>,
  rest: readonly RecordedOperation[],
  state = model.initial,
): boolean {
  if (rest.every(({ outcome }) => outcome === 'unknown')) return true;
  return rest.some((each) => {
    if (rest.some((other) => other.to < each.from)) return false;
    const next = model.step(state, each);
    return (
      next !== undefined &&
      isInSomeOrder(
        model,
        rest.filter((other) => other !== each),
        next,
      )
    );
  });
}

test.each(Object.keys(MODELS) as ModelName[])(
  'a %s: random histories are judged as by trying all orders',
  (name) => {
    const model: ObjectModel<unknown> = MODELS[name];
    const random = new Random(7, name);
    const verdicts = { true: 0, false: 0 };
    const pick = (all: readonly unknown[]): unknown => random.pick([...all]);
    for (let i = 0; i < sampleOf(20_000, 400); i++) {
      const history = Array.from({ length: random.between(2, 7) }, () => {
        const from = random.between(0, 12);
        const what = random.pick([...model.operations]);
        const input =
          what === 'cas'
            ? [pick(['null', 1]), pick([1, 2])]
            : what === 'read' || what === 'dequeue'
              ? undefined
              : random.between(1, 3);
        const output =
          what === 'read' && name === 'set'
            ? pick([[], ['1'], ['1', '2']])
            : pick([undefined, null, 0, 1, 2, true]);
        const to = random.next() < 0.2 ? undefined : from + random.between(1, 6);
        return op(random.pick(['A', 'B', 'C']), what, input, from, to, output);
      });
      const expected = isInSomeOrder(model, history);
      verdicts[`${expected}`]++;
      expect(isLinearizable(model, history), history.map(operationText).join('; ')).toBe(expected);
    }
    expect(Math.min(verdicts.true, verdicts.false)).toBeGreaterThan(20);
  },
);

test('long histories are judged soon, and those that cannot be are refused', () => {
  const long = Array.from({ length: 3000 }, (_, i) => op('A', 'add', 1, 2 * i, 2 * i + 5, i + 1));
  expect(misfit('counter', long)).toBeUndefined();
  const hard = Array.from({ length: 40 }, (_, i) => op(`C${i}`, 'enqueue', i, 0, 100));
  const never = op('A', 'dequeue', undefined, 101, 102, 'x');
  expect(() => misfit('queue', [...hard, never])).toThrow(
    'whether 41 operations are linearizable takes too long',
  );
});

test('only the first word about an operation counts, and a process that died says nothing', () => {
  let now = 0;
  const log = new OperationLog(() => now);
  const who = { name: 'A', life: 1 };
  const one = log.begin(who, 'add', 1, 'n');
  const two = log.begin(who, 'add', 2, 'n');
  now = 5;
  one.ok(3);
  one.failed();
  who.life = 2;
  two.ok();
  expect(log.all).toMatchObject([
    { client: 'A', life: 1, operation: 'add', of: 'n', input: 1, output: 3, from: 0, to: 5, outcome: 'ok' },
    { input: 2, to: Infinity, outcome: 'unknown' },
  ]);
});
