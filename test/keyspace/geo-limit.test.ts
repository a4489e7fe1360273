/** Searches by distance that end early, and boxes: the same members as without a limit, and as by exact distances. */
import { expect, test } from 'vitest';
import { SortedSet } from '../../keyspace/collections/sorted-set.ts';
import { distance, EARTH_RADIUS, radians, scoreOf } from '../../keyspace/geo/geohash.ts';
import { type Shape, search } from '../../keyspace/geo/search.ts';

const set = new SortedSet();
for (let i = 0; i < 3000; i++)
  set.set(
    `p${i}`,
    scoreOf({ longitude: ((i * 37) % 3600) / 10 - 180, latitude: ((i * 53) % 1700) / 10 - 85 }),
  );

const shapes: Shape[] = [0, 12.5, -179.9, 60].flatMap((longitude) =>
  [0, -84, 45].flatMap((latitude) => [
    { center: { longitude, latitude }, extent: { radius: 3_000_000 } },
    { center: { longitude, latitude }, extent: { width: 4_000_000, height: 2_500_000 } },
  ]),
);

test('a limit ends a search, and changes nothing before', () => {
  for (const shape of shapes) {
    const all = search(set, shape, 0).map(({ member }) => member);
    for (const limit of [1, 63, 64, 65, 200])
      expect(search(set, shape, limit).map(({ member }) => member)).toEqual(all.slice(0, limit));
  }
  expect(shapes.some((shape) => search(set, shape, 0).length > 200)).toBe(true);
});

test('a box has what is inside by exact distances along its sides', () => {
  for (const { center, extent } of shapes) {
    if (!('width' in extent)) continue;
    // Half as wide, the box has a member only if it is inside that one too.
    const narrow = { center, extent: { width: extent.width / 2, height: extent.height } };
    const near = new Set(search(set, narrow, 0).map(({ member }) => member));
    for (const { member, place } of search(set, { center, extent }, 0)) {
      const up = EARTH_RADIUS * Math.abs(radians(place.latitude) - radians(center.latitude));
      expect(up).toBeLessThanOrEqual(extent.height / 2);
      const aside = distance({ longitude: center.longitude, latitude: place.latitude }, place);
      expect(aside).toBeLessThanOrEqual(extent.width / 2);
      expect(near.has(member)).toBe(aside <= extent.width / 4);
    }
  }
});
