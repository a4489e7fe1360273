/** XXH3 compared with xxhsum (test/golden/xxh3.py). */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { xxh3Hex } from '../../keyspace/xxh3.ts';

const vectors: Record<string, string> = JSON.parse(
  readFileSync(new URL('../golden/xxh3.json', import.meta.url), 'utf8'),
);

function input(length: number): string {
  let bytes = '';
  for (let i = 0; i < length; i++) bytes += String.fromCharCode((i * i * 31 + i * 7 + length) % 256);
  return bytes;
}

it('hashes inputs of every length class as xxhsum does', () => {
  const ours = Object.fromEntries(
    Object.keys(vectors).map((length) => [length, xxh3Hex(input(Number(length)))]),
  );
  expect(ours).toEqual(vectors);
  expect(Object.keys(ours).length).toBeGreaterThan(270);
});

it('prints leading zeros', () => {
  const short = Array.from({ length: 64 }, (_, i) => xxh3Hex(String(i)));
  expect(short.every((digits) => /^[0-9a-f]{16}$/.test(digits))).toBe(true);
  expect(short.some((digits) => digits.startsWith('0'))).toBe(true);
});
