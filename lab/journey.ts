/** One drive of a world through time: to an instant, or until a promise has settled. */
import type { Drive } from './driver.ts';
import { EndlessLoop } from './schedule.ts';
import type { World } from './world.ts';

/** Where a drive goes. */
export interface Destination {
  /** How far it may go at most, in virtual milliseconds. */
  readonly maxMs: number;
  /** Called inside the world, first of all; answers what to wait for, if anything. */
  readonly start?: () => PromiseLike<unknown> | undefined;
  /** Without this, the drive goes all the way; with it, it ends as soon as what it waits for has settled. */
  readonly waits: boolean;
}

/** What was waited for has not come, or cannot come any more. */
export class WaitedInVain extends Error {
  /** Nothing can happen in the world any more. */
  readonly forGood: boolean;

  constructor(why: string, obstacles: string, forGood: boolean) {
    super(obstacles === '' ? why : `${why}; ${obstacles}`);
    this.name = 'WaitedInVain';
    this.forGood = forGood;
  }
}

export class Journey implements Drive {
  readonly inside;
  readonly #world: World;
  readonly #destination: Destination;
  #limit = 0;
  #state: 'travelling' | 'waiting' | 'draining' = 'travelling';
  #settled = false;
  #failed = false;
  #error: unknown;

  constructor(world: World, destination: Destination) {
    this.#world = world;
    this.inside = world.inside;
    this.#destination = destination;
  }

  begin(): void {
    const { schedule } = this.#world;
    this.#world.assertUsable();
    this.#limit = schedule.micros + Math.round(this.#destination.maxMs * 1000);
    try {
      this.#await(this.#destination.start?.());
    } catch (error) {
      this.#fail(error);
    }
  }

  #await(promise: PromiseLike<unknown> | undefined): void {
    if (!this.#destination.waits) return;
    if (promise === undefined) {
      this.#drain();
      return;
    }
    this.#state = 'waiting';
    const settle = (): void => {
      this.#settled = true;
    };
    promise.then(settle, settle);
  }

  /** The first error is the one that counts, but what is due now happens all the same. */
  #fail(error: unknown): void {
    if (!this.#failed) this.#error = error;
    this.#failed = true;
    this.#drain();
  }

  /** Leaves nothing due behind: clients' job queues are shared by all worlds. */
  #drain(): void {
    this.#state = 'draining';
    this.#limit = this.#world.schedule.micros;
  }

  step(): boolean {
    const { schedule } = this.#world;
    if (this.#settled && this.#state === 'waiting') this.#drain();
    try {
      if (schedule.runNext(this.#limit)) return false;
    } catch (error) {
      if (error instanceof EndlessLoop) throw error;
      this.#fail(error);
      return false;
    }
    if (this.#failed) throw this.#error;
    if (this.#state === 'travelling') schedule.micros = Math.max(schedule.micros, this.#limit);
    if (this.#state === 'waiting') throw this.#waitedInVain();
    return true;
  }

  #waitedInVain(): Error {
    const { schedule } = this.#world;
    const obstacles = this.#world.describeObstacles();
    if (schedule.empty) {
      const why = 'this wait can never end: no timer is set and no message is under way in the world';
      return new WaitedInVain(why, obstacles, true);
    }
    schedule.micros = Math.max(schedule.micros, this.#limit);
    const why = `waited for ${this.#destination.maxMs} ms of virtual time, and what was waited for has not come`;
    return new WaitedInVain(why, obstacles, false);
  }
}
