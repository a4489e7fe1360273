/** Tasks on virtual time: a heap ordered by (instant, order of arming), and the handles that setTimeout and setImmediate return. */
import type { Timer } from '../../server/host/host.ts';
import type { Actor } from './actor.ts';
import { type Callback, VIRTUAL } from './present.ts';

const IDLE = -1;
/** The task came due while its actor was paused, and waits for it to resume. */
const DEFERRED = -2;
/** Node fires longer delays after 1 ms. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** Something to be run at an instant, on behalf of an actor. */
export class Task implements Timer {
  /** Microseconds since the epoch. */
  at = 0;
  order = 0;
  /** Its place in the heap. */
  index = IDLE;
  run: (() => void) | undefined;
  readonly actor: Actor;
  /** Runs only synchronous code of ours, after which no promise can be pending: the driver need not pause. */
  readonly inner: boolean;

  constructor(actor: Actor, inner: boolean, run?: () => void) {
    this.actor = actor;
    this.inner = inner;
    this.run = run;
  }

  cancel(): void {
    this.run = undefined;
    if (this.index >= 0) this.actor.schedule.heap.remove(this);
    this.index = IDLE;
  }

  defer(): void {
    this.index = DEFERRED;
  }

  get deferred(): boolean {
    return this.index === DEFERRED;
  }
}

/** A binary heap of tasks; each knows its place, so that cancelling leaves no garbage behind. */
export class TaskHeap {
  #tasks: Task[] = [];
  #order = 0;

  get size(): number {
    return this.#tasks.length;
  }

  peek(): Task | undefined {
    return this.#tasks[0];
  }

  push(task: Task, at: number): void {
    if (task.index >= 0) this.remove(task);
    task.at = at;
    task.order = this.#order++;
    this.#tasks.push(task);
    this.#rise(task, this.#tasks.length - 1);
  }

  pop(): Task | undefined {
    const first = this.#tasks[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  remove(task: Task): void {
    const hole = task.index;
    const last = this.#tasks.pop() as Task;
    task.index = IDLE;
    if (last === task) return;
    if (!this.#rise(last, hole)) this.#sink(last, hole);
  }

  tasksOf(actor: Actor): Task[] {
    return this.#tasks.filter((task) => task.actor === actor);
  }

  clear(): void {
    for (const task of this.#tasks) task.index = IDLE;
    this.#tasks = [];
  }

  #rise(task: Task, from: number): boolean {
    const tasks = this.#tasks;
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const other = tasks[parent] as Task;
      if (!before(task, other)) break;
      tasks[place] = other;
      other.index = place;
      place = parent;
    }
    tasks[place] = task;
    task.index = place;
    return place !== from;
  }

  #sink(task: Task, from: number): void {
    const tasks = this.#tasks;
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      const right = tasks[child + 1];
      if (right !== undefined && before(right, tasks[child] as Task)) child++;
      const other = tasks[child];
      if (other === undefined || !before(other, task)) break;
      tasks[place] = other;
      other.index = place;
      place = child;
    }
    tasks[place] = task;
    task.index = place;
  }
}

function before(a: Task, b: Task): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** What Node's timers hand out, as far as programs can tell. Whether anything keeps the process alive is no matter here. */
abstract class Handle extends Task {
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

/** What setTimeout and setInterval return in a world: Node's Timeout, on virtual time. */
export class VirtualTimeout extends Handle {
  readonly #callback: Callback;
  readonly #args: readonly unknown[];
  readonly #delay: number;
  readonly #repeat: boolean;
  #closed = false;
  #id: number | undefined;

  constructor(actor: Actor, callback: Callback, delay: number, args: readonly unknown[], repeat: boolean) {
    super(actor, false);
    this.#callback = callback;
    this.#args = args;
    this.#delay = clampDelay(delay);
    this.#repeat = repeat;
    this.#arm();
  }

  #arm(): void {
    const { schedule } = this.actor;
    this.run = this.#fire;
    schedule.arm(this, schedule.micros + this.#delay * 1000);
  }

  #fire(): void {
    try {
      (this.#callback as (...args: unknown[]) => void).apply(this, this.#args as unknown[]);
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

/** What setImmediate returns in a world. */
export class VirtualImmediate extends Handle {}

/** Node's own rule, with its warning: no delay below 1 ms, none above 2^31 - 1. */
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
