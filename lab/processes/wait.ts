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
