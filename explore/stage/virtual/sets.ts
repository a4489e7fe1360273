/** Sets in a virtual world: replica sets, and the shards of a cluster. */

import type { Redis, RedisOptions } from '../../../lab/ioredis-types.ts';
import { CLUSTER_FILE } from '../../../lab/replica-group/shards.ts';
import { type IoredisConstructor, openClient } from '../../../lab/virtual/client.ts';
import type { LabCluster } from '../../../lab/virtual/cluster.ts';
import type { LabNode } from '../../../lab/virtual/node.ts';
import type { ReplicaSet } from '../../../lab/virtual/replica-set.ts';
import type { CrashKeeps, StageSet, Wait } from '../controls.ts';
import { type NodesInSet, RoleSet } from '../role-set.ts';

/** How long Sentinels or the nodes of a cluster may take to promote a replica, in milliseconds. */
const DECISION_MAY_TAKE = 30_000;
/** How often a fault looks whether they have, in milliseconds. */
const LOOKS_EVERY = 50;

/** What both kinds of sets have in common. */
abstract class VirtualSet<N extends LabNode, S extends NodesInSet<N>> extends RoleSet<N, S> {
  async crash(name: string, keep: CrashKeeps): Promise<void> {
    const node = this.nodes.find((each) => each.name === name) as N;
    const { disk } = node.host;
    const place = disk.read(CLUSTER_FILE);
    node.crash({ keep });
    if (place !== undefined) disk.write(CLUSTER_FILE, place);
  }

  async decision(before: number, wait: Wait, promoted: () => void): Promise<void> {
    for (
      let waited = 0;
      this.failovers.length === before && waited < DECISION_MAY_TAKE;
      waited += LOOKS_EVERY
    )
      await wait(LOOKS_EVERY);
    promoted();
  }

  /** Only slices take virtual time, and how many steps a slice has makes no difference to a loop. */
  spareSteps(): () => void {
    const { slowScript } = this.primary.server;
    const { pace } = slowScript;
    slowScript.pace = { ...pace, start: 1000, slice: 1000 };
    return () => {
      slowScript.pace = pace;
    };
  }
}

/** A primary and its replicas. */
export class VirtualReplicaSet extends VirtualSet<LabNode, ReplicaSet> {
  override get sentinels(): ReplicaSet['sentinels'] {
    return this.inner.sentinels;
  }

  protected client(name: string, options: RedisOptions): Redis {
    return this.inner.client(name, options);
  }

  async restart(name: string): Promise<void> {
    this.inner.restart(name);
  }

  failover(to?: string): Promise<unknown> {
    return this.inner.failover(to === undefined ? {} : { to });
  }

  async swap(): Promise<LabNode | undefined> {
    const next = this.replicas.find((node) => node.up && !node.paused);
    if (next === undefined) return undefined;
    this.inner.promote(next.name);
    for (const node of this.replicas) if (node.up) this.inner.redirect(node);
    return next;
  }
}

type LabShard = LabCluster['shards'][number];

/** A shard of a cluster. */
export class VirtualShard extends VirtualSet<LabShard['primary'], LabShard> {
  readonly #cluster: LabCluster;
  readonly #ioredis: IoredisConstructor;

  constructor(shard: LabShard, cluster: LabCluster, ioredis: IoredisConstructor) {
    super(shard);
    this.#cluster = cluster;
    this.#ioredis = ioredis;
  }

  override get decides(): StageSet['decides'] {
    return 'a cluster';
  }

  get slots(): string {
    return this.inner.slots;
  }

  protected client(name: string, options: RedisOptions): Redis {
    return this.#clientOf(() => this.primary, name, options);
  }

  #clientOf(node: () => LabNode, name: string, options?: RedisOptions): Redis {
    const { world } = this.#cluster;
    return openClient(this.#ioredis, world, world.actor(name), () => node().address, options);
  }

  async restart(name: string): Promise<void> {
    this.inner.node(name).restart();
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

  /** A cluster redirects the clients of a key that a node does not serve. */
  async swap(): Promise<undefined> {}
}
