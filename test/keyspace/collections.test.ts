/** Hashes, sets, lists and indexed keys against naive models. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits, stringEncoding } from '../../keyspace/collections/encoding.ts';
import { HashValue } from '../../keyspace/collections/hash.ts';
import { ListValue } from '../../keyspace/collections/list.ts';
import { IndexedKeys } from '../../keyspace/collections/random-map.ts';
import { SetValue } from '../../keyspace/collections/set.ts';

const word = fc.oneof(
  fc.constantFrom('__proto__', '', 'constructor', '0', '-0', '00', '9223372036854775807', '\xff\x00', '+1'),
  fc.integer({ min: -8, max: 8 }).map(String),
  fc.bigInt({ min: -(2n ** 63n) - 2n, max: 2n ** 63n + 1n }).map(String),
  fc.string({ maxLength: 3 }),
);

describe('the encoding of a string', () => {
  it('is int for 64-bit integers, embstr up to 44 bytes, and raw above', () => {
    expect(stringEncoding('9223372036854775807')).toBe('int');
    expect(stringEncoding('-9223372036854775808')).toBe('int');
    expect(stringEncoding('9223372036854775808')).toBe('embstr');
    expect(stringEncoding('01')).toBe('embstr');
    expect(stringEncoding('x'.repeat(44))).toBe('embstr');
    expect(stringEncoding('x'.repeat(45))).toBe('raw');
  });
});

describe('indexed keys', () => {
  it('have numbers without gaps under any mixture of additions and deletions', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), word), { maxLength: 60, size: 'max' }), (steps) => {
        const keys = new IndexedKeys();
        const model = new Set<string>();
        for (const [add, key] of steps) {
          if (add) {
            expect(keys.add(key)).toBe(!model.has(key));
            model.add(key);
          } else expect(keys.delete(key)).toBe(model.delete(key));
          const numbered = Array.from({ length: keys.size }, (_, i) => keys.at(i));
          expect(numbered.sort()).toEqual([...model].sort());
        }
        expect(keys.at(keys.size)).toBeUndefined();
      }),
    );
  });
});

describe('a hash', () => {
  it('behaves as an ordered map', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), word, word), { maxLength: 80, size: 'max' }), (steps) => {
        const hash = new HashValue();
        const model = new Map<string, string>();
        for (const [set, field, value] of steps) {
          if (set) {
            expect(hash.set(field, value)).toBe(!model.has(field));
            model.set(field, value);
          } else expect(hash.delete(field)).toBe(model.delete(field));
          expect(hash.get(field)).toBe(model.get(field));
          expect(hash.has(field)).toBe(model.has(field));
        }
        expect([...hash.entries()]).toEqual([...model]);
        expect([...hash.copy().entries()]).toEqual([...model]);
        expect(hash.size).toBe(model.size);
      }),
    );
  });

  it('numbers every field, whether it is large or small, while fields are added and deleted', () => {
    for (const size of [1, 10, 64, 65, 300]) {
      const hash = new HashValue();
      for (let i = 0; i < size; i++) hash.set(`f${i}`, 'v');
      expect(hash.at(0)).toBeDefined();
      hash.set('late', 'v');
      hash.delete('f0');
      const fields = new Set(Array.from({ length: size }, (_, i) => hash.at(i)));
      expect(fields).toEqual(new Set(hash.keys()));
      expect(hash.at(size)).toBeUndefined();
    }
  });

  it('becomes a hash table above the limits and never changes back', () => {
    const limits = defaultLimits();
    limits.hashMaxEntries = 3;
    const hash = new HashValue(limits);
    for (const field of ['a', 'b', 'c']) hash.set(field, '1');
    expect(hash.encoding()).toBe('listpack');
    hash.set('d', '1');
    hash.delete('d');
    expect(hash.encoding()).toBe('hashtable');
    expect(hash.copy().encoding()).toBe('hashtable');
    const long = new HashValue(limits);
    long.set('f', 'x'.repeat(64));
    expect(long.encoding()).toBe('listpack');
    long.set('f', 'x'.repeat(65));
    expect(long.encoding()).toBe('hashtable');
  });

  it('is not affected by changes to its copy', () => {
    const hash = new HashValue();
    hash.set('a', '1');
    const copy = hash.copy();
    copy.set('a', '2');
    copy.set('b', '2');
    expect([...hash.entries()]).toEqual([['a', '1']]);
  });
});

describe('a set', () => {
  it('behaves as a set, in numeric order while it is an intset', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), word), { maxLength: 80, size: 'max' }), (steps) => {
        const limits = { ...defaultLimits(), setMaxIntset: 5 };
        const set = new SetValue(limits);
        const model = new Set<string>();
        for (const [add, member] of steps) {
          if (add) {
            expect(set.add(member)).toBe(!model.has(member));
            model.add(member);
          } else expect(set.delete(member)).toBe(model.delete(member));
          expect(set.has(member)).toBe(model.has(member));
          expect(set.size).toBe(model.size);
          const values = [...set.values()];
          if (set.encoding() === 'intset') {
            const sorted = [...model].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
            expect(values).toEqual(sorted);
            expect(set.size).toBeLessThanOrEqual(5);
          }
          expect(values.sort()).toEqual([...model].sort());
          const numbered = Array.from({ length: set.size }, (_, i) => set.at(i));
          expect(numbered.sort()).toEqual(values);
        }
        expect([...set.copy().values()]).toEqual([...set.values()]);
        expect(set.copy().encoding()).toBe(set.encoding());
      }),
    );
  });

  it('keeps members and their order when numbers are first needed', () => {
    const set = new SetValue();
    for (const member of ['c', 'a', 'b']) set.add(member);
    set.delete('a');
    expect([...set.values()]).toEqual(['c', 'b']);
    expect([set.at(0), set.at(1), set.at(2)].sort()).toEqual(['b', 'c', undefined]);
    expect(set.add('b')).toBe(false);
    expect(set.add('d')).toBe(true);
    expect([...set.values()]).toEqual(['c', 'b', 'd']);
    expect([...set.copy().values()]).toEqual(['c', 'b', 'd']);
  });

  it('is an intset up to its limit and a hash table from then on', () => {
    const set = new SetValue();
    for (let i = 0; i < 512; i++) set.add(String(i));
    expect(set.encoding()).toBe('intset');
    set.add('512');
    expect(set.encoding()).toBe('hashtable');
    for (let i = 0; i < 512; i++) set.delete(String(i));
    expect(set.encoding()).toBe('hashtable');
    expect([...set.values()]).toEqual(['512']);
  });
});

type ListStep = [kind: number, index: number, value: string, count: number];

function applyToBoth(list: ListValue, model: string[], [kind, at, value, count]: ListStep): void {
  const index = model.length === 0 ? 0 : at % model.length;
  if (kind === 0) expect(list.pushLeft(value)).toBe(model.unshift(value));
  else if (kind === 1) expect(list.pushRight(value)).toBe(model.push(value));
  else if (kind === 2) expect(list.popLeft()).toBe(model.shift());
  else if (kind === 3) expect(list.popRight()).toBe(model.pop());
  else if (kind === 4 && model.length > 0) {
    list.setAt(index, value);
    model[index] = value;
  } else if (kind === 5) {
    list.insertAt(at % (model.length + 1), value);
    model.splice(at % (model.length + 1), 0, value);
  } else if (kind === 6) {
    let removed = 0;
    const most = count === 0 ? Infinity : Math.abs(count);
    for (let found = next(); found >= 0 && removed < most; found = next(), removed++) model.splice(found, 1);
    function next(): number {
      return removed >= most ? -1 : count < 0 ? model.lastIndexOf(value) : model.indexOf(value);
    }
    expect(list.removeMatching(value, count)).toBe(removed);
  } else if (kind === 7 && model.length > 0) {
    const stop = Math.min(model.length - 1, index + Math.abs(count) * 3);
    list.keep(index, stop);
    model.splice(stop + 1);
    model.splice(0, index);
  } else if (kind === 8) expect(list.at(at)).toBe(model[at]);
}

describe('a list', () => {
  it('behaves as an array', () => {
    const step = fc.tuple(
      fc.nat({ max: 8 }),
      fc.nat({ max: 40 }),
      fc.constantFrom('a', 'b', 'c'),
      fc.integer({ min: -3, max: 3 }),
    );
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(fc.constantFrom('a', 'b')),
        fc.array(step, { maxLength: 60, size: 'max' }),
        (packsLists, start, steps) => {
          const limits = { ...defaultLimits(), packsLists };
          const list = new ListValue([...start], limits);
          const model = [...start];
          for (const one of steps) {
            applyToBoth(list, model, one);
            expect([...list.values()]).toEqual(model);
            expect(list.size).toBe(model.length);
          }
          expect(list.range(1, model.length - 2)).toEqual(model.slice(1, Math.max(1, model.length - 1)));
          const [copy, made] = [list.copy(), new ListValue([...model], limits)];
          expect([...copy.values()]).toEqual(model);
          for (const each of [list, copy]) {
            expect(each.bytes).toBe(made.bytes);
            expect(each.countPackedBytes()).toBe(made.countPackedBytes());
          }
          expect(copy.encoding()).toBe(list.encoding());
          copy.pushRight('d');
          expect([...list.values()]).toEqual(model);
        },
      ),
    );
  });

  it('can be trimmed to nothing, and has nothing outside its bounds', () => {
    const list = new ListValue(['a', 'b']);
    expect(list.at(-1)).toBeUndefined();
    list.keep(1, 0);
    expect(list.size).toBe(0);
    expect(list.popLeft()).toBeUndefined();
    expect(list.encoding()).toBe('quicklist');
  });
});
