/** Many moments under one timer. Most of them are taken back before they come, so taking back must cost nothing. */
import { LONGEST_TIMER_MS } from './retry.ts';

/** Something to do at a moment (Date.now milliseconds). It may be moved to a later one at any time. */
export interface Deadline {
  at: number;
  readonly due: () => void;
}

/** The timer stays where it is when a moment is taken back or moved: it then rings for nothing, and is set anew. */
export class Deadlines {
  readonly #entries = new Set<Deadline>();
  #keepsAlive: boolean;
  #timer: NodeJS.Timeout | undefined;
  #ringsAt = Number.POSITIVE_INFINITY;

  /** @param keepsAlive whether the process waits for these moments before it ends */
  constructor(keepsAlive: boolean) {
    this.#keepsAlive = keepsAlive;
  }

  add(deadline: Deadline): void {
    this.#entries.add(deadline);
    if (deadline.at < this.#ringsAt) this.#set(deadline.at);
    else if (this.#keepsAlive && this.#entries.size === 1) this.#timer?.ref?.();
  }

  /** Takes it back; false when it has come, or was taken back, before. */
  remove(deadline: Deadline): boolean {
    if (!this.#entries.delete(deadline)) return false;
    if (this.#keepsAlive && this.#entries.size === 0) this.#timer?.unref?.();
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
    if (!this.#keepsAlive || this.#entries.size === 0) this.#timer.unref?.();
  }

  #ring(): void {
    // Timers run evenly. A clock that was set back meanwhile holds nobody up.
    const now = Math.max(Date.now(), this.#ringsAt);
    this.#timer = undefined;
    this.#ringsAt = Number.POSITIVE_INFINITY;
    try {
      for (const deadline of [...this.#entries]) {
        if (deadline.at <= now && this.#entries.delete(deadline)) deadline.due();
      }
    } finally {
      let next = Number.POSITIVE_INFINITY;
      for (const { at } of this.#entries) next = Math.min(next, at);
      if (next < this.#ringsAt) this.#set(next);
    }
  }
}
