/**
 * Prints doubles in few digits, as Redis since 7.2 and Valkey do: by Grisu2 (Florian Loitsch, "Printing floating-point
 * numbers quickly and accurately with integers", 2010). The text always gives the same number back. For about one number in
 * a thousand it is longer than the shortest text, which is what JavaScript prints.
 */
import { approximate, type Bytes } from './bytes.ts';

/** A binary number: `f` times two to the `e`. */
interface Binary {
  readonly f: bigint;
  readonly e: number;
}

const HIDDEN = 1n << 52n;
/** The exponent of the least bit of a subnormal double. */
const LEAST = -1074;
/** The powers of ten that are used are this far apart; a scaled number has an exponent between these two. */
const STEP = 8;
const FIRST = -348;
const SCALED_LEAST = -60;
const SCALED_MOST = -32;

const scratch = new DataView(new ArrayBuffer(8));

function split(value: number): Binary {
  scratch.setFloat64(0, value);
  const bits = scratch.getBigUint64(0);
  const fraction = bits & (HIDDEN - 1n);
  const exponent = (scratch.getUint16(0) >> 4) & 0x7ff;
  return exponent === 0 ? { f: fraction, e: LEAST } : { f: fraction + HIDDEN, e: LEAST + exponent - 1 };
}

/** By how many bits a number is moved to have its top bit at bit 63. */
function shiftOf({ f }: Binary): number {
  return f >= HIDDEN ? 11 : 64 - f.toString(2).length;
}

/** The upper half of the product, rounded. */
function times(a: Binary, b: Binary): Binary {
  return { f: (a.f * b.f + (1n << 63n)) >> 64n, e: a.e + b.e + 64 };
}

const powers = new Map<number, Binary>();

/** Ten to the power `k`, rounded to 64 bits. */
function powerOfTen(k: number): Binary {
  const known = powers.get(k);
  if (known !== undefined) return known;
  const ten = 10n ** BigInt(Math.abs(k));
  // So many bits more than are kept that rounding is all that is lost.
  const [f, e] = k >= 0 ? [ten << 128n, -128] : [(1n << 1400n) / ten, -1400];
  const extra = f.toString(2).length - 64;
  const power = { f: (f + (1n << BigInt(extra - 1))) >> BigInt(extra), e: e + extra };
  powers.set(k, power);
  return power;
}

interface Scale {
  readonly k: number;
  readonly power: Binary;
}

const scales = new Map<number, Scale>();

/** The power of ten that brings a number of that exponent into the range in which digits are generated. */
function scaleFor(e: number): Scale {
  const known = scales.get(e);
  if (known !== undefined) return known;
  for (let k = FIRST; ; k += STEP) {
    const power = powerOfTen(k);
    const scaled = e + power.e + 64;
    if (scaled < SCALED_LEAST || scaled > SCALED_MOST) continue;
    scales.set(e, { k, power });
    return { k, power };
  }
}

/** Decimal digits, and the power of ten that the last one stands for. */
interface Decimal {
  readonly digits: string;
  readonly k: number;
}

/** The digits of a positive finite number. */
function digitsOf(value: number): Decimal {
  const w = split(value);
  const shift = shiftOf(w);
  const e = w.e - shift;
  const moved = (f: bigint, by: number): Binary => ({ f: f << BigInt(by), e });
  const below = w.f === HIDDEN ? moved((w.f << 2n) - 1n, shift - 2) : moved((w.f << 1n) - 1n, shift - 1);
  const { k, power } = scaleFor(e);
  const upper = times(moved((w.f << 1n) + 1n, shift - 1), power);
  const lower = times(below, power);
  const scaled = times(moved(w.f, shift), power);
  // One unit inwards on both sides: the products are not exact.
  const top = upper.f - 1n;
  return generate(top, top - (lower.f + 1n), top - scaled.f, -upper.e, -k);
}

/** Numbers of up to 64 bits are kept in two parts: JavaScript's large integers take twice as long. */
const LOW_BITS = 30;
const LOW = 2 ** LOW_BITS;

/**
 * Digits of `top` until what is left is less than `delta`.
 * @param distance how far the number itself lies below `top`
 * @param shift how many bits of all of these are a fraction, at least 32
 */
function generate(top: bigint, delta: bigint, distance: bigint, shift: number, k: number): Decimal {
  const bits = BigInt(shift);
  const fraction = top & ((1n << bits) - 1n);
  let rest = approximate(top >> bits);
  let digits = '';
  for (let kappa = 9, unit = 1e9; kappa >= 0; kappa--, unit /= 10) {
    const digit = Math.floor(rest / unit);
    if (digit > 0 || digits !== '') digits += digit;
    rest -= digit * unit;
    const left = (BigInt(rest) << bits) + fraction;
    if (left <= delta) {
      return { digits: nearer(digits, delta, left, BigInt(unit) << bits, distance), k: k + kappa };
    }
  }
  return decimals(digits, fraction, delta, distance, shift, k);
}

/** The digits behind those of the whole part. */
function decimals(
  whole: string,
  left: bigint,
  delta: bigint,
  distance: bigint,
  shift: number,
  k: number,
): Decimal {
  const one = 2 ** (shift - LOW_BITS);
  let [high, low] = parts(left);
  let [wideHigh, wideLow] = parts(delta);
  let digits = whole;
  for (let kappa = -1; ; kappa--) {
    const carry = Math.floor((low * 10) / LOW);
    high = high * 10 + carry;
    low = low * 10 - carry * LOW;
    const wideCarry = Math.floor((wideLow * 10) / LOW);
    wideHigh = wideHigh * 10 + wideCarry;
    wideLow = wideLow * 10 - wideCarry * LOW;
    const digit = Math.floor(high / one);
    high -= digit * one;
    if (digit > 0 || digits !== '') digits += digit;
    if (high > wideHigh || (high === wideHigh && low >= wideLow)) continue;
    const far = distance * 10n ** BigInt(-kappa);
    const unit = 1n << BigInt(shift);
    return { digits: nearer(digits, joined(wideHigh, wideLow), joined(high, low), unit, far), k: k + kappa };
  }
}

function parts(value: bigint): [high: number, low: number] {
  return [approximate(value >> BigInt(LOW_BITS)), approximate(value & BigInt(LOW - 1))];
}

function joined(high: number, low: number): bigint {
  return (BigInt(high) << BigInt(LOW_BITS)) + BigInt(low);
}

/** Lowers the last digit as long as that brings the text nearer to the number. */
function nearer(digits: string, delta: bigint, left: bigint, unit: bigint, distance: bigint): string {
  let last = +digits.slice(-1);
  let rest = left;
  while (
    rest < distance &&
    delta - rest >= unit &&
    (rest + unit < distance || distance - rest > rest + unit - distance)
  ) {
    last--;
    rest += unit;
  }
  return digits.slice(0, -1) + last;
}

/** The text of a double in as few digits as Grisu2 finds: `0.1`, `1e+300`, `-1.5e-7`. */
export function formatShortest(value: number): Bytes {
  if (Number.isNaN(value)) return 'nan';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (value === 0) return `${sign}0`;
  if (!Number.isFinite(value)) return `${sign}inf`;
  return sign + layOut(digitsOf(Math.abs(value)));
}

/** Plain where that is not much longer than the digits, otherwise with an exponent. */
function layOut({ digits, k }: Decimal): string {
  const power = k + digits.length - 1;
  if (k >= 0 && power < digits.length + 7) return digits + '0'.repeat(k);
  if (k < 0 && (k > -7 || Math.abs(power) < 4)) {
    const point = digits.length + k;
    if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`;
    return `${digits.slice(0, point)}.${digits.slice(point)}`;
  }
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  return `${digits[0]}${fraction}e${power < 0 ? '-' : '+'}${Math.abs(power)}`;
}
