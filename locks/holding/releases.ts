/** Releases that failed, and go on in the background until their outcome is known or the locks are closed. */

import { LockError } from '../errors.ts';
import { pauseMs } from '../server/retry.ts';
import { elapsed, LONGEST_TIMER_MS } from '../timing/clock.ts';

/** The longest pause between two tries in milliseconds: a server may refuse for hours. */
const LONGEST_PAUSE_MS = 10_000;

/** The releases in the background of one `createLocks` call. */
export class Releases {
  #closed = false;
  /** Each ends one pause. */
  readonly #pauses = new Set<() => void>();

  /**
   * Repeats a release that failed, with growing pauses which do not keep the process alive. Resolves to what `release` resolves
   * to. After `close()` it rejects with the last error.
   * @param release sends it once; repeating it has no further effect. A LockError that it throws is the outcome
   * @param error why it failed
   * @param until when there is nothing left to release, on the monotonic clock; then it resolves to false
   */
  async goOn(
    release: (last: unknown) => Promise<boolean>,
    error: unknown,
    until = Number.POSITIVE_INFINITY,
  ): Promise<boolean> {
    let last = error;
    for (let failures = 1; ; failures++) {
      if (elapsed() >= until) return false;
      await this.#pause(Math.min(pauseMs(failures, LONGEST_PAUSE_MS), until - elapsed()));
      if (this.#closed) throw last;
      try {
        return await release(last);
      } catch (again) {
        if (again instanceof LockError) throw again;
        last = again;
      }
    }
  }

  /** Ends all of them, where they are. */
  close(): void {
    this.#closed = true;
    for (const end of this.#pauses) end();
  }

  #pause(ms: number): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#pauses.delete(end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(Math.max(0, ms), LONGEST_TIMER_MS));
      timer.unref?.();
      this.#pauses.add(end);
    });
  }
}
