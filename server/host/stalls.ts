/** When the process stood still: its thread was busy or stopped, so that it read nothing, and none of its timers fired. */
import type { Millis } from '../../protocol/bytes.ts';
import { type Delay, realDelay, realElapsed } from './real-time.ts';

/** A timer that fires this much too late, in milliseconds, shows that the process stood still. */
const LATE = 10;

/** A stall of this length, in milliseconds, leaves messages behind: what is between two such is too short to hear anybody. */
const LONG = 50;

/**
 * How often a process that is watched closely looks whether it stands still, in milliseconds. An answer takes a few turns of the
 * event loop. If all turns are as long as the timers of the nodes are apart, those see no stall, and the answers are late all
 * the same. Under a close watch, at most so much of a turn counts as silence.
 */
const CLOSELY = 20;

/** How long a process is watched closely after somebody has asked for it, in milliseconds. */
const WATCH = 1000;

/** When there are more, the oldest are forgotten. */
const MOST = 1000;

/** From when to when, on a monotonic clock, in milliseconds. */
interface Stall {
  readonly from: number;
  readonly to: number;
}

const isLong = ({ from, to }: Stall): boolean => to - from >= LONG;

/** The stalls of a process, as its timers show them. */
export class Stalls {
  /** Oldest first, and none overlaps another. */
  readonly #stalls: Stall[] = [];

  /**
   * A timer that was due fires. Both times are on the same monotonic clock, in milliseconds. Long stalls in quick succession are one.
   */
  fired(due: number, now: number): void {
    if (now - due < LATE) return;
    let from = due;
    for (
      let last = this.#stalls.at(-1);
      last !== undefined && from - last.to < (isLong({ from, to: now }) && isLong(last) ? LONG : 0);
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

/** Since when the task of a timer has been running. Nobody is heard meanwhile. */
let runningSince: number | undefined;

/** Runs a task after a delay in milliseconds, and notes when it is late. */
export const watchedDelay: Delay = (task, ms) => {
  const due = realElapsed() + ms;
  return realDelay(() => {
    runningSince = realElapsed();
    stalls.fired(due, runningSince);
    try {
      task();
    } finally {
      runningSince = undefined;
    }
  }, ms);
};

let watchedUntil = 0;

function look(): void {
  watchedDelay(() => {
    if (realElapsed() < watchedUntil) look();
    else watchedUntil = 0;
  }, CLOSELY);
}

/** Looks often for a while whether this process stands still. */
function watchClosely(): void {
  const isWatched = watchedUntil > 0;
  watchedUntil = realElapsed() + WATCH;
  if (!isWatched) look();
}

/**
 * Returns for how many of the last `age` milliseconds this process stood still. From a quarter of `limit` on, it is watched
 * closely, so that its stalls are known when the limit is reached.
 */
export function stalledWithin(age: Millis, limit: Millis): Millis {
  if (age > limit / 4) watchClosely();
  const now = realElapsed();
  const running = runningSince === undefined ? 0 : Math.min(age, now - runningSince);
  return stalls.within(age, now) + running;
}
