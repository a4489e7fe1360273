/** startPair and startServers: start Redis nodes in a world of their own, ready for a test. */

import { badOption } from '../base/options.ts';
import type { Timeline } from '../page/format.ts';
import { holdersOf, type LockHolder, type LockOverlap, overlapsIn } from './account/queries.ts';
import type { Redis, RedisOptions } from './ioredis-types.ts';
import { replaceNodeFunctions } from './node-functions/node-functions.ts';
import {
  type RealClockPair,
  type RealClockPairOptions,
  type RealClockServers,
  type RealClockServersOptions,
  startOnRealClock,
} from './real-clock/pair.ts';
import type { RealServerPairOptions, RealServersOptions } from './real-servers/options.ts';
import { type RealServerPair, type RealServers, startRealServers } from './real-servers/pair.ts';
import { checkClock, checkSets, nodeNames, primariesFirst, type Starter } from './replica-group/layout.ts';
import type { SentinelChoice } from './replica-group/sentinels.ts';
import type { Actor } from './time/actor.ts';
import type { Trace } from './time/trace.ts';
import { toldStory } from './timeline/told.ts';
import { type TimelineNotes, worldAccount, worldTimeline } from './timeline/world.ts';
import { type IoredisConstructor, loadIoredis } from './virtual/client.ts';
import { checkScripts, type LabNode, type LabNodeOptions } from './virtual/node.ts';
import { ReplicaSet } from './virtual/replica-set.ts';
import { checkWorld, World, type WorldOptions } from './virtual/world.ts';

/** How to start a pair. */
export interface PairOptions extends WorldOptions, LabNodeOptions, SentinelChoice {
  /** Time moves only when the test moves it: the default. */
  readonly clock?: 'virtual';
  /** How many replicas the primary has; default 1. */
  readonly replicas?: number;
}

/** How to start several independent primaries. */
export interface ServersOptions extends WorldOptions, LabNodeOptions {
  /** Time moves only when the test moves it: the default. */
  readonly clock?: 'virtual';
  /** How many independent primaries to start, for example for Redlock; default 1. */
  readonly primaries?: number;
  /** How many replicas each primary has; default 0. */
  readonly replicas?: number;
}

const FIRST_PORT = 6379;

/** The options that exist only on the virtual clock. */
const OPTIONS = ['scripts', 'seed', 'start', 'patience', 'network', 'locks'];

/** A primary with its replicas, on one virtual clock. */
export type Pair = ReplicaSet;

/** Independent primaries, each with its replicas if any, on one virtual clock. */
export class Servers implements AsyncDisposable {
  /** The world that everything runs in: its clock, its links and its processes. */
  readonly world: World;
  /** Each primary with its replicas. */
  readonly sets: readonly ReplicaSet[];

  /** @internal */
  constructor(world: World, sets: readonly ReplicaSet[]) {
    this.world = world;
    this.sets = sets;
  }

  /** The record of what has happened in the world. */
  get trace(): Trace {
    return this.world.trace;
  }

  /**
   * Moves time forward by exactly `ms` virtual milliseconds and runs everything that comes due on the way, including
   * what other callers wait for. Rejects with TypeError when `ms` is less than 0, with the first error that a timer
   * throws, and when code in the world starts real I/O.
   */
  advance(ms: number): Promise<void> {
    return this.world.advance(ms);
  }

  /**
   * Runs code inside the world, where unmodified clients and lock libraries run on virtual time. Awaiting the result
   * moves time until the promise that the code returns has settled; if nobody awaits it, it continues with the next
   * `advance`. Rejects as the code does, when the promise can no longer settle, and when it has not settled within
   * `maxMs` virtual milliseconds (default: the option `patience`, one hour).
   */
  run<T>(code: () => T, maxMs?: number): Promise<Awaited<T>> {
    return this.world.run(code, maxMs);
  }

  /** Moves time until the promise settles, and settles as it does. Rejects as `run` does. */
  until<T>(promise: PromiseLike<T>, maxMs?: number): Promise<T> {
    return this.world.until(promise, maxMs);
  }

  /**
   * What has happened so far, as the data of a timeline: messages, faults, which client believed that it held which
   * lock (docs/timeline.md). The same seed gives the same data.
   * @param notes the title, resources, steps, verdict, and from; times are in microseconds since the world began
   */
  timelineData(notes: TimelineNotes = {}): Timeline {
    return worldTimeline(this.world, this.sets, notes);
  }

  /**
   * Writes a timeline of what has happened so far: a self-contained page for a browser (a name that ends in `.html`), or
   * its data (`.json`). Rejects with TypeError for another name.
   */
  async timeline(file: string, notes: TimelineNotes = {}): Promise<void> {
    await (await import('./timeline/write.ts')).writeTimeline(file, [this.timelineData(notes)]);
  }

  /** The clients that hold the lock now, or believe so; with `believes: false`, those that do not know of their grant. */
  holders(key: string): LockHolder[] {
    return holdersOf(worldAccount(this.world, this.sets), key, this.world.elapsed());
  }

  /** The times in which two clients believed that they held the same lock. Empty when no lock was lost. */
  overlaps(): LockOverlap[] {
    return overlapsIn(worldAccount(this.world, this.sets));
  }

  /**
   * Writes a line into the story and onto the timeline, now: `note('w1', 'charges o1')`. Throws TypeError for a name that no
   * party can have, and for an empty text.
   * @param who a client or a node
   */
  note(who: string, text: string): void {
    this.sets[0]?.note(who, text);
  }

  /** What has happened so far, in sentences, a line for each with its time in milliseconds, as the timeline tells it. */
  story(): string {
    return toldStory(this.timelineData());
  }

  /** What happened before is no longer recorded, in milliseconds since the world began; 0 when everything is. */
  get knownFrom(): number {
    return this.world.forgottenUpTo / 1000;
  }

  /** All nodes, the primaries first. */
  get nodes(): readonly LabNode[] {
    return primariesFirst(this.sets);
  }

  /**
   * A client process of any library: the timers and connections that code creates in `actor.run(() => …)` belong to it.
   * Throws TypeError for a name that a client cannot have.
   */
  actor(name: string): Actor {
    for (const set of this.sets) set.actor(name);
    return this.world.actor(name);
  }

  /** One ioredis client per primary, as Redlock needs them. Throws TypeError for a name that a client cannot have. */
  clients(name: string, options?: RedisOptions): Redis[] {
    return this.sets.map((set) => set.client(name, options));
  }

  /** Closes the world: nothing that is scheduled in it will run. */
  async close(): Promise<void> {
    this.world.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Starts a primary with its replicas, in sync: by default in a world of their own; with `clock: 'real'` over TCP in real
 * time, where runs are not reproducible. Rejects when ioredis is not installed, and with TypeError for a wrong option.
 */
export async function startPair(options?: PairOptions): Promise<Pair>;
/** Starts real servers behind the lab's links, in real time. Rejects with TypeError for a wrong option. */
export async function startPair(options: RealServerPairOptions): Promise<RealServerPair>;
/** Starts a primary with its replicas over TCP, in real time. Rejects with TypeError for a wrong option. */
export async function startPair(options: RealClockPairOptions): Promise<RealClockPair>;
export async function startPair(
  options: PairOptions | RealClockPairOptions | RealServerPairOptions = {},
): Promise<Pair | RealClockPair | RealServerPair> {
  checkClock('startPair', options);
  if (isOfRealServers(options)) {
    const { sets } = await startRealServers(options, 'startPair', loadClient);
    return sets[0] as RealServerPair;
  }
  if (options.clock === 'real') {
    const { sets } = await startOnRealClock(options, 'startPair', loadClient);
    return sets[0] as RealClockPair;
  }
  const { sets } = await startVirtual(options, 'startPair');
  return sets[0] as ReplicaSet;
}

/** True for the options of real servers. */
function isOfRealServers<O extends object>(options: O): options is O & RealServerPairOptions {
  if (!('nodes' in options) || options.nodes === undefined) return false;
  if ('clock' in options && options.clock === 'real') return true;
  throw badOption('nodes', options.nodes, "only with clock: 'real' (real servers have no virtual clock)");
}

/** Loads ioredis after Node's functions are replaced, because another pair may later need ioredis in a world. */
function loadClient(): Promise<IoredisConstructor> {
  replaceNodeFunctions();
  return loadIoredis();
}

/** Starts independent primaries, with replicas in sync. Rejects as `startPair` does. */
export async function startServers(options?: ServersOptions): Promise<Servers>;
/** Starts independent real servers behind the lab's links, in real time. Rejects with TypeError for a wrong option. */
export async function startServers(options: RealServersOptions): Promise<RealServers>;
/** Starts independent primaries over TCP, in real time. Rejects with TypeError for a wrong option. */
export async function startServers(options: RealClockServersOptions): Promise<RealClockServers>;
export async function startServers(
  options: ServersOptions | RealClockServersOptions | RealServersOptions = {},
): Promise<Servers | RealClockServers | RealServers> {
  checkClock('startServers', options);
  if (isOfRealServers(options)) return startRealServers(options, 'startServers', loadClient);
  if (options.clock === 'real') return startOnRealClock(options, 'startServers', loadClient);
  return startVirtual(options, 'startServers');
}

async function startVirtual(options: ServersOptions, starter: Starter): Promise<Servers> {
  checkSets(options, OPTIONS, starter, 1000);
  checkWorld(options);
  checkScripts(options.scripts);
  const ioredis = await loadClient();
  const world = new World(options);
  const sets = nodeNames(options, starter).map(
    (names, i) =>
      new ReplicaSet(world, names, FIRST_PORT + i * names.length, FIRST_PORT - 1 - i, options, ioredis),
  );
  for (const set of sets) {
    await set.synchronize();
    await set.startSentinels();
  }
  return new Servers(world, sets);
}
