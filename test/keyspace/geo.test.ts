/** Distances between places: the rough ones that rule members out must not be off by more than they may. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { distance, LATITUDE_MAX, ROUGH_ERROR, roughDistance } from '../../keyspace/geo/geohash.ts';

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
