/**
 * How a vector set stores vectors: normalised to length 1, then as floats, as one byte for each component (Q8), or as one
 * bit (BIN). All arithmetic is done in 32-bit floats and in the order in which redis-server does it, so that scores are
 * equal to the last bit.
 */

/** The forms of stored vectors, with the number that RDB has for each. */
export const QUANTIZATIONS = { f32: 0, int8: 1, bin: 2 } as const;
/** The form of stored vectors, as VINFO names it. */
export type Quantization = keyof typeof QUANTIZATIONS;

/** A stored vector. */
export interface Stored {
  /** The components: floats, bytes from -127 to 127, or bits, least significant first, in 64-bit words. */
  readonly data: Float32Array | Int8Array | Uint8Array;
  /** The length of the vector before it was normalised. */
  readonly length: number;
  /** For Q8: the largest component, which byte 127 stands for. */
  readonly range: number;
}

const { fround } = Math;
/** The largest byte of Q8. */
const TOP = 127;

/** How many bytes a stored vector of this dimension has. */
export function storedBytes(quantization: Quantization, dimension: number): number {
  if (quantization === 'f32') return dimension * 4;
  return quantization === 'int8' ? dimension : Math.ceil(dimension / 64) * 8;
}

/** The vector's length before it was normalised in place. A vector of zeros stays as it is, with the length 1. */
function normalise(vector: Float32Array): number {
  let sum = 0;
  let at = 0;
  for (; at + 3 < vector.length; at += 4) {
    let four = fround(vector[at]! * vector[at]!);
    for (let i = at + 1; i < at + 4; i++) four = fround(four + fround(vector[i]! * vector[i]!));
    sum = fround(sum + four);
  }
  for (; at < vector.length; at++) sum = fround(sum + fround(vector[at]! * vector[at]!));
  if (sum === 0) return 1;
  const length = fround(Math.sqrt(sum));
  for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! / length;
  return length;
}

/** Normalises a vector and stores it in the form of its set. */
export function store(vector: Float32Array, quantization: Quantization): Stored {
  const data = vector.slice();
  const length = normalise(data);
  if (quantization === 'f32') return { data, length, range: 0 };
  return quantization === 'bin' ? { data: toBits(data), length, range: 0 } : { ...toBytes(data), length };
}

function toBytes(vector: Float32Array): { data: Int8Array; range: number } {
  let range = 0;
  for (const component of vector) if (Math.abs(component) > range) range = Math.abs(component);
  const data = new Int8Array(vector.length);
  if (range === 0) return { data, range };
  const scale = fround(TOP / range);
  // Halves are rounded away from zero, as C's roundf does. What is no number becomes 0.
  for (let i = 0; i < vector.length; i++) {
    const scaled = fround(vector[i]! * scale);
    data[i] = scaled < 0 ? -Math.floor(0.5 - scaled) : Math.floor(scaled + 0.5);
  }
  return { data, range };
}

function toBits(vector: Float32Array): Uint8Array {
  const data = new Uint8Array(storedBytes('bin', vector.length));
  for (let i = 0; i < vector.length; i++) if (vector[i]! > 0) data[i >> 3]! |= 1 << (i & 7);
  return data;
}

/** The vector that was stored, as far as its form has kept it. BIN keeps only the signs. */
export function restore(
  { data, length, range }: Stored,
  quantization: Quantization,
  dimension: number,
): Float32Array {
  const vector = new Float32Array(dimension);
  for (let i = 0; i < dimension; i++) {
    if (quantization === 'bin') vector[i] = (data[i >> 3]! >> (i & 7)) & 1 ? 1 : -1;
    else {
      const component = quantization === 'f32' ? data[i]! : fround(fround(data[i]! * range) / TOP);
      vector[i] = component * length;
    }
  }
  return vector;
}

/** The distance of two stored vectors of the same set: 0 for the same direction, 1 for a right angle, 2 for the opposite. */
export function distance(a: Stored, b: Stored, quantization: Quantization, dimension: number): number {
  if (quantization === 'f32') return floatDistance(a.data, b.data);
  return quantization === 'bin' ? fround((opposite(a.data, b.data) * 2) / dimension) : byteDistance(a, b);
}

type Components = Stored['data'];

/** One minus the product of two vectors of length 1. The server adds the halves of eight components separately. */
function floatDistance(x: Components, y: Components): number {
  let left = 0;
  let right = 0;
  let at = 0;
  for (; at + 7 < x.length; at += 8) {
    left = fround(left + four(x, y, at));
    right = fround(right + four(x, y, at + 4));
  }
  for (; at < x.length; at++) left = fround(left + fround(x[at]! * y[at]!));
  return fround(1 - fround(left + right));
}

function four(x: Components, y: Components, at: number): number {
  let sum = fround(x[at]! * y[at]!);
  for (let i = at + 1; i < at + 4; i++) sum = fround(sum + fround(x[i]! * y[i]!));
  return sum;
}

function byteDistance(a: Stored, b: Stored): number {
  if (a.range === 0 || b.range === 0) return 1;
  const scale = fround(fround(a.range / TOP) * fround(b.range / TOP));
  let product = 0;
  for (let i = 0; i < a.data.length; i++) product = (product + a.data[i]! * b.data[i]!) | 0;
  const away = fround(1 - fround(fround(product) * scale));
  return away < 0 ? 0 : away > 2 ? 2 : away;
}

/** How many bits differ. */
function opposite(x: Components, y: Components): number {
  let count = 0;
  for (let i = 0; i < x.length; i++) {
    for (let bits = x[i]! ^ y[i]!; bits !== 0; bits &= bits - 1) count++;
  }
  return count;
}
