/**
 * Prints doubles in few digits, as Redis since 7.2 and Valkey do: by Grisu2 (Florian Loitsch, "Printing floating-point
 * numbers quickly and accurately with integers", 2010). The text always gives the same number back. For about one number in
 * a thousand it is longer than the shortest text, which is what JavaScript prints.
 */
import { approximate, type Bytes } from './bytes.ts';

/** A whole number of up to 64 bits: `high` times {@link LOW} plus `low`. With bigints, all of this takes five times as long. */
interface Whole {
  readonly high: number;
  readonly low: number;
}

const LOW = 2 ** 30;
const WORD = 2 ** 32;
const HIDDEN = 2 ** 52;
/** The exponent of the least bit of a subnormal double. */
const LEAST = -1074;
/** The powers of ten that are used are this far apart; a scaled number has an exponent between these two. */
const STEP = 8;
const FIRST = -348;
const SCALED_LEAST = -60;
const SCALED_MOST = -32;

const doubles = new Float64Array(1);
const words = new Uint32Array(doubles.buffer);

/** How many bits a number has. */
function bitsOf(value: number): number {
  return value >= WORD ? 64 - Math.clz32(Math.floor(value / WORD)) : 32 - Math.clz32(value);
}

/** The sum of numbers that may be negative, or have too large a part, if it is positive itself. */
function normal(high: number, low: number): Whole {
  const carry = Math.floor(low / LOW);
  return { high: high + carry, low: low - carry * LOW };
}

function minus(a: Whole, b: Whole, less: number): Whole {
  return normal(a.high - b.high, a.low - b.low - less);
}

/** A power of ten, in two words of 32 bits: times two to the `e`. */
interface Power {
  readonly k: number;
  readonly high: number;
  readonly low: number;
  readonly e: number;
}

/** Ten to the power `k`, rounded to 64 bits. */
function powerOfTen(k: number): Power {
  const ten = 10n ** BigInt(Math.abs(k));
  // So many bits more than are kept that rounding is all that is lost.
  const [f, e] = k >= 0 ? [ten << 128n, -128] : [(1n << 1400n) / ten, -1400];
  const extra = f.toString(2).length - 64;
  const power = (f + (1n << BigInt(extra - 1))) >> BigInt(extra);
  const word = (bits: bigint): number => approximate(BigInt.asUintN(32, bits));
  return { k, high: word(power >> 32n), low: word(power), e: e + extra };
}

const powers = new Map<number, Power>();

/** The power of ten that brings a number of that exponent into the range in which digits are generated. */
function powerFor(e: number): Power {
  const known = powers.get(e);
  if (known !== undefined) return known;
  for (let k = FIRST; ; k += STEP) {
    const power = powerOfTen(k);
    const scaled = e + power.e + 64;
    if (scaled < SCALED_LEAST || scaled > SCALED_MOST) continue;
    powers.set(e, power);
    return power;
  }
}

/** The upper and the lower word of the last product. */
let upperWord = 0;
let lowerWord = 0;

/** What is left of a number below a power of two. V8 calls into C for the % of numbers above 2^32. */
function rest(value: number, of: number): number {
  return value - Math.floor(value / of) * of;
}

/** The product of two words. */
function multiply(a: number, b: number): void {
  const last = a * (b & 0xffff);
  const carry = Math.floor(last / 65_536);
  const first = a * (b >>> 16) + carry;
  upperWord = Math.floor(first / 65_536);
  lowerWord = (first - upperWord * 65_536) * 65_536 + (last - carry * 65_536);
}

/** The upper half of the product of a number in two words and a power of ten, rounded. */
function scaled(high: number, low: number, power: Power): Whole {
  multiply(low, power.low);
  let middle = upperWord + WORD / 2;
  multiply(low, power.high);
  middle += lowerWord;
  let lower = upperWord;
  multiply(high, power.low);
  middle += lowerWord;
  lower += upperWord + Math.floor(middle / WORD);
  multiply(high, power.high);
  lower += lowerWord;
  const upper = upperWord + Math.floor(lower / WORD);
  const word = rest(lower, WORD);
  return { high: upper * 4 + Math.floor(word / LOW), low: rest(word, LOW) };
}

/** Decimal digits, and the power of ten that the last one stands for. */
interface Decimal {
  readonly digits: string;
  readonly k: number;
}

/** The digits of a positive finite number. */
function digitsOf(value: number): Decimal {
  doubles[0] = value;
  const exponent = words[1]! >>> 20;
  const fraction = (words[1]! & 0xfffff) * WORD + words[0]!;
  const f = exponent === 0 ? fraction : fraction + HIDDEN;
  // The number is moved to have its top bit at bit 63.
  const shift = 64 - bitsOf(f);
  const e = LEAST + Math.max(0, exponent - 1) - shift;
  const power = powerFor(e);
  const moved = f * 2 ** shift;
  const [high, low] = [Math.floor(moved / WORD), rest(moved, WORD)];
  // Numbers up to half the way to the next ones are printed as this one.
  const half = 2 ** (shift - 1);
  const above = scaled(high + Math.floor(half / WORD), low + rest(half, WORD), power);
  const gap = f === HIDDEN ? half / 2 : half;
  const difference = low - rest(gap, WORD);
  const borrow = difference < 0 ? 1 : 0;
  const below = scaled(high - Math.floor(gap / WORD) - borrow, difference + borrow * WORD, power);
  // One unit inwards on both sides: the products are not exact.
  const top = normal(above.high, above.low - 1);
  const distance = minus(top, scaled(high, low, power), 0);
  return generate(top, minus(top, below, 1), distance, -(e + power.e + 64), -power.k);
}

/**
 * Digits of `top` until what is left is less than `delta`.
 * @param distance how far the number itself lies below `top`
 * @param shift how many bits of all of these are a fraction, at least 32
 */
function generate(top: Whole, delta: Whole, distance: Whole, shift: number, k: number): Decimal {
  const one = 2 ** shift / LOW;
  const { low } = top;
  let { high } = top;
  let digits = 0;
  for (let kappa = 9, unit = 1e9 * one; kappa >= 0; kappa--, unit /= 10) {
    const digit = Math.floor(high / unit);
    digits = digits * 10 + digit;
    high -= digit * unit;
    if (high < delta.high || (high === delta.high && low <= delta.low)) {
      const less = tooMany({ high, low }, delta, unit, distance);
      return { digits: String(digits - less), k: k + kappa };
    }
  }
  return decimals(digits, { high, low }, delta, distance, one, k);
}

/** So many decimals are in front of the others: all together they may be too large for a number. */
const IN_FRONT = 5;

/** The digits behind those of the whole part. */
function decimals(
  whole: number,
  fraction: Whole,
  delta: Whole,
  distance: Whole,
  one: number,
  k: number,
): Decimal {
  let { high, low } = fraction;
  let { high: wideHigh, low: wideLow } = delta;
  let { high: farHigh, low: farLow } = distance;
  let front = whole;
  let digits = 0;
  for (let count = 1; ; count++) {
    const carry = Math.floor((low * 10) / LOW);
    high = high * 10 + carry;
    low = low * 10 - carry * LOW;
    const wideCarry = Math.floor((wideLow * 10) / LOW);
    wideHigh = wideHigh * 10 + wideCarry;
    wideLow = wideLow * 10 - wideCarry * LOW;
    const farCarry = Math.floor((farLow * 10) / LOW);
    farHigh = farHigh * 10 + farCarry;
    farLow = farLow * 10 - farCarry * LOW;
    const digit = Math.floor(high / one);
    high -= digit * one;
    digits = digits * 10 + digit;
    if (high > wideHigh || (high === wideHigh && low >= wideLow)) {
      if (count > IN_FRONT) continue;
      front = front * 10 + digit;
      digits = 0;
      continue;
    }
    const far = { high: farHigh, low: farLow };
    digits -= tooMany({ high, low }, { high: wideHigh, low: wideLow }, one, far);
    const behind = count > IN_FRONT ? String(digits).padStart(count - IN_FRONT, '0') : String(digits);
    return { digits: front + behind, k: k - count };
  }
}

/** Whether a sum is negative. */
function isNegative(high: number, low: number): boolean {
  return high + Math.floor(low / LOW) < 0;
}

/** By how much the last digit, of which one is `unit`, should be lower for the text to be nearest to the number. */
function tooMany(left: Whole, delta: Whole, unit: number, distance: Whole): number {
  const { low } = left;
  let less = 0;
  for (let { high } = left; isNegative(high - distance.high, low - distance.low); high += unit) {
    if (isNegative(delta.high - high - unit, delta.low - low)) break;
    const isShort = isNegative(high + unit - distance.high, low - distance.low);
    if (!isShort && !isNegative(2 * (high - distance.high) + unit, 2 * (low - distance.low))) break;
    less++;
  }
  return less;
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
