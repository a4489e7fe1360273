/** A cluster in a world: its nodes talk over links that a test holds and cuts, and fail over by their own votes. */
import { createClusterNode } from '../../cluster/index.ts';
import type { ClusterNode } from '../../cluster/node.ts';
import { replicateNode, takeOver } from '../../cluster/operator.ts';
import type { Timeline } from '../../page/format.ts';
import type { Server, ServerOptions } from '../../server/server.ts';
import type { ClusterSize } from '../../start/cluster.ts';
import { holdersOf, type LockHolder, type LockOverlap, overlapsIn } from '../account/queries.ts';
import type { Cluster, RedisClusterOptions } from '../ioredis-types.ts';
import type { RestartOptions } from '../replica-group/dialects.ts';
import { AnyCluster, enterCluster, memberOf } from '../replica-group/shards.ts';
import type { Actor } from '../time/actor.ts';
import type { Trace } from '../time/trace.ts';
import { noteIn, toldStory } from '../timeline/told.ts';
import { type TimelineNotes, worldAccount, worldTimeline } from '../timeline/world.ts';
import { type ClusterConstructor, openClusterClient } from './client.ts';
import type { Lane } from './lane.ts';
import type { Network } from './network.ts';
import { LabNode, type LabNodeOptions } from './node.ts';
import type { World } from './world.ts';

/** How far the port of the bus is from the port for clients, as in Redis. */
const BUS = 10_000;
const FIRST_PORT = 7000;

/** A node of a cluster in a world. After a restart it knows the cluster as its disk does. */
export class LabClusterNode extends LabNode {
  /** @internal */
  protected override create(options: ServerOptions): Server {
    const { server, node } = createClusterNode(this.host, options);
    this.host.listen(this.port + BUS, (connection) => node.accept(connection));
    return server;
  }

  /** @internal Its part in the cluster. */
  get member(): ClusterNode {
    return memberOf(this);
  }

  /** @internal Begins to talk to the other nodes. */
  begin(): void {
    enterCluster(this.member, (type, text) => this.host.note(type, text));
  }

  override restart(options: RestartOptions = {}): void {
    if (this.up) return;
    super.restart(options);
    this.begin();
  }

  /** @internal CLUSTER FAILOVER TAKEOVER. Throws when the node is not a replica. */
  protected override lead(): void {
    takeOver(this.member);
  }

  /** @internal CLUSTER REPLICATE. Throws Redis' error, for example while the node serves slots. */
  protected override trail(primary: LabClusterNode): void {
    replicateNode(this.member, primary.member);
  }
}

/** A cluster on a virtual clock. */
export class LabCluster extends AnyCluster<LabClusterNode, Lane> {
  /** The world that the nodes and their clients live in. */
  readonly world: World;
  readonly #ioredis: ClusterConstructor | undefined;

  /** @internal @param ioredis the client of clusters; undefined where it is not installed */
  constructor(
    world: World,
    size: Required<ClusterSize>,
    options: LabNodeOptions,
    ioredis: ClusterConstructor | undefined,
  ) {
    const around = {
      network: world.network,
      checkOpen: () => world.assertUsable(),
      note: (who: string, what: string, detail: string) => world.trace.note(who, what, detail),
    };
    super(size, around, (name, index) => new LabClusterNode(world, name, FIRST_PORT + index, options));
    this.world = world;
    this.#ioredis = ioredis;
  }

  /** @internal Makes the nodes a cluster. */
  async start(): Promise<void> {
    for (const node of this.nodes) node.begin();
    await this.world.run(() => this.settle(() => this.world.advance(1)), 60_000);
  }

  /** The lanes between all nodes and clients, by name. */
  get network(): Network {
    return this.world.network;
  }

  /** What happened, in order. */
  get trace(): Trace {
    return this.world.trace;
  }

  /**
   * A client process of any library: the timers and connections that code creates in `actor.run(() => …)` belong to it.
   */
  actor(name: string): Actor {
    this.world.assertUsable();
    return this.world.actor(name);
  }

  /**
   * ioredis' client of the cluster, with this name on the links; awaiting its commands moves time. Throws Error when ioredis
   * is not installed.
   */
  client(name: string, options?: RedisClusterOptions): Cluster {
    this.world.assertUsable();
    if (this.#ioredis === undefined) throw new Error("client() needs the package 'ioredis'");
    return openClusterClient(this.#ioredis, this.world, this.actor(name), this.addresses, options);
  }

  /** Moves time forward by exactly `ms` virtual milliseconds. Rejects as the world's `advance` does. */
  advance(ms: number): Promise<void> {
    return this.world.advance(ms);
  }

  /** Runs code inside the world, and moves time until its promise settles. Rejects as the world's `run` does. */
  run<T>(code: () => T, maxMs?: number): Promise<Awaited<T>> {
    return this.world.run(code, maxMs);
  }

  /** @internal */
  protected until(condition: () => boolean, maxMs: number): Promise<void> {
    return this.world.run(async () => {
      while (!condition()) await this.world.advance(10);
    }, maxMs);
  }

  /** What has happened so far, as the data of a timeline (docs/timeline.md). The same seed gives the same data. */
  timelineData(notes: TimelineNotes = {}): Timeline {
    return worldTimeline(this.world, this.#sets, notes);
  }

  /** The clients that hold the lock now, or believe so; with `believes: false`, those that do not know of their grant. */
  holders(key: string): LockHolder[] {
    return holdersOf(worldAccount(this.world, this.#sets), key, this.world.elapsed());
  }

  /** The times in which two clients believed that they held the same lock. Empty when no lock was lost. */
  overlaps(): LockOverlap[] {
    return overlapsIn(worldAccount(this.world, this.#sets));
  }

  /**
   * Writes a line into the story and onto the timeline, now: `note('w1', 'charges o1')`. Throws TypeError for an empty name or text.
   * @param who a client or a node
   */
  note(who: string, text: string): void {
    this.world.assertUsable();
    noteIn(this.world.trace, who, text);
  }

  /** What has happened so far, in sentences, a line for each with its time in milliseconds, as the timeline tells it. */
  story(): string {
    return toldStory(this.timelineData());
  }

  get #sets(): Parameters<typeof worldAccount>[1] {
    return this.shards;
  }

  /** Closes the world: nothing that is scheduled in it will run. */
  async close(): Promise<void> {
    this.world.close();
  }
}
