/** The grid of cells, and distances: the rough ones that rule members out must not be off by more than they may. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  areaOf,
  cellOf,
  distance,
  LATITUDE_MAX,
  neighbor,
  placeOf,
  ROUGH_ERROR,
  roughDistance,
  STEPS_MAX,
  scoreOf,
  scoresOf,
} from '../../keyspace/geo/geohash.ts';
import { Found, nearestFirst } from '../../keyspace/geo/search.ts';

const degree = (most: number) => fc.double({ min: -most, max: most, noNaN: true });
const place = fc.record({ longitude: degree(180), latitude: degree(LATITUDE_MAX) });
const OFFSETS = [0, 1e-9, 1e-6, 1e-3, 1, 10, 90, 179.999999, 180];

test('a rough distance is off by less than is allowed for', () => {
  const near = fc.tuple(place, fc.constantFrom(...OFFSETS), fc.constantFrom(...OFFSETS));
  fc.assert(
    fc.property(near, ([from, east, north]) => {
      // On the other side of the globe, where arc sines are least exact, and nearby.
      const longitude = from.longitude > 0 ? from.longitude - east : from.longitude + east;
      const latitude = Math.max(-LATITUDE_MAX, Math.min(LATITUDE_MAX, -from.latitude + north));
      for (const to of [
        { longitude, latitude },
        { longitude, latitude: -latitude },
      ]) {
        const rough = roughDistance(from, to);
        if (!Number.isNaN(rough)) expect(Math.abs(rough - distance(from, to))).toBeLessThan(ROUGH_ERROR / 10);
      }
    }),
    { numRuns: 2000 },
  );
});

/** The score of a cell's south-west corner, bit by bit, as an exact integer. */
function exactScore(x: number, y: number, steps: number): bigint {
  let bits = 0n;
  for (let i = 0; i <= steps; i++) {
    bits |= ((BigInt(y) >> BigInt(i)) & 1n) << BigInt(2 * i);
    bits |= ((BigInt(x) >> BigInt(i)) & 1n) << BigInt(2 * i + 1);
  }
  return bits << BigInt(2 * (STEPS_MAX - steps));
}

test('the scores of a cell are its bits, interleaved, also beyond the last cell', () => {
  const edge = fc.constantFrom(
    { longitude: 180, latitude: LATITUDE_MAX },
    { longitude: 180, latitude: -LATITUDE_MAX },
    { longitude: -180, latitude: LATITUDE_MAX },
    { longitude: -180, latitude: -LATITUDE_MAX },
    { longitude: 180, latitude: 0 },
  );
  fc.assert(
    fc.property(fc.oneof(place, edge), fc.integer({ min: 1, max: STEPS_MAX }), (where, steps) => {
      const cell = cellOf(where, steps);
      const width = 1n << BigInt(2 * (STEPS_MAX - steps));
      const from = exactScore(cell.x, cell.y, steps);
      expect(scoresOf(cell)).toEqual({ from: Number(from), to: Number(from + width) });
      const { x, y } = cellOf(where, STEPS_MAX);
      expect(scoreOf(where)).toBe(Number(exactScore(x, y, STEPS_MAX)));
    }),
    { numRuns: 2000 },
  );
});

test('the place of a score is in its cell, and the cells around touch it', () => {
  fc.assert(
    fc.property(place, fc.integer({ min: 2, max: STEPS_MAX }), (where, steps) => {
      const back = placeOf(scoreOf(where));
      // Beyond the last cell, a double has no room for the last bit of the latitude.
      expect(Math.abs(back.longitude - where.longitude)).toBeLessThan(360 / 2 ** 26);
      expect(Math.abs(back.latitude - where.latitude)).toBeLessThan(360 / 2 ** 26);
      const cell = cellOf(where, steps);
      const count = 2 ** steps;
      expect(neighbor(cell, 1, 0)).toEqual({ ...cell, x: (cell.x + 1) % count });
      expect(neighbor(cell, -1, 0)).toEqual({ ...cell, x: (cell.x + count - 1) % count });
      expect(neighbor(cell, 0, 1)).toEqual({ ...cell, y: (cell.y + 1) % count });
      expect(neighbor(cell, 0, -1)).toEqual({ ...cell, y: (cell.y + count - 1) % count });
      if (cell.x + 1 < count) expect(areaOf(neighbor(cell, 1, 0)).west).toBe(areaOf(cell).east);
    }),
    { numRuns: 2000 },
  );
});

test('members are ordered by their exact distances, also where rough ones have another order', () => {
  const center = { longitude: 13.3, latitude: 38.1 };
  // On the other side of the globe, rough distances are least exact.
  const near = fc.tuple(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 0, max: 1000 }));
  let others = 0;
  fc.assert(
    fc.property(near, near, (one, other) => {
      const [a, b] = [one, other].map(
        ([x, y]) => new Found('m', 0, { longitude: -166.7 + x * 1e-9, latitude: -38.1 + y * 1e-9 }, center),
      ) as [Found, Found];
      const exact = Math.sign(a.distance - b.distance);
      if (Math.sign(a.rough - b.rough) !== exact) others++;
      expect(Math.sign(nearestFirst(a, b))).toBe(exact);
    }),
    { numRuns: 500, seed: 1 },
  );
  expect(others).toBeGreaterThan(0);
});
