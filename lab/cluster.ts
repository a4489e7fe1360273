/** startCluster: a cluster over TCP in real time, or in a world with a virtual clock. */
import {
  type ClusterOptions,
  type ClusterSize,
  checkClusterSettings,
  type LostlockCluster,
  readSize,
  startRealCluster,
} from '../embed/cluster.ts';
import { badOption, checkInteger, checkNames, checkSettings } from '../embed/options.ts';
import type { DialectName } from '../server/dialects/index.ts';
import type { Settings } from '../server/settings/settings.ts';
import { checkDialects } from './failover/dialects.ts';
import type { Write } from './failover/write-log.ts';
import { layRoutes } from './routes/routes.ts';
import type { Actor } from './time/actor.ts';
import type { Trace } from './time/trace.ts';
import { type LabClusterNode, type Shard, VirtualCluster } from './virtual/cluster.ts';
import type { Network } from './virtual/network.ts';
import { checkWorld, World, type WorldOptions } from './virtual/world.ts';

/** The options of a cluster on the virtual clock. */
export interface VirtualClusterOptions extends WorldOptions, ClusterSize {
  /** Time moves only when the test moves it. */
  readonly clock: 'virtual';
  /** How long a node may be silent before the others suspect it, in virtual milliseconds; default 5000. */
  readonly nodeTimeout?: number;
  /** The server that the nodes answer as; 'redis-8.2' by default. */
  readonly dialect?: DialectName;
  /** True: commands and options that the dialect's server does not have are refused. */
  readonly strict?: boolean;
  /** Parameters of every node, by their names in redis.conf. */
  readonly settings?: Partial<Settings>;
}

const OPTIONS = [
  ...['primaries', 'replicas', 'clock', 'nodeTimeout', 'dialect', 'strict', 'settings'],
  ...['seed', 'start', 'patience', 'network'],
];
const FIRST_PORT = 7000;

/** A cluster on a virtual clock. */
export class LabCluster implements AsyncDisposable {
  /** The world that the nodes and their clients live in. */
  readonly world: World;
  readonly #cluster: VirtualCluster;

  /** @internal */
  constructor(cluster: VirtualCluster) {
    this.world = cluster.world;
    this.#cluster = cluster;
  }

  /** All nodes, node-1 and so on, those that began as primaries first. */
  get nodes(): readonly LabClusterNode[] {
    return this.#cluster.nodes;
  }

  /** Each primary with its replicas: their roles now, their links, and what promotions have lost. */
  get shards(): readonly Shard[] {
    return this.#cluster.shards;
  }

  /** The primaries now, one for each shard. */
  get primaries(): readonly LabClusterNode[] {
    return this.shards.map(({ primary }) => primary);
  }

  /** The shard that serves a key. Throws RangeError when there is none. */
  shardOf(key: string): Shard {
    return this.#cluster.shardOf(key);
  }

  /** The node with this name. Throws RangeError when there is none. */
  node(name: string): LabClusterNode {
    return this.#cluster.node(name);
  }

  /** Where clients in the world begin: for ioredis `new Cluster(cluster.addresses)` in `actor(name).run`. */
  get addresses(): { readonly host: string; readonly port: number }[] {
    return this.nodes.map(({ address }) => ({ ...address }));
  }

  /** The lanes between all nodes and clients, by name. */
  get network(): Network {
    return this.world.network;
  }

  /** What happened, in order. */
  get trace(): Trace {
    return this.world.trace;
  }

  /** Every acknowledged write that promotions have lost so far. */
  get lost(): readonly Write[] {
    return this.shards.flatMap((shard) => shard.lost);
  }

  /**
   * A client process of any library: the timers and connections that code creates in `actor.run(() => …)` belong to it.
   */
  actor(name: string): Actor {
    return this.world.actor(name);
  }

  /** Moves time forward by exactly `ms` virtual milliseconds. Rejects as the world's `advance` does. */
  advance(ms: number): Promise<void> {
    return this.world.advance(ms);
  }

  /** Runs code inside the world, and moves time until its promise settles. Rejects as the world's `run` does. */
  run<T>(code: () => T, maxMs?: number): Promise<Awaited<T>> {
    return this.world.run(code, maxMs);
  }

  /** Moves time until the condition holds. Rejects when that takes longer than `maxMs` virtual milliseconds. */
  async when(condition: () => boolean, maxMs = 120_000): Promise<void> {
    await this.world.run(async () => {
      while (!condition()) await this.world.advance(10);
    }, maxMs);
  }

  /** Closes the world: nothing that is scheduled in it will run. */
  async close(): Promise<void> {
    this.world.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

async function startVirtualCluster(options: VirtualClusterOptions): Promise<LabCluster> {
  checkNames(options, OPTIONS, 'startCluster');
  checkWorld(options);
  const size = readSize(options);
  const { nodeTimeout = 5000, settings = {}, dialect, strict } = options;
  checkInteger('nodeTimeout', nodeTimeout, 100, 2 ** 31 - 1);
  checkSettings(settings, true);
  checkClusterSettings(settings);
  checkDialects(options, []);
  layRoutes();
  const own = {
    settings: { ...settings, 'cluster-node-timeout': nodeTimeout },
    ...(dialect !== undefined && { dialect }),
    ...(strict !== undefined && { strict }),
  };
  const cluster = new VirtualCluster(new World(options), size, FIRST_PORT, own);
  await cluster.settle();
  return new LabCluster(cluster);
}

/** Starts a cluster over TCP, in real time. Rejects with TypeError for a wrong option. */
export async function startCluster(options?: ClusterOptions): Promise<LostlockCluster>;
/** Starts a cluster in a world of its own, on a virtual clock. Rejects with TypeError for a wrong option. */
export async function startCluster(options: VirtualClusterOptions): Promise<LabCluster>;
export async function startCluster(
  options: ClusterOptions | VirtualClusterOptions = {},
): Promise<LostlockCluster | LabCluster> {
  if (options.clock === 'virtual') return startVirtualCluster(options);
  if (options.clock !== undefined && options.clock !== 'real') {
    throw badOption('clock', options.clock, "'real' or 'virtual'");
  }
  return startRealCluster(options);
}
