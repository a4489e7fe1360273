/** One primary with its replicas, as explorations and their faults see it: a replica set, or a shard of a cluster. */

import type { CrashOptions } from '../lab/failover/node.ts';
import { CLUSTER_FILE } from '../lab/failover/shards.ts';
import type { Redis, RedisOptions } from '../lab/ioredis-types.ts';
import type { Actor } from '../lab/time/actor.ts';
import { type IoredisConstructor, openClient } from '../lab/virtual/client.ts';
import type { LabCluster } from '../lab/virtual/cluster.ts';
import type { LabNode } from '../lab/virtual/node.ts';
import type { ReplicaSet } from '../lab/virtual/set.ts';

/** A primary and its replicas. */
export interface NodeSet
  extends Pick<
    ReplicaSet,
    'nodes' | 'primary' | 'replicas' | 'failovers' | 'lost' | 'client' | 'actor' | 'restart'
  > {
  /** The Sentinels that decide on the roles, if there are any. */
  readonly sentinels: readonly unknown[];
  /** The cluster that the nodes are a shard of, and whose votes decide on the roles. */
  readonly cluster?: LabCluster;
  /** Replaces the primary by hand. */
  failover(): Promise<unknown>;
}

/** True when the nodes or their Sentinels decide on the roles by themselves. */
export function decides({ sentinels, cluster }: NodeSet): boolean {
  return sentinels.length > 0 || cluster !== undefined;
}

/** Crashes a node. One of a cluster keeps its place in the cluster, even when it loses its data. */
export function crashNode(node: LabNode, options: CrashOptions): void {
  const { disk } = node.host;
  const place = disk.read(CLUSTER_FILE);
  node.crash(options);
  if (place !== undefined) disk.write(CLUSTER_FILE, place);
}

/** A shard of a cluster. */
export class ShardSet implements NodeSet {
  readonly cluster: LabCluster;
  readonly sentinels: readonly unknown[] = [];
  readonly #shard: LabCluster['shards'][number];
  readonly #ioredis: IoredisConstructor;

  constructor(cluster: LabCluster, shard: LabCluster['shards'][number], ioredis: IoredisConstructor) {
    this.cluster = cluster;
    this.#shard = shard;
    this.#ioredis = ioredis;
  }

  get nodes(): readonly LabNode[] {
    return this.#shard.nodes;
  }

  get primary(): LabNode {
    return this.#shard.primary;
  }

  get replicas(): readonly LabNode[] {
    return this.#shard.replicas;
  }

  get failovers(): ReplicaSet['failovers'] {
    return this.#shard.failovers;
  }

  get lost(): ReplicaSet['lost'] {
    return this.#shard.lost;
  }

  actor(name: string): Actor {
    return this.cluster.actor(name);
  }

  /** A client of the primary alone. */
  client(name: string, options?: RedisOptions): Redis {
    return this.#clientOf(() => this.primary, name, options);
  }

  #clientOf(node: () => LabNode, name: string, options?: RedisOptions): Redis {
    const { world } = this.cluster;
    return openClient(this.#ioredis, world, world.actor(name), () => node().address, options);
  }

  restart(name: string): void {
    this.#shard.node(name).restart();
  }

  /** Tells the replica that has most of the stream to take over: CLUSTER FAILOVER, with FORCE when the primary is down. */
  async failover(): Promise<void> {
    const able = this.replicas.filter(({ up, paused }) => up && !paused);
    const next = [...able].sort((one, other) => other.offset - one.offset)[0];
    if (next === undefined) throw new Error('no replica can take over');
    const operator = this.#clientOf(() => next, 'operator', { maxRetriesPerRequest: 0 });
    await operator.call('CLUSTER', 'FAILOVER', ...(this.primary.up ? [] : ['FORCE']));
    operator.disconnect();
  }
}
