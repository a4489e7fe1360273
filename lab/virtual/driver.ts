/** Promises from within a world that move time while somebody outside awaits them. */
import { drive, RealInputOutput } from '../time/drive.ts';
import { present } from '../time/present.ts';
import { EndlessLoop } from '../time/schedule.ts';
import { type Goal, type TimedWorld, WorldDrive } from './world-drive.ts';

/** A world whose time is moved for all who wait in it. */
interface DriverWorld extends TimedWorld {
  /** True while code of this world is running. */
  readonly isInside: boolean;
  /** The world has lost its determinism: whoever uses it from now on gets this error. */
  breakDown(error: Error): void;
}

/** A world whose promises move its time. */
export interface AwaitedWorld {
  readonly isInside: boolean;
  /** How long a wait may take, in virtual milliseconds. */
  readonly patience: number;
  readonly driver: Driver;
}

/**
 * Moves a world's time for all who wait for something in it. They share the clock: time stops at the instant at which
 * one of them has what it wants, so that the test goes on there, and moves on for the others afterwards.
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

  /** Moves time to an instant, in microseconds since the epoch. Rejects with what goes wrong on the way. */
  reach(at: number): Promise<void> {
    return new Promise((resolve, fail) => this.#add({ at, tell: resolve, reached: false, fail }));
  }

  /** Settles as the promise does, with time moving meanwhile, but not beyond the instant `at`. Rejects as `World.until` does. */
  wait<T>(promise: PromiseLike<T>, maxMs: number, at: number = this.#now + maxMs * 1000): Promise<T> {
    return new Promise<T>((resolve, fail) => {
      const goal: Goal = { at, maxMs, tell: undefined, reached: false, fail };
      // The outcome comes inside the world; whoever waits outside must hear of it outside.
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

  /** Calls the code inside the world, at the present instant, and lets happen what is due then; settles as the code does. */
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
  }

  /** Whoever waits is told; when nobody does, the process is, as of any error without a handler. */
  #fail(error: unknown): void {
    if (error instanceof RealInputOutput || error instanceof EndlessLoop) this.#world.breakDown(error);
    const goals = [...this.#goals];
    this.#goals.clear();
    this.#starts.length = 0;
    for (const goal of goals) goal.fail(error);
    if (goals.every(({ silent }) => silent)) void Promise.reject(error);
  }
}

/** Lets everybody act who has just been told something, and then other worlds that are to move. */
async function othersFirst(): Promise<void> {
  for (let turn: unknown; turn !== present.turn; ) {
    turn = present.turn;
    await turn;
    await new Promise<void>((resolve) => present.real.setImmediate(resolve));
  }
}

/**
 * Awaiting it outside the world moves time until it settles. Left alone, it settles whenever something else moves
 * time that far; so that several may be under way at once, as with any client.
 */
export class DrivenPromise<T> implements Promise<T> {
  readonly #world: AwaitedWorld;
  readonly #promise: Promise<T>;
  readonly #maxMs: number;
  /** When it has taken too long, in microseconds since the epoch; by default so long after it is first awaited. */
  readonly #deadline: number | undefined;
  #driven: Promise<T> | undefined;
  #heard = false;

  /** @param maxMs how much virtual time it may take */
  constructor(world: AwaitedWorld, promise: Promise<T>, maxMs: number = world.patience, deadline?: number) {
    this.#world = world;
    this.#promise = promise;
    this.#maxMs = maxMs;
    this.#deadline = deadline;
    // A rejection that nobody has heard of is reported outside, where the handlers of such things live.
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
