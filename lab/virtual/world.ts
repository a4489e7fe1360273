/** A world: virtual time, randomness and a trace that one seed decides, for nodes and unmodified client libraries alike. */
import { checkInteger } from '../../embed/options.ts';
import type { Millis } from '../../protocol/bytes.ts';
import { checkCode, checkMillis, checkNumber, checkPromise } from '../checks.ts';
import { checkDelays } from '../links/gate.ts';
import { Actor } from '../time/actor.ts';
import { present } from '../time/present.ts';
import { Random } from '../time/random.ts';
import { Schedule } from '../time/schedule.ts';
import { Task } from '../time/task.ts';
import { Trace } from '../time/trace.ts';
import { DrivenPromise, Driver } from './driver.ts';
import { WorldInside } from './inside.ts';
import { Network, type NetworkOptions } from './network.ts';

/** The options of a world. */
export interface WorldOptions {
  /** The seed of everything random; default 1. */
  readonly seed?: number | string;
  /** What the wall clock shows at the beginning, in milliseconds since the epoch; default 2026-01-01T00:00:00Z. */
  readonly start?: Millis;
  /** How long `run` and `until` wait by default, in virtual milliseconds; default one hour. */
  readonly patience?: number;
  /** Latency and jitter of every link that is not paced on its own; default 1 ms each. */
  readonly network?: NetworkOptions;
}

/** Throws TypeError for a wrong option of a world. */
export function checkWorld({ seed, start, patience, network }: WorldOptions): void {
  if (seed !== undefined && typeof seed !== 'string') checkNumber('seed', seed, 'a number or a string');
  if (start !== undefined) checkInteger('start', start, 0, 8.64e15 / 1000);
  if (patience !== undefined) checkMillis('patience', patience);
  if (network !== undefined) checkDelays('network', network);
}

const NEW_YEAR_2026 = 1_767_225_600_000;
const ONE_HOUR = 3_600_000;

/**
 * Time moves only by `advance`, `run` and `until`; code runs in zero virtual time. All client code, from construction
 * on, belongs inside `run`: outside it meets real time. Called by code that runs inside already, the three wait in
 * virtual time like any timer.
 */
export class World {
  readonly seed: number | string;
  /** Virtual milliseconds. */
  readonly patience: number;
  readonly schedule: Schedule;
  readonly trace: Trace;
  readonly network: Network;
  readonly inside: WorldInside;
  readonly driver = new Driver(this);
  readonly #start: number;
  readonly #actors = new Map<string, Actor>();
  /** Stands for code that nobody has claimed. */
  readonly #anyone: Actor;
  #closed = false;
  #broken: Error | undefined;

  constructor(options: WorldOptions = {}) {
    this.seed = options.seed ?? 1;
    this.patience = options.patience ?? ONE_HOUR;
    this.#start = (options.start ?? NEW_YEAR_2026) * 1000;
    this.schedule = new Schedule(this.#start);
    this.trace = new Trace(() => this.elapsed());
    this.#anyone = this.actor('client');
    this.inside = new WorldInside(this);
    this.network = new Network(this, options.network);
  }

  /** The world's clock: whole milliseconds since the epoch. */
  get now(): Millis {
    return Math.floor(this.schedule.micros / 1000);
  }

  /** Microseconds since the world began. */
  elapsed(): number {
    return this.schedule.micros - this.#start;
  }

  /** Whose code is running, or ran last. */
  get running(): Actor {
    // The owner of every task of a world is an actor of it.
    return (this.schedule.running as Actor | undefined) ?? this.#anyone;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** True while code of this world is running. */
  get isInside(): boolean {
    return present.inside === this.inside;
  }

  /** The actor of this name; created when first asked for. */
  actor(name: string): Actor {
    let actor = this.#actors.get(name);
    if (actor === undefined) this.#actors.set(name, (actor = new Actor(this, name)));
    return actor;
  }

  /** A stream of random numbers; seed and name decide its numbers, whatever other streams are used. */
  stream(name: string): Random {
    return new Random(this.seed, name);
  }

  /**
   * Moves time forward by exactly `ms` milliseconds and runs everything that comes due on the way, the last instant
   * included. Rejects with the first error that a timer throws (time stops there), when code in the world starts real
   * I/O, and with TypeError when `ms` is less than 0.
   */
  advance(ms: number): Promise<void> {
    return this.#checked(
      () => checkMillis('advance', ms),
      () => {
        const goal = this.schedule.micros + Math.round(ms * 1000);
        if (!this.isInside) return this.driver.reach(goal);
        return new Promise((resolve) => this.schedule.arm(new Task(this.running, false, resolve), goal));
      },
    );
  }

  /**
   * Calls the code inside the world, and lets happen what is due at the present instant. When the code returns a
   * promise, awaiting the result moves time until that has settled; left alone, it goes on whenever something else
   * moves time, such as `advance`. (To get a promise out before it settles, wrap it: `() => ({ promise })`.)
   * Rejects with what the code throws, with an error when the promise cannot settle any more, or has not within
   * `maxMs` of virtual time, and as `advance` does.
   */
  run<T>(code: () => T, maxMs: number = this.patience): Promise<Awaited<T>> {
    return this.runAs(this.isInside ? this.running : this.#anyone, code, maxMs);
  }

  /** `run`, as an actor: timers and connections that the code makes are the actor's, and pause and die with it. */
  runAs<T>(actor: Actor, code: () => T, maxMs: number = this.patience): Promise<Awaited<T>> {
    const check = (): void => {
      checkCode('run', code);
      checkMillis('run.maxMs', maxMs);
    };
    return this.#checked(check, () => {
      if (this.isInside) return this.running === actor ? attempt(code) : actor.call(code);
      const deadline = this.schedule.micros + maxMs * 1000;
      const begun = this.driver.start(() => {
        this.schedule.running = actor;
        return code();
      });
      return new DrivenPromise(this, begun, maxMs, deadline);
    });
  }

  /**
   * Moves time until the promise settles, and settles as it does. Rejects as `run` does.
   * @param maxMs how much virtual time it may take
   */
  until<T>(promise: PromiseLike<T>, maxMs: number = this.patience): Promise<T> {
    const check = (): void => {
      checkPromise('until', promise);
      checkMillis('until.maxMs', maxMs);
    };
    // Code inside waits in virtual time, like any other.
    return this.#checked(check, () =>
      this.isInside ? Promise.resolve(promise) : this.driver.wait(promise, maxMs),
    );
  }

  /**
   * Ends the world: nothing that is scheduled in it will happen, and its connections lead nowhere. Clients should be
   * disconnected before, in `run`; promises that wait for the world stay pending.
   */
  close(): void {
    this.#closed = true;
    this.schedule.stop();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** What keeps things from happening, for error messages: held links and paused actors. */
  describeObstacles(): string {
    const held = this.network.describeHeld();
    const paused = [...this.#actors.values()].filter((actor) => actor.paused).map((actor) => actor.name);
    const parts = held === '' ? [] : [`held back: ${held}`];
    if (paused.length > 0) parts.push(`paused: ${paused.join(', ')}`);
    return parts.join('; ');
  }

  /** Throws when the world is closed or is no longer deterministic. */
  assertUsable(): void {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#closed) throw new Error('this world is closed: nothing happens in it any more');
  }

  /** Rejects when something asked for is wrong, or the world of no use any more. */
  #checked<T>(check: () => void, begin: () => Promise<T>): Promise<T> {
    try {
      check();
      this.assertUsable();
    } catch (error) {
      return Promise.reject(error);
    }
    return begin();
  }

  /** Marks the world as no longer deterministic: every later use of it fails with this error. */
  breakDown(error: Error): void {
    this.#broken = error;
  }
}

/** Calls the code now; rejects with what it throws. */
async function attempt<T>(code: () => T): Promise<Awaited<T>> {
  return await code();
}
