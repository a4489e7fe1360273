/** Large maps and sets in which keys are deleted and added again, against V8's own. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HashValue } from '../../keyspace/collections/hash.ts';
import { IndexedKeys } from '../../keyspace/collections/random-map.ts';
import { LARGE, ReusedMap, ReusedSet } from '../../keyspace/collections/reused.ts';
import { SetValue } from '../../keyspace/collections/set.ts';
import { SortedSet } from '../../keyspace/collections/sorted-set.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `m${i}`);

/** Deletions and additions of keys, most of which were there before. */
const steps = fc.array(fc.tuple(fc.constantFrom('add', 'delete', 'read'), fc.nat({ max: 3000 })), {
  maxLength: 300,
});

test('a map and a set behave as those of V8, in the same order', () => {
  const many = names(3000);
  fc.assert(
    fc.property(steps, fc.boolean(), (all, addsMany) => {
      const [map, mapModel] = [new ReusedMap(new Map([['m0', 0]])), new Map([['m0', 0]])];
      const [set, setModel] = [new ReusedSet(new Set(['m0'])), new Set(['m0'])];
      const add = (key: string, value: number): void => {
        map.set(key, value);
        mapModel.set(key, value);
        set.add(key);
        setModel.add(key);
      };
      if (addsMany) for (const [i, key] of many.entries()) add(key, i);
      for (const [kind, at] of all) {
        const key = `m${at % 40}`;
        if (kind === 'add') add(key, at);
        else if (kind === 'delete') {
          expect(map.delete(key)).toBe(mapModel.delete(key));
          expect(set.delete(key)).toBe(setModel.delete(key));
        } else {
          expect([...map.entries()]).toEqual([...mapModel]);
          expect([...set.values()]).toEqual([...setModel]);
        }
        expect(map.get(key)).toBe(mapModel.get(key));
        expect([map.has(key), set.has(key)]).toEqual([mapModel.has(key), setModel.has(key)]);
        expect([map.size, set.size]).toEqual([mapModel.size, setModel.size]);
      }
      expect([...map.keys()]).toEqual([...mapModel.keys()]);
      expect([...map.values()]).toEqual([...mapModel.values()]);
      map.clear();
      expect([map.size, [...map.keys()]]).toEqual([0, []]);
    }),
    { numRuns: 20 },
  );
});

test('large collections have what was deleted and added again, at the end', () => {
  const members = names(4 * LARGE);
  const [hash, set, sorted, indexed] = [new HashValue(), new SetValue(), new SortedSet(), new IndexedKeys()];
  for (const [i, member] of members.entries()) {
    hash.set(member, String(i));
    set.add(member);
    sorted.set(member, i);
    indexed.add(member);
  }
  for (let time = 0; time < 3; time++) {
    for (const member of ['m5', 'm700']) {
      for (const each of [hash, set, sorted, indexed]) {
        expect(each.delete(member)).toBe(true);
        expect(each.has(member)).toBe(false);
        expect(each.size).toBe(members.length - 1);
      }
      expect(hash.set(member, `again ${time}`)).toBe(true);
      expect(set.add(member)).toBe(true);
      expect(sorted.set(member, -time)).toBe('added');
      expect(indexed.add(member)).toBe(true);
    }
  }
  const order = [...members.filter((each) => each !== 'm5' && each !== 'm700'), 'm5', 'm700'];
  expect([...hash.keys()]).toEqual(order);
  expect([...hash.copy().entries()].slice(-2)).toEqual([
    ['m5', 'again 2'],
    ['m700', 'again 2'],
  ]);
  expect([...set.values()]).toEqual(order);
  expect([...set.copy().values()]).toEqual(order);
  expect([...indexed.values()]).toEqual(order);
  expect(sorted.copy().score('m700')).toBe(-2);
  expect(sorted.rank('m700')).toBe(1);
  expect(set.at(members.length - 1)).toBe('m700');
});
