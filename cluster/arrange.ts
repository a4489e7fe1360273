/** Makes nodes a cluster at once, without MEET: each is given the same view of all. */
import type { Bytes } from '../protocol/bytes.ts';
import { encodeRequest } from '../protocol/encode.ts';
import { SLOT_COUNT } from '../protocol/slot.ts';
import type { Cluster } from './cluster.ts';
import { gossip } from './gossip.ts';
import { updateState } from './health.ts';
import { type Member, PRIMARY, REPLICA } from './member.ts';
import type { ClusterNode } from './node.ts';
import { followPrimary } from './slots.ts';

/** A node to arrange, and the address at which the others reach it. */
export interface Place {
  readonly cluster: Cluster;
  readonly ip: Bytes;
}

/** The slots of a primary, as `redis-cli --cluster create` shares them out. Both ends are included. */
export function slotsOf(index: number, primaries: number): [first: number, last: number] {
  const share = SLOT_COUNT / primaries;
  const last = index === primaries - 1 ? SLOT_COUNT - 1 : Math.round((index + 1) * share - 1);
  return [index === 0 ? 0 : slotsOf(index - 1, primaries)[1] + 1, last];
}

/**
 * Gives every node the same view: the first `primaries` nodes share the slots, and each further one follows one of them
 * in turn.
 */
export function arrange(places: readonly Place[], primaries: number): void {
  for (const { cluster } of places) {
    for (const [index, place] of places.entries()) introduce(cluster, place, index, primaries);
    cluster.currentEpoch = primaries;
  }
  for (const [index, { cluster }] of places.entries()) {
    for (const [other, place] of places.entries()) {
      const member = cluster.members.get(place.cluster.myself.id);
      const primary = cluster.members.get(places[other % primaries]?.cluster.myself.id ?? '');
      if (other < primaries || member === undefined || primary === undefined) continue;
      if (other === index) cluster.server.unit(() => followPrimary(cluster, primary));
      else member.follow(primary);
    }
    cluster.isArranged = true;
    updateState(cluster);
    cluster.store();
  }
}

function introduce(cluster: Cluster, { cluster: other, ip }: Place, index: number, primaries: number): void {
  const { id, busPort, hostname } = other.myself;
  const isPrimary = index < primaries;
  const member = cluster.members.get(id) ?? cluster.add(id, isPrimary ? PRIMARY : REPLICA);
  member.settle(ip, other.myself, busPort);
  member.hostname = hostname;
  [member.pongAt, member.heardAt] = [cluster.now, cluster.now];
  member.shardId = other.myself.shardId;
  if (!isPrimary) return;
  member.configEpoch = index + 1;
  const [first, last] = slotsOf(index, primaries);
  for (let slot = first; slot <= last; slot++) cluster.assign(slot, member);
}

/** What a node lacks until it has heard from all others, its replication works, and so does the cluster; undefined then. */
export function lackOf({ cluster }: ClusterNode): string | undefined {
  const { server, myself } = cluster;
  const unseen = cluster.peers.filter(({ link, inbound }) => link?.isOpen !== true || inbound === undefined);
  if (unseen.length > 0) return `does not see ${unseen.map((peer) => addressOf(peer)).join(', ')}`;
  if (myself.isReplica && server.primary?.linkUp !== true) {
    return `does not receive the data of ${addressOf(myself.primary)}`;
  }
  return cluster.isOk ? undefined : 'does not serve requests';
}

/** The address of a member for clients. */
export function addressOf(member: Member | undefined): string {
  return `${member?.ip}:${member?.port || member?.tlsPort}`;
}

/**
 * Makes replicas visible to clients at once: a primary puts its first PING into the stream, which Redis does within ten
 * seconds.
 */
export function showReplicas(node: ClusterNode): void {
  const { server, myself } = node.cluster;
  // Without replicas there is no stream, and Redis' offset stays 0.
  if (myself.isReplica || server.replication.backlog === undefined || server.replication.offset > 0) return;
  node.enter(() => server.replication.feedBytes(encodeRequest(['PING'])));
}

/** True when a node knows that every replica has something of the stream. Replicas tell it until then. */
export function showsReplicas(node: ClusterNode): boolean {
  const { cluster } = node;
  const { server, myself } = cluster;
  if (myself.isReplica && server.replication.offset === 0) return false;
  const unseen = cluster.peers.filter((peer) => peer.isReplica && peer.offset === 0);
  for (const { link } of unseen) if (link !== undefined) node.enter(() => gossip(cluster, link, 'ping'));
  return unseen.length === 0;
}
