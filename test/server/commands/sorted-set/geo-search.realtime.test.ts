/** Searches by distance over the whole map, its edges and the other side of the globe: the answers are those of redis-server. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Beside, labelled } from '../../../support/beside/beside.ts';
import { sampleOf } from '../../../support/long.ts';
import { hasRedisServer } from '../../../support/redis-server.ts';

const MEMBERS = 200;

/** A coordinate in degrees: anywhere, near 0, or at an edge. */
const coordinate = (edge: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.double({ min: -edge, max: edge, noNaN: true }),
    fc.double({ min: -2, max: 2, noNaN: true }),
    fc.constantFrom(0, 66, 80, edge, -edge, edge - 1e-7, 1e-7 - edge),
  );
const longitude = coordinate(180);
const latitude = coordinate(85.05112878);

const member = fc.integer({ min: 0, max: MEMBERS - 1 }).map((i) => `m${i}`);
/** In metres: from a tenth to the circumference of the Earth, and the distance to the other side of the globe. */
const size = fc.oneof(
  fc.double({ min: -1, max: 7.6, noNaN: true }).map((power) => 10 ** power),
  fc.constantFrom(0, 20_020_741, 20_020_740, 20_020_742),
);
/**
 * Without an order: distances can differ in their last bit (keyspace/geo/trigonometry.ts), which decides between members that are
 * equally far away.
 */
const words = fc.tuple(
  fc.oneof(
    member.map((name) => `FROMMEMBER ${name}`),
    fc.tuple(longitude, latitude).map(([x, y]) => `FROMLONLAT ${x} ${y}`),
  ),
  fc.oneof(
    size.map((radius) => `BYRADIUS ${radius} m`),
    fc.tuple(size, size).map(([width, height]) => `BYBOX ${width} ${height} m`),
  ),
  fc.oneof(
    fc.constant(''),
    fc.integer({ min: 1, max: 20 }).map((count) => ` COUNT ${count} ANY`),
  ),
  fc.constantFrom('', ' WITHDIST', ' WITHHASH', ' WITHCOORD WITHDIST'),
);

/** Places anywhere, each with the place on the other side of the globe, and scores that are no places. */
function* fill(seed: number): Iterable<string> {
  yield 'DEL g';
  const places = fc.sample(fc.tuple(longitude, latitude), { numRuns: MEMBERS / 2, seed });
  for (const [i, [x, y]] of places.entries()) {
    yield `GEOADD g ${x} ${y} m${2 * i} ${x > 0 ? x - 180 : x + 180} ${-y} m${2 * i + 1}`;
  }
  yield 'ZADD g 1e300 huge -5 negative 4503599627370496 beyond 0.5 half';
  yield `GEOHASH g huge negative beyond half ${places.map((_, i) => `m${2 * i}`).join(' ')}`;
}

test.skipIf(!hasRedisServer)('searches find what redis-server finds (needs redis-server)', async () => {
  await using both = await Beside.start();
  const all: string[] = [];
  for (let set = 1; set <= sampleOf(100, 4); set++) {
    all.push(...fill(set));
    for (const parts of fc.sample(words, { numRuns: 300, seed: set }))
      all.push(`GEOSEARCH g ${parts[0]} ${parts.slice(1).join(' ')}`.replace(/ +/g, ' ').trim());
  }
  const { ours, theirs } = await both.ask(...all);
  const expected = labelled(all, theirs);
  expect(labelled(all, ours).filter((line, i) => line !== expected[i])).toEqual([]);
  expect(theirs.filter((answer) => !answer.startsWith('-')).length).toBeGreaterThan(all.length * 0.9);
});
