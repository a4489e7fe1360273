/** Changes of role: becoming a replica, and promotion. */
import type { Bytes } from '../../protocol/bytes.ts';
import { ReplyError } from '../../protocol/reply.ts';
import type { Blocking } from '../clients/blocking.ts';
import { isOurs } from '../clients/blocking.ts';
import { GATE_REPLICA } from '../gates.ts';
import type { Gated } from '../ports.ts';
import { type ReplicaNode, ReplicaSide } from './replica.ts';

const FORCED = 'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)';

/** The node, as a change of its role sees it. */
export interface RoleNode extends Gated, ReplicaNode {
  /** The primary that the node follows; undefined on a primary. */
  primary: ReplicaSide | undefined;
  readonly blocking: Pick<Blocking, 'abandon' | 'clients' | 'count' | 'signalAll'>;
  readonly replication: ReplicaNode['replication'] & { becomeReplica(): void; beginHistory(): void };
}

/** REPLICAOF host port: follows that primary from now on. Its dataset replaces this node's. */
export function replicateFrom(server: RoleNode, host: Bytes, port: number): void {
  const before = server.primary;
  server.primary?.stop();
  if (server.primary === undefined) {
    for (const client of [...server.blocking.clients()]) {
      if (isOurs(client.blocked?.kind)) continue;
      server.blocking.abandon(client, new ReplyError(FORCED));
      client.close();
    }
  }
  server.primary = new ReplicaSide(server, host, port, before);
  server.gate(GATE_REPLICA, true);
  server.expiry.follow();
  server.replication.becomeReplica();
  server.primary.start();
}

/** REPLICAOF NO ONE: the node becomes a primary. Its new history continues the old one. */
export function promote(server: RoleNode): void {
  if (server.primary === undefined) return;
  server.primary.stop();
  server.primary = undefined;
  server.gate(GATE_REPLICA, false);
  server.replication.beginHistory();
  for (const { client } of server.replication.online()) client.abort();
  server.expiry.follow();
}
