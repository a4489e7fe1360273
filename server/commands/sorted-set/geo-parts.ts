/** Shared parts of the geo commands: reading and printing coordinates, units and distances. */
import { LATITUDE_MAX, LONGITUDE_MAX, type Place } from '../../../keyspace/geo/geohash.ts';
import { asciiLower, type Bytes, parseDouble } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { formatLongDouble, longDoubleOf } from '../../../protocol/long-double.ts';
import { Double, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { readScore, type ScoreTraits } from '../../table/arguments.ts';

/** The length of each unit in metres. */
const UNITS: ReadonlyMap<Bytes, number> = new Map([
  ['m', 1],
  ['km', 1000],
  ['ft', 0.3048],
  ['mi', 1609.34],
]);

/** Returns a unit's length in metres. Throws Redis' error for an unknown unit. */
export function unitOf(text: Bytes): number {
  return UNITS.get(asciiLower(text)) ?? fail('ERR unsupported unit provided. please use M, KM, FT, MI');
}

/** Formats a number with this many decimals as C's %f does: it rounds halves to even and keeps the sign of -0. */
function decimals(value: number, digits: number): Bytes {
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  if (size >= 1e21) return `${sign}${BigInt(size)}.${'0'.repeat(digits)}`;
  const text = size.toFixed(digits);
  // Only odd multiples of 2^-(digits + 1) are halfway between two results; toFixed rounds those up.
  const isMiddle = Number.isInteger(size * 2 ** (digits + 1)) && !Number.isInteger(size * 2 ** digits);
  if (!isMiddle || (text.charCodeAt(text.length - 1) & 1) === 0) return sign + text;
  return sign + (Math.floor(size * 10 ** digits) / 10 ** digits).toFixed(digits);
}

/** Reads a place from longitude and latitude in degrees. Throws Redis' error if one is not a number or out of range. */
export function placeFrom(traits: ScoreTraits, longitudeText: Bytes, latitudeText: Bytes): Place {
  const longitude = readScore(traits, longitudeText);
  const latitude = readScore(traits, latitudeText);
  if (Math.abs(longitude) > LONGITUDE_MAX || Math.abs(latitude) > LATITUDE_MAX) {
    fail(`ERR invalid longitude,latitude pair ${decimals(longitude, 6)},${decimals(latitude, 6)}`);
  }
  return { longitude, latitude };
}

/** A coordinate with up to 17 decimals. toFixed rounds as C does, but for what is halfway: a multiple of 2^-18. */
function coordinateText(value: number): Bytes {
  if (Number.isInteger(value * 2 ** 18) || Math.abs(value) < 1e-16)
    return formatLongDouble(longDoubleOf(value));
  return value.toFixed(17).replace(/0+$/, '');
}

function coordinate(value: number): Double {
  const text = coordinateText(value);
  // Scripts read the number from these digits.
  return new Double(parseDouble(text) ?? value, text);
}

export function placeReply({ server }: Caller, { longitude, latitude }: Place): Reply {
  if (server.dialect.coordinates === 'double') return [new Double(longitude), new Double(latitude)];
  return [coordinate(longitude), coordinate(latitude)];
}

/** Formats a distance with four decimals. */
export function distanceReply(value: number): Bytes {
  return decimals(value, 4);
}
