/** A replica, as its primary sees it. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { Client } from '../clients/client.ts';
import type { DatasetPart } from '../data/snapshot.ts';
import { silence } from '../host/silence.ts';
import type { HasHost } from '../ports.ts';

/** A replica of this node. */
export interface Follower {
  readonly client: Client;
  state: 'handshake' | 'online';
  /** The replica's own listening port and address, as announced with REPLCONF. */
  port: number;
  address: Bytes;
  /** The highest offset that the replica has applied. */
  acknowledged: number;
  /** The highest offset that the replica has on its disk. */
  synced: number;
  /** When the replica last sent an acknowledgement, in milliseconds since the epoch. */
  acknowledgedAt: Millis;
  readonly capabilities: Set<Bytes>;
  /** The parts of the dataset that it does not want. */
  leavesOut: ReadonlySet<DatasetPart>;
  /** The version of Valkey that it has named, such as 9.1.2; empty where it has named none. */
  version: Bytes;
  /** Its id in the cluster, if it has said so. */
  nodeId: Bytes | undefined;
  /** The replica used SYNC, which has no acknowledgements: it is not dropped for its silence. */
  silent: boolean;
}

/** The node, as the lag of its replicas sees it. */
interface LagNode extends HasHost {
  readonly now: Millis;
}

/** Returns the seconds since the replica last acknowledged. */
export function lagOf({ now }: LagNode, { acknowledgedAt }: Follower): number {
  return Math.floor(now / 1000) - Math.floor(acknowledgedAt / 1000);
}

/** True if the replica last acknowledged more than so many seconds ago. The stalls of this process do not count. */
export function lagsBehind(node: LagNode, follower: Follower, seconds: number): boolean {
  const limit = seconds * 1000;
  return (
    lagOf(node, follower) > seconds && silence(node.host, node.now, follower.acknowledgedAt, limit) > limit
  );
}
