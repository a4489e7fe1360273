/** The clock that leases and waits are counted on: monotonic, so that setting the wall clock neither prolongs nor ends anything. */

/** This moment in milliseconds since the process began; for comparison with other moments of this clock only. */
export const elapsed = (): number => performance.now();

/** What the wall clock (Date.now) will show at a moment of the monotonic clock, unless it is set before then. */
export const wallClockAt = (moment: number): number => Math.floor(Date.now() + (moment - performance.now()));

/** The longest delay of a Node timer in milliseconds: a longer one would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
