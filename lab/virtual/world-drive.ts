/** One move of a world's time: up to the nearest instant or promise that someone waits for. */

import type { Inside } from '../time/current-world.ts';
import type { Drive } from '../time/drive.ts';
import { EndlessLoop, type Schedule } from '../time/schedule.ts';

/** A world whose time is moved. */
export interface TimedWorld {
  readonly inside: Inside;
  readonly schedule: Schedule;
  /** Throws when the world is closed, or has lost its determinism. */
  assertUsable(): void;
  /** What prevents events from happening, for error messages. */
  describeObstacles(): string;
}

/** Something that someone waits for. */
export interface Goal {
  /** The instant to reach, or the time limit of a promise; in microseconds since the epoch. */
  at: number;
  /** For a promise: its time limit, in virtual milliseconds. */
  readonly maxMs?: number;
  /** True when nobody is notified. Time need not stop there. */
  readonly silent?: boolean;
  /** Notifies the waiting code, which is outside of the world; set when there is a result. */
  tell: (() => void) | undefined;
  /** True when `tell` has the result and time has stopped for it. */
  reached: boolean;
  readonly fail: (error: unknown) => void;
}

/** Thrown when what was waited for did not happen in time, or can no longer happen. */
export class WaitedInVain extends Error {
  /** True when nothing can happen in the world any more. */
  readonly forGood: boolean;

  constructor(why: string, obstacles: string, forGood: boolean) {
    super(obstacles === '' ? why : `${why}; ${obstacles}`);
    this.name = 'WaitedInVain';
    this.forGood = forGood;
  }
}

/**
 * Steps one world towards its goals. Goals can be added, and their instants can move closer, while the move is under
 * way.
 */
export class WorldDrive implements Drive {
  readonly inside;
  readonly #world: TimedWorld;
  readonly #goals: Set<Goal>;
  /** Code to call inside the world before time moves. */
  readonly #starts: (() => void)[];
  #failed = false;
  #error: unknown;

  constructor(world: TimedWorld, goals: Set<Goal>, starts: (() => void)[]) {
    this.#world = world;
    this.inside = world.inside;
    this.#goals = goals;
    this.#starts = starts;
  }

  begin(): void {
    this.#world.assertUsable();
  }

  step(): boolean {
    const start = this.#starts.shift();
    if (start !== undefined) {
      start();
      return false;
    }
    const { schedule } = this.#world;
    // After an error, what is due now still runs, because all worlds share the clients' job queues.
    const limit = this.#failed ? schedule.micros : this.#nearest();
    try {
      if (schedule.runNext(limit)) return false;
    } catch (error) {
      if (error instanceof EndlessLoop) throw error;
      if (this.takes(error)) return false;
      if (!this.#failed) this.#error = error;
      this.blame();
      this.#failed = true;
      return false;
    }
    if (this.#failed) throw this.#error;
    return this.#arrive(limit);
  }

  takes(error: unknown): boolean {
    return this.#world.schedule.running?.takes?.(error) === true;
  }

  blame(): void {
    const { schedule } = this.#world;
    if (!this.#failed) schedule.blamed = schedule.running;
  }

  #nearest(): number {
    let nearest = Infinity;
    for (const { at } of this.#goals) if (at < nearest) nearest = at;
    return nearest;
  }

  /** Called when nothing more is due up to the limit. Returns true when someone has to be notified. */
  #arrive(limit: number): boolean {
    const { schedule } = this.#world;
    if (
      schedule.empty &&
      [...this.#goals].every((goal) => goal.maxMs !== undefined && goal.tell === undefined)
    ) {
      const why = 'this wait can never end: no timer is set and no message is under way in the world';
      for (const goal of this.#goals) this.#giveUp(goal, why, true);
      return true;
    }
    if (limit < Infinity) schedule.micros = Math.max(schedule.micros, limit);
    let heard = false;
    for (const goal of this.#goals) {
      if (goal.at > schedule.micros) continue;
      if (goal.silent) this.#goals.delete(goal);
      else heard = true;
      goal.reached = true;
      if (goal.tell !== undefined) continue;
      const why = `waited for ${goal.maxMs} ms of virtual time, and what was waited for has not come`;
      this.#giveUp(goal, why, false);
    }
    return heard || this.#goals.size === 0;
  }

  #giveUp(goal: Goal, why: string, forGood: boolean): void {
    const error = new WaitedInVain(why, this.#world.describeObstacles(), forGood);
    goal.reached = true;
    goal.tell = () => goal.fail(error);
  }
}
