/**
 * Tasks on virtual time, and a heap that orders them by instant, and tasks of one instant by the order in which they
 * were armed.
 */
import type { Timer } from '../../server/host/host.ts';

/** The process that a task belongs to, as a schedule sees it. */
export interface TaskOwner {
  /** While it is paused, its tasks do not run: they are handed to `postpone` when they come due. */
  readonly paused: boolean;
  /** @internal Tells it from the other actors of its world. */
  readonly number: number;
  /** @internal How far its running code is ahead of the world, because it has kept its process busy; in microseconds. */
  readonly ahead: number;
  /** @internal Its process is busy until this instant, in microseconds since the epoch: what comes due before waits. */
  readonly busyUntil: number;
  /** @internal The code that was ahead has come to its end: its process is busy until the world has caught up. */
  settle(): void;
  /** @internal Keeps a task that came due during the pause. */
  postpone(task: Task): void;
  /** @internal Takes an error that nothing in its code has caught. Returns false when that ends no program. */
  takes?(error: unknown): boolean;
}

const IDLE = -1;
/** The task came due while its owner was paused and waits for it to resume. */
const DEFERRED = -2;

/** Code that runs at an instant on behalf of its owner. */
export class Task<O extends TaskOwner = TaskOwner> implements Timer {
  /** When the task is due, in microseconds since the epoch. */
  at = 0;
  order = 0;
  /** The task's position in the heap. */
  index = IDLE;
  /** The heap that it is in, or was in last. */
  heap: TaskHeap | undefined;
  run: (() => void) | undefined;
  readonly actor: O;
  /**
   * True when the task runs only our own synchronous code. No promise is pending after it, so the drive need not end
   * its step.
   */
  readonly inner: boolean;

  constructor(actor: O, inner: boolean, run?: () => void) {
    this.actor = actor;
    this.inner = inner;
    this.run = run;
  }

  cancel(): void {
    this.run = undefined;
    if (this.index >= 0) this.heap?.remove(this);
    this.index = IDLE;
  }

  defer(): void {
    this.index = DEFERRED;
  }

  get deferred(): boolean {
    return this.index === DEFERRED;
  }
}

/** A binary heap of tasks. Each task knows its position, so that a cancelled task is removed at once. */
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
    task.heap = this;
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

  tasksOf(owner: TaskOwner): Task[] {
    return this.#tasks.filter((task) => task.actor === owner);
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
