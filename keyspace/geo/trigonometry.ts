/**
 * Sine, cosine and arc sine, rounded to the nearest double: C's libraries get them right but for one case in thousands,
 * JavaScript's often miss the last bit, which distances between places show. Computed in pairs of doubles.
 */

/** The unevaluated sum of two doubles, the second below the last place of the first. */
type DoubleDouble = readonly [high: number, low: number];

const PI: DoubleDouble = [Math.PI, 1.2246467991473532e-16];
const HALF_PI = Math.PI / 2;
/** Splits a double into halves whose products are exact. */
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

/** Below this a term of the series no longer counts. */
const NEGLIGIBLE = 2 ** -110;

/** The Taylor series from a first term on: each next one is -x^2 / (n (n + 1)) times the one before. */
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

/** The sine of an angle of at most half a turn, to either side. */
export function sine(x: number): number {
  if (x === 0) return x;
  const size = Math.abs(x);
  const [folded] = sineOf(size <= HALF_PI ? [size, 0] : add(PI, [-size, 0]));
  return x < 0 ? -folded : folded;
}

/** The cosine of an angle of at most a quarter of a turn, to either side. */
export function cosine(x: number): number {
  return series([1, 0], multiply([x, 0], [x, 0]), 1)[0];
}

/** The arc sine of -1 to 1; NaN outside. */
export function arcSine(x: number): number {
  const near = Math.asin(x);
  if (!(Math.abs(x) < 1) || x === 0) return near;
  // One step of Newton's method from JavaScript's answer, whose sine is known to twice the digits.
  const [high, low] = sineOf([near, 0]);
  const missing = x - high - low;
  return near + missing / Math.sqrt((1 - x) * (1 + x));
}
