/** A clock that a test can set: time passes as on the machine, from wherever the test has put it. */
import type { Millis } from '../../protocol/bytes.ts';
import type { Clock, Timer } from '../../server/host/host.ts';

interface Alarm {
  readonly deadline: Millis;
  readonly task: () => void;
  /** The timer of the clock underneath. */
  timer: Timer;
}

/** The time of another clock, moved by some milliseconds. What waits for a moment follows; what waits for a delay does not. */
export class MovableClock implements Clock {
  readonly #base: Clock;
  readonly #alarms = new Set<Alarm>();
  /** How far this clock is ahead, in milliseconds. */
  #ahead = 0;
  /** What `micros` returns while `set` rings the alarms. */
  #held: number | undefined;

  constructor(base: Clock) {
    this.#base = base;
  }

  now(): Millis {
    return this.#base.now() + this.#ahead;
  }

  micros(): number {
    return this.#held ?? this.#base.micros() + this.#ahead * 1000;
  }

  at(deadline: Millis, task: () => void): Timer {
    const alarm: Alarm = { deadline, task, timer: this.#arm(deadline, () => this.#ring(alarm)) };
    this.#alarms.add(alarm);
    return {
      cancel: () => {
        this.#alarms.delete(alarm);
        alarm.timer.cancel();
      },
    };
  }

  after(delay: number, task: () => void): Timer {
    return this.#base.after(delay, task);
  }

  soon(task: () => void): Timer {
    return this.#base.soon(task);
  }

  /**
   * Sets the clock, forwards or backwards, and rings the alarms that are due, the earliest first, before it returns.
   * Meanwhile `micros` stands still, so that work with a time limit, such as the removal of expired keys, is done to its end.
   */
  set(now: Millis): void {
    this.#ahead = now - this.#base.now();
    this.#held = this.micros();
    try {
      this.#ringAll();
    } finally {
      this.#held = undefined;
    }
  }

  #ringAll(): void {
    for (const alarm of this.#alarms) {
      alarm.timer.cancel();
      alarm.timer = this.#arm(alarm.deadline, () => this.#ring(alarm));
    }
    for (let due = this.#nextDue(); due !== undefined; due = this.#nextDue()) {
      due.timer.cancel();
      this.#ring(due);
    }
  }

  #arm(deadline: Millis, ring: () => void): Timer {
    return this.#base.at(deadline - this.#ahead, ring);
  }

  #ring(alarm: Alarm): void {
    this.#alarms.delete(alarm);
    alarm.task();
  }

  #nextDue(): Alarm | undefined {
    let first: Alarm | undefined;
    const now = this.now();
    for (const alarm of this.#alarms) {
      if (alarm.deadline <= now && (first === undefined || alarm.deadline < first.deadline)) first = alarm;
    }
    return first;
  }
}
