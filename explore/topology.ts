/** The nodes of an exploration's worlds, as the user asks for them and as the lab starts them. */

import { badOption, checkInteger, checkNames } from '../base/options.ts';
import type { Redis, RedisClusterOptions, RedisOptions } from '../lab/ioredis-types.ts';
import { startCluster, startPair, startServers } from '../lab/start.ts';
import { loadIoredis } from '../lab/virtual/client.ts';
import type { LabCluster } from '../lab/virtual/cluster.ts';
import { urlInWorld } from '../lab/virtual/network.ts';
import type { ReplicaSet } from '../lab/virtual/set.ts';
import type { World } from '../lab/virtual/world.ts';
import type { DialectName } from '../server/dialects/index.ts';
import type { Settings } from '../server/settings/settings.ts';
import { type NodeSet, ShardSet } from './node-set.ts';

/** The nodes of a world. */
export interface Topology {
  /** How many independent primaries, as Redlock needs them; default 1. */
  readonly primaries?: number;
  /** How many replicas the primary has, or each primary of a cluster; default 1, or 0 with several independent primaries. */
  readonly replicas?: number;
  /** How many Sentinels decide on failovers; default 0: the exploration itself does what they do. */
  readonly sentinels?: number;
  /** How many primaries share the slots of a cluster, whose nodes decide on failovers by their votes; default: no cluster. */
  readonly cluster?: number;
  /** Parameters of every node, by their names in redis.conf. */
  readonly settings?: Partial<Settings>;
  /** The server that every node answers as. */
  readonly dialect?: DialectName;
}

/** How soon Sentinels or the nodes of a cluster find a node down, in milliseconds: worlds should not last longer than they need to. */
const DOWN_AFTER = 1000;
/** The least that elects: with two primaries, none of them is a majority. */
const LEAST_CLUSTER = 3;

/** Throws TypeError for a topology that cannot be started. */
export function checkTopology(topology: Topology): void {
  checkNames(topology, ['primaries', 'replicas', 'sentinels', 'settings', 'dialect', 'cluster'], 'topology');
  const { primaries, replicas, sentinels, cluster } = topology;
  if (primaries !== undefined) checkInteger('topology.primaries', primaries, 1, 99);
  if (replicas !== undefined) checkInteger('topology.replicas', replicas, 0, 99);
  if (sentinels !== undefined) checkInteger('topology.sentinels', sentinels, 0, 99);
  if ((primaries ?? 1) > 1 && (sentinels ?? 0) > 0)
    throw badOption('topology.sentinels', sentinels, '0 with several primaries');
  if (cluster === undefined) return;
  checkInteger('topology.cluster', cluster, LEAST_CLUSTER, 99);
  for (const [name, value] of Object.entries({ primaries, sentinels })) {
    if (value !== undefined)
      throw badOption(`topology.${name}`, value, 'no value together with topology.cluster');
  }
}

/** The nodes of one world, and how clients reach them. */
export interface Nodes {
  readonly world: World;
  /** Each primary with its replicas. */
  readonly sets: readonly NodeSet[];
  /** A URL for each entrance: each primary, or each node of a cluster. */
  readonly urls: readonly string[];
  /** How many clients reach everything: one for each independent primary, or one for a cluster. */
  readonly entrances: number;
  /** Opens a client of a process, as which the caller must run. */
  open(name: string, options: RedisOptions | RedisClusterOptions, entrance: number): Redis;
  /** True when the nodes agree on their roles. */
  agree(): boolean;
  close(): Promise<void>;
}

/** Starts the nodes in a world of their own. */
export async function startNodes(topology: Topology, seed: number, jitter: number): Promise<Nodes> {
  const { cluster, sentinels = 0, primaries = 1, settings, dialect } = topology;
  const { replicas = primaries > 1 ? 0 : 1 } = topology;
  const common = {
    seed,
    patience: 1e9,
    network: { latency: 1, jitter },
    ...(settings !== undefined && { settings }),
    ...(dialect !== undefined && { dialect }),
  };
  if (cluster !== undefined) {
    const size = { primaries: cluster, replicas, nodeTimeout: DOWN_AFTER };
    return await nodesOfCluster(await startCluster({ ...common, ...size, clock: 'virtual' }));
  }
  if (primaries > 1) {
    const servers = await startServers({ ...common, primaries, replicas });
    return nodesOfSets(servers.world, servers.sets);
  }
  const pair = await startPair({
    ...common,
    replicas,
    ...(sentinels > 0 && { sentinels: { count: sentinels, downAfter: DOWN_AFTER } }),
  });
  return nodesOfSets(pair.world, [pair.set]);
}

function nodesOfSets(world: World, sets: readonly ReplicaSet[]): Nodes {
  return {
    world,
    sets,
    urls: sets.map(({ url }) => url),
    entrances: sets.length,
    open: (name, options, entrance) => (sets[entrance] as ReplicaSet).client(name, options as RedisOptions),
    agree: () => true,
    close: async () => world.close(),
  };
}

async function nodesOfCluster(cluster: LabCluster): Promise<Nodes> {
  const ioredis = await loadIoredis();
  const { Cluster } = await import('ioredis');
  const sets = cluster.shards.map((shard) => new ShardSet(cluster, shard, ioredis));
  return {
    world: cluster.world,
    sets,
    urls: cluster.nodes.map(({ name, port }) => urlInWorld(name, port)),
    entrances: 1,
    open: (_name, options) => {
      const client = new Cluster(cluster.addresses, options as never);
      client.on('error', () => {});
      return client as unknown as Redis;
    },
    agree: () => sets.every(isAtRest) && cluster.nodes.every(({ member }) => member.cluster.isOk),
    close: () => cluster.close(),
  };
}

/** True when everybody is up, and the replicas follow their primary. */
function isAtRest({ nodes, replicas }: NodeSet): boolean {
  return nodes.every(({ up }) => up) && replicas.every(({ server }) => server.primary?.linkUp === true);
}
