/** startPair and startServers: start Redis nodes in a world of their own, ready for a test. */

import { badOption } from '../base/options.ts';
import type { Timeline } from '../page/format.ts';
import { holdersOf, type LockHolder, type LockOverlap, overlapsIn } from './account/queries.ts';
import type { RestartOptions } from './failover/dialects.ts';
import type { Losses } from './failover/losses.ts';
import type { Failover, FailoverOptions } from './failover/roles.ts';
import type { SentinelChoice } from './failover/sentinels.ts';
import { checkClock, checkSets, nodeNames, primariesFirst, type Starter } from './failover/sets.ts';
import type { Write } from './failover/write-log.ts';
import type { Redis, RedisOptions } from './ioredis-types.ts';
import type { Link, ReplicationLink } from './links/link.ts';
import type { ProcessPairOptions, ProcessServersOptions } from './processes/options.ts';
import { type ProcessPair, type ProcessServers, startProcessServers } from './processes/set.ts';
import {
  type RealPair,
  type RealPairOptions,
  type RealServers,
  type RealServersOptions,
  startRealServers,
} from './real/set.ts';
import { layRoutes } from './routes/routes.ts';
import type { Actor } from './time/actor.ts';
import type { Trace } from './time/trace.ts';
import { type TimelineNotes, worldAccount, worldTimeline } from './timeline/world.ts';
import { type IoredisConstructor, loadIoredis } from './virtual/client.ts';
import type { Lane } from './virtual/lane.ts';
import type { Network } from './virtual/network.ts';
import { checkScripts, type LabNode, type LabNodeOptions } from './virtual/node.ts';
import type { LabSentinel } from './virtual/sentinel.ts';
import { ReplicaSet } from './virtual/set.ts';
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

/** What pairs and servers have in common: a test can move their time and close them. */
class Timed {
  /** The world that everything runs in: its clock, its links and its processes. */
  readonly world: World;

  /** @internal */
  constructor(world: World) {
    this.world = world;
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
    return worldTimeline(this.world, this.timelineSets, notes);
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
    return holdersOf(worldAccount(this.world, this.timelineSets), key, this.world.elapsed());
  }

  /** The times in which two clients believed that they held the same lock. Empty when no lock was lost. */
  overlaps(): LockOverlap[] {
    return overlapsIn(worldAccount(this.world, this.timelineSets));
  }

  /** @internal The nodes and Sentinels of each primary. */
  protected get timelineSets(): Parameters<typeof worldTimeline>[1] {
    return [];
  }

  /** Closes the world: nothing that is scheduled in it will run. */
  async close(): Promise<void> {
    this.world.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A primary with its replicas, on one virtual clock. */
export class Pair extends Timed {
  /** @internal The primary and its replicas, for what this class does not expose. */
  readonly set: ReplicaSet;

  /** @internal */
  constructor(set: ReplicaSet) {
    super(set.world);
    this.set = set;
  }

  /** @internal */
  protected override get timelineSets(): readonly ReplicaSet[] {
    return [this.set];
  }

  /** All nodes. */
  get nodes(): readonly LabNode[] {
    return this.set.nodes;
  }

  /** The current primary. */
  get primary(): LabNode {
    return this.set.primary;
  }

  /** The first replica. Throws RangeError when there is none. */
  get replica(): LabNode {
    return this.set.replica;
  }

  /** The replicas. */
  get replicas(): readonly LabNode[] {
    return this.set.replicas;
  }

  /** The replication link from the primary to the first replica; use `linkTo(name)` for another replica. */
  get link(): ReplicationLink<Lane> {
    return this.set.link;
  }

  /** The replication link from the current primary to the named replica. Throws RangeError for an unknown name. */
  linkTo(replica: string): ReplicationLink<Lane> {
    return this.set.linkTo(replica);
  }

  /**
   * The link between a client and a node, by default the current primary: `out` carries requests, `back` replies. Throws
   * RangeError for an unknown node.
   */
  clientLink(client: string, node: string = this.primary.name): Link<Lane> {
    this.world.assertUsable();
    this.set.node(node);
    return this.world.network.link(client, node);
  }

  /** The lanes between all nodes and clients, by name. */
  get network(): Network {
    return this.world.network;
  }

  /** The acknowledged writes that a promotion, a demotion or the restart of a primary has lost so far. */
  get lost(): readonly Write[] {
    return this.set.lost;
  }

  /** The Sentinels, as the option `sentinels` requested. */
  get sentinels(): readonly LabSentinel[] {
    return this.set.sentinels;
  }

  /** The Sentinel with this name. Throws RangeError when there is none. */
  sentinel(name: string): LabSentinel {
    return this.set.sentinel(name);
  }

  /** The promotions by Sentinels so far, oldest first, each with what it lost. */
  get failovers(): readonly Failover[] {
    return this.set.failovers;
  }

  /** The node with this name. Throws RangeError when there is none. */
  node(name: string): LabNode {
    return this.set.node(name);
  }

  /**
   * An ioredis client that follows the primary; awaiting its commands moves time. Throws TypeError for a name that a client
   * cannot have.
   */
  client(name: string, options?: RedisOptions): Redis {
    return this.set.client(name, options);
  }

  /**
   * A URL that leads to the node that is primary when a client connects, in `run` or `actor(name).run`. A failover
   * breaks these connections like those to the primary itself. Its host name, such as redis-1.lostlock.invalid, exists only
   * in the world: a client that is made outside cannot connect.
   */
  get url(): string {
    return this.set.url;
  }

  /**
   * A client process of any library: the timers and connections that code creates in `actor.run(() => …)` belong to it.
   * `pause`, `resume`, `kill` and `clientLink` take its name. Throws TypeError for a name that a client cannot have.
   */
  actor(name: string): Actor {
    return this.set.actor(name);
  }

  /** Ends a client's process, as SIGKILL does, or crashes a node, which loses its data. Throws RangeError for an unknown name. */
  kill(name: string): void {
    this.set.kill(name);
  }

  /**
   * Does what Sentinel does: promotes a replica, makes the other nodes and the old primary follow it, and disconnects
   * their clients. Returns what was lost. Awaiting it outside the world moves time as far as needed.
   * Rejects when no replica can be promoted, and with TypeError for a wrong option.
   */
  failover(options?: FailoverOptions): Promise<Failover> {
    return this.set.failover(options);
  }

  /** REPLICAOF NO ONE: makes a node the primary and leaves the other nodes as they are. Throws RangeError for an unknown name. */
  promote(name: string): void {
    this.set.promote(name);
  }

  /**
   * REPLICAOF: makes a node follow the current primary. The writes that it took as a primary are discarded and returned.
   * Throws RangeError for an unknown name.
   */
  demote(name: string): Losses {
    return this.set.demote(name);
  }

  /** Stops the process of a node or client, as SIGSTOP does; `resume` continues it. Throws RangeError for an unknown name. */
  pause(name: string): void {
    this.set.pause(name);
  }

  /** Continues a paused process: everything that came due during the pause runs now, in order. Throws RangeError for an unknown name. */
  resume(name: string): void {
    this.set.resume(name);
  }

  /**
   * Restarts a node that crashed, as a replica unless it is still the primary; as another server where `dialect` is given.
   * Throws RangeError for an unknown name, TypeError for a wrong option.
   */
  restart(name: string, options?: RestartOptions): void {
    this.set.restart(name, options);
  }
}

/** Independent primaries, each with its replicas if any, on one virtual clock. */
export class Servers extends Timed {
  /** Each primary with its replicas. */
  readonly sets: readonly ReplicaSet[];

  /** @internal */
  constructor(world: World, sets: readonly ReplicaSet[]) {
    super(world);
    this.sets = sets;
  }

  /** @internal */
  protected override get timelineSets(): readonly ReplicaSet[] {
    return this.sets;
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
}

/**
 * Starts a primary with its replicas, in sync: by default in a world of their own; with `clock: 'real'` over TCP in real
 * time, where runs are not reproducible. Rejects when ioredis is not installed, and with TypeError for a wrong option.
 */
export async function startPair(options?: PairOptions): Promise<Pair>;
/** Starts real servers behind the lab's links, in real time. Rejects with TypeError for a wrong option. */
export async function startPair(options: ProcessPairOptions): Promise<ProcessPair>;
/** Starts a primary with its replicas over TCP, in real time. Rejects with TypeError for a wrong option. */
export async function startPair(options: RealPairOptions): Promise<RealPair>;
export async function startPair(
  options: PairOptions | RealPairOptions | ProcessPairOptions = {},
): Promise<Pair | RealPair | ProcessPair> {
  checkClock('startPair', options);
  if (isOfProcesses(options)) {
    const { sets } = await startProcessServers(options, 'startPair', ioredisAfterRoutes);
    return sets[0] as ProcessPair;
  }
  if (options.clock === 'real') {
    const { sets } = await startRealServers(options, 'startPair', ioredisAfterRoutes);
    return sets[0] as RealPair;
  }
  const { sets } = await startVirtual(options, 'startPair');
  return new Pair(sets[0] as ReplicaSet);
}

/** True for the options of real servers. */
function isOfProcesses<O extends object>(options: O): options is O & ProcessPairOptions {
  if (!('nodes' in options) || options.nodes === undefined) return false;
  if ('clock' in options && options.clock === 'real') return true;
  throw badOption('nodes', options.nodes, "only with clock: 'real' (real servers have no virtual clock)");
}

/** Loads ioredis after the routes are laid, because another pair may later need ioredis in a world. */
function ioredisAfterRoutes(): Promise<IoredisConstructor> {
  layRoutes();
  return loadIoredis();
}

/** Starts independent primaries, with replicas in sync. Rejects as `startPair` does. */
export async function startServers(options?: ServersOptions): Promise<Servers>;
/** Starts independent real servers behind the lab's links, in real time. Rejects with TypeError for a wrong option. */
export async function startServers(options: ProcessServersOptions): Promise<ProcessServers>;
/** Starts independent primaries over TCP, in real time. Rejects with TypeError for a wrong option. */
export async function startServers(options: RealServersOptions): Promise<RealServers>;
export async function startServers(
  options: ServersOptions | RealServersOptions | ProcessServersOptions = {},
): Promise<Servers | RealServers | ProcessServers> {
  checkClock('startServers', options);
  if (isOfProcesses(options)) return startProcessServers(options, 'startServers', ioredisAfterRoutes);
  if (options.clock === 'real') return startRealServers(options, 'startServers', ioredisAfterRoutes);
  return startVirtual(options, 'startServers');
}

async function startVirtual(options: ServersOptions, starter: Starter): Promise<Servers> {
  checkSets(options, OPTIONS, starter, 1000);
  checkWorld(options);
  checkScripts(options.scripts);
  const ioredis = await ioredisAfterRoutes();
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
