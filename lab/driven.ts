/** Promises from within a world that move time while somebody outside awaits them. */
import { WaitedInVain } from './journey.ts';
import { present } from './present.ts';
import type { World } from './world.ts';

/** A promise that is awaited. */
interface Wait {
  /** The instant at which it has taken too long, in microseconds. */
  readonly deadline: number;
  /** Passes the outcome on, once there is one. */
  finish: (() => void) | undefined;
  readonly fail: (error: unknown) => void;
}

/**
 * Moves a world's time for those who await something in it. Time stops whenever one of them has what it wants, so
 * that the test goes on at that instant; `advance`, `run` and `until` come first.
 */
export class Pump {
  readonly #world: World;
  readonly #waits = new Set<Wait>();
  #running = false;
  /** Ends the present move. */
  #stop: () => void = () => {};

  constructor(world: World) {
    this.#world = world;
  }

  /** Settles as the promise does, with time moving meanwhile; rejects as `World.until` does. */
  wait<T>(promise: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = this.#world.schedule.micros + this.#world.patience * 1000;
      const wait: Wait = { deadline, finish: undefined, fail: reject };
      // The outcome comes inside the world; whoever waits outside must hear of it outside.
      const finish = (tell: () => void): void => {
        wait.finish = tell;
        this.#stop();
      };
      promise.then(
        (value) => finish(() => resolve(value)),
        (error: unknown) => finish(() => reject(error)),
      );
      this.#waits.add(wait);
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waits.size > 0) {
      await othersFirst();
      await this.#move().catch((error: unknown) => this.#fail(error));
      for (const wait of this.#waits) {
        if (wait.finish === undefined) continue;
        this.#waits.delete(wait);
        wait.finish();
      }
    }
    this.#running = false;
  }

  /** Moves time until one of the waits has ended, at most to the first deadline. */
  #move(): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      this.#stop = resolve;
    });
    const waits = [...this.#waits];
    if (waits.some(({ finish }) => finish !== undefined)) return Promise.resolve();
    const first = Math.min(...waits.map(({ deadline }) => deadline));
    return this.#world.until(stopped, Math.max(0, first - this.#world.schedule.micros) / 1000);
  }

  #fail(error: unknown): void {
    const now = this.#world.schedule.micros;
    for (const wait of this.#waits) {
      if (wait.finish !== undefined) continue;
      if (error instanceof WaitedInVain && !error.forGood && wait.deadline > now) continue;
      wait.finish = () => wait.fail(error);
    }
  }
}

/** Lets everybody act who has just been told something, and then the drives that they ask for. */
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
export class Driven<T> implements Promise<T> {
  readonly #world: World;
  readonly #promise: Promise<T>;
  #driven: Promise<T> | undefined;

  constructor(world: World, promise: Promise<T>) {
    this.#world = world;
    this.#promise = promise;
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
    if (this.#world.isInside) return this.#promise;
    this.#driven ??= this.#world.pump.wait(this.#promise);
    return this.#driven;
  }
}
