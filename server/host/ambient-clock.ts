/**
 * The clock of fake timers: it reads the global Date and timers of the moment, which may be a test framework's fakes.
 */
import type { Millis } from '../../protocol/bytes.ts';
import type { Clock, Timer } from './host.ts';
import { realDelay, realSoon } from './real-time.ts';

/**
 * How often a waiting alarm is compared with the Date, in real milliseconds. Fakes may have been installed or removed.
 */
const WATCH_MS = 5;

/** A timer's longest delay, in milliseconds. */
const LONGEST_DELAY = 2 ** 31 - 1;

interface AmbientAlarm {
  readonly deadline: Millis;
  readonly task: () => void;
  /** Keeps the process alive, because a server in memory has no socket that does. */
  readonly isAwaited: boolean;
  /** Cancels the global timer that would ring the alarm. */
  disarm: () => void;
}

/**
 * A clock that reads the global Date and whose alarms are global timers, so that advancing fake timers rings them in
 * order with the test's own timers. When fakes are installed, removed or set to another time, the alarms follow.
 */
export class AmbientClock implements Clock {
  readonly #alarms = new Set<AmbientAlarm>();
  #armedBy: typeof setTimeout | undefined;
  #watch: Timer | undefined;
  readonly soon = realSoon;
  readonly #watches: boolean;

  /**
   * @param watches false: alarms follow only when somebody asks for the time, so that no timer of the machine runs, which a test
   * runner would notice after its tests
   */
  constructor(watches = true) {
    this.#watches = watches;
  }

  now(): Millis {
    this.#follow();
    return Date.now();
  }

  /** Fake time has whole milliseconds only. */
  micros(): number {
    return this.now() * 1000;
  }

  at(deadline: Millis, task: () => void, isAwaited = false): Timer {
    this.#follow();
    const alarm: AmbientAlarm = { deadline, task, isAwaited, disarm: () => {} };
    this.#alarms.add(alarm);
    this.#armedBy = setTimeout;
    this.#arm(alarm);
    if (this.#watches) this.#watch ??= realDelay(() => this.#look(), WATCH_MS);
    return { cancel: () => this.#end(alarm) };
  }

  after(delay: number, task: () => void): Timer {
    return this.at(this.now() + delay, task);
  }

  #arm(alarm: AmbientAlarm): void {
    const clear = clearTimeout;
    const ring = (): void => (Date.now() >= alarm.deadline ? this.#ring(alarm) : this.#arm(alarm));
    const handle = setTimeout(ring, Math.max(1, Math.min(alarm.deadline - Date.now(), LONGEST_DELAY)));
    // A fake timer's handle may lack `unref`.
    if (!alarm.isAwaited) (handle as { unref?: () => void }).unref?.();
    alarm.disarm = () => clear(handle);
  }

  /** Sets every alarm again when the global timers were replaced since it was set. */
  #follow(): void {
    if (this.#alarms.size === 0 || this.#armedBy === setTimeout) return;
    this.#armedBy = setTimeout;
    for (const alarm of this.#alarms) {
      alarm.disarm();
      this.#arm(alarm);
    }
  }

  #look(): void {
    this.#watch = undefined;
    this.#follow();
    const now = Date.now();
    const due = [...this.#alarms].filter((alarm) => alarm.deadline <= now);
    due.sort((a, b) => a.deadline - b.deadline);
    if (this.#alarms.size > due.length) this.#watch = realDelay(() => this.#look(), WATCH_MS);
    for (const alarm of due) this.#ring(alarm);
  }

  #ring(alarm: AmbientAlarm): void {
    if (!this.#alarms.has(alarm)) return;
    this.#end(alarm);
    alarm.task();
  }

  #end(alarm: AmbientAlarm): void {
    this.#alarms.delete(alarm);
    alarm.disarm();
    if (this.#alarms.size > 0) return;
    this.#watch?.cancel();
    this.#watch = undefined;
  }
}
