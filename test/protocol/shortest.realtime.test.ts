/** Doubles with the fewest digits, compared with the servers that print them this way. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatShortest } from '../../protocol/shortest.ts';
import { startOracle } from '../keyspace/oracle.ts';
import { sampleOf } from '../support/long.ts';
import { realServers } from '../support/oracles.ts';

const newer = realServers().filter(([name]) => /^(redis-8|valkey-)/.test(name));

const double = fc.oneof(
  fc.double({ noNaN: true }),
  fc.tuple(fc.integer(), fc.integer({ min: -30, max: 30 })).map(([n, power]) => n * 10 ** power),
  fc
    .tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: -300, max: 300 }))
    .map(([n, p]) => +`${n}e${p}`),
  fc.integer({ min: -1074, max: 1023 }).map((power) => 2 ** power),
);

describe.skipIf(newer.length === 0)('are printed as by newer servers (needs one installed)', () => {
  test.each(newer)('%s', async (_name, program) => {
    const oracle = await startOracle([], program);
    try {
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(double, { minLength: 500, maxLength: 1000 }), async (doubles) => {
          // Integers of 64 bits are printed as such.
          const scores = doubles.filter((each) => !Number.isInteger(each) || Math.abs(each) >= 2 ** 63);
          await oracle.call('del', 'z');
          await oracle.call('zadd', 'z', ...scores.flatMap((score, i) => [textOf(score), String(i)]));
          const answer = (await oracle.call('zmscore', 'z', ...scores.map((_, i) => String(i)))) as string[];
          expect(scores.map(formatShortest)).toEqual(answer);
        }),
        { numRuns: sampleOf(200, 4), seed: 11, endOnFailure: true },
      );
    } finally {
      await oracle.stop();
    }
  });
});

/** A text from which strtod reads the number. */
function textOf(value: number): string {
  if (Number.isFinite(value)) return value.toExponential(16);
  return value > 0 ? 'inf' : '-inf';
}

test.each([
  [0, '0'],
  [-0, '-0'],
  [Number.NaN, 'nan'],
  [-Infinity, '-inf'],
  [1e7, '10000000'],
  [1e8, '1e+8'],
  [1.25e22, '12499999999999999000000'],
  [-1.5e-7, '-1.5e-7'],
  [5e-324, '5e-324'],
])('%d is printed as %s', (value, text) => expect(formatShortest(value)).toBe(text));
