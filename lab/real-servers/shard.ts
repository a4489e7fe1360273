/** One primary and its replicas in a cluster of real servers: which node is the primary, and what promotions lose. */

import { CLOSED, type RealClockLane } from '../real-clock/lane.ts';
import type { RealClockNetwork } from '../real-clock/network.ts';
import { pass } from '../real-clock/wait.ts';
import { ReplicaGroup } from '../replica-group/replica-group.ts';
import type { RealServerNode } from './node.ts';

/** How long a server may take to tell its role, in milliseconds. One that was stopped in between never does. */
const ANSWERS_WITHIN = 1000;

/** A shard. The nodes of the cluster change its roles; the lab watches them. */
export class RealServerShard extends ReplicaGroup<RealServerNode, RealClockLane> {
  readonly network: RealClockNetwork;
  /** The configuration epoch of the primary. A node that claims the slots with a greater one has been promoted. */
  #epoch: number;

  /** @internal @param epoch the configuration epoch with which the first node begins */
  constructor(
    names: readonly string[],
    epoch: number,
    network: RealClockNetwork,
    make: (name: string) => RealServerNode,
  ) {
    super(names, false, make);
    this.network = network;
    this.#epoch = epoch;
    this.letSentinelsDecide();
  }

  /** @internal */
  protected checkOpen(): void {
    if (this.network.closed) throw new Error(CLOSED);
  }

  /** @internal Asks the replicas whether one of them has become the primary, and notes what that has lost. */
  async look(): Promise<void> {
    for (const node of this.replicas) {
      if (!node.up || node.paused) continue;
      const epoch = await Promise.race([epochOf(node), pass(ANSWERS_WITHIN)]);
      if (epoch === undefined) continue;
      await Promise.all([node.refresh(), this.primary.refresh()]);
      if (epoch > this.#epoch) {
        this.#epoch = epoch;
        node.onRoleChanged('primary');
        // An old primary that has not heard of it goes on accepting writes.
      } else node.onRoleChanged('replica');
    }
  }

  /**
   * Tells the replica that has most of the stream to take over: CLUSTER FAILOVER, with FORCE when the primary is down.
   * The other primaries vote on it first. Rejects when there is no such replica, or it refuses.
   */
  async failover(): Promise<void> {
    const able = this.replicas.filter(({ up, paused }) => up && !paused);
    const [next] = able.sort((one, other) => other.offset - one.offset);
    if (next === undefined) throw new Error('no replica can take over');
    await next.ask('CLUSTER', 'FAILOVER', ...(this.primary.up ? [] : ['FORCE']));
  }
}

/** The configuration epoch of a node that counts itself as a primary; undefined for a replica. */
async function epochOf(node: RealServerNode): Promise<number | undefined> {
  const { isReplica } = await node.standing();
  if (isReplica) return undefined;
  const info = String(await node.ask('CLUSTER', 'INFO'));
  return Number(/^cluster_my_epoch:(\d+)/m.exec(info)?.[1]);
}
