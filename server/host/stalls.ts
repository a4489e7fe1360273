/** When the process stood still: its thread was busy or stopped, so that it read nothing, and none of its timers fired. */
import type { Millis } from '../../protocol/bytes.ts';
import { type Delay, realDelay, realElapsed } from './real-time.ts';

/** A timer that fires this much too late, in milliseconds, shows that the process stood still. */
const LATE = 50;

/** When there are more, the oldest are forgotten. */
const MOST = 1000;

/** From when to when, on a monotonic clock, in milliseconds. */
interface Stall {
  readonly from: number;
  readonly to: number;
}

/** The stalls of a process, as its timers show them. */
export class Stalls {
  /** Oldest first, and none overlaps another. */
  readonly #stalls: Stall[] = [];

  /**
   * A timer that was due fires. Both times are on the same monotonic clock, in milliseconds. Stalls in quick succession are one: what
   * is between them is too short to hear anybody.
   */
  fired(due: number, now: number): void {
    if (now - due < LATE) return;
    let from = due;
    for (
      let last = this.#stalls.at(-1);
      last !== undefined && from - last.to < LATE;
      last = this.#stalls.at(-1)
    ) {
      from = Math.min(from, last.from);
      this.#stalls.pop();
    }
    this.#stalls.push({ from, to: now });
    if (this.#stalls.length > MOST) this.#stalls.shift();
  }

  /** Returns for how many of the last `age` milliseconds the process stood still. */
  within(age: Millis, now: number): Millis {
    const since = now - age;
    let total = 0;
    for (let at = this.#stalls.length - 1; at >= 0; at--) {
      const { from, to } = this.#stalls[at] as Stall;
      if (to <= since) break;
      total += to - Math.max(from, since);
    }
    return total;
  }
}

const stalls = new Stalls();

/** Runs a task after a delay in milliseconds, and notes when it is late. */
export const watchedDelay: Delay = (task, ms) => {
  const due = realElapsed() + ms;
  return realDelay(() => {
    stalls.fired(due, realElapsed());
    task();
  }, ms);
};

/** Returns for how many of the last `age` milliseconds this process stood still. */
export const stalledWithin = (age: Millis): Millis => stalls.within(age, realElapsed());
