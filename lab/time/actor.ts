/** A process in a world, either a node or a client, with its own wall clock; a test can pause, resume and kill it. */

import { VirtualClock } from './clock.ts';
import { errorText, type ProcessEnd, ProcessEnded } from './process-end.ts';
import type { Schedule } from './schedule.ts';
import { Task, type TaskOwner } from './task.ts';
import type { Trace } from './trace.ts';

/** The world that an actor lives in, as far as the actor needs it. */
export interface ActorWorld {
  readonly schedule: Schedule;
  readonly trace: Trace;
  /** True while code of this world is running. */
  readonly isInside: boolean;
  readonly closed: boolean;
  readonly network: {
    /** Ends the connections of a process that died. @param silent true: the far ends are not notified */
    abandon(actor: Actor, silent: boolean): void;
  };
  /** Microseconds since the world began. */
  elapsed(): number;
  /** A number for a process that starts. */
  nextPid(): number;
  /** Throws when the world is closed. */
  assertUsable(): void;
  /** Runs code as the actor. Rejects with what the code throws. */
  runAs<T>(actor: Actor, code: () => T): Promise<Awaited<T>>;
}

/**
 * A process as the world models it. Timers and connections belong to the actor whose code created them. While the actor
 * is paused, its events wait, as under SIGSTOP or a long garbage collection; when it resumes, they all come due at
 * once.
 */
export class Actor implements TaskOwner {
  /** The actor's name. */
  readonly name: string;
  /** @internal The world that the actor lives in. */
  readonly world: ActorWorld;
  /** @internal The world's events. */
  readonly schedule: Schedule;
  /** @internal */
  readonly number: number;
  /** @internal */
  ahead = 0;
  /** @internal */
  busyUntil = 0;
  /** @internal Called when its code has kept the process busy, with the milliseconds. */
  onBusy: ((ms: number) => void) | undefined;
  /** @internal The number of its process. A process that starts again has another one. */
  pid: number;
  /** @internal The host name that its code is told. */
  hostname: string;
  /** @internal The process whose number its code is told in place of its own. */
  #samePid: Actor | undefined;
  /** @internal Called when its program ends by itself. Without it, what fails fails the world. */
  onEnd: ((end: ProcessEnd) => void) | undefined;
  /** The wall clock, which can jump and drift. */
  readonly clock: VirtualClock;
  #paused = false;
  #alive = true;
  #waiting: Task[] = [];

  /** @internal */
  constructor(world: ActorWorld, name: string) {
    this.world = world;
    this.schedule = world.schedule;
    this.name = name;
    this.hostname = name;
    this.pid = world.nextPid();
    this.number = this.pid;
    this.clock = new VirtualClock(this);
  }

  /** True between `pause` and `resume`. */
  get paused(): boolean {
    return this.#paused;
  }

  /** False after `kill`. */
  get alive(): boolean {
    return this.#alive;
  }

  /** @internal The number of its process, as its code is told. */
  get shownPid(): number {
    return this.#samePid?.pid ?? this.pid;
  }

  /** @internal It has another one's host name from now on, and with `samePid` the number of its process. */
  resemble(other: Actor, samePid: boolean): void {
    this.hostname = other.hostname;
    this.#samePid = samePid ? other : undefined;
  }

  /** Stops the actor's timers and holds what arrives for it. Its wall clock keeps running. */
  pause(): void {
    this.world.assertUsable();
    if (this.#paused) return;
    this.#paused = true;
    this.world.trace.note(this.name, 'pause');
  }

  /** Continues the actor: everything that came due during the pause runs now, in the order in which it came due. */
  resume(): void {
    this.world.assertUsable();
    if (!this.#paused) return;
    this.#paused = false;
    this.world.trace.note(this.name, 'resume');
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const task of waiting) if (task.deferred) this.schedule.arm(task, this.schedule.micros);
  }

  /**
   * Ends the process: nothing that it has scheduled runs any more, and its connections end like those of a killed
   * process.
   * @param silent true when the machine is gone: the far ends are not notified
   */
  kill(silent = false): void {
    this.#alive = false;
    this.#paused = false;
    this.#waiting = [];
    this.schedule.discard(this);
    this.clock.forgetAlarms();
    this.world.network.abandon(this, silent);
  }

  /** @internal Starts a new process under the same name. Only the clock is kept. */
  revive(): void {
    this.#alive = true;
    this.#paused = false;
    this.#waiting = [];
    this.ahead = 0;
    this.busyUntil = 0;
    this.pid = this.world.nextPid();
  }

  /** @internal Its running code keeps the process busy for so many microseconds: nothing else of the process runs meanwhile. */
  keepBusy(micros: number): void {
    this.ahead += micros;
  }

  /** @internal */
  settle(): void {
    const { ahead } = this;
    this.ahead = 0;
    if (!this.#alive) return;
    this.busyUntil = this.schedule.micros + ahead;
    this.world.trace.note(this.name, 'busy', `${ahead / 1000} ms`);
    this.onBusy?.(ahead / 1000);
  }

  /** @internal Its program ends by itself. Returns false when nobody lets it. */
  end(end: ProcessEnd): boolean {
    if (this.onEnd === undefined) return false;
    // One that has ended already cannot end again.
    if (this.#alive) this.onEnd(end);
    return true;
  }

  /** @internal Takes an error that nothing in its code has caught. Returns false when that ends no program. */
  takes(error: unknown): boolean {
    if (error instanceof ProcessEnded) return true;
    // Its text would be no help without the reason for which it is thrown.
    const isSystem = error instanceof Error && 'code' in error;
    const hint = isSystem
      ? ". If a client emitted it as 'error', the client needs a listener: client.on('error', () => {})"
      : '';
    return this.end({ how: 'exception', text: `nothing caught ${errorText(error)}${hint}`, error });
  }

  /** @internal Keeps a task that came due during the pause. */
  postpone(task: Task): void {
    task.defer();
    this.#waiting.push(task);
  }

  /**
   * Runs code as this actor, from outside or inside the world; otherwise like `world.run`. Rejects with what the code
   * throws.
   */
  run<T>(code: () => T): Promise<Awaited<T>> {
    return this.world.runAs(this, code);
  }

  /** @internal A task of this actor that may leave promises pending. */
  task(run: () => void): Task {
    return new Task(this, false, run);
  }

  /**
   * @internal
   * Calls the code as this actor: from inside the world before time moves, from outside when time next moves. Settles
   * as the code does.
   */
  call<T>(code: () => T): Promise<Awaited<T>> {
    return new Promise((resolve, reject) => {
      const attempt = (): void => {
        try {
          resolve(code() as Awaited<T>);
        } catch (error) {
          reject(error);
        }
      };
      this.schedule.enqueue(this.task(attempt));
    });
  }
}
