/** Sets of real servers: a primary with its replicas, and the shards of a cluster. */
import type { Redis, RedisOptions } from '../../../lab/ioredis-types.ts';
import type { RealClockNetwork } from '../../../lab/real-clock/network.ts';
import { comesTrue } from '../../../lab/real-clock/wait.ts';
import type { RealServerCluster } from '../../../lab/real-servers/cluster.ts';
import type { RealServerNode } from '../../../lab/real-servers/node.ts';
import type { RealServerPair } from '../../../lab/real-servers/pair.ts';
import type { RealServerShard } from '../../../lab/real-servers/shard.ts';
import type { CrashKeeps, StageSet, Wait } from '../controls.ts';
import { type NodesInSet, RoleSet } from '../role-set.ts';

/** How long the nodes of a cluster may take to promote a replica, in milliseconds. */
const DECISION_MAY_TAKE = 60_000;
/** How often a fault looks whether they have, in milliseconds. */
const LOOKS_EVERY = 50;

/** The lab's own set, with its links. */
interface LinkedNodes extends NodesInSet<RealServerNode> {
  readonly network: RealClockNetwork;
  node(name: string): RealServerNode;
}

/** One primary with its replicas. */
export abstract class ServersSet<S extends LinkedNodes = LinkedNodes> extends RoleSet<RealServerNode, S> {
  get network(): RealClockNetwork {
    return this.inner.network;
  }

  crash(name: string, keep: CrashKeeps): Promise<void> {
    return this.inner.node(name).crash({ keep });
  }

  async restart(name: string): Promise<void> {
    await this.readStream();
    await this.startAgain(name);
  }

  protected abstract startAgain(name: string): Promise<void>;

  /** Reads what the primary has written since nobody follows it. A replica that comes back gets a dataset, which does not tell. */
  async readStream(): Promise<void> {
    // A server that goes down meanwhile has told before.
    await this.primary.decide().catch(() => {});
  }

  /** Steps of real servers cannot be spared. */
  spareSteps(): () => void {
    return () => {};
  }
}

/** A primary and its replicas, whose roles the lab decides. */
export class ServersReplicaSet extends ServersSet<RealServerPair> {
  protected client(name: string, options: RedisOptions): Redis {
    return this.inner.client(name, options);
  }

  protected async startAgain(name: string): Promise<void> {
    await this.inner.restart(name);
    await this.askForStream();
  }

  /** A server without replicas keeps no stream before it is asked for it. */
  async askForStream(): Promise<void> {
    if (this.nodes.length === 1) await this.nodes[0]?.decide();
  }

  failover(to?: string): Promise<unknown> {
    return this.inner.failover(to === undefined ? {} : { to });
  }

  async decision(_before: number, _wait: Wait, promoted: () => void): Promise<void> {
    promoted();
  }

  async swap(): Promise<RealServerNode> {
    const { primary, replica } = this.inner;
    await this.inner.promote(replica.name);
    // As a command of an operator does it: nobody is disconnected.
    primary.follow(replica);
    await comesTrue(async () => (await primary.standing()).isReplica, DECISION_MAY_TAKE);
    return replica;
  }
}

/** A shard of a cluster, whose nodes decide on their roles. */
export class ServersShard extends ServersSet<RealServerShard> {
  readonly #cluster: RealServerCluster;

  constructor(shard: RealServerShard, cluster: RealServerCluster) {
    super(shard);
    this.#cluster = cluster;
  }

  override get decides(): StageSet['decides'] {
    return 'a cluster';
  }

  protected client(name: string, options: RedisOptions): Redis {
    return this.#cluster.nodeClient(name, options, () => this.primary);
  }

  protected startAgain(name: string): Promise<void> {
    return this.inner.node(name).restart();
  }

  failover(): Promise<unknown> {
    return this.inner.failover();
  }

  async decision(before: number, wait: Wait, promoted: () => void): Promise<void> {
    const isDecided = (): boolean => this.failovers.length > before;
    // The virtual time of the fault goes on meanwhile. It may have to wait for clients that need the new primary.
    const isOver = (): boolean => isDecided() || this.network.closed;
    const decided = comesTrue(isOver, DECISION_MAY_TAKE).then(() => isDecided() && promoted());
    for (let waited = 0; !isDecided(); waited += LOOKS_EVERY) {
      if (this.network.closed) throw new Error('the play is over');
      if (waited > DECISION_MAY_TAKE)
        throw new Error(`no replica is promoted within ${DECISION_MAY_TAKE} ms`);
      await wait(LOOKS_EVERY);
    }
    await decided;
  }

  /** A cluster redirects the clients of a key that a node does not serve. */
  async swap(): Promise<undefined> {}
}
