/** Many moments under one timer. Most of them are taken back before they come, so taking back must cost nothing. */
import { Chain, Link } from './chain.ts';
import { LONGEST_TIMER_MS } from './retry.ts';

/** Something to do at a moment (Date.now milliseconds). It may be moved to a later one at any time. */
export interface Deadline extends Link {
  at: number;
  due(): void;
}

/** A deadline that does what it was given. */
export class Alarm extends Link implements Deadline {
  at: number;
  readonly due: () => void;

  constructor(at: number, due: () => void) {
    super();
    this.at = at;
    this.due = due;
  }
}

/** The timer stays where it is when a moment is taken back or moved: it then rings for nothing, and is set anew. */
export class Deadlines {
  readonly #entries = new Chain<Deadline>();
  #keepsAlive: boolean;
  #timer: NodeJS.Timeout | undefined;
  #ringsAt = Number.POSITIVE_INFINITY;

  /** @param keepsAlive whether the process waits for these moments before it ends */
  constructor(keepsAlive: boolean) {
    this.#keepsAlive = keepsAlive;
  }

  add(deadline: Deadline): void {
    const first = this.#entries.empty;
    this.#entries.add(deadline);
    if (deadline.at < this.#ringsAt) this.#set(deadline.at);
    else if (this.#keepsAlive && first) this.#timer?.ref?.();
  }

  /** Takes it back; false when it has come, or was taken back, before. */
  remove(deadline: Deadline): boolean {
    if (!deadline.unlink()) return false;
    if (this.#keepsAlive && this.#entries.empty) this.#timer?.unref?.();
    return true;
  }

  /** The process waits for none of them any more; they still come while it lives. */
  letGo(): void {
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

  #set(at: number): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    const ms = Math.min(Math.max(1, at - now), LONGEST_TIMER_MS);
    this.#ringsAt = Math.min(at, now + LONGEST_TIMER_MS);
    this.#timer = setTimeout(() => this.#ring(), ms);
    if (!this.#keepsAlive || this.#entries.empty) this.#timer.unref?.();
  }

  #ring(): void {
    // Timers run evenly. A clock that was set back meanwhile holds nobody up.
    const now = Math.max(Date.now(), this.#ringsAt);
    this.#timer = undefined;
    this.#ringsAt = Number.POSITIVE_INFINITY;
    try {
      for (const deadline of this.#entries.members()) {
        if (deadline.at <= now && deadline.unlink()) deadline.due();
      }
    } finally {
      let next = Number.POSITIVE_INFINITY;
      for (const { at } of this.#entries.members()) next = Math.min(next, at);
      if (next < this.#ringsAt) this.#set(next);
    }
  }
}
