/** The time of a pair on the real clock: it passes as on the machine, and a test can let more of it pass at once. */
import type { Millis } from '../../protocol/bytes.ts';
import type { Clock, Timer } from '../../server/host/host.ts';
import { nodeClock } from '../../server/host/node.ts';

/** Into at most so many steps a length of time is cut, beside those at which a timer is due. */
const STEPS = 500;

interface PassingAlarm {
  readonly deadline: Millis;
  readonly task: () => void;
  /** The timer of the machine's clock. */
  timer: Timer;
}

/** The machine's time, and what tests have added to it. */
export class PassingTime implements Clock {
  readonly #alarms = new Set<PassingAlarm>();
  /** How much has been added, in milliseconds. */
  #added = 0;
  /** The lengths of time that were added, with the moment after each. */
  #additions: { readonly at: Millis; readonly ms: Millis }[] = [];
  /** The last `advance`; the next one begins when it has ended. */
  #last: Promise<void> = Promise.resolve();

  now(): Millis {
    return nodeClock.now() + this.#added;
  }

  micros(): number {
    return nodeClock.micros() + this.#added * 1000;
  }

  at(deadline: Millis, task: () => void): Timer {
    const alarm: PassingAlarm = { deadline, task, timer: this.#arm(deadline, () => this.#ring(alarm)) };
    this.#alarms.add(alarm);
    return {
      cancel: () => {
        this.#alarms.delete(alarm);
        alarm.timer.cancel();
      },
    };
  }

  after(delay: number, task: () => void): Timer {
    return this.at(this.now() + delay, task);
  }

  soon(task: () => void): Timer {
    return nodeClock.soon(task);
  }

  /** How many of the last `age` milliseconds were added. Nobody could send anything meanwhile. */
  addedWithin(age: Millis): Millis {
    const since = this.now() - age;
    return Math.min(
      age,
      this.#additions.reduce((sum, { at, ms }) => (at > since ? sum + ms : sum), 0),
    );
  }

  /**
   * Lets so many milliseconds pass. Timers that come due on the way ring in their order, and after each step the parties receive
   * what was sent. Resolves when the time has passed.
   */
  advance(ms: Millis): Promise<void> {
    const ended = this.#last.then(() => this.#advance(ms));
    this.#last = ended.catch(() => {});
    return ended;
  }

  async #advance(ms: Millis): Promise<void> {
    const end = this.now() + ms;
    const step = Math.ceil(ms / STEPS);
    while (this.now() < end) {
      const next = this.#nextDue()?.deadline ?? Infinity;
      this.#moveTo(Math.min(end, Math.max(next, this.now() + step)));
      await new Promise<void>((resolve) => void nodeClock.soon(resolve));
    }
  }

  #moveTo(moment: Millis): void {
    const ms = moment - this.now();
    if (ms > 0) {
      this.#added += ms;
      this.#additions.push({ at: moment, ms });
      if (this.#additions.length > 2 * STEPS) this.#additions = this.#additions.slice(-STEPS);
    }
    for (const alarm of this.#alarms) {
      alarm.timer.cancel();
      alarm.timer = this.#arm(alarm.deadline, () => this.#ring(alarm));
    }
    for (let due = this.#nextDue(); due !== undefined && due.deadline <= moment; due = this.#nextDue()) {
      due.timer.cancel();
      this.#ring(due);
    }
  }

  #arm(deadline: Millis, ring: () => void): Timer {
    return nodeClock.at(deadline - this.#added, ring);
  }

  #ring(alarm: PassingAlarm): void {
    this.#alarms.delete(alarm);
    alarm.task();
  }

  #nextDue(): PassingAlarm | undefined {
    let first: PassingAlarm | undefined;
    for (const alarm of this.#alarms) {
      if (first === undefined || alarm.deadline < first.deadline) first = alarm;
    }
    return first;
  }
}
