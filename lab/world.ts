/** A world: virtual time, randomness and a trace that one seed decides, for nodes and unmodified client libraries alike. */
import type { Millis } from '../protocol/bytes.ts';
import { Actor } from './actor.ts';
import { Pump } from './driven.ts';
import { drive, RealInputOutput } from './driver.ts';
import { WorldInside } from './inside.ts';
import { type Destination, Journey } from './journey.ts';
import { Network, type NetworkOptions } from './network.ts';
import { present } from './present.ts';
import { Random } from './random.ts';
import { EndlessLoop, Schedule } from './schedule.ts';
import { Task } from './timers.ts';
import { Trace } from './trace.ts';

/** What decides a world. */
export interface WorldOptions {
  /** Everything random follows from it; default 1. */
  readonly seed?: number | string;
  /** The wall clock at the beginning, in milliseconds since the epoch; default the first instant of 2026, UTC. */
  readonly start?: Millis;
  /** How long `run` and `until` wait, in virtual milliseconds, when they are not told; default one hour. */
  readonly patience?: number;
  /** Latency of every link that is not given one of its own. */
  readonly network?: NetworkOptions;
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
  readonly pump = new Pump(this);
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
    return this.schedule.running ?? this.#anyone;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** True while code of this world is running. */
  get isInside(): boolean {
    return present.inside === this.inside;
  }

  /** The actor of that name; made when first asked for. */
  actor(name: string): Actor {
    let actor = this.#actors.get(name);
    if (actor === undefined) this.#actors.set(name, (actor = new Actor(this, name)));
    return actor;
  }

  /** A stream of random numbers; the same name gives the same numbers, whatever else is random. */
  stream(name: string): Random {
    return new Random(this.seed, name);
  }

  /**
   * Moves time on, and runs whatever comes due on the way, the last instant included. Rejects with the first error
   * that a timer throws (time stops there), and when code in the world begins real I/O.
   */
  advance(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Infinity)) throw new RangeError(`time cannot advance by ${ms} ms`);
    if (!this.isInside) return this.#drive({ maxMs: ms, waits: false });
    const goal = this.schedule.micros + Math.round(ms * 1000);
    const reached = new Promise<void>((resolve) =>
      this.schedule.arm(new Task(this.running, false, resolve), goal),
    );
    // Should the present drive end before that, another one follows.
    this.#drive({ maxMs: this.patience, waits: true, start: () => reached }).catch(() => {});
    return reached;
  }

  /**
   * Calls the code inside the world. When it returns a promise, time moves until that has settled; otherwise until
   * nothing more is due at the present instant. (To get a promise out before it settles, wrap it: `() => ({ promise })`.)
   * Rejects with what the code throws, with an error when the promise cannot settle any more, or has not within
   * `maxMs` of virtual time, and as `advance` does.
   */
  run<T>(code: () => T, maxMs: number = this.patience): Promise<Awaited<T>> {
    return this.runAs(this.isInside ? this.running : this.#anyone, code, maxMs);
  }

  /** `run`, as an actor: timers and connections that the code makes are the actor's, and pause and die with it. */
  async runAs<T>(actor: Actor, code: () => T, maxMs: number = this.patience): Promise<Awaited<T>> {
    if (this.isInside) return await (this.running === actor ? code() : actor.call(code));
    let value: T | undefined;
    await this.#drive({
      maxMs,
      waits: true,
      start: () => {
        this.schedule.running = actor;
        value = code();
        return isThenable(value) ? value : undefined;
      },
    });
    return await (value as T);
  }

  /**
   * Moves time until the promise settles, and settles as it does. Rejects as `run` does.
   * @param maxMs how much virtual time it may take
   */
  async until<T>(promise: PromiseLike<T>, maxMs: number = this.patience): Promise<T> {
    const driven = this.#drive({ maxMs, waits: true, start: () => promise });
    // Code inside must not wait for a turn that comes only after the present one.
    if (this.isInside) driven.catch(() => {});
    else await driven;
    return await promise;
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

  /** Throws when the world was closed, or has lost its determinism. */
  assertUsable(): void {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#closed) throw new Error('this world is closed');
  }

  #drive(destination: Destination): Promise<void> {
    return drive(new Journey(this, destination)).catch((error: unknown) => {
      if (error instanceof RealInputOutput || error instanceof EndlessLoop) this.#broken = error;
      throw error;
    });
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function';
}
