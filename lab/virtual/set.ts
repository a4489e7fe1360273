/**
 * A primary and its replicas in a world: the links between them, clients that follow the primary, and failover as
 * Sentinel does it.
 */

import type { RestartOptions } from '../failover/dialects.ts';
import {
  checkFailover,
  FAILOVER_PARTY,
  type Failover,
  type FailoverOptions,
  Roles,
} from '../failover/roles.ts';
import {
  checkSentinelFailover,
  hasSwitchedTo,
  notPromoted,
  patienceOf,
  planOf,
  type SentinelChoice,
  type SentinelsPlan,
  sentinelNames,
} from '../failover/sentinels.ts';
import type { Write } from '../failover/write-log.ts';
import type { Redis, RedisOptions } from '../ioredis-types.ts';
import type { Actor } from '../time/actor.ts';
import { type IoredisConstructor, openClient } from './client.ts';
import { DrivenPromise } from './driver.ts';
import type { Lane } from './lane.ts';
import type { Network } from './network.ts';
import { LabNode, type LabNodeOptions } from './node.ts';
import { LabSentinel } from './sentinel.ts';
import type { World } from './world.ts';

/** redis-sentinel's port. */
const FIRST_SENTINEL_PORT = 26379;

/** One primary and its replicas in a world. */
export class ReplicaSet extends Roles<LabNode, Lane> {
  readonly world: World;
  /** A URL for clients of any library, used in `run`. It leads to the node that is primary when they connect. */
  readonly url: string;
  /** The Sentinels that decide on failovers, if there are any. */
  readonly sentinels: readonly LabSentinel[];
  readonly #plan: SentinelsPlan;
  readonly #ioredis: IoredisConstructor;

  /**
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
      options.quorum === true,
      (name, index, writeQuorum) => new LabNode(world, name, port + index, options, writeQuorum),
    );
    this.world = world;
    this.#ioredis = ioredis;
    this.url = `redis://127.0.0.1:${follows}`;
    world.network.forward(follows, () => this.primary.address);
    for (const replica of this.replicas) replica.follow(this.primary);
    this.#plan = planOf(options, () => this.primary.address);
    const first = this.#plan.options.port ?? FIRST_SENTINEL_PORT;
    this.sentinels = sentinelNames(options).map(
      (each, i) => new LabSentinel(world, each, first + i, this.#plan),
    );
  }

  /** Starts the Sentinels, and moves time until they know each other and the replicas. */
  async startSentinels(): Promise<void> {
    if (this.sentinels.length === 0) return;
    for (const sentinel of this.sentinels) sentinel.start();
    const { length } = this.replicas;
    await this.world.run(async () => {
      while (!this.sentinels.every((each) => each.knowsEverybody(length))) await this.world.advance(100);
    }, 60_000);
    this.obeySentinels();
  }

  /** The Sentinel with this name. Throws RangeError when there is none. */
  sentinel(name: string): LabSentinel {
    const found = this.sentinels.find((each) => each.name === name);
    if (found !== undefined) return found;
    const names = this.sentinels.map((each) => each.name).join(', ') || 'none';
    throw new RangeError(`no Sentinel is called '${name}'; there are ${names}`);
  }

  protected override get otherNames(): readonly string[] {
    return this.sentinels.map(({ name }) => name);
  }

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
    if (this.clientNames.has(name)) actor.kill();
    else if (this.otherNames.includes(name)) this.sentinel(name).crash();
    else this.node(name).crash();
  }

  #actorOf(name: string): Actor {
    this.checkOpen();
    if (this.otherNames.includes(name)) return this.sentinel(name).actor;
    return this.clientNames.has(name) ? this.world.actor(name) : this.node(name).actor;
  }

  /** Moves time until `synchronized`, at most `maxMs` virtual milliseconds. Rejects when that takes longer. */
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
    const done = this.world.actor(FAILOVER_PARTY).call(() => this.#failOver(options));
    return this.world.isInside ? done : new DrivenPromise(this.world, done);
  }

  async #failOver(options: FailoverOptions): Promise<Failover> {
    checkFailover(options, this.replicas);
    if (this.sentinels.length > 0) checkSentinelFailover(options);
    const { crash = false, after = 0 } = options;
    const old = this.primary;
    if (crash !== false) old.crash(crash === true ? {} : crash);
    if (this.sentinels.length > 0) return this.#leaveItToSentinels(old);
    if (after > 0) await this.world.advance(after);
    return this.replace(old, options);
  }

  /** The Sentinels replace the primary: because it has crashed, or because one of them is told to. */
  async #leaveItToSentinels(old: LabNode): Promise<Failover> {
    const before = this.failovers.length;
    if (old.up)
      (this.sentinels.find(({ up, paused }) => up && !paused) ?? this.sentinels[0])?.forceFailover();
    const end = this.world.now + patienceOf(this.#plan);
    const isOver = (): boolean =>
      this.sentinels.some(({ events }) => hasSwitchedTo(events, this.primary.port));
    while (this.failovers.length === before || !isOver()) {
      if (this.world.now > end) throw notPromoted(this.sentinels, patienceOf(this.#plan));
      await this.world.advance(10);
    }
    return this.failovers.at(-1) as Failover;
  }

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
