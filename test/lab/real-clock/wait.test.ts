/** Waiting for several processes that start side by side. */
import { expect, test } from 'vitest';
import { allUp } from '../../../lab/real-clock/wait.ts';

test('the first failure in order is reported, when all have started or failed', async () => {
  const settled: string[] = [];
  const after = async (turns: number, name: string, fails: boolean): Promise<void> => {
    for (let i = 0; i < turns; i++) await new Promise(setImmediate);
    settled.push(name);
    if (fails) throw new Error(name);
  };
  await expect(
    allUp([after(9, 'slow', false), after(5, 'one', true), after(1, 'two', true)]),
  ).rejects.toThrow('one');
  expect(settled).toEqual(['two', 'one', 'slow']);
  await expect(allUp([after(1, 'three', false)])).resolves.toBeUndefined();
});
