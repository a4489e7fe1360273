/** Random picks: their count, their uniqueness and their distribution. */
import { expect, test } from 'vitest';
import { randomNumbers, signedCount } from '../../../server/commands/keys/picking.ts';
import { TestHost } from '../../support/targets.ts';

const host = new TestHost();
const random = (): number => host.random();

test('a positive count gives that many different numbers below the size', () => {
  for (const [size, count] of [
    [1, 1],
    [10, 3],
    [10, 10],
    [1000, 999],
  ] as const) {
    const numbers = randomNumbers(size, count, random);
    expect(new Set(numbers).size).toBe(count);
    expect(numbers.every((number) => number >= 0 && number < size)).toBe(true);
  }
});

test('every subset is drawn about equally often', () => {
  const drawn = new Map<string, number>();
  const rounds = 12_000;
  for (let i = 0; i < rounds; i++) {
    const subset = randomNumbers(4, 2, random).sort().join();
    drawn.set(subset, (drawn.get(subset) ?? 0) + 1);
  }
  expect(drawn.size).toBe(6);
  for (const times of drawn.values()) {
    expect(times).toBeGreaterThan((rounds / 6) * 0.85);
    expect(times).toBeLessThan((rounds / 6) * 1.15);
  }
});

test('a negative count draws each number independently', () => {
  const numbers = randomNumbers(3, -3000, random);
  expect(numbers).toHaveLength(3000);
  for (const number of [0, 1, 2]) {
    const times = numbers.filter((each) => each === number).length;
    expect(times).toBeGreaterThan(850);
    expect(times).toBeLessThan(1150);
  }
});

test('a count that no reply can hold is refused', () => {
  expect(() => randomNumbers(3, -(2 ** 40), random)).toThrow('ERR value is out of range');
  expect(() => signedCount('-9223372036854775808')).toThrow('value must between');
  expect(signedCount('-9223372036854775807')).toBeLessThan(-(2 ** 62));
});
