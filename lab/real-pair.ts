/** A primary and its replicas on the real clock, over TCP, with the verbs of the virtual pair as far as they make sense. */
import type { Redis, RedisOptions } from 'ioredis';
import { connectorFor } from '../embed/connector.ts';
import { badOption, checkInteger, checkNames } from '../embed/options.ts';
import { nodeClock } from '../server/node-host.ts';
import { appoint, type Election, elect, isReachable } from './election.ts';
import type { IoredisConstructor } from './lab-client.ts';
import type { Link } from './link.ts';
import { type Losses, lossesBetween, sharedOffset } from './losses.ts';
import { checkFailover, checkSettings } from './options.ts';
import type { RealLane } from './real-lane.ts';
import { RealNetwork } from './real-network.ts';
import { RealNode, type RealNodeOptions } from './real-node.ts';
import { RealSocket } from './real-socket.ts';
import { type Failover, type FailoverOptions, JUDGE, ReplicationLink } from './replica-set.ts';
import type { Write } from './write-log.ts';

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

function pass(ms: number): Promise<void> {
  return new Promise((wake) => void nodeClock.at(nodeClock.now() + ms, wake));
}

export class RealPair implements AsyncDisposable {
  readonly nodes: readonly RealNode[];
  /** The lanes between the nodes and the pair's clients, by name. */
  readonly network: RealNetwork;
  /** How many nodes are a majority, in quorum mode; otherwise 0. */
  readonly quorum: number;
  /** Every acknowledged write that a promotion has lost so far. */
  readonly lost: Write[] = [];
  readonly #ioredis: IoredisConstructor;
  readonly #clients: Redis[] = [];
  readonly #names = new Set<string>();
  #primary: RealNode;

  /** @param names the nodes' names, the primary's first; they listen and follow once started */
  constructor(names: readonly string[], options: RealPairOptions, ioredis: IoredisConstructor) {
    this.network = new RealNetwork();
    this.quorum = options.quorum === true ? (names.length >> 1) + 1 : 0;
    // The primary counts itself among the majority.
    const others = Math.max(0, this.quorum - 1);
    this.nodes = names.map((name) => new RealNode(this.network, name, options, others));
    this.#primary = this.nodes[0] as RealNode;
    this.#ioredis = ioredis;
  }

  /** Makes every node listen, and the replicas follow; resolves when they are in sync. */
  async start(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.listen()));
    for (const replica of this.replicas) replica.follow(this.#primary);
    await this.synchronize();
  }

  get primary(): RealNode {
    return this.#primary;
  }

  get replicas(): readonly RealNode[] {
    return this.nodes.filter((node) => node !== this.#primary);
  }

  /** The first replica. Throws RangeError when there is none. */
  get replica(): RealNode {
    const [replica] = this.replicas;
    if (replica === undefined) throw new RangeError('there is no replica');
    return replica;
  }

  /** Replication from the primary to the first replica; `linkTo(name)` is that to another. */
  get link(): ReplicationLink<RealLane> {
    return this.linkTo(this.replica.name);
  }

  /** Replication from the present primary to the replica of that name. */
  linkTo(replica: string): ReplicationLink<RealLane> {
    const { network } = this;
    const primary = this.#primary.name;
    return new ReplicationLink(network.lane(primary, replica), network.lane(replica, primary));
  }

  /** The way between a client and a node, by default the present primary: `out` has requests, `back` replies. */
  clientLink(client: string, node: string = this.#primary.name): Link<RealLane> {
    return this.network.link(client, node);
  }

  /** A node by name. Throws RangeError for a name that nobody has. */
  node(name: string): RealNode {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) throw new RangeError(`no node is called '${name}'`);
    return found;
  }

  /** An ioredis client of that name, which dials whoever is primary. `close` disconnects it. */
  client(name: string, options: RedisOptions = {}): Redis {
    const Connector = connectorFor(() => new RealSocket(this.network, name, this.#primary.port));
    this.#names.add(name);
    const redis = new this.#ioredis({ ...options, connectionName: name, Connector });
    // Without a listener ioredis prints each error.
    redis.on('error', () => {});
    this.#clients.push(redis);
    return redis;
  }

  /** True when every replica that is up has its primary's stream. */
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

  /** Waits until `synchronized`, at most so many milliseconds. Rejects when that does not come true. */
  async synchronize(maxMs = 60_000): Promise<void> {
    const end = nodeClock.now() + maxMs;
    while (!this.synchronized) {
      if (nodeClock.now() > end) throw new Error(`the replicas did not catch up within ${maxMs} ms`);
      await pass(2);
    }
  }

  /**
   * Stops a node's process, as SIGSTOP does. Opposite: `resume`. Throws for a client: its timers are those of the
   * test's own process, which cannot be stopped on the real clock; its `clientLink` can be held.
   */
  pause(name: string): void {
    this.#running(name).pause();
  }

  resume(name: string): void {
    this.#running(name).resume();
  }

  #running(name: string): RealNode {
    if (this.#names.has(name)) {
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
   * for other clients when it was handed to the socket. Rejects when no replica can be promoted.
   */
  async failover(options: FailoverOptions = {}): Promise<Failover> {
    checkFailover(options);
    const { crash = false, after = 0, to, demote = true } = options;
    const old = this.#primary;
    if (crash !== false) await old.crash(crash === true ? {} : crash);
    if (after > 0) await pass(after);
    const fresh = to === undefined ? elect(this.#election()) : appoint(this.#election(), this.node(to));
    const oldOffset = old.offset;
    const offset = sharedOffset(old.server, fresh.server);
    const losses = lossesBetween(old, fresh);
    this.promote(fresh.name);
    this.lost.push(...losses.lost);
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
  async restart(name: string): Promise<void> {
    const node = this.node(name);
    await node.restart();
    if (node !== this.#primary) node.follow(this.#primary);
  }

  #election(): Election<RealNode> {
    return {
      primary: this.#primary,
      replicas: this.replicas,
      quorum: this.quorum,
      reaches: ({ name }) => {
        const others = this.nodes.filter((node) => node.up && node.name !== name).map((node) => node.name);
        return isReachable(this.network, name, JUDGE, [...this.#names, ...others]);
      },
    };
  }

  /** Disconnects the pair's clients and stops every node; resolves when no handle is left. */
  async close(): Promise<void> {
    for (const client of this.#clients) client.disconnect();
    this.network.close();
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
    return [...this.sets.map((set) => set.primary), ...this.sets.flatMap((set) => set.replicas)];
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

function checkOptions({ clock: _, ...options }: RealServersOptions, where: string): void {
  for (const [name, why] of Object.entries(VIRTUAL_ONLY)) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined)
      throw badOption(`${where}.${name}`, value, `only with clock: 'virtual' (${why})`);
  }
  const allowed = ['replicas', 'settings', 'quorum', 'commands'];
  if (where === 'startServers') allowed.push('primaries');
  checkNames(options, allowed, where);
  if (options.replicas !== undefined) checkInteger('replicas', options.replicas, 0, 100);
  if (options.primaries !== undefined) checkInteger('primaries', options.primaries, 1, 100);
  checkSettings(options.settings ?? {});
}

/** Starts nodes on the real clock, the replicas in sync. Rejects with TypeError for a wrong option, naming it. */
export async function startRealServers(
  options: RealServersOptions,
  where: 'startPair' | 'startServers',
  ioredis: () => Promise<IoredisConstructor>,
): Promise<RealServers> {
  checkOptions(options, where);
  const { primaries = 1, replicas = where === 'startPair' ? 1 : 0 } = options;
  const Ioredis = await ioredis();
  const size = replicas + 1;
  const sets = Array.from({ length: primaries }, (_, i) => {
    const names = Array.from({ length: size }, (_, k) => `redis-${i * size + k + 1}`);
    return new RealPair(names, options, Ioredis);
  });
  await Promise.all(sets.map((set) => set.start()));
  return new RealServers(sets);
}
