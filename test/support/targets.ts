/** A host for tests: its clock moves when the test moves it, and its randomness comes from a seed. */
import type { Disk, Host, Timer } from '../../server/host/host.ts';

/** A host whose clock stands still until it is moved, and whose randomness comes from a seed. */
export class TestHost implements Host {
  #now: number;
  #random: number;
  readonly #timers = new Set<{ at: number; task: () => void }>();

  constructor(now = 1_700_000_000_000, seed = 1) {
    this.#now = now;
    this.#random = seed;
  }

  readonly clock = {
    now: () => this.#now,
    micros: () => this.#now * 1000,
    at: (at: number, task: () => void): Timer => {
      const timer = { at, task };
      this.#timers.add(timer);
      return { cancel: () => this.#timers.delete(timer) };
    },
    after: (delay: number, task: () => void): Timer => this.clock.at(this.#now + delay, task),
    soon: (task: () => void): Timer => this.clock.at(this.#now, task),
  };

  readonly disk: Disk = {
    read: () => undefined,
    write: () => {},
    append: () => {},
    sync: () => {},
    syncLater: () => {},
    size: () => undefined,
    truncate: () => {},
    rename: () => {},
    remove: () => {},
    release: () => {},
    makeFolder: () => {},
  };

  /** A linear congruential generator: the same numbers every time. */
  random(): number {
    this.#random = (this.#random * 1_103_515_245 + 12_345) % 2 ** 31;
    return this.#random / 2 ** 31;
  }

  connect(..._to: Parameters<Host['connect']>): ReturnType<Host['connect']> {
    throw new Error('a test host has no server to connect to');
  }

  /** Moves the clock and runs the timers that become due. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let next = this.#next(); next !== undefined && next.at <= end; next = this.#next()) this.#ring(next);
    this.#now = end;
  }

  /** Moves the clock to the next timer and runs it; false when there is none. */
  step(): boolean {
    const next = this.#next();
    if (next !== undefined) this.#ring(next);
    return next !== undefined;
  }

  /** When the next timer fires; undefined when none is set. */
  get nextAt(): number | undefined {
    return this.#next()?.at;
  }

  #next(): { at: number; task: () => void } | undefined {
    let first: { at: number; task: () => void } | undefined;
    for (const timer of this.#timers) if (first === undefined || timer.at < first.at) first = timer;
    return first;
  }

  #ring(timer: { at: number; task: () => void }): void {
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.task();
  }
}
