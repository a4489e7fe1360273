/** startCluster: a cluster over TCP in real time, or in a world with a virtual clock. */
import { type ClusterOptions, type LostlockCluster, startRealCluster } from '../embed/cluster.ts';

/**
 * Starts a cluster: primaries that share the slots, and their replicas, in sync. Rejects with TypeError for a wrong
 * option.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<LostlockCluster> {
  return startRealCluster(options);
}
