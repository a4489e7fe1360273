/**
 * Searches by distance: which cells of the grid are searched, in which order. Without sorting, that is also the order
 * of the results.
 */

import type { SortedSet } from '../collections/sorted-set.ts';
import {
  type Area,
  areaOf,
  type Cell,
  cellOf,
  degrees,
  distance,
  EARTH_RADIUS,
  LATITUDE_MAX,
  neighbor,
  type Place,
  placeOf,
  ROUGH_ERROR,
  radians,
  roughDistance,
  scoresOf,
} from './geohash.ts';

/** A circle, a rectangle along the meridians, both in metres, or a polygon of at least three corners. */
export interface Shape {
  readonly center: Place;
  readonly extent:
    | { readonly radius: number }
    | { readonly width: number; readonly height: number }
    | { readonly polygon: readonly Place[] };
}

/** The middle of a polygon's corners, as points on a sphere. Distances are measured from it. */
export function middleOf(polygon: readonly Place[]): Place {
  let [x, y, z] = [0, 0, 0];
  for (const place of polygon) {
    const [longitude, latitude] = [radians(place.longitude), radians(place.latitude)];
    x += Math.cos(latitude) * Math.cos(longitude);
    y += Math.cos(latitude) * Math.sin(longitude);
    z += Math.sin(latitude);
  }
  return {
    longitude: degrees(Math.atan2(y, x)),
    latitude: degrees(Math.atan2(z, Math.sqrt(x * x + y * y))),
  };
}

/** A member in the search area. */
export class Found {
  readonly member: string;
  readonly score: number;
  readonly place: Place;
  readonly #center: Place;
  #distance: number | undefined;
  #rough: number | undefined;

  constructor(member: string, score: number, place: Place, center: Place) {
    this.member = member;
    this.score = score;
    this.place = place;
    this.#center = center;
  }

  /** The distance from the centre, in metres. It takes a microsecond, so it is computed when something needs it. */
  get distance(): number {
    return (this.#distance ??= distance(this.#center, this.place));
  }

  /** About the distance. */
  get rough(): number {
    return (this.#rough ??= roughDistance(this.#center, this.place));
  }
}

/** Orders by distance. Most members are so far apart that the rough distances tell which one is nearer. */
export function nearestFirst(a: Found, b: Found): number {
  const rough = a.rough - b.rough;
  return Math.abs(rough) > 2 * ROUGH_ERROR ? rough : a.distance - b.distance;
}

/** Half of the Earth's circumference on the map, in metres. */
const MERCATOR_MAX = 20037726.37;

/** How often to halve the ranges for cells of about the radius' size. Near the poles, cells are narrower. */
function stepsFor(radius: number, latitude: number): number {
  if (radius === 0) return 26;
  let steps = 1;
  for (let range = radius; range < MERCATOR_MAX; range *= 2) steps++;
  steps -= 2;
  if (Math.abs(latitude) > 66) steps--;
  if (Math.abs(latitude) > 80) steps--;
  return Math.max(1, Math.min(26, steps));
}

/** A rough bounding box of the shape. */
function bounds({ center, extent }: Shape): Area {
  if ('polygon' in extent) {
    let [west, east, south, north] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { longitude, latitude } of extent.polygon) {
      [west, east] = [Math.min(west, longitude), Math.max(east, longitude)];
      [south, north] = [Math.min(south, latitude), Math.max(north, latitude)];
    }
    return { west, east, south, north };
  }
  const { longitude, latitude } = center;
  const [width, height] =
    'radius' in extent ? [extent.radius, extent.radius] : [extent.width / 2, extent.height / 2];
  const up = degrees(height / EARTH_RADIUS);
  const edge = latitude < 0 ? latitude - up : latitude + up;
  const aside = degrees(width / EARTH_RADIUS / Math.cos(radians(edge)));
  return { west: longitude - aside, east: longitude + aside, south: latitude - up, north: latitude + up };
}

/** Redis' order: the centre, the four sides, the four corners. */
const DIRECTIONS: readonly (readonly [east: number, north: number])[] = [
  [0, 0],
  [0, 1],
  [0, -1],
  [1, 0],
  [-1, 0],
  [1, 1],
  [-1, 1],
  [1, -1],
  [-1, -1],
];

/** A position that has a cell. The middle of a polygon can be nearer to a pole than any cell. */
function onMap({ longitude, latitude }: Place): Place {
  if (Math.abs(latitude) <= LATITUDE_MAX) return { longitude, latitude };
  return { longitude, latitude: Math.sign(latitude) * (LATITUDE_MAX - 1e-6) };
}

/** How far the shape reaches from its centre, in metres. */
function reach({ center, extent }: Shape, { west, east, south, north }: Area): number {
  if ('radius' in extent) return extent.radius;
  if ('width' in extent)
    return Math.sqrt((extent.width / 2) * (extent.width / 2) + (extent.height / 2) * (extent.height / 2));
  const corners = [west, east].flatMap((longitude) =>
    [south, north].map((latitude) => distance(center, { longitude, latitude })),
  );
  return Math.max(...corners);
}

/** The cells to search. */
function cellsFor(shape: Shape): Cell[] {
  const center = onMap(shape.center);
  const box = bounds(shape);
  let steps = stepsFor(reach(shape, box), center.latitude);
  let cell = cellOf(center, steps);
  if (steps > 1 && !coveredBy(cell, box)) cell = cellOf(center, --steps);
  const area = areaOf(cell);
  const needless = ([east, north]: readonly [number, number]) =>
    steps >= 2 &&
    ((north < 0 && area.south < box.south) ||
      (north > 0 && area.north > box.north) ||
      (east < 0 && area.west < box.west) ||
      (east > 0 && area.east > box.east));
  return DIRECTIONS.filter((direction) => !needless(direction)).map(([east, north]) =>
    neighbor(cell, east, north),
  );
}

/** True when the cell and its neighbours cover the box. NaN is not a bound. */
function coveredBy(cell: Cell, box: Area): boolean {
  return !(
    areaOf(neighbor(cell, 0, 1)).north < box.north ||
    areaOf(neighbor(cell, 0, -1)).south > box.south ||
    areaOf(neighbor(cell, 1, 0)).east < box.east ||
    areaOf(neighbor(cell, -1, 0)).west > box.west
  );
}

/** Returns whether a position is inside the shape. */
function isWithin({ center, extent }: Shape, place: Place): boolean {
  if ('polygon' in extent) return isInside(extent.polygon, place);
  if ('radius' in extent) {
    // Most members of the cells around are clearly outside, and most others are clearly inside.
    const beyond = roughDistance(center, place) - extent.radius;
    if (Math.abs(beyond) > ROUGH_ERROR) return beyond < 0;
    return distance(center, place) <= extent.radius;
  }
  const up = EARTH_RADIUS * Math.abs(radians(place.latitude) - radians(center.latitude));
  if (up > extent.height / 2) return false;
  const level = { longitude: center.longitude, latitude: place.latitude };
  const beyond = roughDistance(level, place) - extent.width / 2;
  if (Math.abs(beyond) > ROUGH_ERROR) return beyond < 0;
  return distance(level, place) <= extent.width / 2;
}

/**
 * True if a ray from the place to the east crosses the polygon's edges an odd number of times (the rule of even and odd).
 * The corners are on a plane, so an edge across the 180th meridian goes around the globe.
 */
function isInside(polygon: readonly Place[], { longitude, latitude }: Place): boolean {
  let inside = false;
  let from = polygon.at(-1) as Place;
  for (const to of polygon) {
    if (to.latitude > latitude !== from.latitude > latitude) {
      const slope =
        ((from.longitude - to.longitude) * (latitude - to.latitude)) / (from.latitude - to.latitude);
      if (longitude < slope + to.longitude) inside = !inside;
    }
    from = to;
  }
  return inside;
}

/** The members inside the shape, in the order in which Redis finds them. Stops at `limit`; 0 means no limit. */
export function search(set: SortedSet, shape: Shape, limit: number): Found[] {
  const found: Found[] = [];
  let last: Cell | undefined;
  for (const [i, cell] of cellsFor(shape).entries()) {
    // A wide search meets a cell from both sides. The centre is not compared with the cell before it.
    if (last?.x === cell.x && last.y === cell.y) continue;
    if (limit > 0 && found.length >= limit) break;
    collect(set, shape, cell, limit, found);
    if (i > 0) last = cell;
  }
  return found;
}

/** So many members are read at once where a search may end before the last one of a cell. */
const LIMITED_STEP = 64;

function collect(set: SortedSet, shape: Shape, cell: Cell, limit: number, found: Found[]): void {
  const { from, to } = scoresOf(cell);
  const first = set.countBelowScore(from, false);
  const last = set.countBelowScore(to, false) - 1;
  if (last < first) return;
  const step = limit > 0 ? LIMITED_STEP : last - first + 1;
  for (let rank = first; rank <= last; rank += step) {
    for (const { member, score } of set.rangeByRank(rank, Math.min(last, rank + step - 1))) {
      const place = placeOf(score);
      if (!isWithin(shape, place)) continue;
      found.push(new Found(member, score, place, shape.center));
      if (limit > 0 && found.length >= limit) return;
    }
  }
}
