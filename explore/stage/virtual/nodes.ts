/** The nodes of a virtual world, as a topology asks for them, and how clients reach them. */
import type { Redis, RedisOptions } from '../../../lab/ioredis-types.ts';
import { startCluster, startPair, startServers } from '../../../lab/start.ts';
import {
  type IoredisConstructor,
  loadClusterClient,
  loadIoredis,
  openClient,
} from '../../../lab/virtual/client.ts';
import type { LabCluster } from '../../../lab/virtual/cluster.ts';
import { urlInWorld } from '../../../lab/virtual/network.ts';
import type { LabNode } from '../../../lab/virtual/node.ts';
import type { ReplicaSet } from '../../../lab/virtual/replica-set.ts';
import type { World } from '../../../lab/virtual/world.ts';
import type { Entrances } from '../../client.ts';
import { DOWN_AFTER, sizeOf, type Topology } from '../../topology.ts';
import type { StageSet } from '../controls.ts';
import { VirtualReplicaSet, VirtualShard } from './sets.ts';

/** A set whose nodes the lab reaches from within. */
export interface VirtualNodeSet extends StageSet {
  readonly nodes: readonly LabNode[];
  readonly primary: LabNode;
  readonly replicas: readonly LabNode[];
}

/** The nodes of one world, and how clients reach them. */
export interface VirtualNodes extends Entrances {
  readonly world: World;
  /** Each primary with its replicas. */
  readonly sets: readonly VirtualNodeSet[];
  /** A URL for each entrance: each primary, or each node of a cluster. */
  readonly urls: readonly string[];
  /** Makes a client known to the nodes. */
  enroll(name: string): void;
  /** True when the nodes agree on their roles. */
  agree(): boolean;
  close(): Promise<void>;
}

/** Starts the nodes in a world of their own. */
export async function startNodes(topology: Topology, seed: number, jitter: number): Promise<VirtualNodes> {
  const { cluster, sentinels = 0, settings, dialect } = topology;
  const { primaries, replicas } = sizeOf(topology);
  const common = {
    ...{ seed, patience: 1e9, network: { latency: 1, jitter } },
    ...(settings !== undefined && { settings }),
    ...(dialect !== undefined && { dialect }),
  };
  if (cluster !== undefined) {
    const size = { primaries, replicas, nodeTimeout: DOWN_AFTER };
    return await nodesOfCluster(await startCluster({ ...common, ...size, clock: 'virtual' }));
  }
  if (primaries > 1) {
    const servers = await startServers({ ...common, primaries, replicas });
    return nodesOfSets(servers.world, servers.sets, await loadIoredis());
  }
  const pair = await startPair({
    ...common,
    replicas,
    ...(sentinels > 0 && { sentinels: { count: sentinels, downAfter: DOWN_AFTER } }),
  });
  return nodesOfSets(pair.world, [pair], await loadIoredis());
}

function nodesOfSets(world: World, sets: readonly ReplicaSet[], ioredis: IoredisConstructor): VirtualNodes {
  const replicas = sets.map((set) => [...set.replicas]);
  return {
    world,
    sets: sets.map((set) => new VirtualReplicaSet(set)),
    urls: sets.map(({ url }) => url),
    entrances: sets.length,
    open: (name, options, entrance) => (sets[entrance] as ReplicaSet).client(name, options as RedisOptions),
    openReplica: (name, options, entrance, index) => {
      const node = replicas[entrance]?.[index];
      return node && openClient(ioredis, world, world.actor(name), () => node.address, options);
    },
    enroll: (name) => {
      for (const set of sets) set.actor(name);
    },
    agree: () => true,
    close: async () => world.close(),
  };
}

async function nodesOfCluster(cluster: LabCluster): Promise<VirtualNodes> {
  const [ioredis, Cluster] = [await loadIoredis(), await loadClusterClient()];
  const sets = cluster.shards.map((shard) => new VirtualShard(shard, cluster, ioredis));
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
    enroll: (name) => void cluster.actor(name),
    agree: () => sets.every(isAtRest) && cluster.nodes.every(({ member }) => member.cluster.isOk),
    close: () => cluster.close(),
  };
}

/** True when everybody is up, and the replicas follow their primary. */
function isAtRest({ nodes, replicas }: VirtualNodeSet): boolean {
  return nodes.every(({ up }) => up) && replicas.every(({ server }) => server.primary?.linkUp === true);
}
