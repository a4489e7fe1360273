/**
 * Positions as Redis stores them: 26 bits each of latitude and longitude, interleaved, form the score of a sorted set.
 */
import { arcSine, cosine, sine } from './trigonometry.ts';

/** A position in degrees. */
export interface Place {
  readonly longitude: number;
  readonly latitude: number;
}

/** The largest longitude, in degrees. */
export const LONGITUDE_MAX = 180;
/** The largest latitude in degrees, at which a Mercator map is as high as it is wide. */
export const LATITUDE_MAX = 85.05112878;
/** How often a score halves each range. */
export const STEPS_MAX = 26;
/** The radius of the Earth in metres. */
export const EARTH_RADIUS = 6372797.560856;

/** A square of the grid that results from halving both ranges `steps` times, counted from the south-west. */
export interface Cell {
  readonly x: number;
  readonly y: number;
  readonly steps: number;
}

/** The area of a cell, in degrees. */
export interface Area {
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
}

/** Converts degrees to radians. */
export function radians(degrees: number): number {
  return degrees * (Math.PI / 180);
}

/** Converts radians to degrees. */
export function degrees(angle: number): number {
  return angle / (Math.PI / 180);
}

/** Spreads 16 bits over the even positions of 32 bits. */
function spread(bits: number): number {
  let v = (bits | (bits << 8)) & 0xff00ff;
  v = (v | (v << 4)) & 0xf0f0f0f;
  v = (v | (v << 2)) & 0x33333333;
  return (v | (v << 1)) & 0x55555555;
}

/** Collects the even positions of 64 bits. */
function gather(bits: bigint): number {
  let out = 0;
  for (let i = 31; i >= 0; i--) out = out * 2 + ((bits >> BigInt(2 * i)) & 1n ? 1 : 0);
  return out;
}

const HALF_BITS = 2 ** 26;

/** Interleaves the bits of two numbers up to 2^26: the lowest bit is that of y. @param plus what to add, before rounding */
function interleave({ x, y }: Cell, plus = 0): number {
  const low = spread(y & 0x1fff) | (spread(x & 0x1fff) << 1);
  const high = spread(y >>> 13) | (spread(x >>> 13) << 1);
  return high * HALF_BITS + (low + plus);
}

/** The cell of a position. As in Redis, the largest longitude and latitude are beyond the last cell. */
export function cellOf({ longitude, latitude }: Place, steps: number, latitudeMax = LATITUDE_MAX): Cell {
  const scale = 2 ** steps;
  const y = Math.floor(((latitude + latitudeMax) / (latitudeMax * 2)) * scale);
  const x = Math.floor(((longitude + LONGITUDE_MAX) / (LONGITUDE_MAX * 2)) * scale);
  return { x, y, steps };
}

/** The cell so many cells to the east and north, around the globe. */
export function neighbor({ x, y, steps }: Cell, east: number, north: number): Cell {
  const mask = 2 ** steps - 1;
  return { x: east === 0 ? x : (x + east) & mask, y: north === 0 ? y : (y + north) & mask, steps };
}

/** The score of a position. */
export function scoreOf(place: Place): number {
  return interleave(cellOf(place, STEPS_MAX));
}

/** The scores of the positions in a cell, from `from` up to, but not including, `to`. */
export function scoresOf(cell: Cell): { from: number; to: number } {
  const scale = 4 ** (STEPS_MAX - cell.steps);
  return { from: interleave(cell) * scale, to: interleave(cell, 1) * scale };
}

function areaAt(y: number, x: number, steps: number): Area {
  const scale = 2 ** steps;
  const high = LATITUDE_MAX * 2;
  const wide = LONGITUDE_MAX * 2;
  return {
    south: -LATITUDE_MAX + (y / scale) * high,
    north: -LATITUDE_MAX + ((y + 1) / scale) * high,
    west: -LONGITUDE_MAX + (x / scale) * wide,
    east: -LONGITUDE_MAX + ((x + 1) / scale) * wide,
  };
}

export function areaOf({ x, y, steps }: Cell): Area {
  return areaAt(y, x, steps);
}

/** Collects the even bits of a 26-bit number. */
function gather26(bits: number): number {
  let v = bits & 0x1555555;
  v = (v | (v >>> 1)) & 0x3333333;
  v = (v | (v >>> 2)) & 0xf0f0f0f;
  v = (v | (v >>> 4)) & 0xff00ff;
  return (v | (v >>> 8)) & 0xffff;
}

/** The middle of the cell of a score. Any number is a valid score, because ZADD can have created it. */
export function placeOf(score: number): Place {
  let area: Area;
  if (score >= 0 && score < 2 ** 52) {
    const high = Math.floor(score / HALF_BITS);
    const low = Math.floor(score) - high * HALF_BITS;
    const y = gather26(high) * 8192 + gather26(low);
    const x = gather26(high >>> 1) * 8192 + gather26(low >>> 1);
    area = areaAt(y, x, STEPS_MAX);
  } else {
    const bits = unsigned(score);
    area = areaAt(gather(bits), gather(bits >> 1n), STEPS_MAX);
  }
  return {
    longitude: clamp((area.west + area.east) / 2, LONGITUDE_MAX),
    latitude: clamp((area.south + area.north) / 2, LATITUDE_MAX),
  };
}

/** A double as 64 bits, converted as on x86. */
function unsigned(score: number): bigint {
  if (score >= 2 ** 64) return 0n;
  if (score < -(2 ** 63)) return 1n << 63n;
  return BigInt.asUintN(64, BigInt(Math.trunc(score)));
}

function clamp(value: number, most: number): number {
  return Math.max(-most, Math.min(most, value));
}

/** The distance in metres along the surface of the Earth, as a sphere. */
export function distance(a: Place, b: Place): number {
  const latitudeA = radians(a.latitude);
  const latitudeB = radians(b.latitude);
  const u = sine((latitudeB - latitudeA) / 2);
  const v = sine((radians(b.longitude) - radians(a.longitude)) / 2);
  return 2 * EARTH_RADIUS * arcSine(Math.sqrt(u * u + cosine(latitudeA) * cosine(latitudeB) * v * v));
}

/** More than the error of `roughDistance`, in metres. The error is largest on the other side of the globe: less than one. */
export const ROUGH_ERROR = 10;

/** About the same distance, in a fortieth of the time. */
export function roughDistance(a: Place, b: Place): number {
  const [latitudeA, latitudeB] = [radians(a.latitude), radians(b.latitude)];
  const u = Math.sin((latitudeB - latitudeA) / 2);
  const v = Math.sin((radians(b.longitude) - radians(a.longitude)) / 2);
  return 2 * EARTH_RADIUS * Math.asin(Math.sqrt(u * u + Math.cos(latitudeA) * Math.cos(latitudeB) * v * v));
}

const ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz';

/** The standard geohash: 11 letters, of which the last is always 0. */
export function geohashText(place: Place): string {
  const bits = interleave(cellOf(place, STEPS_MAX, 90));
  let text = '';
  for (let i = 1; i <= 10; i++) text += ALPHABET[Math.floor(bits / 2 ** (52 - 5 * i)) % 32];
  return `${text}0`;
}
