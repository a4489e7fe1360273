/** A node's process on the real clock: it can be paused, and its wall clock can jump and drift. */
import type { Millis } from '../../protocol/bytes.ts';
import type { Clock, Timer } from '../../server/host/host.ts';
import { checkJump, checkNumber } from '../checks.ts';

/** A process that can be stopped as by SIGSTOP. Tasks that come due in the meantime run in order when it resumes. */
export class RealClockProcess {
  readonly clock: RealClock;
  #paused = false;
  #waiting: (() => void)[] = [];

  /**
   * @param time what the clock follows
   * @param checkOpen throws when the process has ended for good; then its clock cannot be set
   */
  constructor(time: Clock, checkOpen: () => void) {
    this.clock = new RealClock(time, this, checkOpen);
  }

  get paused(): boolean {
    return this.#paused;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const task of waiting) this.run(task);
  }

  /** Runs the task now or, while the process is paused, when it resumes. */
  run(task: () => void): void {
    if (this.#paused) this.#waiting.push(task);
    else task();
  }

  /** Ends the process: nothing that it scheduled runs any more. The clock keeps running for the next process. */
  kill(): void {
    this.#paused = false;
    this.#waiting = [];
    this.clock.forgetAlarms();
  }
}

/** A wall clock that follows the machine's until a test makes it jump or drift. */
export class RealClock implements Clock {
  readonly #time: Clock;
  readonly #process: RealClockProcess;
  readonly #checkOpen: () => void;
  /** @internal Called when a test has set the clock, with what it did. */
  onSet: (text: string) => void = () => {};
  /** `#shown` is what this clock showed when the pair's time was `#since`, both in milliseconds. */
  #shown = 0;
  #since = 0;
  #rate = 1;
  readonly #alarms = new Set<RealClockAlarm>();
  /** Tasks that `after` has scheduled. Setting the clock does not move them. */
  readonly #delays = new Set<RealClockAlarm>();

  /** @internal */
  constructor(time: Clock, process: RealClockProcess, checkOpen: () => void) {
    this.#time = time;
    this.#process = process;
    this.#checkOpen = checkOpen;
  }

  /** Milliseconds since the epoch, as the node's clock shows them. */
  now(): Millis {
    return Math.floor(this.#shown + (this.#time.now() - this.#since) * this.#rate);
  }

  /** Microseconds since the epoch, as the node's clock shows them. */
  micros(): number {
    return Math.floor((this.#shown + (this.#time.micros() / 1000 - this.#since) * this.#rate) * 1000);
  }

  /** How far the clock is ahead of the machine's, in milliseconds. */
  get offset(): number {
    return this.now() - this.#time.now();
  }

  /**
   * Sets the clock forward by `byMs` milliseconds, or back when negative, like an NTP step. Throws TypeError for
   * anything but a number, and for a time that no clock shows.
   */
  jump(byMs: number): void {
    this.#checkOpen();
    checkJump(byMs, this.now());
    this.#set(byMs, this.#rate);
    this.onSet(`jumps by ${byMs} ms`);
  }

  /** Makes the clock run at this rate from now on: 1 is exact, 1.01 gains 10 ms per second. Throws TypeError for 0 or less. */
  drift(rate: number): void {
    this.#checkOpen();
    checkNumber('drift', rate, 'a rate above 0', 0);
    this.#set(0, rate);
    this.onSet(`runs at ${rate}`);
  }

  #set(ahead: number, rate: number): void {
    const now = this.#time.now();
    this.#shown += (now - this.#since) * this.#rate + ahead;
    this.#since = now;
    this.#rate = rate;
    for (const alarm of this.#alarms) this.#arm(alarm);
  }

  /** Runs the task when the clock shows this time, in milliseconds since the epoch. */
  at(deadline: Millis, task: () => void): Timer {
    const alarm = new RealClockAlarm(this.#alarms, deadline, task);
    this.#alarms.add(alarm);
    this.#arm(alarm);
    return alarm;
  }

  /** Runs the task after so many milliseconds at this clock's rate, however the clock is set meanwhile. */
  after(delay: number, task: () => void): Timer {
    const process = this.#process;
    const alarm = new RealClockAlarm(this.#delays, Infinity, task);
    this.#delays.add(alarm);
    alarm.timer = this.#time.after(delay / this.#rate, () => {
      process.run(() => {
        if (this.#delays.delete(alarm)) task();
      });
    });
    return alarm;
  }

  #arm(alarm: RealClockAlarm): void {
    alarm.timer?.cancel();
    const left = Math.ceil(Math.max(0, alarm.deadline - this.now()) / this.#rate);
    alarm.timer = this.#time.at(this.#time.now() + left, () => {
      this.#process.run(() => {
        if (!this.#alarms.has(alarm)) return;
        if (this.now() < alarm.deadline) return this.#arm(alarm);
        this.#alarms.delete(alarm);
        alarm.task();
      });
    });
  }

  /** Runs the task in a later turn of the event loop. */
  soon(task: () => void): Timer {
    let cancelled = false;
    const timer = this.#time.soon(() => this.#process.run(() => void (cancelled || task())));
    return {
      cancel: () => {
        cancelled = true;
        timer.cancel();
      },
    };
  }

  /** @internal Cancels every alarm, because the process that set them is dead. */
  forgetAlarms(): void {
    for (const alarm of [...this.#alarms, ...this.#delays]) alarm.cancel();
  }
}

/** A task that `at` has scheduled. */
class RealClockAlarm implements Timer {
  readonly deadline: Millis;
  readonly task: () => void;
  timer: Timer | undefined;
  readonly #alarms: Set<RealClockAlarm>;

  constructor(alarms: Set<RealClockAlarm>, deadline: Millis, task: () => void) {
    this.#alarms = alarms;
    this.deadline = deadline;
    this.task = task;
  }

  cancel(): void {
    this.#alarms.delete(this);
    this.timer?.cancel();
  }
}
