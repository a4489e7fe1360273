/** One move of a world's time: to the nearest of the instants and promises that somebody waits for, and no further. */
import type { Drive } from '../time/drive.ts';
import type { Inside } from '../time/present.ts';
import { EndlessLoop, type Schedule } from '../time/schedule.ts';

/** A world whose time is moved. */
export interface TimedWorld {
  readonly inside: Inside;
  readonly schedule: Schedule;
  /** Throws when the world is closed, or has lost its determinism. */
  assertUsable(): void;
  /** What keeps things from happening, for error messages. */
  describeObstacles(): string;
}

/** Something that somebody waits for. */
export interface Goal {
  /** The instant to be reached, or at which a promise has taken too long; in microseconds since the epoch. */
  at: number;
  /** For a promise: how long it was given, in virtual milliseconds. */
  readonly maxMs?: number;
  /** Time need not stop there: nobody hears of it. */
  readonly silent?: boolean;
  /** Tells whoever waits, outside of the world; set when there is something to tell. */
  tell: (() => void) | undefined;
  /** True when `tell` is what is told, and time has stopped for it. */
  reached: boolean;
  readonly fail: (error: unknown) => void;
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

/** Goals may be added and come nearer while the move is under way. */
export class WorldDrive implements Drive {
  readonly inside;
  readonly #world: TimedWorld;
  readonly #goals: Set<Goal>;
  /** Code that is to be called inside the world, before time moves. */
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
    // After an error, what is due now still happens: clients' job queues are shared by all worlds.
    const limit = this.#failed ? schedule.micros : this.#nearest();
    try {
      if (schedule.runNext(limit)) return false;
    } catch (error) {
      if (error instanceof EndlessLoop) throw error;
      if (!this.#failed) this.#error = error;
      this.#failed = true;
      return false;
    }
    if (this.#failed) throw this.#error;
    return this.#arrive(limit);
  }

  #nearest(): number {
    let nearest = Infinity;
    for (const { at } of this.#goals) if (at < nearest) nearest = at;
    return nearest;
  }

  /** Nothing more is due up to the limit; true when somebody is to be told. */
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
