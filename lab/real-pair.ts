/** A primary and its replicas on the real clock, over TCP, with the verbs of the virtual pair as far as they make sense. */
import { connect } from 'node:net';
import type { Redis, RedisOptions } from 'ioredis';
import { connectorFor } from '../embed/connector.ts';
import { badOption, checkInteger, checkNames } from '../embed/options.ts';
import { nodeClock } from '../server/node-host.ts';
import { parameters, type Settings } from '../server/settings.ts';
import type { IoredisConstructor } from './lab-client.ts';
import { lossesBetween, sharedOffset } from './losses.ts';
import type { RealLink } from './real-link.ts';
import { type RealCrashOptions, RealNode } from './real-node.ts';
import type { Failover } from './replica-set.ts';
import type { Write } from './write-log.ts';

/** How to start a pair on the real clock. */
export interface RealPairOptions {
  readonly clock: 'real';
  /** Replicas of the primary; default 1. */
  readonly replicas?: number;
  /** Parameters of every node, by redis.conf's names. */
  readonly settings?: Partial<Settings>;
}

/** How to start several independent primaries on the real clock. */
export interface RealServersOptions extends RealPairOptions {
  /** Independent primaries; default 1. */
  readonly primaries?: number;
}

/** How a failover on the real clock is to happen. */
export interface RealFailoverOptions {
  /** The primary dies first; true: keeping nothing. Otherwise it lives, and is told to follow. */
  readonly crash?: boolean | RealCrashOptions;
  /** How long nobody is primary, in milliseconds; default 0. */
  readonly after?: number;
  /** The name of the replica to promote; by default the choice is Redis' own: priority, offset, run id. */
  readonly to?: string;
  /** False: the old primary is left alone: two nodes take writes. */
  readonly demote?: boolean;
}

function pass(ms: number): Promise<void> {
  return new Promise((wake) => void nodeClock.at(nodeClock.now() + ms, wake));
}

export class RealPair implements AsyncDisposable {
  readonly nodes: readonly RealNode[];
  /** Every acknowledged write that a promotion has lost so far. */
  readonly lost: Write[] = [];
  readonly #ioredis: IoredisConstructor;
  readonly #clients: Redis[] = [];
  #primary: RealNode;

  constructor(nodes: readonly [RealNode, ...RealNode[]], ioredis: IoredisConstructor) {
    this.nodes = nodes;
    this.#primary = nodes[0];
    this.#ioredis = ioredis;
    for (const replica of this.replicas) replica.follow(this.#primary);
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

  /** Replication from the primary to the first replica; `node(name).link` is that to another. */
  get link(): RealLink {
    return this.replica.link;
  }

  /** A node by name. Throws RangeError for a name that nobody has. */
  node(name: string): RealNode {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) throw new RangeError(`no node is called '${name}'`);
    return found;
  }

  /** An ioredis client of that name, which dials whoever is primary. `close` disconnects it. */
  client(name: string, options: RedisOptions = {}): Redis {
    const Connector = connectorFor(() => connect(this.#primary.port, '127.0.0.1').setNoDelay(true));
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
   * Does what Sentinel does: promotes a replica, lets the others and the old primary follow it, and disconnects the
   * clients of all of them. `lost` counts a write as acknowledged when its reply was handed to the socket.
   * Rejects when no replica can be promoted.
   */
  async failover(options: RealFailoverOptions = {}): Promise<Failover> {
    const { crash = false, after = 0, to, demote = true } = options;
    const old = this.#primary;
    if (crash !== false) await old.crash(crash === true ? {} : crash);
    if (after > 0) await pass(after);
    const fresh = to === undefined ? this.#best() : this.node(to);
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

  /** Starts a node that crashed; as a replica, unless it is still the primary. */
  async restart(name: string): Promise<void> {
    const node = this.node(name);
    await node.restart();
    if (node !== this.#primary) node.follow(this.#primary);
  }

  #best(): RealNode {
    const able = this.replicas.filter(({ up, server }) => up && server.settings['replica-priority'] > 0);
    const [best] = able.sort(
      (a, b) =>
        a.server.settings['replica-priority'] - b.server.settings['replica-priority'] ||
        b.offset - a.offset ||
        (a.server.runId < b.server.runId ? -1 : 1),
    );
    if (best === undefined) throw new Error('no replica can be promoted: none is up, or all have priority 0');
    return best;
  }

  /** Disconnects the pair's clients and stops every node; resolves when no handle is left. */
  async close(): Promise<void> {
    for (const client of this.#clients) client.disconnect();
    await Promise.all(this.nodes.map((node) => node.crash()));
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

function checkOptions({ clock: _, ...options }: RealServersOptions, where: string): void {
  const allowed = ['replicas', 'settings', ...(where === 'startServers' ? ['primaries'] : [])];
  checkNames(options, allowed, where);
  if (options.replicas !== undefined) checkInteger('replicas', options.replicas, 0, 100);
  if (options.primaries !== undefined) checkInteger('primaries', options.primaries, 1, 100);
  checkNames(options.settings ?? {}, Object.keys(parameters), 'settings');
  for (const [name, value] of Object.entries(options.settings ?? {})) {
    const { initial } = parameters[name as keyof Settings];
    if (typeof value !== typeof initial) throw badOption(`settings.${name}`, value, `a ${typeof initial}`);
  }
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
  const groups = Array.from({ length: primaries }, (_, i) =>
    Array.from({ length: size }, (_, k) => new RealNode(`redis-${i * size + k + 1}`, options.settings)),
  );
  await Promise.all(groups.flat().map((node) => node.listen()));
  const sets = groups.map((nodes) => new RealPair(nodes as [RealNode, ...RealNode[]], Ioredis));
  await Promise.all(sets.map((set) => set.synchronize()));
  return new RealServers(sets);
}
