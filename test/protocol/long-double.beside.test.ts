/** The 80-bit sums of INCRBYFLOAT, compared digit by digit with redis-server. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Bytes } from '../../protocol/bytes.ts';
import { addLongDoubles, formatLongDouble, parseLongDouble } from '../../protocol/long-double.ts';
import { sampleOf } from '../support/long.ts';
import { RawClient } from '../support/raw-client.ts';
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { request } from '../support/reply-text.ts';

function add(a: Bytes, b: Bytes): Bytes | undefined {
  const [left, right] = [parseLongDouble(a), parseLongDouble(b)];
  const sum = left === undefined || right === undefined ? undefined : addLongDoubles(left, right);
  return sum === undefined ? undefined : formatLongDouble(sum);
}

test.each([
  ['0.1', '0.2', '0.3'],
  ['3.0e3', '200', '3200'],
  ['5.0e3', '2.0e2', '5200'],
  ['0', '1e-18', '0'],
  ['0', '-1e-18', '0'],
  ['9007199254740993', '0.5', '9007199254740993.5'],
  ['18446744073709551615', '1', '18446744073709551616'],
  ['1e19', '0.3', '10000000000000000000'],
  ['0x1p-1', '.25', '0.75'],
])('%s + %s = %s', (a, b, sum) => {
  expect(add(a, b)).toBe(sum);
});

const digits = fc.bigInt({ min: -(10n ** 22n), max: 10n ** 22n });
const operand = fc.oneof(
  fc.tuple(digits, fc.integer({ min: -40, max: 5 })).map(([value, power]) => `${value}e${power}`),
  fc.tuple(fc.integer(), fc.integer({ min: 0, max: 10 ** 6 })).map(([whole, part]) => `${whole}.${part}`),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e30, max: 1e30 }).map(String),
  fc.tuple(digits, fc.integer({ min: -4960, max: 4940 })).map(([value, power]) => `${value}e${power}`),
);

describe.skipIf(!hasRedisServer)('beside redis-server (needs redis-server)', () => {
  test('INCRBYFLOAT returns the same digits', async () => {
    const server = await startRedisServer();
    const client = await RawClient.connect({ path: server.path });
    for (const [a, b] of fc.sample(fc.tuple(operand, operand), {
      numRuns: sampleOf(50_000, 3000),
      seed: 21,
    })) {
      const sum = add(a, b);
      await client.send(request('SET', 'f', a) + request('INCRBYFLOAT', 'f', b));
      await client.read();
      const { value } = await client.read();
      expect({ a, b, sum: value[0] === '-' ? undefined : value[1] }).toEqual({ a, b, sum });
    }
    client.close();
    await server.stop();
  });
});
