/** An immediate counts as real I/O of a world only when code has queued it, not when Node has. */
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

test('an immediate is seen when code has queued one, and only then', async () => {
  const turns: [boolean, boolean][] = [];
  // The test runner may queue one in a turn.
  while (turns.length < 20 && !turns.some(([before]) => !before)) turns.push(await seen());
  expect(turns.at(-1)).toEqual([false, true]);
});
