/** The pending events of a world: tasks that are due at an instant, and tasks that run before time moves. */
import type { Timer } from '../../server/host/host.ts';
import { beats, CELL } from './beats.ts';
import { type Task, TaskHeap, type TaskOwner } from './task.ts';

/** After this many events at one instant, the world is considered to be in an endless loop. */
const EVENTS_AT_ONE_INSTANT = 200_000;
/** How many of our own synchronous events may run within one step, so that outside code still gets its turn. */
const INNER_EVENTS = 256;

/** Thrown when something in the world keeps scheduling itself at the same instant. */
export class EndlessLoop extends Error {
  constructor() {
    super(
      `${EVENTS_AT_ONE_INSTANT} events without time moving: something in the world re-arms itself for ever`,
    );
    this.name = 'EndlessLoop';
  }
}

/** The order of events of one world. */
export class Schedule {
  readonly heap = new TaskHeap();
  readonly timersById = new Map<number, Timer>();
  nextTimerId = 1;
  /** The current instant, in microseconds since the epoch, on the world's own clock. */
  micros: number;
  /** The actor whose code is running, or ran last. */
  running: TaskOwner | undefined;
  /** The actor whose code has thrown what nothing caught, if one has. */
  blamed: TaskOwner | undefined;
  /**
   * Called before each step, when everything that the last step started has run, including promises. Meant for
   * checkers.
   */
  beforeStep: (() => void) | undefined;
  /** How many steps were taken. */
  steps = 0;
  #immediates: Task[] = [];
  #nextImmediate = 0;
  #eventsNow = 0;
  #stopped = false;

  constructor(micros: number) {
    this.micros = micros;
  }

  /**
   * Schedules the task for an instant in microseconds since the epoch, or for the current instant when that has passed.
   */
  arm(task: Task, at: number): void {
    if (!this.#stopped) this.heap.push(task, Math.max(at, this.micros));
  }

  /** The instant that the running code has come to: it is ahead of the world when it has kept its process busy. */
  get reached(): number {
    return this.micros + (this.running?.ahead ?? 0);
  }

  /** Schedules the task to run before time moves, after everything that is already enqueued. */
  enqueue(task: Task): void {
    if (!this.#stopped) this.#immediates.push(task);
  }

  /** Cancels every task of the owner. */
  discard(owner: TaskOwner): void {
    this.#immediates = this.#immediates.slice(this.#nextImmediate).filter((task) => task.actor !== owner);
    this.#nextImmediate = 0;
    for (const task of this.heap.tasksOf(owner)) task.cancel();
  }

  /** Cancels everything, and ignores what is scheduled from now on. */
  stop(): void {
    this.#stopped = true;
    this.heap.clear();
    this.timersById.clear();
    this.#immediates = [];
    this.#nextImmediate = 0;
  }

  /** True when nothing is enqueued and no task is armed. */
  get empty(): boolean {
    return this.#immediates.length === 0 && this.heap.size === 0;
  }

  /**
   * Runs the next events up to an instant. Continues after our own synchronous code, up to and including the first task
   * that may leave promises pending. Returns false when there is no event. Throws what the task throws, and EndlessLoop
   * when time no longer moves.
   */
  runNext(limit: number): boolean {
    this.steps++;
    if (this.running !== undefined && this.running.ahead > 0) this.running.settle();
    this.beforeStep?.();
    for (let events = 0; events < INNER_EVENTS; events++) {
      const task = this.#take(limit);
      if (task === undefined) return events > 0;
      if (this.#fire(task)) return true;
    }
    return true;
  }

  #take(limit: number): Task | undefined {
    const immediate = this.#immediates[this.#nextImmediate];
    if (immediate !== undefined) {
      this.#nextImmediate++;
      if (this.#nextImmediate === this.#immediates.length || this.#nextImmediate > 1024) {
        this.#immediates.splice(0, this.#nextImmediate);
        this.#nextImmediate = 0;
      }
      this.#count(false);
      return immediate;
    }
    const next = this.heap.peek();
    if (next === undefined || next.at > limit) return undefined;
    this.heap.pop();
    this.#count(next.at > this.micros);
    this.micros = next.at;
    return next;
  }

  #count(moved: boolean): void {
    if (moved) this.#eventsNow = 0;
    else if (++this.#eventsNow > EVENTS_AT_ONE_INSTANT) {
      throw new EndlessLoop();
    }
  }

  /** Runs the task; true when promises may be pending afterwards. */
  #fire(task: Task): boolean {
    const { run, actor } = task;
    if (run === undefined) return false;
    if (actor.paused) {
      actor.postpone(task);
      return false;
    }
    if (actor.busyUntil > this.micros) {
      this.arm(task, actor.busyUntil);
      return false;
    }
    this.running = actor;
    if (beats.cells !== undefined) beats.cells[CELL.running] = actor.number;
    task.run = undefined;
    run.call(task);
    return !task.inner;
  }
}
