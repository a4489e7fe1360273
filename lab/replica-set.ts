/** A primary and its replicas in a world, with the links between them, clients that follow, and failover as Sentinel does it. */
import type { Redis, RedisOptions } from 'ioredis';
import type { Actor } from './actor.ts';
import { Driven } from './driven.ts';
import { appoint, type Election, elect, isReachable } from './election.ts';
import { type IoredisConstructor, openClient } from './lab-client.ts';
import { type CrashOptions, LabNode, type LabNodeOptions } from './lab-node.ts';
import type { Amount, Lane, LaneControls } from './link.ts';
import { type Losses, lossesBetween, sharedOffset } from './losses.ts';
import { checkFailover } from './options.ts';
import type { World } from './world.ts';
import type { Write } from './write-log.ts';

/** How a failover is to happen. */
export interface FailoverOptions {
  /** The primary dies first; true: keeping nothing. Otherwise it lives, and is told to follow. */
  readonly crash?: boolean | CrashOptions;
  /** How long nobody is primary, in virtual milliseconds; default 0. */
  readonly after?: number;
  /**
   * The name of the replica to promote, which may be out of reach, but not down. By default the choice is Redis' own,
   * by priority, offset and run id, of those that are up, run and can be reached: a replica is out of reach when it is
   * partitioned off from every client of the set and every other node that is up, or from the actor 'failover'.
   */
  readonly to?: string;
  /** False: the old primary is left alone, as when nobody can reach it: two nodes take writes. */
  readonly demote?: boolean;
}

/** What a failover did. */
export interface Failover extends Losses {
  readonly from: string;
  readonly to: string;
  /** Up to where the new primary has the old one's stream; undefined when the histories have nothing in common. */
  readonly offset: number | undefined;
  /** How far the old primary was. */
  readonly oldOffset: number;
}

/** The way from a primary to a replica: commands one way, acknowledgements the other. */
export class ReplicationLink<L extends LaneControls = Lane> {
  readonly commands: L;
  readonly acks: L;

  constructor(commands: L, acks: L) {
    this.commands = commands;
    this.acks = acks;
  }

  /** Replication stops reaching the replica; what is sent waits. */
  hold(): void {
    this.commands.hold();
  }

  /** Everything that was held arrives, or so many messages or bytes of it. */
  release(amount?: Amount): void {
    this.commands.release(amount);
  }

  /** Makes every later message take so many milliseconds longer, in both directions; 0 ends it. */
  delay(ms: number): void {
    this.commands.delay(ms);
    this.acks.delay(ms);
  }

  /** Nothing passes in either direction. */
  partition(): void {
    this.commands.partition();
    this.acks.partition();
  }

  heal(): void {
    this.commands.heal();
    this.acks.heal();
  }
}

/** Who decides on failovers, as an actor. */
export const JUDGE = 'failover';

export class ReplicaSet {
  readonly world: World;
  readonly nodes: readonly LabNode[];
  /** How many nodes are a majority, in quorum mode; otherwise 0. */
  readonly quorum: number;
  readonly #ioredis: IoredisConstructor;
  /** The names of the set's clients. */
  readonly #clients = new Set<string>();
  #primary: LabNode;
  /** Every acknowledged write that a promotion or a demotion has lost so far. */
  readonly lost: Write[] = [];

  /** @param names the nodes' names, the primary's first; they listen on consecutive ports from `port` on */
  constructor(
    world: World,
    names: readonly string[],
    port: number,
    options: LabNodeOptions,
    ioredis: IoredisConstructor,
  ) {
    this.world = world;
    this.#ioredis = ioredis;
    this.quorum = options.quorum === true ? (names.length >> 1) + 1 : 0;
    // The primary counts itself among the majority.
    const replicas = Math.max(0, this.quorum - 1);
    this.nodes = names.map((name, i) => new LabNode(world, name, port + i, options, replicas));
    this.#primary = this.nodes[0] as LabNode;
    for (const replica of this.nodes.slice(1)) replica.follow(this.#primary);
  }

  /** Who takes writes, as far as the set's own clients are told. */
  get primary(): LabNode {
    return this.#primary;
  }

  get replicas(): readonly LabNode[] {
    return this.nodes.filter((node) => node !== this.#primary);
  }

  /** A node by name. Throws RangeError for a name that nobody has. */
  node(name: string): LabNode {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) throw new RangeError(`no node is called '${name}'`);
    return found;
  }

  /** Replication from the primary to a replica, the first one unless named. */
  link(replica?: string): ReplicationLink {
    const to = replica ?? this.replicas[0]?.name;
    if (to === undefined) throw new RangeError('there is no replica');
    const { network } = this.world;
    return new ReplicationLink(network.lane(this.#primary.name, to), network.lane(to, this.#primary.name));
  }

  /**
   * An ioredis client, as the actor of that name, which dials whoever is primary. Awaiting its commands outside the
   * world moves time until they are answered.
   */
  client(name: string, options?: RedisOptions): Redis {
    this.#clients.add(name);
    return openClient(this.#ioredis, this.world.actor(name), () => this.#primary.address, options);
  }

  /** Stops a node's process or a client's, as SIGSTOP does. Opposite: `resume`. Throws RangeError for an unknown name. */
  pause(name: string): void {
    this.#actorOf(name).pause();
  }

  /** Everything that came due during the pause happens now. */
  resume(name: string): void {
    this.#actorOf(name).resume();
  }

  #actorOf(name: string): Actor {
    return this.#clients.has(name) ? this.world.actor(name) : this.node(name).actor;
  }

  /** True when every replica that is up has its primary's stream, and the primary knows. */
  get synchronized(): boolean {
    const { replication } = this.#primary.server;
    return this.replicas
      .filter((node) => node.up)
      .every(
        ({ server }) =>
          server.primary?.linkUp === true &&
          server.replication.id === replication.id &&
          server.replication.offset === replication.offset,
      );
  }

  /** Moves time until `synchronized`, at most so many virtual milliseconds. Rejects when that does not come true. */
  async synchronize(maxMs = 60_000): Promise<void> {
    await this.world.run(async () => {
      while (!this.synchronized) await this.world.advance(1);
    }, maxMs);
  }

  /**
   * Does what Sentinel does: promotes a replica, lets the others and the old primary follow it, and disconnects the
   * clients of all of them. Awaited outside the world, it moves time as far as it must.
   * Rejects when no replica can be promoted.
   */
  failover(options: FailoverOptions = {}): Promise<Failover> {
    const done = this.world.actor(JUDGE).call(() => this.#failOver(options));
    return this.world.isInside ? done : new Driven(this.world, done);
  }

  async #failOver(options: FailoverOptions): Promise<Failover> {
    checkFailover(options);
    const { crash = false, after = 0, to, demote = true } = options;
    const old = this.#primary;
    if (crash !== false) old.crash(crash === true ? {} : crash);
    if (after > 0) await this.world.advance(after);
    const fresh = to === undefined ? elect(this.#election()) : appoint(this.#election(), this.node(to));
    const oldOffset = old.offset;
    const offset = sharedOffset(old.server, fresh.server);
    const losses = lossesBetween(old, fresh);
    this.promote(fresh.name);
    this.lost.push(...losses.lost);
    for (const write of losses.lost) {
      this.world.trace.note(old.name, 'lost', `${write.client ?? '-'} ${write.command.join(' ')}`);
    }
    for (const node of this.nodes) {
      if (node === fresh || !node.up || (node === old && !demote)) continue;
      node.follow(fresh);
      node.disconnectClients();
    }
    return { from: old.name, to: fresh.name, offset, oldOffset, ...losses };
  }

  /** Makes a node the primary, and leaves all others as they are. */
  promote(name: string): void {
    const node = this.node(name);
    const shared = sharedOffset(this.#primary.server, node.server);
    if (shared !== undefined) node.log.inherit(this.#primary.log, shared);
    node.promote();
    node.disconnectClients();
    this.#primary = node;
  }

  /** Makes a node follow the present primary. What it took as a primary itself is discarded, and returned. */
  demote(name: string): Losses {
    const node = this.node(name);
    const losses = lossesBetween(node, this.#primary);
    this.lost.push(...losses.lost);
    node.follow(this.#primary);
    node.disconnectClients();
    return losses;
  }

  /** Starts a node that crashed; as a replica, unless it is still the primary. */
  restart(name: string): void {
    const node = this.node(name);
    node.restart();
    if (node !== this.#primary) node.follow(this.#primary);
  }

  #election(): Election<LabNode> {
    const { network } = this.world;
    return {
      primary: this.#primary,
      replicas: this.replicas,
      quorum: this.quorum,
      reaches: ({ name }) => {
        const others = this.nodes.filter((node) => node.up && node.name !== name).map((node) => node.name);
        return isReachable(network, name, JUDGE, [...this.#clients, ...others]);
      },
    };
  }
}
