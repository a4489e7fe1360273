/** Waiting in real time for what other processes do. */
import { nodeClock } from '../../server/host/node.ts';

/** Lets so many milliseconds pass. */
export function pass(ms: number): Promise<void> {
  return new Promise((wake) => void nodeClock.after(ms, wake));
}

/** Waits for a condition, at most so many milliseconds. Returns whether it came true. */
export async function comesTrue(
  condition: () => boolean | Promise<boolean>,
  ms: number,
  pauseMs = 2,
): Promise<boolean> {
  const end = nodeClock.now() + ms;
  while (!(await condition())) {
    if (nodeClock.now() > end) return false;
    await pass(pauseMs);
  }
  return true;
}

/**
 * Waits until each of these has come up or failed, so that none is still starting when the others are closed. Rejects
 * with the first failure in the order given, whichever happened first.
 */
export async function allUp(starts: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(starts)).find(({ status }) => status === 'rejected');
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
}
