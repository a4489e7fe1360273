/** An operator's commands to a node, for callers without a connection to it. */
import { failover, replicate } from './commands/members.ts';
import type { ClusterNode } from './node.ts';

/** CLUSTER FAILOVER TAKEOVER. Throws the reply's error when the node is not a replica. */
export function takeOver(node: ClusterNode): void {
  node.enter(() => void failover(node.cluster, ['cluster', 'failover', 'takeover']));
}

/** CLUSTER REPLICATE. Throws the reply's error, for example when the node still serves slots. */
export function replicateNode(node: ClusterNode, primary: ClusterNode): void {
  node.enter(() => void replicate(node.cluster, ['cluster', 'replicate', primary.cluster.myself.id]));
}
