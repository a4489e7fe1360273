/** Tests of vector sets beside the real servers that have them. */
import fc from 'fast-check';
import type { DialectName } from '../../../../server/dialects/index.ts';

/** The dialects with vector sets whose real servers the tests compare with. */
export const vectorDialects: readonly DialectName[] = ['redis-8.0', 'redis-8.2'];

/** The bytes of a vector, as FP32 takes them. */
export function blob(components: readonly number[]): string {
  return Buffer.from(Float32Array.from(components).buffer).toString('latin1');
}

/** A component: often an ordinary one, sometimes 0, tiny or huge. */
const component = fc.oneof(
  { weight: 8, arbitrary: fc.float({ min: -1, max: 1, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(0, -0, 1, -1) },
  { weight: 1, arbitrary: fc.float({ noDefaultInfinity: true, noNaN: true, min: -(2 ** 60), max: 2 ** 60 }) },
);

/** A vector of this dimension. */
export function vectorOf(dimension: number): fc.Arbitrary<number[]> {
  return fc.array(component, { minLength: dimension, maxLength: dimension });
}
