/** How the strategies of a search share the worlds that are left. */
import { expect, test } from 'vitest';
import { Shares } from '../../explore/search/shares.ts';

/** How many of so many worlds each strategy gets. @param gain what a world of it brings: findings, and a new state */
function shared(
  worlds: number,
  gain: (name: string) => [findings: number, isNew: boolean],
): Record<string, number> {
  const shares = new Shares(['a', 'b', 'c', 'd']);
  const counts: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };
  for (let i = 0; i < worlds; i++) {
    const name = shares.next() as string;
    counts[name] = (counts[name] ?? 0) + 1;
    shares.played(name, ...gain(name));
  }
  return counts;
}

test('strategies that bring the same get the same', () => {
  expect(Object.values(shared(400, () => [0, false]))).toEqual([100, 100, 100, 100]);
});

test('what finds or reaches something gets more, and nothing is left out', () => {
  const { a = 0, b = 0, c = 0 } = shared(400, (name) => [0, name === 'a']);
  expect(a).toBeGreaterThan(2 * b);
  expect([b > 25, b - c]).toEqual([true, 0]);
});

test('one that brings nothing still gets a tenth of what another gets, however long that goes on', () => {
  const { a = 0, b = 0 } = shared(20_000, (name) => [0, name === 'a']);
  expect(10 * b).toBeGreaterThan(0.95 * a);
});

test('one that has nothing to draw waits for its turn, and one that has ended is not asked', () => {
  const shares = new Shares(['a', 'b']);
  const turns = Array.from({ length: 4 }, () => {
    const name = shares.next() as string;
    if (name === 'a') shares.idle(name);
    else shares.played(name, 0, false);
    return name;
  });
  expect(turns).toEqual(['a', 'b', 'a', 'b']);
  shares.ended('a');
  expect(shares.next()).toBe('b');
  shares.ended('b');
  expect(shares.next()).toBeUndefined();
});
