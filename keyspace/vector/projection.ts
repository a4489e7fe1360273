/** The projection of VADD's REDUCE, which turns vectors into shorter ones that keep about the same distances. */

const { fround } = Math;

/** A matrix with a row for each component of the result. */
export interface Projection {
  /** The dimension of the vectors that it takes. */
  readonly from: number;
  /** The dimension of the vectors that it gives. */
  readonly to: number;
  /** The rows, one after the other. */
  readonly matrix: Float32Array;
}

/** The largest matrix that a set may have, in components: 256 MiB. */
const LARGEST = 2 ** 26;

/** True when a set may have a projection of this size. */
export function isProjectable(from: number, to: number): boolean {
  return from * to <= LARGEST;
}

/**
 * The projection that redis-server uses: a Hadamard matrix, whose components are 1 or -1 depending on the bits that row and
 * column share, divided by the square root of the number of columns. Nothing about it is random.
 */
export function makeProjection(from: number, to: number): Projection {
  const matrix = new Float32Array(from * to);
  const scale = fround(1 / Math.sqrt(from));
  for (let row = 0; row < to; row++) {
    for (let column = 0; column < from; column++) {
      matrix[row * from + column] = hasOddBits(row & column) ? -scale : scale;
    }
  }
  return { from, to, matrix };
}

function hasOddBits(value: number): boolean {
  let bits = value;
  for (let half = 16; half > 0; half >>= 1) bits ^= bits >>> half;
  return (bits & 1) === 1;
}

export function project({ from, to, matrix }: Projection, vector: Float32Array): Float32Array {
  const out = new Float32Array(to);
  for (let row = 0; row < to; row++) {
    let sum = 0;
    for (let i = 0; i < from; i++) sum = fround(sum + fround(matrix[row * from + i]! * vector[i]!));
    out[row] = sum;
  }
  return out;
}
