/** Many moments under one timer. Most of them are taken back before they come, so taking back must cost nothing. */

import { Chain, ChainLink } from './chain.ts';
import { elapsed, LONGEST_TIMER_MS } from './clock.ts';

/** Something to do at a moment of the monotonic clock (milliseconds). It may be moved to a later one at any time. */
export interface ScheduledDeadline extends ChainLink {
  at: number;
  fire(): void;
}

/** A deadline that does what it was given. */
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
 * Telling Node whether the process waits for a timer costs as much as a timer. While moments come and go, the process
 * therefore waits for one that rings so soon, in milliseconds, and is told the truth when none have come since.
 */
const GRACE_MS = 50;

/** The timer stays where it is when a moment is taken back or moved: it then rings for nothing, and is set anew. */
export class Deadlines {
  readonly #entries = new Chain<ScheduledDeadline>();
  #keepsAlive: boolean;
  #timer: NodeJS.Timeout | undefined;
  #ringsAt = Number.POSITIVE_INFINITY;
  /** The timer rings within the grace: the process waits for it, whether there is anything to wait for or not. */
  #inGrace = false;
  /** Something was added while the timer stood. */
  #busy = false;

  /** @param keepsAlive whether the process waits for these moments before it ends, and at most 50 ms longer */
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

  /** Takes it back; false when it has come, or was taken back, before. */
  remove(deadline: ScheduledDeadline): boolean {
    if (!deadline.unlink()) return false;
    if (this.#keepsAlive && !this.#inGrace && this.#entries.empty) this.#timer?.unref?.();
    return true;
  }

  /** The process waits for none of them any more; they still come while it lives. */
  unref(): void {
    this.#keepsAlive = false;
    this.#timer?.unref?.();
  }

  /** Forgets everything. */
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
    // Timers count whole milliseconds, and may ring a fraction of one too early.
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
