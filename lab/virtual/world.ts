/** A world: virtual time, randomness and a trace, determined by one seed, for nodes and unmodified client libraries. */

import { checkInteger } from '../../base/options.ts';
import type { Millis } from '../../protocol/bytes.ts';
import { checkLocks } from '../account/queries.ts';
import { checkCode, checkMillis, checkNumber, checkPromise, LAST_INSTANT } from '../checks.ts';
import { checkDelays } from '../links/gate.ts';
import type { Write } from '../replica-group/write-log.ts';
import { Actor } from '../time/actor.ts';
import { present } from '../time/current-world.ts';
import { Random } from '../time/random.ts';
import { Schedule } from '../time/schedule.ts';
import { leaves } from '../time/standing.ts';
import { Task } from '../time/task.ts';
import { Trace } from '../time/trace.ts';
import type { RecordedRestart } from '../timeline/record.ts';
import { DrivenPromise, Driver } from './driver.ts';
import { WorldInside } from './inside.ts';
import { Network, type NetworkOptions } from './network.ts';

/** The options of a world. */
export interface WorldOptions {
  /** The seed of all random choices; default 1. */
  readonly seed?: number | string;
  /** What the wall clock shows at the beginning, in milliseconds since the epoch; default 2026-01-01T00:00:00Z. */
  readonly start?: Millis;
  /** How long `run` and `until` wait by default, in virtual milliseconds; default one hour. */
  readonly patience?: number;
  /** Latency and jitter of every link without a pace of its own; default 1 ms each. */
  readonly network?: NetworkOptions;
  /**
   * Patterns of keys that are locks, such as 'stock:*', and with ! of keys that are none. The others are recognized by how
   * clients use them (docs/lab.md).
   */
  readonly locks?: readonly string[];
}

/** A write that a node of the world has executed as a primary. */
export interface NodeWrite {
  /** When, in microseconds since the world began. */
  readonly at: number;
  /** The name of the node. */
  readonly node: string;
  readonly write: Write;
}

/** Throws TypeError for a wrong option of a world. */
export function checkWorld({ seed, start, patience, network, locks }: WorldOptions): void {
  if (seed !== undefined && typeof seed !== 'string') checkNumber('seed', seed, 'a number or a string');
  if (start !== undefined) checkInteger('start', start, 0, LAST_INSTANT);
  if (patience !== undefined) checkMillis('patience', patience);
  if (network !== undefined) checkDelays('network', network);
  if (locks !== undefined) checkLocks(locks);
}

const NEW_YEAR_2026 = 1_767_225_600_000;
/** The number of the first process of a world. */
const FIRST_PID = 1001;
const ONE_HOUR = 3_600_000;
/** How many writes a world remembers at least. */
const KEPT_WRITES = 200_000;

/**
 * A world. Time moves only by `advance`, `run` and `until`; code takes no virtual time. All client code, including
 * construction, belongs inside `run`, because outside of it code runs in real time. When code inside the world calls
 * one of the three, it waits in virtual time as for a timer.
 */
export class World {
  /** The seed of all random choices. */
  readonly seed: number | string;
  /** The default limit of `run` and `until`, in virtual milliseconds. */
  readonly patience: number;
  /** @internal Patterns of keys that are locks, and with ! of keys that are none. */
  readonly locks: readonly string[];
  /** @internal The pending events. */
  readonly schedule: Schedule;
  /** The record of what has happened. */
  readonly trace: Trace;
  /** Listeners, connections and links. */
  readonly network: Network;
  /** @internal What the stand-ins for Node's functions use while code of this world is running. */
  readonly inside: WorldInside;
  /** @internal */
  readonly driver = new Driver(this);
  readonly #start: number;
  readonly #actors = new Map<string, Actor>();
  /** The actor used when none is set. */
  readonly #anyone: Actor;
  /** What nodes have written, when and by which: in columns, which leave less for V8's collector to trace. */
  readonly #written: Write[] = [];
  readonly #writtenAt: number[] = [];
  readonly #writers: string[] = [];
  #forgottenUpTo = 0;
  /** @internal What the nodes' processes began with. */
  readonly restarts: RecordedRestart[] = [];
  #closed = false;
  #lastPid = FIRST_PID - 1;
  #broken: Error | undefined;

  /** @internal */
  constructor(options: WorldOptions = {}) {
    this.seed = options.seed ?? 1;
    this.patience = options.patience ?? ONE_HOUR;
    this.locks = options.locks ?? [];
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

  /** @internal A number for a process that starts. */
  nextPid(): number {
    return ++this.#lastPid;
  }

  /** @internal Records a write that a node has executed as a primary. */
  wrote(node: string, write: Write): void {
    this.#written.push(write);
    this.#writtenAt.push(this.elapsed());
    this.#writers.push(node);
    if (this.#written.length === 1.5 * KEPT_WRITES) this.#forget(KEPT_WRITES / 2);
  }

  /** Forgets the oldest writes, because a long run would fill the memory. */
  #forget(writes: number): void {
    this.#forgottenUpTo = this.#writtenAt[writes - 1] as number;
    for (const column of [this.#written, this.#writtenAt, this.#writers]) column.splice(0, writes);
  }

  /** @internal A node's process has begun. @param kept what it has, the holders by their keys */
  restarted(node: string, kept: ReadonlyMap<string, string>): void {
    this.restarts.push({ at: this.elapsed(), node, kept });
  }

  /** @internal What happened up to this moment is not recorded any more, in microseconds; 0 when everything is. */
  get forgottenUpTo(): number {
    return Math.max(this.#forgottenUpTo, this.trace.forgottenUpTo);
  }

  /** @internal What all nodes have written as primaries, oldest first: at least the last 200,000 writes. */
  get writes(): NodeWrite[] {
    return this.#written.map((write, i) => ({ at: this.#writtenAt[i]!, node: this.#writers[i]!, write }));
  }

  /** @internal The actor whose code is running, or ran last. */
  get running(): Actor {
    // Every task of a world belongs to one of its actors.
    return (this.schedule.running as Actor | undefined) ?? this.#anyone;
  }

  /** True after `close`. */
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

  /** @internal A stream of random numbers. Seed and name determine it, whatever other streams are used. */
  stream(name: string): Random {
    return new Random(this.seed, name);
  }

  /**
   * Moves time forward by exactly `ms` milliseconds and runs everything that comes due on the way, including at the
   * last instant. Rejects with the first error that a timer throws (time stops there), when code in the world starts
   * real I/O, and with TypeError when `ms` is less than 0.
   */
  advance(ms: number): Promise<void> {
    return this.#checked(
      () => checkMillis('advance', ms),
      () => {
        const goal = this.schedule.reached + Math.round(ms * 1000);
        if (!this.isInside) return this.driver.reach(goal);
        return new Promise((resolve) => this.schedule.arm(new Task(this.running, false, resolve), goal));
      },
    );
  }

  /**
   * Calls the code inside the world and runs what is due at the current instant. When the code returns a promise,
   * awaiting the result moves time until the promise settles. If nobody awaits it, it continues when something else
   * moves time, such as `advance`. To return a promise before it settles, wrap it: `() => ({ promise })`. Rejects with
   * what the code throws, when the promise can no longer settle or has not settled within `maxMs` virtual milliseconds,
   * and as `advance` does.
   */
  run<T>(code: () => T, maxMs: number = this.patience): Promise<Awaited<T>> {
    return this.runAs(this.isInside ? this.running : this.#anyone, code, maxMs);
  }

  /**
   * @internal
   * `run` as an actor: timers and connections that the code creates belong to the actor, and pause and end with it.
   */
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
   * @param maxMs the maximum wait, in virtual milliseconds
   */
  until<T>(promise: PromiseLike<T>, maxMs: number = this.patience): Promise<T> {
    const check = (): void => {
      checkPromise('until', promise);
      checkMillis('until.maxMs', maxMs);
    };
    // Code inside the world waits in virtual time, as for a timer.
    return this.#checked(check, () =>
      this.isInside ? Promise.resolve(promise) : this.driver.wait(promise, maxMs),
    );
  }

  /**
   * Ends the world: nothing that is scheduled in it will run, and its connections stop working. Disconnect clients
   * before, inside `run`. Promises that wait for the world stay pending.
   */
  close(): void {
    this.#closed = true;
    leaves(this);
    this.schedule.stop();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** @internal What prevents events from happening, for error messages: held links and paused actors. */
  describeObstacles(): string {
    const held = this.network.describeHeld();
    const paused = [...this.#actors.values()].filter((actor) => actor.paused).map((actor) => actor.name);
    const parts = held === '' ? [] : [`held back: ${held}`];
    if (paused.length > 0) parts.push(`paused: ${paused.join(', ')}`);
    return parts.join('; ');
  }

  /** @internal What clients wait for, for a warning: messages that are under way between them and a node. */
  describeWaiting(): string {
    const waiting = [...this.network.dialogues()].map(([client, node]) => `${client} waits for ${node}`);
    return [...new Set(waiting)].join(', ');
  }

  /** @internal Throws when the world is closed or is no longer deterministic. */
  assertUsable(): void {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.#closed) throw new Error('this world is closed');
  }

  /** Rejects when an argument is wrong or the world can no longer be used. */
  #checked<T>(check: () => void, begin: () => Promise<T>): Promise<T> {
    try {
      check();
      this.assertUsable();
    } catch (error) {
      return Promise.reject(error);
    }
    return begin();
  }

  /** @internal Marks the world as no longer deterministic: later uses of it fail with this error. */
  breakDown(error: Error): void {
    this.#broken = error;
  }
}

/** Calls the code now; rejects with what it throws. */
async function attempt<T>(code: () => T): Promise<Awaited<T>> {
  return await code();
}
