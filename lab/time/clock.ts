/** The wall clock of one actor: it follows the world's time until a test makes it jump or drift. */
import type { Millis } from '../../protocol/bytes.ts';
import type { Clock, Timer } from '../../server/host/host.ts';
import { checkJump, checkNumber } from '../checks.ts';
import type { Schedule } from './schedule.ts';
import { Task, type TaskOwner } from './task.ts';
import type { Trace } from './trace.ts';

/** The process whose clock it is. */
interface ClockOwner extends TaskOwner {
  readonly name: string;
  readonly schedule: Schedule;
  readonly world: {
    readonly trace: Trace;
    /** Microseconds since the world began. */
    elapsed(): number;
    /** Throws when the world is closed. */
    assertUsable(): void;
  };
}

/** The clock of a virtual Host. Its alarms move when the clock is set. */
export class VirtualClock implements Clock {
  readonly #actor: ClockOwner;
  /** `#shown` is what this clock showed at the world's time `#since`, both in microseconds. */
  #shown = 0;
  #since = 0;
  #rate = 1;
  /** The sum of all jumps, in microseconds. */
  #jumped = 0;
  readonly #alarms = new Set<VirtualAlarm>();

  /** @internal */
  constructor(actor: ClockOwner) {
    this.#actor = actor;
  }

  now(): Millis {
    return Math.floor(this.micros() / 1000);
  }

  micros(): number {
    const micros = this.#actor.schedule.micros + this.#actor.ahead;
    if (this.#rate === 1) return micros + (this.#shown - this.#since);
    return this.#shown + Math.floor((micros - this.#since) * this.#rate);
  }

  /** How far the clock is ahead of the world's, in milliseconds. */
  get offset(): number {
    return (this.micros() - this.#actor.schedule.micros) / 1000;
  }

  /** Microseconds since the world began, on the actor's monotonic clock: it drifts like the wall clock, but never jumps. */
  elapsed(): number {
    const { world } = this.#actor;
    return world.elapsed() + (this.micros() - this.#actor.schedule.micros) - this.#jumped;
  }

  /**
   * Sets the clock forward by `byMs` milliseconds, or back when negative, like an NTP step. Throws TypeError for
   * anything but a number, and for a time that no clock shows.
   */
  jump(byMs: number): void {
    this.#actor.world.assertUsable();
    checkJump(byMs, this.now());
    const by = Math.round(byMs * 1000);
    this.#jumped += by;
    this.#set(this.micros() + by, this.#rate);
    this.#actor.world.trace.note(this.#actor.name, 'clock', `jumps by ${byMs} ms`);
  }

  /** Makes the clock run at this rate from now on: 1 is exact, 1.01 gains 10 ms per second. Throws TypeError for 0 or less. */
  drift(rate: number): void {
    this.#actor.world.assertUsable();
    checkNumber('drift', rate, 'a rate above 0', 0);
    this.#set(this.micros(), rate);
    this.#actor.world.trace.note(this.#actor.name, 'clock', `runs at ${rate}`);
  }

  #set(shown: number, rate: number): void {
    this.#since = this.#actor.schedule.micros;
    this.#shown = shown;
    this.#rate = rate;
    for (const alarm of this.#alarms) this.#arm(alarm);
  }

  at(deadline: Millis, task: () => void): Timer {
    const alarm = new VirtualAlarm(this.#actor, this.#alarms, deadline, () => {
      if (this.now() < deadline) return this.#arm(alarm);
      this.#alarms.delete(alarm);
      task();
    });
    this.#alarms.add(alarm);
    this.#arm(alarm);
    return alarm;
  }

  #arm(alarm: VirtualAlarm): void {
    const { schedule } = this.#actor;
    const ahead = Math.max(0, (alarm.deadline * 1000 - this.micros()) / this.#rate);
    alarm.run = alarm.task;
    // On a drifting clock, rounding may make an alarm fire just before its deadline; it then checks again a microsecond
    // later.
    schedule.arm(alarm, schedule.micros + Math.max(Math.ceil(ahead), alarm.fired ? 1 : 0));
  }

  after(delay: number, task: () => void): Timer {
    const { schedule } = this.#actor;
    const later = new Task(this.#actor, true, task);
    schedule.arm(later, schedule.micros + Math.ceil((delay * 1000) / this.#rate));
    return later;
  }

  soon(task: () => void): Timer {
    const soon = new Task(this.#actor, true, task);
    this.#actor.schedule.enqueue(soon);
    return soon;
  }

  /** @internal Cancels every alarm, because the process that set them is dead. */
  forgetAlarms(): void {
    this.#alarms.clear();
  }
}

/** A task that `at` has scheduled. */
class VirtualAlarm extends Task<ClockOwner> {
  readonly deadline: Millis;
  readonly task = (): void => {
    this.fired = true;
    this.#ring();
  };
  fired = false;
  readonly #ring: () => void;
  readonly #alarms: Set<VirtualAlarm>;

  constructor(actor: ClockOwner, alarms: Set<VirtualAlarm>, deadline: Millis, ring: () => void) {
    super(actor, true);
    this.deadline = deadline;
    this.#alarms = alarms;
    this.#ring = ring;
  }

  override cancel(): void {
    this.#alarms.delete(this);
    super.cancel();
  }
}
