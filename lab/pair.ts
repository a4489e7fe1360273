/** startPair and startServers: nodes in a world of their own, ready for a test. */

import type { Losses } from './failover/losses.ts';
import type { Failover, FailoverOptions } from './failover/roles.ts';
import { checkClock, checkSets, nodeNames, primariesFirst, type Starter } from './failover/sets.ts';
import type { Write } from './failover/write-log.ts';
import type { Redis, RedisOptions } from './ioredis-types.ts';
import type { Link, ReplicationLink } from './links/link.ts';
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
import { type IoredisConstructor, loadIoredis } from './virtual/client.ts';
import type { Lane } from './virtual/lane.ts';
import type { Network } from './virtual/network.ts';
import type { LabNode, LabNodeOptions } from './virtual/node.ts';
import { ReplicaSet } from './virtual/set.ts';
import { checkWorld, World, type WorldOptions } from './virtual/world.ts';

/** How to start a pair. */
export interface PairOptions extends WorldOptions, LabNodeOptions {
  /** Time moves only by the test's hand: the default. */
  readonly clock?: 'virtual';
  /** Replicas of the primary; default 1. */
  readonly replicas?: number;
}

/** How to start several independent primaries. */
export interface ServersOptions extends WorldOptions, LabNodeOptions {
  readonly clock?: 'virtual';
  /** Independent primaries, for Redlock say; default 1. */
  readonly primaries?: number;
  /** Replicas of each; default 0. */
  readonly replicas?: number;
}

const FIRST_PORT = 6379;

/** What can be asked of nodes on a virtual clock besides. */
const OPTIONS = ['scripts', 'seed', 'start', 'patience', 'network'];

/** Lets a test move time, and end it. */
class Timed {
  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  get trace(): Trace {
    return this.world.trace;
  }

  /**
   * Moves time on by exactly so many virtual milliseconds, and runs whatever comes due on the way; what others wait for
   * goes on meanwhile. Rejects with TypeError for less than 0, with the first error that a timer throws, and when code
   * in the world begins real I/O.
   */
  advance(ms: number): Promise<void> {
    return this.world.advance(ms);
  }

  /**
   * Runs code inside the world, where unmodified clients and lock libraries live on virtual time. Awaiting the result
   * moves time until what the code returns has settled; left alone, it goes on with the next `advance`. Rejects as the
   * code does, when it cannot settle any more, and when it has not within `maxMs` virtual milliseconds (default: the
   * option `patience`, an hour).
   */
  run<T>(code: () => T, maxMs?: number): Promise<Awaited<T>> {
    return this.world.run(code, maxMs);
  }

  /** Moves time until the promise settles, and settles as it does. Rejects as `run` does. */
  until<T>(promise: PromiseLike<T>, maxMs?: number): Promise<T> {
    return this.world.until(promise, maxMs);
  }

  /** Ends the world: nothing that is scheduled in it happens any more. */
  async close(): Promise<void> {
    this.world.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A primary with its replicas, on one virtual clock. */
export class Pair extends Timed {
  readonly set: ReplicaSet;

  constructor(set: ReplicaSet) {
    super(set.world);
    this.set = set;
  }

  get nodes(): readonly LabNode[] {
    return this.set.nodes;
  }

  get primary(): LabNode {
    return this.set.primary;
  }

  /** The first replica. Throws RangeError when there is none. */
  get replica(): LabNode {
    return this.set.replica;
  }

  get replicas(): readonly LabNode[] {
    return this.set.replicas;
  }

  /** Replication from the primary to the first replica; `linkTo(name)` is that to another. */
  get link(): ReplicationLink<Lane> {
    return this.set.link;
  }

  /** Replication from the present primary to the replica of that name. */
  linkTo(replica: string): ReplicationLink<Lane> {
    return this.set.linkTo(replica);
  }

  /** The way between a client and a node, by default the present primary: `out` has requests, `back` replies. */
  clientLink(client: string, node: string = this.primary.name): Link<Lane> {
    this.world.assertUsable();
    this.set.node(node);
    return this.world.network.link(client, node);
  }

  /** Every lane between nodes and clients, by name. */
  get network(): Network {
    return this.world.network;
  }

  /** Every acknowledged write that was lost so far. */
  get lost(): readonly Write[] {
    return this.set.lost;
  }

  /** A node by name. Throws RangeError for a name that nobody has. */
  node(name: string): LabNode {
    return this.set.node(name);
  }

  /** An ioredis client that follows the primary; awaiting its commands moves time. */
  client(name: string, options?: RedisOptions): Redis {
    return this.set.client(name, options);
  }

  /**
   * An address that leads to whoever is primary when a client connects, in `run` or `actor(name).run`. Connections break
   * at a failover as those to the primary itself do.
   */
  get url(): string {
    return this.set.url;
  }

  /**
   * A client of that name, of any library: the timers and connections that are made in `actor.run(() => …)` are its own.
   * `pause`, `resume`, `kill` and `clientLink` know it by the name. Throws TypeError for a name that it cannot have.
   */
  actor(name: string): Actor {
    return this.set.actor(name);
  }

  /** Ends a client's process, as SIGKILL does, or crashes a node, which keeps nothing. Throws RangeError for an unknown name. */
  kill(name: string): void {
    this.set.kill(name);
  }

  /**
   * Does what Sentinel does: promotes a replica, lets the others and the old primary follow it, disconnects the clients
   * of all of them, and says what was lost. Awaited outside the world, it moves time as far as it must.
   * Rejects when no replica can be promoted, and with TypeError for a wrong option.
   */
  failover(options?: FailoverOptions): Promise<Failover> {
    return this.set.failover(options);
  }

  /** REPLICAOF NO ONE: makes a node the primary, and leaves all others as they are. Throws RangeError for an unknown name. */
  promote(name: string): void {
    this.set.promote(name);
  }

  /**
   * REPLICAOF: makes a node follow the present primary. What it took as a primary itself is discarded, and returned.
   * Throws RangeError for an unknown name.
   */
  demote(name: string): Losses {
    return this.set.demote(name);
  }

  /** Stops a node's process or a client's, as SIGSTOP does. Opposite: `resume`. Throws RangeError for an unknown name. */
  pause(name: string): void {
    this.set.pause(name);
  }

  /** Everything that came due during the pause happens now, in order. Throws RangeError for an unknown name. */
  resume(name: string): void {
    this.set.resume(name);
  }

  /** Starts a node that crashed; as a replica, unless it is still the primary. Throws RangeError for an unknown name. */
  restart(name: string): void {
    this.set.restart(name);
  }
}

/** Independent primaries, each perhaps with replicas, on one virtual clock. */
export class Servers extends Timed {
  readonly sets: readonly ReplicaSet[];

  constructor(world: World, sets: readonly ReplicaSet[]) {
    super(world);
    this.sets = sets;
  }

  /** Every node: all primaries first. */
  get nodes(): readonly LabNode[] {
    return primariesFirst(this.sets);
  }

  /** A client of that name, of any library: the timers and connections made in `actor.run(() => …)` are its own. */
  actor(name: string): Actor {
    for (const set of this.sets) set.actor(name);
    return this.world.actor(name);
  }

  /** One ioredis client to each primary, as Redlock wants them. */
  clients(name: string, options?: RedisOptions): Redis[] {
    return this.sets.map((set) => set.client(name, options));
  }
}

/**
 * Starts a primary with its replicas, in sync: in a world of their own by default, or with `clock: 'real'` over TCP and
 * real time, where traces are not promised. Rejects when ioredis is not installed, and with TypeError for an option that is wrong.
 */
export async function startPair(options?: PairOptions): Promise<Pair>;
export async function startPair(options: RealPairOptions): Promise<RealPair>;
export async function startPair(options: PairOptions | RealPairOptions = {}): Promise<Pair | RealPair> {
  checkClock('startPair', options);
  if (options.clock === 'real') {
    const { sets } = await startRealServers(options, 'startPair', ioredisAfterRoutes);
    return sets[0] as RealPair;
  }
  const { sets } = await startVirtual(options, 'startPair');
  return new Pair(sets[0] as ReplicaSet);
}

/** A world may need ioredis later, even if this pair does not live in one. */
function ioredisAfterRoutes(): Promise<IoredisConstructor> {
  layRoutes();
  return loadIoredis();
}

/** Starts independent primaries, with replicas in sync. Rejects as `startPair` does. */
export async function startServers(options?: ServersOptions): Promise<Servers>;
export async function startServers(options: RealServersOptions): Promise<RealServers>;
export async function startServers(
  options: ServersOptions | RealServersOptions = {},
): Promise<Servers | RealServers> {
  checkClock('startServers', options);
  if (options.clock === 'real') return startRealServers(options, 'startServers', ioredisAfterRoutes);
  return startVirtual(options, 'startServers');
}

async function startVirtual(options: ServersOptions, starter: Starter): Promise<Servers> {
  checkSets(options, OPTIONS, starter, 1000);
  checkWorld(options);
  const ioredis = await ioredisAfterRoutes();
  const world = new World(options);
  const sets = nodeNames(options, starter).map(
    (names, i) =>
      new ReplicaSet(world, names, FIRST_PORT + i * names.length, FIRST_PORT - 1 - i, options, ioredis),
  );
  for (const set of sets) await set.synchronize();
  return new Servers(world, sets);
}
