/** A primary and its replicas on the real clock, over TCP, with the verbs of the virtual pair as far as they make sense. */

import { connectorFor } from '../../embed/connector.ts';
import { badOption } from '../../embed/options.ts';
import { nodeClock } from '../../server/host/node.ts';
import { checkMillis } from '../checks.ts';
import type { RestartOptions } from '../failover/dialects.ts';
import { checkFailover, type Failover, type FailoverOptions, Roles } from '../failover/roles.ts';
import { checkSets, nodeNames, primariesFirst, type Starter } from '../failover/sets.ts';
import type { Redis, RedisOptions } from '../ioredis-types.ts';
import type { Link } from '../links/link.ts';
import type { IoredisConstructor } from '../virtual/client.ts';
import { RealEndpoint } from './endpoint.ts';
import { CLOSED, type RealLane } from './lane.ts';
import { RealNetwork } from './network.ts';
import { RealNode, type RealNodeOptions } from './node.ts';
import { RealSocket } from './socket.ts';

/** How to start a pair on the real clock. */
export interface RealPairOptions extends RealNodeOptions {
  readonly clock: 'real';
  /** Replicas of the primary; default 1. */
  readonly replicas?: number;
  /** A write is answered only when a majority has it, and only a node that has every such write can be promoted. */
  readonly quorum?: boolean;
}

/** How to start several independent primaries on the real clock. */
export interface RealServersOptions extends RealPairOptions {
  /** Independent primaries; default 1. */
  readonly primaries?: number;
}

/** A client on the real clock, as the lab knows it. */
export interface RealActor {
  readonly name: string;
  /** Where it connects. */
  readonly url: string;
}

/** Whoever connects to the pair's own address, as a party; so is code that runs without a name on the virtual clock. */
const ANYBODY = 'client';

function pass(ms: number): Promise<void> {
  return new Promise((wake) => void nodeClock.at(nodeClock.now() + ms, wake));
}

export class RealPair extends Roles<RealNode, RealLane> implements AsyncDisposable {
  /** The lanes between the nodes and the pair's clients, by name. */
  readonly network: RealNetwork;
  readonly #ioredis: IoredisConstructor;
  readonly #clients: Redis[] = [];
  readonly #endpoints = new Map<string, RealEndpoint>();
  #closed = false;

  /** @param names the nodes' names, the primary's first; they listen and follow once started */
  constructor(names: readonly string[], options: RealPairOptions, ioredis: IoredisConstructor) {
    const network = new RealNetwork();
    super(
      names,
      options.quorum === true,
      (name, _, writeQuorum) => new RealNode(network, name, options, writeQuorum),
    );
    this.network = network;
    this.#ioredis = ioredis;
  }

  protected checkOpen(): void {
    if (this.#closed) throw new Error(CLOSED);
  }

  /** Makes every node listen, and the replicas follow; resolves when they are in sync. */
  async start(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.listen()));
    await this.#endpoint(ANYBODY);
    for (const replica of this.replicas) replica.follow(this.primary);
    await this.synchronize();
  }

  /**
   * An address for any client, also of another process, that leads to whoever is primary when it connects. Connections
   * break at a failover as those to the primary itself do; without a primary they are accepted and reset.
   */
  get url(): string {
    return (this.#endpoints.get(ANYBODY) as RealEndpoint).url;
  }

  /**
   * A client of that name, of any library: what connects to its `url` follows the primary as `pair.url` does, and is
   * found by the name in `clientLink` and in `lost`. Rejects with TypeError for a name that it cannot have.
   */
  async actor(name: string): Promise<RealActor> {
    this.checkOpen();
    this.checkParty('actor', name);
    this.clientNames.add(name);
    return this.#endpoint(name);
  }

  async #endpoint(name: string): Promise<RealEndpoint> {
    let endpoint = this.#endpoints.get(name);
    if (endpoint !== undefined) return endpoint;
    endpoint = new RealEndpoint(this.network, name, () => this.primary.port);
    this.#endpoints.set(name, endpoint);
    await endpoint.listen();
    return endpoint;
  }

  /** The way between a client and a node, by default the present primary: `out` has requests, `back` replies. */
  clientLink(client: string, node: string = this.primary.name): Link<RealLane> {
    this.checkOpen();
    this.node(node);
    return this.network.link(client, node);
  }

  /** An ioredis client of that name, which dials whoever is primary. `close` disconnects it. */
  client(name: string, options: RedisOptions = {}): Redis {
    this.checkOpen();
    this.checkParty('client', name);
    const Connector = connectorFor(() => new RealSocket(this.network, name, this.primary.port));
    this.clientNames.add(name);
    const redis = new this.#ioredis({ ...options, connectionName: name, Connector });
    // Without a listener ioredis prints each error.
    redis.on('error', () => {});
    this.#clients.push(redis);
    return redis;
  }

  /** Waits until `synchronized`, at most so many milliseconds. Rejects when that does not come true. */
  async synchronize(maxMs = 60_000): Promise<void> {
    this.checkOpen();
    checkMillis('synchronize', maxMs);
    const end = nodeClock.now() + maxMs;
    while (!this.synchronized) {
      if (nodeClock.now() > end) throw new Error(`the replicas did not catch up within ${maxMs} ms`);
      await pass(2);
    }
  }

  /**
   * Stops a node's process, as SIGSTOP does. Opposite: `resume`. Throws for a client: its timers are those of the
   * test's own process, which cannot be stopped on the real clock; its `clientLink` can be held. Throws RangeError for an
   * unknown name.
   */
  pause(name: string): void {
    this.checkOpen();
    this.#running(name).pause();
  }

  /** Everything that came during the pause happens now, in order. Throws as `pause` does. */
  resume(name: string): void {
    this.checkOpen();
    this.#running(name).resume();
  }

  #running(name: string): RealNode {
    if (this.clientNames.has(name)) {
      throw badOption(
        'pause',
        name,
        `a node: a client's timers are this process' own with clock: 'real'; hold clientLink('${name}') instead`,
      );
    }
    return this.node(name);
  }

  /**
   * Does what Sentinel does: promotes a replica, lets the others and the old primary follow it, and disconnects the
   * clients of all of them. `lost` counts a write as acknowledged when its reply has reached the pair's client, and
   * for other clients when it was handed to the socket.
   * Rejects when no replica can be promoted, and with TypeError for a wrong option.
   */
  async failover(options: FailoverOptions = {}): Promise<Failover> {
    this.checkOpen();
    checkFailover(options, this.nodes);
    const { crash = false, after = 0 } = options;
    const old = this.primary;
    if (crash !== false) await old.crash(crash === true ? {} : crash);
    if (after > 0) await pass(after);
    return this.replace(old, options);
  }

  /** Starts a node that crashed; as a replica, unless it is still the primary. */
  async restart(name: string, options?: RestartOptions): Promise<void> {
    this.checkOpen();
    const node = this.node(name);
    await node.restart(options);
    this.rejoin(node);
  }

  /** Disconnects the pair's clients and stops every node; resolves when no handle is left. */
  async close(): Promise<void> {
    for (const client of this.#clients) client.disconnect();
    this.#closed = true;
    this.network.close();
    await Promise.all([...this.#endpoints.values()].map((endpoint) => endpoint.close()));
    await Promise.all(this.nodes.map((node) => node.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Independent primaries, each perhaps with replicas, on the real clock. */
export class RealServers implements AsyncDisposable {
  readonly sets: readonly RealPair[];

  constructor(sets: readonly RealPair[]) {
    this.sets = sets;
  }

  /** Every node: all primaries first. */
  get nodes(): readonly RealNode[] {
    return primariesFirst(this.sets);
  }

  /** One ioredis client to each primary, as Redlock wants them. */
  clients(name: string, options?: RedisOptions): Redis[] {
    return this.sets.map((set) => set.client(name, options));
  }

  async close(): Promise<void> {
    await Promise.all(this.sets.map((set) => set.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** What only a virtual clock can give, with the reason. */
const VIRTUAL_ONLY: Readonly<Record<string, string>> = {
  seed: 'threads and sockets of the real world follow no seed',
  start: "the machine's clock is what it is; a node's own can jump: node.clock.jump(ms)",
  patience: 'real time passes by itself',
  network: 'links are paced one by one: pair.network.lane(from, to).pace({ latency, jitter })',
  scripts: 'a slice of a script takes the time that it takes',
};

function checkOptions(options: RealServersOptions, starter: Starter): void {
  for (const [name, why] of Object.entries(VIRTUAL_ONLY)) {
    const value = (options as object as Record<string, unknown>)[name];
    if (value !== undefined)
      throw badOption(`${starter}.${name}`, value, `only with clock: 'virtual' (${why})`);
  }
  checkSets(options, [], starter, 100);
}

/** Starts nodes on the real clock, the replicas in sync. Rejects with TypeError for a wrong option, naming it. */
export async function startRealServers(
  options: RealServersOptions,
  starter: Starter,
  ioredis: () => Promise<IoredisConstructor>,
): Promise<RealServers> {
  checkOptions(options, starter);
  const Ioredis = await ioredis();
  const sets = nodeNames(options, starter).map((names) => new RealPair(names, options, Ioredis));
  await Promise.all(sets.map((set) => set.start()));
  return new RealServers(sets);
}
