/**
 * Arithmetic on 80-bit floats, which Redis uses for INCRBYFLOAT and HINCRBYFLOAT: exact integers, rounded to 64 bits.
 */
import { approximate, type Bytes } from './bytes.ts';

/** mantissa * 2^exponent, where the mantissa has at most 64 bits, or an infinity. */
export type LongDouble = { readonly mantissa: bigint; readonly exponent: number } | 'inf' | '-inf';

const BITS = 64;
/** The first power of two that is out of range. */
const OVERFLOW = 16384;
/** Everything below two to this power is zero. */
const UNDERFLOW = -16445;
/** Redis does not parse longer texts as numbers. */
const TEXT_MAX = 5 * 1024;
const DECIMAL = /^([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:[eE]([+-]?\d+))?$/;
const HEX = /^([+-]?)0[xX](?:([0-9a-fA-F]+)\.?([0-9a-fA-F]*)|\.([0-9a-fA-F]+))(?:[pP]([+-]?\d+))?$/;
const INFINITE = /^([+-]?)inf(?:inity)?$/i;
/** Beyond these exponents of ten, every number is infinite or zero. */
const POWER_MAX = 10_000;

/**
 * Parses a number like C's strtold, with nothing left over. Undefined for NaN, invalid text, and numbers that are too
 * large.
 */
export function parseLongDouble(text: Bytes): LongDouble | undefined {
  if (text.length >= TEXT_MAX) return undefined;
  const infinite = INFINITE.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? '-inf' : 'inf';
  const decimal = DECIMAL.exec(text);
  const found = decimal ?? HEX.exec(text);
  if (found === null) return undefined;
  const [, sign, whole = '', part = found[4] ?? '', , power = '0'] = found;
  const digits = BigInt(`${decimal === null ? '0x0' : '0'}${whole}${part}`);
  const signed = sign === '-' ? -digits : digits;
  const exponent = Math.max(-POWER_MAX * 4, Math.min(POWER_MAX * 4, approximate(BigInt(power))));
  const value =
    decimal === null ? round(signed, exponent - 4 * part.length) : scale(signed, exponent - part.length);
  if (typeof value === 'string' || (digits !== 0n && isNothing(value))) return undefined;
  return value;
}

/** A finite double, without rounding. */
export function longDoubleOf(value: number): LongDouble {
  let exponent = 0;
  let mantissa = value;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent--;
  }
  return { mantissa: BigInt(mantissa), exponent };
}

/** The sum, rounded once; undefined when it is infinite or NaN. */
export function addLongDoubles(a: LongDouble, b: LongDouble): LongDouble | undefined {
  if (typeof a === 'string' || typeof b === 'string') return undefined;
  const exponent = Math.min(a.exponent, b.exponent);
  const sum = (a.mantissa << BigInt(a.exponent - exponent)) + (b.mantissa << BigInt(b.exponent - exponent));
  const rounded = round(sum, exponent);
  return typeof rounded === 'string' ? undefined : rounded;
}

/** Formats with up to 17 decimals and no trailing zeros, as Redis' human-friendly format does. */
export function formatLongDouble(value: LongDouble): Bytes {
  if (typeof value === 'string') return value;
  const { mantissa, exponent } = value;
  const scaled = (mantissa < 0n ? -mantissa : mantissa) * 10n ** 17n;
  const units = exponent >= 0 ? scaled << BigInt(exponent) : divide(scaled, 1n << BigInt(-exponent));
  if (units === 0n) return '0';
  const digits = units.toString().padStart(18, '0');
  const point = digits.length - 17;
  const text = `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0+$/, '');
  return mantissa < 0n ? `-${text}` : text;
}

/** True when the number is too small for the format. C rounds it to zero and reports that. */
function isNothing({ mantissa, exponent }: { mantissa: bigint; exponent: number }): boolean {
  return mantissa === 0n || bitLength(mantissa) + exponent < UNDERFLOW;
}

/** digits * 10^power, rounded. */
function scale(digits: bigint, power: number): LongDouble {
  if (digits === 0n) return { mantissa: 0n, exponent: 0 };
  if (power >= 0) return power > POWER_MAX ? 'inf' : round(digits * 10n ** BigInt(power), 0);
  if (power < -POWER_MAX - TEXT_MAX) return { mantissa: 0n, exponent: 0 };
  const divisor = 10n ** BigInt(-power);
  // Two bits more than the mantissa, and one for the remainder of the division, make the rounding exact.
  const shift = Math.max(0, bitLength(divisor) - bitLength(digits) + BITS + 2);
  const shifted = (digits < 0n ? -digits : digits) << BigInt(shift);
  const quotient = ((shifted / divisor) << 1n) | (shifted % divisor === 0n ? 0n : 1n);
  return round(digits < 0n ? -quotient : quotient, -shift - 1);
}

/** Rounds to 64 bits, ties to even. */
function round(mantissa: bigint, exponent: number): LongDouble {
  const magnitude = mantissa < 0n ? -mantissa : mantissa;
  const surplus = bitLength(magnitude) - BITS;
  const kept = surplus > 0 ? divide(magnitude, 1n << BigInt(surplus)) : magnitude;
  const power = surplus > 0 ? exponent + surplus : exponent;
  if (kept !== 0n && bitLength(kept) + power > OVERFLOW) return mantissa < 0n ? '-inf' : 'inf';
  return { mantissa: mantissa < 0n ? -kept : kept, exponent: power };
}

/** The quotient of two positive integers, ties to even. */
function divide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = (dividend % divisor) * 2n;
  return twice > divisor || (twice === divisor && (quotient & 1n) === 1n) ? quotient + 1n : quotient;
}

function bitLength(value: bigint): number {
  const hex = (value < 0n ? -value : value).toString(16);
  return value === 0n ? 0 : hex.length * 4 - Math.clz32('0123456789abcdef'.indexOf(hex.charAt(0))) + 28;
}

/** The largest finite number. */
export const LARGEST: LongDouble = { mantissa: (1n << 64n) - 1n, exponent: OVERFLOW - BITS };

/** The number with the opposite sign. */
export function negate(value: LongDouble): LongDouble {
  if (typeof value === 'string') return value === 'inf' ? '-inf' : 'inf';
  return { mantissa: -value.mantissa, exponent: value.exponent };
}

/** Negative when a is less than b, positive when it is greater, otherwise 0. */
export function compareLongDoubles(a: LongDouble, b: LongDouble): number {
  if (a === b) return 0;
  if (a === 'inf' || b === '-inf') return 1;
  if (a === '-inf' || b === 'inf') return -1;
  const exponent = Math.min(a.exponent, b.exponent);
  const [left, right] = [a, b].map((each) => each.mantissa << BigInt(each.exponent - exponent));
  return left === right ? 0 : left! < right! ? -1 : 1;
}
