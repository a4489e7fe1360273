/** Promises of a world that move its time while someone outside awaits them. */

import { present } from '../time/current-world.ts';
import { drive, RealInputOutput } from '../time/drive.ts';
import { EndlessLoop } from '../time/schedule.ts';
import { moves, type Standable, stands } from '../time/standing.ts';
import { type Goal, type TimedWorld, WorldDrive } from './world-drive.ts';

/** A world whose time this driver moves. */
interface DriverWorld extends TimedWorld, Standable {
  readonly closed: boolean;
  /** True while code of this world is running. */
  readonly isInside: boolean;
  /** Marks the world as no longer deterministic: later uses of it fail with this error. */
  breakDown(error: Error): void;
}

/** A world whose promises move its time. */
export interface AwaitedWorld {
  readonly isInside: boolean;
  /** The maximum wait, in virtual milliseconds. */
  readonly patience: number;
  readonly driver: Driver;
}

/**
 * Moves a world's time for all tasks that wait in it. They share the clock: time stops when one of them has its result,
 * so that the test can continue at that instant, and then moves on for the others.
 */
export class Driver {
  readonly #world: DriverWorld;
  readonly #goals = new Set<Goal>();
  readonly #starts: (() => void)[] = [];
  #afterwards: (() => void)[] = [];
  #running = false;

  constructor(world: DriverWorld) {
    this.#world = world;
  }

  get #now(): number {
    return this.#world.schedule.micros;
  }

  /** Moves time to an instant, in microseconds since the epoch. Rejects with what fails on the way. */
  reach(at: number): Promise<void> {
    return new Promise((resolve, fail) => this.#add({ at, tell: resolve, reached: false, fail }));
  }

  /**
   * Settles as the promise does. Time moves meanwhile, but not beyond the instant `at`. Rejects as `World.until` does.
   */
  wait<T>(promise: PromiseLike<T>, maxMs: number, at: number = this.#now + maxMs * 1000): Promise<T> {
    return new Promise<T>((resolve, fail) => {
      const goal: Goal = { at, maxMs, tell: undefined, reached: false, fail };
      // The promise settles inside the world, but its reactions must run outside.
      const settle = (tell: () => void): void => {
        if (goal.reached) return;
        goal.tell = tell;
        goal.at = this.#now;
      };
      promise.then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => fail(error)),
      );
      this.#add(goal);
    });
  }

  /** Calls the code inside the world at the current instant, and runs what is due then. Settles as the code does. */
  start<T>(code: () => T): Promise<Awaited<T>> {
    return new Promise((resolve, fail) => {
      const goal: Goal = { at: this.#now, silent: true, tell: () => {}, reached: false, fail };
      this.#starts.push(() => {
        goal.at = this.#now;
        try {
          resolve(code() as Awaited<T>);
        } catch (error) {
          fail(error);
        }
      });
      this.#add(goal);
    });
  }

  /** Runs the task outside of the world: now, or as soon as time stops. */
  afterwards(task: () => void): void {
    if (this.#world.isInside) this.#afterwards.push(task);
    else task();
  }

  #add(goal: Goal): void {
    this.#goals.add(goal);
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    moves(this.#world);
    while (this.#goals.size > 0) {
      await othersFirst();
      await drive(new WorldDrive(this.#world, this.#goals, this.#starts)).catch((error: unknown) =>
        this.#fail(error),
      );
      for (const goal of this.#goals) {
        if (!goal.reached) continue;
        this.#goals.delete(goal);
        goal.tell?.();
      }
      for (const task of this.#afterwards.splice(0)) task();
    }
    this.#running = false;
    if (!this.#world.closed) stands(this.#world);
  }

  /** Rejects all waiting tasks. When there are none, the error becomes an unhandled rejection of the process. */
  #fail(error: unknown): void {
    if (error instanceof RealInputOutput || error instanceof EndlessLoop) this.#world.breakDown(error);
    const goals = [...this.#goals];
    this.#goals.clear();
    this.#starts.length = 0;
    for (const goal of goals) goal.fail(error);
    if (goals.every(({ silent }) => silent)) void Promise.reject(error);
  }
}

/** Lets the reactions of settled waits run, and then other worlds that want to move. */
async function othersFirst(): Promise<void> {
  for (let turn: unknown; turn !== present.turn; ) {
    turn = present.turn;
    await turn;
    await new Promise<void>((resolve) => present.real.setImmediate(resolve));
  }
}

/**
 * A promise that moves time while it is awaited outside the world. If nobody awaits it, it settles when something else
 * moves time that far. Several can therefore be under way at once, as with any client.
 */
export class DrivenPromise<T> implements Promise<T> {
  readonly #world: AwaitedWorld;
  readonly #promise: Promise<T>;
  readonly #maxMs: number;
  /** The time limit, in microseconds since the epoch; by default it starts when the promise is first awaited. */
  readonly #deadline: number | undefined;
  #driven: Promise<T> | undefined;
  #heard = false;

  /** @param maxMs the maximum wait, in virtual milliseconds */
  constructor(world: AwaitedWorld, promise: Promise<T>, maxMs: number = world.patience, deadline?: number) {
    this.#world = world;
    this.#promise = promise;
    this.#maxMs = maxMs;
    this.#deadline = deadline;
    // An unhandled rejection is reported outside the world, where the handlers of such errors run.
    promise.catch((error: unknown) =>
      world.driver.afterwards(() => {
        if (!this.#heard) this.#driven = Promise.reject(error);
      }),
    );
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#drive().then(fulfilled, rejected);
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.#drive().catch(rejected);
  }

  finally(settled?: (() => void) | null): Promise<T> {
    return this.#drive().finally(settled);
  }

  get [Symbol.toStringTag](): string {
    return 'Driven';
  }

  #drive(): Promise<T> {
    this.#heard = true;
    if (this.#world.isInside) return this.#promise;
    this.#driven ??= this.#world.driver.wait(this.#promise, this.#maxMs, this.#deadline);
    return this.#driven;
  }
}
