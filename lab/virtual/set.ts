/**
 * A primary and its replicas in a world: the links between them, clients that follow the primary, and failover as
 * Sentinel does it.
 */

import { checkClientOptions } from '../checks.ts';
import type { RestartOptions } from '../failover/dialects.ts';
import { FAILOVER_PARTY, type Failover, type FailoverOptions } from '../failover/roles.ts';
import { type SentinelChoice, SentinelRoles } from '../failover/sentinels.ts';
import type { Write } from '../failover/write-log.ts';
import type { Redis, RedisOptions } from '../ioredis-types.ts';
import type { Actor } from '../time/actor.ts';
import { type IoredisConstructor, openClient } from './client.ts';
import { DrivenPromise } from './driver.ts';
import type { Lane } from './lane.ts';
import { type Network, urlInWorld } from './network.ts';
import { LabNode, type LabNodeOptions } from './node.ts';
import { LabSentinel } from './sentinel.ts';
import type { World } from './world.ts';

/** redis-sentinel's port. */
const FIRST_SENTINEL_PORT = 26379;

/** One primary and its replicas in a world. */
export class ReplicaSet extends SentinelRoles<LabNode, Lane, LabSentinel> {
  /** The world that the nodes run in. */
  readonly world: World;
  /**
   * A URL for clients of any library, used in `run`. It leads to the node that is primary when they connect. Its host name
   * exists only in the world.
   */
  readonly url: string;
  readonly #ioredis: IoredisConstructor;

  /**
   * @internal
   * @param names the nodes' names, the primary's first; they listen on consecutive ports from `port` on
   * @param follows the port that is forwarded to the current primary
   */
  constructor(
    world: World,
    names: readonly string[],
    port: number,
    follows: number,
    options: LabNodeOptions & SentinelChoice,
    ioredis: IoredisConstructor,
  ) {
    super(
      names,
      options,
      (name, index, writeQuorum) => new LabNode(world, name, port + index, options, writeQuorum),
      (name, index, plan) =>
        new LabSentinel(world, name, (plan.options.port ?? FIRST_SENTINEL_PORT) + index, plan),
    );
    this.world = world;
    this.#ioredis = ioredis;
    this.url = urlInWorld(names[0] as string, follows);
    world.network.forward(follows, () => this.primary.address);
    for (const replica of this.replicas) replica.follow(this.primary);
  }

  /** @internal Starts the Sentinels, and moves time until they know each other and the replicas. */
  async startSentinels(): Promise<void> {
    if (this.sentinels.length === 0) return;
    for (const sentinel of this.sentinels) sentinel.start();
    await this.world.run(() => this.untilSentinelsDecide());
  }

  /** @internal */
  protected get time(): number {
    return this.world.now;
  }

  /** @internal */
  protected pass(ms: number): Promise<void> {
    return this.world.advance(ms);
  }

  /** The lanes between all nodes and clients, by name. */
  get network(): Network {
    return this.world.network;
  }

  /**
   * An ioredis client that belongs to the actor of this name and follows the primary. Awaiting its commands outside the
   * world moves time until they are answered.
   */
  client(name: string, options?: RedisOptions): Redis {
    this.checkOpen();
    this.checkParty('client', name);
    checkClientOptions(options);
    this.clientNames.add(name);
    return openClient(this.#ioredis, this.world, this.world.actor(name), () => this.primary.address, options);
  }

  /**
   * A client of any library: the timers and connections that code creates in `actor.run(() => …)` belong to the actor.
   * Throws TypeError for a name that a client cannot have.
   */
  actor(name: string): Actor {
    this.checkOpen();
    this.checkParty('actor', name);
    this.clientNames.add(name);
    return this.world.actor(name);
  }

  /** @internal */
  protected checkOpen(): void {
    this.world.assertUsable();
  }

  /**
   * Stops the process of a node or client, as SIGSTOP does; `resume` continues it. Throws RangeError for an unknown
   * name.
   */
  pause(name: string): void {
    this.#actorOf(name).pause();
  }

  /**
   * Continues a paused process: everything that came due during the pause happens now. Throws RangeError for an unknown
   * name.
   */
  resume(name: string): void {
    this.#actorOf(name).resume();
  }

  /**
   * Ends a client's process, as SIGKILL does, or crashes a node, which loses its data. Throws RangeError for an unknown
   * name.
   */
  kill(name: string): void {
    const actor = this.#actorOf(name);
    if (this.clientNames.has(name)) {
      this.world.trace.note(name, 'kill');
      actor.kill();
    } else if (this.otherNames.includes(name)) this.sentinel(name).crash();
    else this.node(name).crash();
  }

  #actorOf(name: string): Actor {
    this.checkOpen();
    if (this.otherNames.includes(name)) return this.sentinel(name).actor;
    return this.clientNames.has(name) ? this.world.actor(name) : this.node(name).actor;
  }

  /** Moves time until `synchronized`, at most `maxMs` virtual milliseconds (default 60,000). Rejects when that takes longer. */
  async synchronize(maxMs = 60_000): Promise<void> {
    await this.world.run(async () => {
      while (!this.synchronized) await this.world.advance(1);
    }, maxMs);
  }

  /**
   * Does what Sentinel does: promotes a replica, makes the other nodes and the old primary follow it, and disconnects
   * their clients. Awaiting it outside the world moves time as far as needed. Rejects when no replica can be promoted,
   * and with TypeError for a wrong option.
   */
  failover(options: FailoverOptions = {}): Promise<Failover> {
    try {
      this.checkOpen();
    } catch (error) {
      return Promise.reject(error);
    }
    const done = this.world.actor(FAILOVER_PARTY).call(() => this.failOver(options));
    return this.world.isInside ? done : new DrivenPromise(this.world, done);
  }

  /** @internal */
  protected override noteLost(old: LabNode, lost: readonly Write[]): void {
    for (const { client = '-', command } of lost) {
      this.world.trace.note(old.name, 'lost', `${client} ${command.join(' ')}`);
    }
  }

  /**
   * Restarts a node that crashed, as a replica unless it is still the primary. Throws RangeError for an unknown name.
   */
  restart(name: string, options?: RestartOptions): void {
    this.checkOpen();
    const node = this.node(name);
    const upstream = node.server.primary?.port;
    node.restart(options);
    this.rejoin(node, upstream);
  }
}
