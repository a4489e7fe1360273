/** Many deadlines with one timer. Most are removed before they are reached, so removal must be cheap. */

import { Chain, ChainLink } from './chain.ts';
import { elapsed, LONGEST_TIMER_MS } from './clock.ts';

/** Something to do at a moment of the monotonic clock (milliseconds), which may be moved later at any time. */
export interface ScheduledDeadline extends ChainLink {
  at: number;
  fire(): void;
}

/** A deadline that calls a function. */
export class CallbackDeadline extends ChainLink implements ScheduledDeadline {
  at: number;
  readonly fire: () => void;

  constructor(at: number, due: () => void) {
    super();
    this.at = at;
    this.fire = due;
  }
}

/**
 * `ref()` and `unref()` cost as much as a new timer. While deadlines are added and removed, the timer therefore stays
 * referenced and fires after so many milliseconds; it is unreferenced only if no deadline was added since.
 */
const GRACE_MS = 50;

/**
 * Runs deadlines. The timer is not moved when a deadline is removed or moved: it then fires without effect and is set
 * again.
 */
export class Deadlines {
  readonly #entries = new Chain<ScheduledDeadline>();
  #keepsAlive: boolean;
  #timer: NodeJS.Timeout | undefined;
  #ringsAt = Number.POSITIVE_INFINITY;
  /** The timer is referenced and fires within GRACE_MS, whether a deadline is left or not. */
  #inGrace = false;
  /** A deadline was added since the timer was set. */
  #busy = false;
  /** The timer ends with the last deadline. */
  #closed = false;

  /** @param keepsAlive whether these deadlines keep the process alive (for up to 50 ms longer than needed) */
  constructor(keepsAlive: boolean) {
    this.#keepsAlive = keepsAlive;
  }

  add(deadline: ScheduledDeadline): void {
    const first = this.#entries.empty;
    this.#entries.add(deadline);
    this.#busy = true;
    if (deadline.at < this.#ringsAt) this.#set(deadline.at, this.#keepsAlive);
    else if (first && this.#keepsAlive && !this.#inGrace) this.#timer?.ref?.();
  }

  /** Removes it; false when it was reached or removed before. */
  remove(deadline: ScheduledDeadline): boolean {
    if (!deadline.unlink()) return false;
    if (this.#closed && this.#entries.empty) this.clear();
    else if (this.#keepsAlive && !this.#inGrace && this.#entries.empty) this.#timer?.unref?.();
    return true;
  }

  /**
   * From now on the deadlines do not keep the process alive; they still fire while it runs. The timer ends with the last of them, and
   * none is left if there are none: Deno's sanitizers report what a test leaves.
   */
  close(): void {
    this.#keepsAlive = false;
    this.#closed = true;
    if (this.#entries.empty) this.clear();
    else this.#timer?.unref?.();
  }

  /** Removes all deadlines. */
  clear(): void {
    this.#entries.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#ringsAt = Number.POSITIVE_INFINITY;
  }

  #set(at: number, inGrace: boolean, now = elapsed()): void {
    clearTimeout(this.#timer);
    const longestMs = inGrace ? GRACE_MS : LONGEST_TIMER_MS;
    const ms = Math.min(Math.max(1, at - now), longestMs);
    this.#ringsAt = Math.min(at, now + longestMs);
    this.#inGrace = inGrace;
    this.#busy = false;
    this.#timer = setTimeout(() => this.#ring(), ms);
    if (!this.#keepsAlive) this.#timer.unref?.();
  }

  #ring(): void {
    // Timers have a resolution of 1 ms and may fire a fraction of it too early.
    const earlyMs = Math.max(0, this.#ringsAt - elapsed());
    const now = elapsed() + earlyMs;
    this.#timer = undefined;
    this.#ringsAt = Number.POSITIVE_INFINITY;
    try {
      for (const deadline of this.#entries.members()) {
        if (deadline.at <= now && deadline.unlink()) deadline.fire();
      }
    } finally {
      let next = Number.POSITIVE_INFINITY;
      for (const { at } of this.#entries.members()) next = Math.min(next, at);
      if (next < this.#ringsAt) this.#set(next, this.#keepsAlive && this.#busy, elapsed() + earlyMs);
    }
  }
}
