/** The ring buffer of lists, and the list's own operations in the middle, beside plain arrays. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../keyspace/collections/encoding.ts';
import { ListValue } from '../../keyspace/collections/list.ts';
import { Ring } from '../../keyspace/collections/ring.ts';

/** A list is a listpack while it takes 8 KB at most. */
const LIMITS = { ...DEFAULT_LIMITS, packsLists: true, listMaxListpackSize: -2 };

type Step = readonly [deed: number, place: number];

/** Does the same to a ring and to an array. */
function step(ring: Ring<number>, array: number[], [deed, place]: Step, item: number): void {
  const at = array.length === 0 ? 0 : place % array.length;
  switch (deed) {
    case 0:
      expect(ring.push(item)).toBe(array.push(item));
      break;
    case 1:
      expect(ring.unshift(item)).toBe(array.unshift(item));
      break;
    case 2:
      expect(ring.pop()).toBe(array.pop());
      break;
    case 3:
      expect(ring.shift()).toBe(array.shift());
      break;
    default:
      if (array.length === 0) return;
      if (deed === 4) {
        ring.insert(at, item);
        array.splice(at, 0, item);
      } else if (deed === 5) {
        ring.remove(at);
        array.splice(at, 1);
      } else if (deed === 7) {
        ring.keep(at, array.length);
        array.splice(0, at);
      } else if (deed === 8) {
        ring.keep(at >> 1, array.length - (at >> 1));
        array.splice(0, at >> 1);
        array.length -= at >> 1;
      } else {
        ring.set(at, item);
        array[at] = item;
      }
  }
  expect(ring.length).toBe(array.length);
  expect(ring.at(at)).toBe(array[at]);
  expect(ring.toArray()).toEqual(array);
}

test('rings and their copies are like arrays, from every size', () => {
  const steps = fc.array(fc.tuple(fc.nat(9), fc.nat(1000)), { maxLength: 200 });
  fc.assert(
    fc.property(fc.constantFrom(0, 3, 4, 5, 100), steps, (size, deeds) => {
      const array = Array.from({ length: size }, (_, i) => -i);
      const pairs = [{ ring: new Ring(array), array }];
      for (const [i, each] of deeds.entries()) {
        const pair = pairs[each[1] % pairs.length]!;
        if (each[0] === 9) pairs.push({ ring: pair.ring.copy(), array: pair.array.slice() });
        else step(pair.ring, pair.array, each, i);
      }
      for (const { ring, array } of pairs) {
        expect(ring.toArray()).toEqual(array);
        expect([ring.at(-1), ring.at(array.length)]).toEqual([undefined, undefined]);
      }
    }),
  );
});

test('a large ring gives room back and stays in order', () => {
  const ring = new Ring<number>();
  for (let i = 0; i < 100_000; i++) ring.push(i);
  for (let i = 0; i < 99_000; i++) expect(ring.shift()).toBe(i);
  for (let i = 1; i <= 50_000; i++) ring.unshift(98_999 - i + 1);
  expect(ring.length).toBe(51_000);
  expect([ring.at(0), ring.at(50_999)]).toEqual([49_000, 99_999]);
  ring.clear();
  expect([ring.length, ring.pop(), ring.shift()]).toEqual([0, undefined, undefined]);
});

test('LREM, LINSERT and LSET do what they do to an array, with many equal elements and few', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(letters, fc.integer({ min: -20, max: 20 }), fc.nat(), (drawn, count, place) => {
      const items: string[] = drawn;
      const list = new ListValue(items.slice());
      const kept = count < 0 ? items.slice().reverse() : items.slice();
      let left = count === 0 ? Infinity : Math.abs(count);
      const rest = kept.filter((item) => item !== 'a' || left-- <= 0);
      if (count < 0) rest.reverse();
      expect(list.removeMatching('a', count)).toBe(items.length - rest.length);
      if (rest.length > 0) {
        const at = place % rest.length;
        list.setAt(at, 'set');
        rest[at] = 'set';
        list.insertAt(at, 'new');
        rest.splice(at, 0, 'new');
      }
      expect([...list.values()]).toEqual(rest);
      expect(list.bytes).toBe(rest.join('').length);
    }),
  );
});

test('a list that LTRIM has shortened knows its bytes and its encoding, whether or not anyone asks in between', () => {
  const deeds = fc.array(fc.tuple(fc.nat(3), fc.nat(2000)), { maxLength: 30 });
  fc.assert(
    fc.property(deeds, (steps) => {
      const items = Array.from({ length: 3000 }, (_, i) => `element ${i % 1000}`);
      const [asked, silent] = [new ListValue(items.slice(), LIMITS), new ListValue(items.slice(), LIMITS)];
      for (const [deed, place] of steps) {
        for (const list of [asked, silent]) {
          const at = list.size === 0 ? 0 : place % list.size;
          if (deed === 0) list.keep(at >> 1, list.size - 1 - (at >> 3));
          else if (deed === 1) list.pushRight(`new ${place}`);
          else if (deed === 2) list.popLeft();
          else list.removeMatching(list.at(at) ?? '', 0);
        }
        expect(asked.bytes).toBe([...asked.values()].join('').length);
        expect([asked.encoding(), silent.size]).toEqual([silent.encoding(), asked.size]);
      }
      expect([silent.bytes, silent.countPackedBytes()]).toEqual([asked.bytes, asked.countPackedBytes()]);
    }),
  );
});
