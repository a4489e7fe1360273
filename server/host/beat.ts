/** What a node does once a second, while it has reason to. */
import type { Clock, Timer } from './host.ts';

/** Cron's step, in milliseconds. */
const STEP = 1000;

export class Beat {
  readonly #node: { readonly host: { readonly clock: Clock } };
  readonly #task: () => void;
  #timer: Timer | undefined;

  /** @param task is called once a second from `start` to `stop`; it may stop the beat itself */
  constructor(node: { readonly host: { readonly clock: Clock } }, task: () => void) {
    this.#node = node;
    this.#task = task;
  }

  get running(): boolean {
    return this.#timer !== undefined;
  }

  /** Calls the task in a second, and every second from then on. Nothing happens when it is running. */
  start(): void {
    if (!this.running) this.#arm();
  }

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
