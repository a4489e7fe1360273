/** What commands on places share: reading coordinates, units and distances, and printing them. */
import { LATITUDE_MAX, LONGITUDE_MAX, type Place } from '../../keyspace/geohash.ts';
import { asciiLower, type Bytes, parseDouble } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { formatLongDouble, longDoubleOf } from '../../protocol/long-double.ts';
import { Double, type Reply } from '../../protocol/reply.ts';
import { float } from '../arguments.ts';

/** In metres. */
const UNITS: ReadonlyMap<Bytes, number> = new Map([
  ['m', 1],
  ['km', 1000],
  ['ft', 0.3048],
  ['mi', 1609.34],
]);

/** A unit's length in metres. */
export function unitOf(text: Bytes): number {
  return UNITS.get(asciiLower(text)) ?? fail('ERR unsupported unit provided. please use M, KM, FT, MI');
}

/** C's %f. */
function sixDecimals(value: number): Bytes {
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return Math.abs(value) < 1e21 ? value.toFixed(6) : `${BigInt(value)}.000000`;
}

/** Reads a place. Throws for what is no number, or off the map. */
export function placeFrom(longitudeText: Bytes, latitudeText: Bytes): Place {
  const longitude = float(longitudeText);
  const latitude = float(latitudeText);
  if (Math.abs(longitude) > LONGITUDE_MAX || Math.abs(latitude) > LATITUDE_MAX) {
    fail(`ERR invalid longitude,latitude pair ${sixDecimals(longitude)},${sixDecimals(latitude)}`);
  }
  return { longitude, latitude };
}

/** A coordinate with up to 17 decimals. */
function coordinate(value: number): Double {
  const text = formatLongDouble(longDoubleOf(value));
  // A script reads the number from these digits.
  return new Double(parseDouble(text) ?? value, text);
}

export function placeReply({ longitude, latitude }: Place): Reply {
  return [coordinate(longitude), coordinate(latitude)];
}

/** A distance with four decimals, halves to even, as C prints it. */
export function distanceReply(value: number): Bytes {
  const text = Math.abs(value) < 1e21 ? value.toFixed(4) : `${BigInt(value)}.0000`;
  // Only a multiple of 1/32 lies in the middle of two; toFixed then takes the larger one.
  if (!Number.isInteger(value * 32) || Number.isInteger(value * 16)) return text;
  const lower = (Math.floor(value * 10_000) / 10_000).toFixed(4);
  return (lower.charCodeAt(lower.length - 1) & 1) === 0 ? lower : text;
}
