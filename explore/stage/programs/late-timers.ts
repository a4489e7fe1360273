/** Notices when this machine stands still: timers of this process are late then. */

/** How often the timer runs, in milliseconds. */
const EACH = 5;

/** Watches the timers of this process. Worlds ask how late they were at most while they were played. */
export class LateTimers {
  #timer: NodeJS.Timeout | undefined;
  #last = 0;
  readonly #watches = new Set<StallWatch>();

  /** Begins to watch. */
  watch(): StallWatch {
    const watch = new StallWatch(() => {
      this.#watches.delete(watch);
      if (this.#watches.size === 0) this.#stop();
    });
    this.#watches.add(watch);
    if (this.#timer === undefined) this.#start();
    return watch;
  }

  #start(): void {
    this.#last = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      const late = now - this.#last - EACH;
      this.#last = now;
      for (const watch of this.#watches) watch.note(late, 'the engine');
    }, EACH);
    this.#timer.unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** How late timers were in one world. */
export class StallWatch {
  /** The most, in milliseconds. */
  late = 0;
  /** Who was so late. */
  who = '';
  /** Ends it. */
  readonly end: () => void;

  constructor(end: () => void) {
    this.end = end;
  }

  /** Somebody's timer was so late. */
  note(late: number, who: string): void {
    if (late <= this.late) return;
    this.late = late;
    this.who = who;
  }
}
