/** The monotonic clock that measures leases and waits, so that setting the wall clock does not affect them, and pauses. */

/** The present time in milliseconds since the process began; comparable only with other times of this clock. */
export const elapsed = (): number => performance.now();

/** The wall-clock time (Date.now) at a moment of the monotonic clock, unless the wall clock is set before then. */
export const wallClockAt = (moment: number): number => Math.floor(Date.now() + (moment - performance.now()));

/** The longest delay of a Node timer in milliseconds: a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Waits for `ms` milliseconds. @param background whether the process may end while it waits */
export function pause(ms: number, background = false): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS));
    if (background) timer.unref?.();
  });
}
