/**
 * A primary and its replicas in a world: the links between them, clients that follow the primary, and failover as
 * Sentinel does it.
 */

import type { Timeline } from '../../page/format.ts';
import { holdersOf, type LockHolder, type LockOverlap, overlapsIn } from '../account/queries.ts';
import { checkClientOptions } from '../checks.ts';
import type { Redis, RedisOptions } from '../ioredis-types.ts';
import type { Link } from '../links/link.ts';
import type { RestartOptions } from '../replica-group/dialects.ts';
import { FAILOVER_PARTY, type Failover, type FailoverOptions } from '../replica-group/replica-group.ts';
import { type SentinelChoice, SentinelGroup } from '../replica-group/sentinels.ts';
import type { Write } from '../replica-group/write-log.ts';
import type { Actor } from '../time/actor.ts';
import type { Trace } from '../time/trace.ts';
import { noteIn, toldStory } from '../timeline/told.ts';
import { type TimelineNotes, worldAccount, worldTimeline } from '../timeline/world.ts';
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
export class ReplicaSet extends SentinelGroup<LabNode, Lane, LabSentinel> {
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
    return worldTimeline(this.world, [this], notes);
  }

  /**
   * Writes a timeline of what has happened so far: a self-contained page for a browser (a name that ends in `.html`), or
   * its data (`.json`). Rejects with TypeError for another name.
   */
  async timeline(file: string, notes: TimelineNotes = {}): Promise<void> {
    await (await import('../timeline/write.ts')).writeTimeline(file, [this.timelineData(notes)]);
  }

  /** The clients that hold the lock now, or believe so; with `believes: false`, those that do not know of their grant. */
  holders(key: string): LockHolder[] {
    return holdersOf(worldAccount(this.world, [this]), key, this.world.elapsed());
  }

  /** The times in which two clients believed that they held the same lock. Empty when no lock was lost. */
  overlaps(): LockOverlap[] {
    return overlapsIn(worldAccount(this.world, [this]));
  }

  /**
   * Writes a line into the story and onto the timeline, now: `note('w1', 'charges o1')`. Throws TypeError for a name that no
   * party can have, and for an empty text.
   * @param who a client or a node
   */
  note(who: string, text: string): void {
    this.checkOpen();
    if (!this.hasParty(who)) this.checkParty('note', who);
    noteIn(this.world.trace, who, text);
  }

  /** What has happened so far, in sentences, a line for each with its time in milliseconds, as the timeline tells it. */
  story(): string {
    return toldStory(this.timelineData());
  }

  /** What happened before is no longer recorded, in milliseconds since the world began; 0 when everything is. */
  get knownFrom(): number {
    return this.world.forgottenUpTo / 1000;
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
   * The link between a client and a node, by default the current primary: `out` carries requests, `back` replies. Throws
   * RangeError for an unknown node.
   */
  clientLink(client: string, node: string = this.primary.name): Link<Lane> {
    this.world.assertUsable();
    this.node(node);
    return this.world.network.link(client, node);
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

  /** Closes the world: nothing that is scheduled in it will run. */
  async close(): Promise<void> {
    this.world.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
