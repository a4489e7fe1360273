/**
 * Sine, cosine and arc sine, rounded to the nearest double. C's libraries return that in all but one of thousands of
 * cases. JavaScript's functions often miss the last bit, which distances between positions show. Computed in
 * double-double arithmetic.
 */

/** The unevaluated sum of two doubles, where the second is below the last bit of the first. */
type DoubleDouble = readonly [high: number, low: number];

const PI: DoubleDouble = [Math.PI, 1.2246467991473532e-16];
const HALF_PI = Math.PI / 2;
/** Splits a double into halves whose products are exact (Dekker, 1971). */
const SPLITTER = 2 ** 27 + 1;

function sum(a: number, b: number): DoubleDouble {
  const high = a + b;
  const part = high - a;
  return [high, a - (high - part) + (b - part)];
}

function product(a: number, b: number): DoubleDouble {
  const high = a * b;
  const [a1, a2] = halves(a);
  const [b1, b2] = halves(b);
  return [high, a1 * b1 - high + a1 * b2 + a2 * b1 + a2 * b2];
}

function halves(value: number): DoubleDouble {
  const scaled = SPLITTER * value;
  const high = scaled - (scaled - value);
  return [high, value - high];
}

function add(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  const [high, low] = sum(a[0], b[0]);
  const rest = low + a[1] + b[1];
  const out = high + rest;
  return [out, rest - (out - high)];
}

function multiply(a: DoubleDouble, b: DoubleDouble): DoubleDouble {
  const [high, low] = product(a[0], b[0]);
  const rest = low + a[0] * b[1] + a[1] * b[0];
  const out = high + rest;
  return [out, rest - (out - high)];
}

function divide(a: DoubleDouble, by: number): DoubleDouble {
  const high = a[0] / by;
  const [product1, product2] = product(high, by);
  const low = (a[0] - product1 - product2 + a[1]) / by;
  const out = high + low;
  return [out, low - (out - high)];
}

/** Smaller terms of the series do not change the result. */
const NEGLIGIBLE = 2 ** -110;

/** The Taylor series from its first term on. Each next term is -x^2 / (n (n + 1)) times the one before. */
function series(first: DoubleDouble, square: DoubleDouble, from: number): DoubleDouble {
  let term = first;
  let total = first;
  for (let n = from; Math.abs(term[0]) > NEGLIGIBLE * Math.abs(total[0]); n += 2) {
    const next = divide(multiply(term, square), n * (n + 1));
    term = [-next[0], -next[1]];
    total = add(total, term);
  }
  return total;
}

function sineOf(x: DoubleDouble): DoubleDouble {
  return series(x, multiply(x, x), 2);
}

/** The sine of an angle between minus and plus half a turn, in radians. */
export function sine(x: number): number {
  if (x === 0) return x;
  const size = Math.abs(x);
  const [folded] = sineOf(size <= HALF_PI ? [size, 0] : add(PI, [-size, 0]));
  return x < 0 ? -folded : folded;
}

/** The cosine of an angle between minus and plus a quarter of a turn, in radians. */
export function cosine(x: number): number {
  return series([1, 0], multiply([x, 0], [x, 0]), 1)[0];
}

/** The arc sine of -1 to 1 in radians; NaN outside. */
export function arcSine(x: number): number {
  const near = Math.asin(x);
  if (!(Math.abs(x) < 1) || x === 0) return near;
  // One step of Newton's method from JavaScript's result, whose sine is known to twice the digits.
  const [high, low] = sineOf([near, 0]);
  const missing = x - high - low;
  return near + missing / Math.sqrt((1 - x) * (1 + x));
}
