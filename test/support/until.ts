/** Waits for a condition instead of for a length of time. */
import { setTimeout as wait } from 'node:timers/promises';

/**
 * Returns the first truthy result of `condition`, asked every few milliseconds; throws after `limitMs`
 * (a bound for a broken test, not part of what is tested).
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { what = 'the condition', limitMs = 50_000 } = {},
): Promise<NonNullable<T>> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const result = await condition();
    if (result) return result;
    if (Date.now() > deadline) throw new Error(`${what} did not come true within ${limitMs} ms`);
    await wait(2);
  }
}
