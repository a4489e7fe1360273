/** Which immediates count as real I/O of a world: those of code, and none that Node has queued by itself. */
import { expect, test } from 'vitest';
import { hasImmediates } from '../../../lab/time/culprits.ts';

/** What is seen in one immediate, before and after its code has queued another one. */
function seen(): Promise<[before: boolean, after: boolean]> {
  return new Promise((resolve) => {
    setImmediate(() => {
      const before = hasImmediates();
      setImmediate(() => {});
      resolve([before, hasImmediates()]);
    });
  });
}

test('immediates that code has queued are seen, and where there are none, none is', async () => {
  const turns: [boolean, boolean][] = [];
  // The test runner may queue one in a turn.
  while (turns.length < 20 && !turns.some(([before]) => !before)) turns.push(await seen());
  expect(turns.at(-1)).toEqual([false, true]);
});
