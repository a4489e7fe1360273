/** The checksum of RDB files, against the definition, one bit at a time. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc64 } from '../../../keyspace/format/crc64.ts';

function bitwise(data: Uint8Array): bigint {
  let crc = 0n;
  for (const byte of data) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0x95ac9329ac4bc9b5n : crc >> 1n;
  }
  return crc;
}

test('the checksum is that of Redis, for any length and any part of data', () => {
  expect(crc64(Buffer.from('123456789')).readBigUInt64LE()).toBe(0xe9c6d914c4b8d9can);
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }),
      fc.nat({ max: 9 }),
      fc.nat({ max: 9 }),
      (data, from, cut) => {
        const end = Math.max(from, data.length - cut);
        const part = data.subarray(from, end);
        expect(crc64(data, from, Math.min(end, data.length)).readBigUInt64LE()).toBe(bitwise(part));
      },
    ),
  );
});
