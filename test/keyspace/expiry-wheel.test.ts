/** The timing wheel against a naive list of deadlines. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Deadline, DeadlineTable, NONE } from '../../keyspace/expiry/deadlines.ts';
import { ExpiryWheel } from '../../keyspace/expiry/wheel.ts';

/** A wheel with the table of its deadlines, whose keys are numbers. */
class NamedWheel extends ExpiryWheel {
  readonly table: DeadlineTable;

  constructor(table = new DeadlineTable()) {
    super(table);
    this.table = table;
  }

  node(name: number): Deadline {
    return this.table.add(0, String(name));
  }

  name(deadline: Deadline): number | undefined {
    return deadline === NONE ? undefined : Number(this.table.key(deadline));
  }

  popDueName(now: number): number | undefined {
    return this.name(this.popDue(now));
  }
}

/** A simple model: a list of deadlines in the order of arming. */
class Model {
  armed: { name: number; at: number }[] = [];

  arm(name: number, at: number): void {
    this.disarm(name);
    this.armed.push({ name, at });
  }

  disarm(name: number): void {
    this.armed = this.armed.filter((one) => one.name !== name);
  }

  earliest(): { name: number; at: number } | undefined {
    let first: { name: number; at: number } | undefined;
    for (const one of this.armed) if (first === undefined || one.at < first.at) first = one;
    return first;
  }

  popDue(now: number): { name: number; at: number } | undefined {
    const first = this.earliest();
    if (first === undefined || first.at >= now) return undefined;
    this.disarm(first.name);
    return first;
  }
}

const YEAR = 365 * 86_400_000;
const distance = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.integer({ min: 0, max: 2000 }),
  fc.integer({ min: 0, max: 600_000 }),
  fc.integer({ min: 0, max: 100 * YEAR }),
  fc.constantFrom(511, 512, 513, 2 ** 18 - 1, 2 ** 18, 2 ** 27 - 1, 2 ** 27, 2 ** 31, 2 ** 36, 2 ** 45),
);
const step = fc.record({
  kind: fc.nat({ max: 9 }),
  name: fc.nat({ max: 12 }),
  by: distance,
  backwards: fc.integer({ min: 0, max: 19 }).map((n) => n === 0),
});

describe('the expiry wheel', () => {
  it('fires the same deadlines as a sorted list, in the same order, whatever the clock does', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0, 1_700_000_000_000, 2 ** 53 - 2 ** 47),
        fc.array(step, { maxLength: 120, size: 'max' }),
        (start, steps) => {
          const wheel = new NamedWheel();
          const model = new Model();
          const nodes = Array.from({ length: 13 }, (_, i) => wheel.node(i));
          let now = start;
          for (const { kind, name, by, backwards } of steps) {
            if (kind < 5) {
              wheel.arm(nodes[name]!, now + by);
              model.arm(name, now + by);
            } else if (kind === 5 && by % 2 === 0) {
              wheel.disarm(nodes[name]!);
              model.disarm(name);
            } else if (kind === 5) {
              // Its row goes to another deadline.
              wheel.discard(nodes[name]!);
              model.disarm(name);
              nodes[name] = wheel.node(name);
            } else {
              now = Math.max(0, Math.min(2 ** 53, backwards ? now - by : now + by));
              for (;;) {
                const expected = model.popDue(now);
                const popped = wheel.popDue(now);
                expect(wheel.name(popped)).toBe(expected?.name);
                if (expected === undefined) break;
                expect(wheel.table.expiresAt(popped)).toBe(expected.at);
              }
            }
            expect(wheel.size).toBe(model.armed.length);
            const earliest = model.earliest()?.at;
            const after = (earliest ?? 0) + (earliest === undefined || earliest < 2 ** 53 ? 1 : 2);
            if (earliest !== undefined) expect(wheel.mayBeDue(after)).toBe(true);
            // What next() finds is kept, so it is not asked after every step.
            if (name % 2 === 0) continue;
            expect(wheel.next()).toBe(earliest);
            expect(wheel.mayBeDue(earliest ?? 2 ** 53)).toBe(false);
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  it('never takes a later time than the earliest for its bound, also while a slot is half open', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
        const wheel = new NamedWheel();
        const times = new Map<number, number>();
        const nodes = Array.from({ length: 13 }, (_, i) => wheel.node(i));
        let now = 1_700_000_000_000;
        for (const { kind, name, by, backwards } of steps) {
          now = backwards ? now - by : now;
          if (kind < 5) {
            wheel.arm(nodes[name]!, now + by);
            times.set(name, now + by);
          } else if (kind === 5) {
            wheel.disarm(nodes[name]!);
            times.delete(name);
          } else if (kind < 8) {
            if (!backwards) now += by;
            wheel.prepare(now, name % 3);
          } else {
            const popped = wheel.popDueName(now);
            const due = Math.min(...times.values());
            if (due < now) expect(times.get(popped!)).toBe(due);
            else expect(popped).toBeUndefined();
            if (popped !== undefined) times.delete(popped);
          }
          const earliest = Math.min(...times.values());
          expect(wheel.mayBeDue(earliest + 1)).toBe(times.size > 0);
          if (name % 2 === 0) continue;
          expect(wheel.next() ?? Infinity).toBeLessThanOrEqual(earliest);
          expect(wheel.mayBeDue(earliest + 1)).toBe(times.size > 0);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('fires strictly after the deadline', () => {
    const wheel = new NamedWheel();
    const one = wheel.node(1);
    wheel.arm(one, 1000);
    expect(wheel.popDue(1000)).toBe(NONE);
    expect(wheel.popDue(1001)).toBe(one);
    expect(wheel.popDue(1001)).toBe(NONE);
    expect(wheel.next()).toBeUndefined();
  });

  it('keeps the order of arming among equal deadlines, also for a node that is armed again', () => {
    const wheel = new NamedWheel();
    const nodes = [0, 1, 2, 3].map((name) => wheel.node(name));
    const at = 1_700_000_123_456;
    for (const one of nodes) wheel.arm(one, at);
    expect(wheel.popDue(at - 200)).toBe(NONE);
    wheel.arm(nodes[1]!, at);
    expect([0, 1, 2, 3].map(() => wheel.popDueName(at + 1))).toEqual([0, 2, 3, 1]);
  });

  it('never returns a time after the first deadline, and reaches it in a few steps, however crowded a slot is', () => {
    const wheel = new NamedWheel();
    const base = 1_700_000_000_000;
    for (let i = 0; i < 5000; i++) wheel.arm(wheel.node(i), base + 30_000 + ((i * 7919) % 5000));
    let asked = 0;
    for (let now = wheel.next()!; now < base + 30_000; now = wheel.next()!) {
      expect(wheel.popDue(now + 1)).toBe(NONE);
      asked++;
    }
    expect(wheel.next()).toBe(base + 30_000);
    expect(asked).toBeLessThan(6);
  });

  it('handles the largest deadlines, and ones that have already passed', () => {
    const wheel = new NamedWheel();
    const [far, past, never] = [wheel.node(1), wheel.node(2), wheel.node(3)];
    wheel.arm(far, 2 ** 53 - 1);
    wheel.arm(never, 2 ** 60);
    expect(wheel.popDue(1_700_000_000_000)).toBe(NONE);
    wheel.arm(past, 5);
    expect(wheel.next()).toBe(5);
    expect(wheel.popDue(1_700_000_000_000)).toBe(past);
    expect(wheel.next()).toBe(2 ** 53 - 1);
    expect(wheel.popDue(2 ** 53)).toBe(far);
    expect(wheel.popDue(2 ** 53)).toBe(NONE);
    expect(wheel.size).toBe(1);
  });
});

it('drops the bound of a crowded slot when its time comes and no node is left there', () => {
  const wheel = new NamedWheel();
  const crowd = Array.from({ length: 100 }, (_, name) => wheel.node(name));
  for (const each of crowd) wheel.arm(each, 1025 + wheel.name(each)!);
  wheel.arm(wheel.node(1000), 100_000);
  expect(wheel.next()).toBe(1025);
  wheel.disarm(crowd[0]!);
  expect(wheel.next()).toBe(1024); // A bound, and nobody's deadline.
  for (const each of crowd) wheel.disarm(each);
  expect(wheel.popDue(1025)).toBe(NONE);
  expect(wheel.next()).toBeGreaterThanOrEqual(1025);
});

it('keeps the former time of the earliest deadline as the bound, until somebody asks for the next one', () => {
  const wheel = new NamedWheel();
  const lock = wheel.node(1);
  wheel.arm(lock, 30_000);
  wheel.arm(lock, 40_000);
  expect([wheel.mayBeDue(30_000), wheel.mayBeDue(30_001)]).toEqual([false, true]);
  expect(wheel.next()).toBe(40_000);
  expect(wheel.mayBeDue(40_000)).toBe(false);
  wheel.disarm(lock);
  expect([wheel.mayBeDue(Infinity), wheel.next()]).toEqual([false, undefined]);
});

it('knows of a deadline before its base while a slot is half open', () => {
  const wheel = new NamedWheel();
  for (let i = 0; i < 10; i++) wheel.arm(wheel.node(i), 1_000_000 + i);
  expect(wheel.prepare(2_000_000, 1)).toBe(false);
  const [first, second] = [wheel.node(20), wheel.node(21)];
  wheel.arm(first, 10);
  wheel.arm(second, 20);
  wheel.discard(first);
  expect([wheel.next(), wheel.mayBeDue(21)]).toEqual([20, true]);
});

it('fires many deadlines before its base in order, in whatever order they were armed', () => {
  for (const order of ['falling', 'rising', 'mixed']) {
    const wheel = new NamedWheel();
    const start = 1_700_000_000_000;
    for (let i = 0; i < 300; i++) wheel.arm(wheel.node(1000 + i), start + i * 1_000_000);
    wheel.popDue(start + 1);
    const past = Array.from({ length: 200 }, (_, i) => i);
    if (order === 'falling') past.reverse();
    if (order === 'mixed') past.sort((a, b) => ((a * 7919) % 200) - ((b * 7919) % 200));
    for (const i of past) wheel.arm(wheel.node(i), start - 5_000_000_000 + i * 20_000_000);
    const fired: number[] = [];
    for (let due = wheel.popDueName(Infinity); due !== undefined; due = wheel.popDueName(Infinity))
      fired.push(due);
    expect(fired).toEqual([
      ...Array.from({ length: 200 }, (_, i) => i),
      ...Array.from({ length: 299 }, (_, i) => 1001 + i),
    ]);
    expect(wheel.size).toBe(0);
  }
});
