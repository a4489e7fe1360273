/** A task that a node runs once a second while it is needed. */
import type { Clock, Timer } from './host.ts';

/** The interval in milliseconds, the same as for Redis' cron. */
const STEP = 1000;

/** Runs a task once a second, from `start` to `stop`. */
export class Beat {
  readonly #node: { readonly host: { readonly clock: Clock } };
  readonly #task: () => void;
  #timer: Timer | undefined;

  /** @param task is called once a second from `start` to `stop`; it may stop the beat itself */
  constructor(node: { readonly host: { readonly clock: Clock } }, task: () => void) {
    this.#node = node;
    this.#task = task;
  }

  /** True from `start` to `stop`. */
  get running(): boolean {
    return this.#timer !== undefined;
  }

  /** Calls the task in one second, and every second after that. Does nothing if it is already running. */
  start(): void {
    if (!this.running) this.#arm();
  }

  /** Stops calling the task. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    const { clock } = this.#node.host;
    this.#timer = clock.at(clock.now() + STEP, () => {
      this.#arm();
      this.#task();
    });
  }
}
