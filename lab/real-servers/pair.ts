/** Primaries and replicas that are real servers, behind the links of the lab: the controls of a pair on the real clock. */

import { badOption } from '../../base/options.ts';
import { checkMillis } from '../checks.ts';
import type { Redis, RedisOptions } from '../ioredis-types.ts';
import type { Link } from '../links/link.ts';
import { RealClockClients } from '../real-clock/clients.ts';
import { ANYBODY, type RealClockEndpoint } from '../real-clock/endpoint.ts';
import { type IndependentSets, startSets } from '../real-clock/independent.ts';
import { CLOSED, type RealClockLane } from '../real-clock/lane.ts';
import { RealClockNetwork } from '../real-clock/network.ts';
import type { RealClockActor } from '../real-clock/pair.ts';
import { allUp, comesTrue, pass } from '../real-clock/wait.ts';
import { nodeNames, type Starter } from '../replica-group/layout.ts';
import type { Losses } from '../replica-group/losses.ts';
import {
  checkFailover,
  type Failover,
  type FailoverOptions,
  ReplicaGroup,
} from '../replica-group/replica-group.ts';
import type { IoredisConstructor } from '../virtual/client.ts';
import { RealServerNode } from './node.ts';
import { checkRealServers, type RealServerPairOptions, type RealServersOptions } from './options.ts';
import { tapBetween } from './replication-tap.ts';

/** Work on processes, one after another. */
class WorkInTurn {
  #last: Promise<unknown> = Promise.resolve();
  #failure: unknown;

  /** Does work after everything that was asked for before. */
  add(work: () => Promise<unknown>): void {
    this.#last = this.#last.then(work).catch((error: unknown) => {
      this.#failure ??= error;
    });
  }

  /** Waits until everything is done. Returns what failed first since the last time. */
  async done(): Promise<unknown> {
    await this.#last;
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }
}

/**
 * A primary and its replicas, each a process of a real server, behind the lab's links. Roles are decided on the mirrors of the
 * nodes, and the resulting commands are sent to the processes one after another.
 */
export class RealServerPair extends ReplicaGroup<RealServerNode, RealClockLane> implements AsyncDisposable {
  /** The lanes between the nodes and the pair's clients, by name. */
  readonly network: RealClockNetwork;
  readonly #ioredis: IoredisConstructor;
  readonly #port: number;
  readonly #clients: RealClockClients;
  readonly #work: WorkInTurn;
  #own: RealClockEndpoint | undefined;
  #closed = false;

  /** @internal @param programs the path of each node's program, by name, the primary's first */
  constructor(
    programs: ReadonlyMap<string, string>,
    options: RealServerPairOptions,
    ioredis: IoredisConstructor,
  ) {
    const network = new RealClockNetwork();
    const work = new WorkInTurn();
    let portBetween = (_from: string, _to: string): Promise<number> => Promise.reject(new Error(CLOSED));
    const around = {
      ...{ network, ioredis, settings: options.settings ?? {}, isAlone: programs.size === 1 },
      isNode: (name: string) => programs.has(name),
      inTurn: (task: () => Promise<unknown>) => work.add(task),
      portBetween: (from: string, to: string) => portBetween(from, to),
    };
    super(
      [...programs.keys()],
      false,
      (name) => new RealServerNode(name, programs.get(name) as string, around),
    );
    this.network = network;
    this.#work = work;
    this.#ioredis = ioredis;
    this.#clients = new RealClockClients(network);
    this.#port = options.port ?? 0;
    network.tapFor = (connection) => tapBetween(this.nodes, connection);
    portBetween = async (from, to) =>
      (await this.#clients.endpoint(`${from}>${to}`, from, () => this.node(to).port)).port;
  }

  /** @internal */
  protected checkOpen(): void {
    if (this.#closed) throw new Error(CLOSED);
  }

  /** Throws unless the pair is open and a client may have this name; then it has it. */
  #enroll(what: string, name: string): void {
    this.checkOpen();
    this.checkParty(what, name);
    this.clientNames.add(name);
  }

  /** Waits until the processes have done what they were told. Rejects when one refused. */
  async #settled(): Promise<void> {
    const failure = await this.#work.done();
    if (failure !== undefined && !this.#closed) throw failure;
  }

  #endpoint(name: string, port = 0): Promise<RealClockEndpoint> {
    return this.#clients.endpoint(name, name, () => this.primary.port, port);
  }

  /** @internal Starts every process, and makes the replicas follow the primary. Resolves when they are in sync. */
  async start(): Promise<void> {
    this.#own = await this.#endpoint(ANYBODY, this.#port);
    await allUp(this.nodes.map((node) => node.start()));
    for (const replica of this.replicas) replica.follow(this.primary);
    await this.#settled();
    await this.synchronize();
  }

  /** The link between a client and a node, by default the current primary: `out` carries requests, `back` replies. */
  clientLink(client: string, node: string = this.primary.name): Link<RealClockLane> {
    this.checkOpen();
    this.node(node);
    return this.network.link(client, node);
  }

  /** A URL for any client. It leads to the node that is primary when the client connects, as on lostlock nodes. */
  get url(): string {
    return (this.#own as RealClockEndpoint).url;
  }

  /** A client of any library, whose connections `clientLink` and `lost` know by its name. */
  async actor(name: string): Promise<RealClockActor> {
    this.#enroll('actor', name);
    return this.#endpoint(name);
  }

  /**
   * An ioredis client with this name that follows the primary. `close` disconnects it.
   * @param node the name of a node that the client stays with instead
   */
  client(name: string, options: RedisOptions = {}, node?: string): Redis {
    this.#enroll('client', name);
    const port = node === undefined ? () => this.primary.port : () => this.node(node).port;
    return this.#clients.open(this.#ioredis, name, options, port);
  }

  /**
   * Waits until every replica that is up has the primary's stream. Rejects when that takes longer than `maxMs`
   * milliseconds (default 60,000).
   */
  async synchronize(maxMs = 60_000): Promise<void> {
    this.checkOpen();
    checkMillis('synchronize', maxMs);
    if (await comesTrue(() => this.#isSynchronized(), maxMs, 5)) return;
    throw new Error(`the replicas did not catch up within ${maxMs} ms`);
  }

  /** True when every replica that is up has its primary's stream, as far as the lab has seen it. */
  override get synchronized(): boolean {
    const { id, offset } = this.primary.mirror;
    return this.replicas.every(({ up, mirror }) => !up || (mirror.id === id && mirror.offset === offset));
  }

  async #isSynchronized(): Promise<boolean> {
    const following = this.replicas.filter(({ up, paused }) => up && !paused);
    const [source, ...others] = await Promise.all(
      [this.primary, ...following].map((node) => node.standing()),
    );
    if ((source?.online ?? 0) < others.length) return false;
    return others.every(
      ({ linkUp, id, offset }, i) =>
        linkUp && id === source?.id && offset === source.offset && following[i]?.offset === offset,
    );
  }

  /** Stops a node's process by SIGSTOP. Throws for a client, whose timers belong to the test's own process. */
  pause(name: string): void {
    this.#processOf(name).pause();
  }

  /** Continues a paused node by SIGCONT. */
  resume(name: string): void {
    this.#processOf(name).resume();
  }

  #processOf(name: string): RealServerNode {
    if (!this.clientNames.has(name)) return this.node(name);
    const allowed = `a node: a client's timers are this process' own; hold clientLink('${name}') instead`;
    throw badOption('pause', name, allowed);
  }

  /**
   * Does what Sentinel does: promotes a replica, makes the other nodes and the old primary follow it, and disconnects
   * their clients. The losses are found in the replication streams that have passed the lab's links. Rejects when no
   * replica can be promoted, and with TypeError for a wrong option.
   */
  async failover(options: FailoverOptions = {}): Promise<Failover> {
    this.checkOpen();
    checkFailover(options, this.replicas);
    const { crash = false, after = 0 } = options;
    const old = this.primary;
    await this.#settled();
    const lanes = this.replicas
      .map(({ name }) => this.network.lane(old.name, name))
      .filter(({ held }) => !held);
    try {
      // A crash and a promotion take several steps. What is on its way meanwhile must not arrive between them, unless
      // the test asks for time between them.
      if (after === 0) for (const lane of lanes) lane.hold();
      if (crash !== false) await old.crash(crash === true ? {} : crash);
      if (after > 0) await pass(after);
      this.checkOpen();
      for (const lane of lanes) lane.hold();
      await Promise.all(this.nodes.map((node) => node.refresh()));
      const done = this.replace(old, options);
      await this.#settled();
      return done;
    } finally {
      if (!this.#closed) for (const lane of lanes) lane.release();
    }
  }

  /** REPLICAOF NO ONE: makes a node the primary, and leaves the other nodes as they are. */
  override async promote(name: string): Promise<void> {
    await Promise.all([this.primary.refresh(), this.node(name).refresh()]);
    super.promote(name);
    await this.#settled();
  }

  /** REPLICAOF: makes a node follow the current primary. The writes that it took as a primary are lost and returned. */
  async demote(name: string): Promise<Losses> {
    await Promise.all([this.primary.refresh(), this.node(name).refresh()]);
    const losses = this.demoteNow(name);
    await this.#settled();
    return losses;
  }

  /** Restarts a node that crashed, as a replica unless it is still the primary. */
  async restart(name: string): Promise<void> {
    const node = this.node(name);
    await node.restart();
    this.rejoin(node, undefined);
    await this.#settled();
  }

  /** Disconnects the pair's clients, kills every process and removes its files. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#clients.disconnect();
    await this.#work.done();
    this.network.close();
    await this.#clients.close();
    await Promise.all(this.nodes.map((node) => node.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Independent primaries, each with its replicas if any, that are real servers. */
export type RealServers = IndependentSets<RealServerNode, RealServerPair>;

/** Starts real servers as nodes, with the replicas in sync. Rejects with a TypeError that names a wrong option. */
export async function startRealServers(
  options: RealServersOptions,
  starter: Starter,
  ioredis: () => Promise<IoredisConstructor>,
): Promise<RealServers> {
  const programs = checkRealServers(options, starter);
  const Ioredis = await ioredis();
  const sets = nodeNames(options, starter).map((names) => {
    const own = new Map(names.map((name) => [name, programs.get(name) as string]));
    return new RealServerPair(own, options, Ioredis);
  });
  return startSets(sets);
}
