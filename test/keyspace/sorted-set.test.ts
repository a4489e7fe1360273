/** The sorted set against a naive sorted array. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../keyspace/collections/encoding.ts';
import { SortedSet } from '../../keyspace/collections/sorted-set.ts';

type Model = Map<string, number>;

function sorted(model: Model): { member: string; score: number }[] {
  const entries = [...model].map(([member, score]) => ({ member, score }));
  return entries.sort((a, b) => {
    if (a.score !== b.score) return a.score < b.score ? -1 : 1;
    return a.member < b.member ? -1 : 1;
  });
}

/** Compares the results of all methods with the model's. */
function compare(set: SortedSet, model: Model): void {
  const all = sorted(model);
  expect(set.size).toBe(all.length);
  expect([...set.entries()]).toEqual(all);
  expect([...set.entries(true)]).toEqual([...all].reverse());
  for (const [rank, entry] of all.entries()) {
    if (set.rank(entry.member) !== rank) expect(`rank of ${entry.member}`).toBe(`${rank}`);
    if (set.atRank(rank)?.member !== entry.member) expect(`member at ${rank}`).toBe(entry.member);
    expect(set.score(entry.member)).toBe(entry.score);
  }
  expect(set.atRank(all.length)).toBeUndefined();
  expect(set.atRank(-1)).toBeUndefined();
}

/** The members of a large set that are not at the rank of the model; cheaper than `compare`. */
function misplaced(set: SortedSet, model: Model): string[] {
  const all = sorted(model);
  const entries = [...set.entries()];
  const wrong = all.filter(
    ({ member }, i) =>
      entries[i]?.member !== member || set.rank(member) !== i || set.atRank(i)?.member !== member,
  );
  return [...wrong.map(({ member }) => member), ...(entries.length === all.length ? [] : ['another number'])];
}

const member = fc.oneof(fc.string({ maxLength: 2 }), fc.constantFrom('__proto__', '\xff', 'a', 'b'));
const score = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true }).map((value) => value + 0),
  fc.constantFrom(Infinity, -Infinity, 0.1),
);

describe('a sorted set', () => {
  it('orders by score, then by bytes, under any mixture of changes', () => {
    const step = fc.tuple(fc.nat({ max: 9 }), member, score);
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
        const set = new SortedSet();
        const model: Model = new Map();
        for (const [kind, name, value] of steps) {
          if (kind < 6) {
            const before = model.get(name);
            expect(set.set(name, value)).toBe(
              before === undefined ? 'added' : before === value ? 'same' : 'updated',
            );
            if (before !== value) model.set(name, value === 0 ? 0 : value);
          } else if (kind < 8) {
            expect(set.delete(name)).toBe(model.delete(name));
          } else {
            const all = sorted(model);
            const taken = kind === 8 ? all[0] : all.at(-1);
            expect(kind === 8 ? set.popMin() : set.popMax()).toEqual(taken);
            if (taken !== undefined) model.delete(taken.member);
          }
        }
        compare(set, model);
        compare(set.copy(), model);
        for (const inclusive of [false, true]) {
          for (const bound of [-1, 0, 0.1, Infinity, -Infinity]) {
            const below = sorted(model).filter((e) => e.score < bound || (inclusive && e.score === bound));
            expect(set.countBelowScore(bound, inclusive)).toBe(below.length);
          }
        }
      }),
    );
  });

  it('stays correct while tens of thousands of members split and join its chunks', () => {
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(1, 7, 1000, 1e9), (seed, spread) => {
        const set = new SortedSet();
        const model: Model = new Map();
        let state = seed >>> 0;
        const random = (below: number): number => {
          state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
          return Math.floor((state / 2 ** 32) * below);
        };
        for (let i = 0; i < 6000; i++) {
          const name = `m${random(4000)}`;
          const value = random(spread);
          set.set(name, value);
          model.set(name, value);
          if (i % 997 === 0) expect(misplaced(set, model)).toEqual([]);
        }
        compare(set, model);
        for (let i = 0; i < 3800; i++) {
          const name = `m${random(4000)}`;
          expect(set.delete(name)).toBe(model.delete(name));
          if (i % 997 === 0) expect(misplaced(set, model)).toEqual([]);
        }
        compare(set, model);
        while (set.size > 3) model.delete((set.size % 2 ? set.popMin() : set.popMax())!.member);
        compare(set, model);
      }),
      { numRuns: 8 },
    );
  });

  it('stays correct while it grows and shrinks across the sizes at which its chunks have another length', () => {
    const set = new SortedSet();
    const model: Model = new Map();
    const put = (i: number, value: number): void => {
      set.set(`m${i}`, value);
      model.set(`m${i}`, value);
    };
    for (let i = 0; i < 20_000; i++) put(i, (i * 7919) % 10_007);
    expect(misplaced(set, model)).toEqual([]);
    for (let i = 0; i < 20_000; i += 3) put(i, (i * 104_729) % 5003);
    expect(misplaced(set, model)).toEqual([]);
    for (let i = 100; i < 20_000; i++)
      if (!set.delete(`m${i}`) || !model.delete(`m${i}`)) throw new Error(`m${i}`);
    expect(misplaced(set, model)).toEqual([]);
    for (let i = 0; i < 1000; i++) put(i, i % 17);
    expect(misplaced(set, model)).toEqual([]);
  });

  it('shares nothing with its copy', () => {
    const set = new SortedSet();
    const model: Model = new Map();
    const put = (into: SortedSet, of: Model, i: number, value: number): void => {
      into.set(`m${i}`, value);
      of.set(`m${i}`, value);
    };
    for (let i = 0; i < 2000; i++) put(set, model, i, i);
    const copy = set.copy();
    const copied = new Map(model);
    for (let i = 0; i < 2000; i += 2) put(set, model, i, -i);
    for (let i = 500; i < 1500; i++) put(copy, copied, i, 5000 - i);
    expect(misplaced(set, model)).toEqual([]);
    expect(misplaced(copy, copied)).toEqual([]);
  });

  it('returns ranges by rank in both directions', () => {
    const set = new SortedSet();
    for (let i = 0; i < 2000; i++) set.set(`m${i}`, (i * 7919) % 2000);
    const all = [...set.entries()];
    for (const [start, stop] of [
      [0, 0],
      [0, 1999],
      [3, 2],
      [500, 1200],
      [1990, 5000],
      [2000, 2001],
    ] as const) {
      expect(set.rangeByRank(start, stop)).toEqual(all.slice(start, stop + 1));
      expect(set.rangeByRank(start, stop, true)).toEqual([...all].reverse().slice(start, stop + 1));
    }
    expect(new SortedSet().rangeByRank(0, 10)).toEqual([]);
  });

  it('counts members by bytes when all scores are equal', () => {
    const set = new SortedSet();
    const names = Array.from({ length: 1500 }, (_, i) => `k${(i * 7919) % 1500}`);
    for (const name of names) set.set(name, 0);
    for (const bound of ['', 'k', 'k1', 'k777', 'k777x', 'z']) {
      expect(set.countBelowMember(bound, false)).toBe(names.filter((n) => n < bound).length);
      expect(set.countBelowMember(bound, true)).toBe(names.filter((n) => n <= bound).length);
    }
  });

  it('becomes a skiplist above the limits and never changes back', () => {
    const set = new SortedSet();
    for (let i = 0; i < 128; i++) set.set(`m${i}`, i);
    expect(set.encoding()).toBe('listpack');
    set.set('m0', 5);
    expect(set.encoding()).toBe('listpack');
    set.set('one more', 1);
    expect(set.encoding()).toBe('skiplist');
    set.delete('one more');
    expect(set.copy().encoding()).toBe('skiplist');
    const long = new SortedSet(defaultLimits());
    long.set('x'.repeat(64), 1);
    expect(long.encoding()).toBe('listpack');
    long.set('x'.repeat(65), 1);
    expect(long.encoding()).toBe('skiplist');
  });

  it('keeps -0 only where redis-server 7.0 does, in a skiplist', () => {
    const set = new SortedSet({ ...defaultLimits(), zsetMaxEntries: 1 });
    set.set('small', -0);
    expect(Object.is(set.score('small'), 0)).toBe(true);
    set.set('large', -0);
    expect(Object.is(set.score('large'), -0)).toBe(true);
    expect(set.set('large', 0)).toBe('same');
    expect(Object.is(set.score('large'), -0)).toBe(true);
  });
});
