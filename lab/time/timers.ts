/** The timer handles of a world: what setTimeout, setInterval and setImmediate return there. */
import { currentContext } from './context.ts';
import { type Callback, VIRTUAL } from './current-world.ts';
import type { Schedule } from './schedule.ts';
import { Task, type TaskOwner } from './task.ts';

/** The process that sets a timer. */
interface TimerOwner extends TaskOwner {
  readonly schedule: Schedule;
  readonly alive: boolean;
}

type AnyCallback = (...args: unknown[]) => void;

/** Node fires timers with a longer delay after 1 ms. */
const LONGEST_DELAY = 2 ** 31 - 1;

/**
 * The parts of Node's timer handles that programs use. `ref` and `unref` have no effect, because virtual timers never
 * keep the process alive.
 */
abstract class Handle extends Task<TimerOwner> {
  #referenced = true;

  ref(): this {
    this.#referenced = true;
    return this;
  }

  unref(): this {
    this.#referenced = false;
    return this;
  }

  hasRef(): boolean {
    return this.#referenced;
  }

  [Symbol.dispose](): void {
    this.cancel();
  }

  get [VIRTUAL](): true {
    return true;
  }
}

/** A timer of setTimeout or setInterval in a world. */
export class VirtualTimeout extends Handle {
  readonly #callback: Callback;
  /** The async context in which the timer was set. */
  readonly #inContext = currentContext('Timeout');
  readonly #args: readonly unknown[];
  readonly #delay: number;
  readonly #repeat: boolean;
  #closed = false;
  #id: number | undefined;

  constructor(
    actor: TimerOwner,
    callback: Callback,
    delay: number,
    args: readonly unknown[],
    repeat: boolean,
  ) {
    super(actor, false);
    this.#callback = callback;
    this.#args = args;
    this.#delay = clampDelay(delay);
    this.#repeat = repeat;
    this.#arm();
  }

  #arm(): void {
    const { schedule, alive } = this.actor;
    // A program that has ended, and whose code has caught the exception that stops it, does nothing more.
    if (!alive) return;
    this.run = this.#fire;
    schedule.arm(this, schedule.micros + this.actor.ahead + this.#delay * 1000);
  }

  #fire(): void {
    try {
      this.#inContext(this.#callback as AnyCallback, this, this.#args);
    } finally {
      if (this.#repeat && !this.#closed) this.#arm();
      else if (this.index < 0) this.#forgetId();
    }
  }

  override cancel(): void {
    this.#closed = true;
    this.#forgetId();
    super.cancel();
  }

  #forgetId(): void {
    if (this.#id !== undefined) this.actor.schedule.timersById.delete(this.#id);
  }

  refresh(): this {
    if (!this.#closed) this.#arm();
    return this;
  }

  close(): this {
    this.cancel();
    return this;
  }

  [Symbol.toPrimitive](): number {
    const { schedule } = this.actor;
    this.#id ??= schedule.nextTimerId++;
    schedule.timersById.set(this.#id, this);
    return this.#id;
  }
}

/** A timer of setImmediate in a world. */
export class VirtualImmediate extends Handle {
  constructor(actor: TimerOwner, callback: Callback, args: readonly unknown[]) {
    const inContext = currentContext('Immediate');
    super(actor, false, () => inContext(callback as AnyCallback, undefined, args));
  }
}

/** Applies Node's limits, with its warning: no delay below 1 ms, none above 2^31 - 1. */
function clampDelay(delay: number): number {
  if (delay > LONGEST_DELAY) {
    process.emitWarning(
      `${delay} does not fit into a 32-bit signed integer.\nTimeout duration was set to 1.`,
      'TimeoutOverflowWarning',
    );
    return 1;
  }
  return delay >= 1 ? Math.trunc(delay) : 1;
}
