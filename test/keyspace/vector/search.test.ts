/** Exact search in vector sets, against a plain sort with doubles; and the links, which keep every element reachable. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { link } from '../../../keyspace/vector/graph.ts';
import type { VectorNode } from '../../../keyspace/vector/node.ts';
import type { Quantization } from '../../../keyspace/vector/quantization.ts';
import { store } from '../../../keyspace/vector/quantization.ts';
import { nearest } from '../../../keyspace/vector/search.ts';
import { VectorSet } from '../../../keyspace/vector/vector-set.ts';

const DIMENSION = 6;
const component = fc.float({ min: -1, max: 1, noNaN: true });
const vector = fc.array(component, { minLength: DIMENSION, maxLength: DIMENSION });
const vectors = fc.array(vector, { minLength: 1, maxLength: 40 });

function setOf(
  all: readonly (readonly number[])[],
  quantization: Quantization = 'f32',
  links = 4,
): VectorSet {
  const set = new VectorSet({ dimension: DIMENSION, quantization, links });
  for (const [i, each] of all.entries()) set.add(`e${i}`, Float32Array.from(each));
  return set;
}

/** The cosine of two vectors, in doubles. */
function cosine(a: readonly number[], b: readonly number[]): number {
  const sum = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((total, each, i) => total + each * (y[i] ?? 0), 0);
  const length = Math.sqrt(sum(a, a)) * Math.sqrt(sum(b, b));
  return length === 0 ? 0 : sum(a, b) / length;
}

/** Vectors whose lengths 32-bit floats can square: thousandths, because most floats are tiny. */
const ordinary = fc.array(
  fc.integer({ min: -1000, max: 1000 }).map((thousandths) => thousandths / 1000),
  { minLength: DIMENSION, maxLength: DIMENSION },
);

test('search finds what a sort by cosine finds, up to the precision of floats', () => {
  fc.assert(
    fc.property(
      fc.array(ordinary, { minLength: 1, maxLength: 40 }),
      ordinary,
      fc.integer({ min: 0, max: 45 }),
      (all, query, most) => {
        const found = nearest(setOf(all), store(Float32Array.from(query), 'f32'), most);
        const expected = all
          .map((each) => 1 - cosine(each, query))
          .sort((a, b) => a - b)
          .slice(0, most);
        expect(found.length).toBe(expected.length);
        for (const [i, { distance }] of found.entries()) expect(distance).toBeCloseTo(expected[i] ?? NaN, 5);
      },
    ),
  );
});

test('fewer results are the beginning of more, except among equal distances', () => {
  fc.assert(
    fc.property(
      vectors,
      vector,
      fc.constantFrom('f32', 'int8', 'bin'),
      fc.integer({ min: 1, max: 40 }),
      (all, query, form, most) => {
        const set = setOf(all, form);
        const asked = store(Float32Array.from(query), form);
        const distances = nearest(set, asked, set.size).map(({ distance }) => distance);
        expect(nearest(set, asked, most).map(({ distance }) => distance)).toEqual(distances.slice(0, most));
      },
    ),
  );
});

test('a condition leaves elements out before they are counted', () => {
  fc.assert(
    fc.property(vectors, vector, fc.integer({ min: 1, max: 10 }), (all, query, most) => {
      const set = setOf(all);
      const even = ({ id }: VectorNode): boolean => id % 2 === 0;
      const found = nearest(set, store(Float32Array.from(query), 'f32'), most, even);
      expect(found.length).toBe(Math.min(most, Math.floor(all.length / 2)));
      expect(found.every(({ node }) => even(node))).toBe(true);
    }),
  );
});

describe('links', () => {
  /** How many elements can be reached from the first. */
  function reachable(set: VectorSet): number {
    const [first] = set.nodes();
    const seen = new Set(first === undefined ? [] : [first]);
    for (const node of seen) for (const other of node.layers?.[0] ?? []) seen.add(other);
    return seen.size;
  }

  test('go both ways and reach every element, whatever is added and removed', () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ add: fc.integer({ min: 0, max: 30 }), vector }),
        fc.record({ drop: fc.integer({ min: 0, max: 30 }) }),
        fc.constant('link' as const),
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const set = new VectorSet({ dimension: DIMENSION, quantization: 'int8', links: 4 });
        for (const step of all) {
          if (step === 'link') link(set.nodes(), set);
          else if ('add' in step) set.add(`e${step.add}`, Float32Array.from(step.vector));
          else set.delete(`e${step.drop}`);
        }
        link(set.nodes(), set);
        expect(reachable(set)).toBe(set.size);
        for (const node of set.nodes()) {
          const links = node.layers?.[0] ?? [];
          expect(new Set(links).size).toBe(links.length);
          for (const other of links) {
            expect(other).not.toBe(node);
            expect(set.get(other.element)).toBe(other);
            expect(other.layers?.[0]).toContain(node);
          }
        }
      }),
    );
  });

  test('lead to the nearest of the older elements', () => {
    const set = setOf([
      [1, 0, 0, 0, 0, 0],
      [0, 1, 0, 0, 0, 0],
      [0, 0, 1, 0, 0, 0],
      [0, 0, 0, 1, 0, 0],
      [0, 0, 0, 0, 1, 0],
      [1, 0.1, 0, 0, 0, 0],
    ]);
    link(set.nodes(), set);
    const names = set.get('e5')?.layers?.[0]?.map(({ element }) => element);
    expect(names?.slice(0, 2)).toEqual(['e0', 'e1']);
    expect(names?.length).toBe(4);
  });
});
