/** How a replica takes over: elected by the primaries when its own has failed, or by hand (CLUSTER FAILOVER). */
import { promote } from '../server/replication/role.ts';
import type { Cluster } from './cluster.ts';
import { announce, broadcast, send } from './gossip.ts';
import { updateState } from './health.ts';
import { FAILED, type Member, NO_FAILOVER } from './member.ts';
import type { BusMessage } from './message.ts';
import { hasSlot } from './slots.ts';

/** The least time for an election, in milliseconds. */
const LEAST_TIMEOUT = 2000;

/** Votes for a replica, once in an epoch and not twice for the same primary in a short time. */
export function vote(cluster: Cluster, candidate: Member, { sender }: BusMessage): void {
  const { myself, currentEpoch, owners, now } = cluster;
  const { primary } = candidate;
  if (myself.isReplica || myself.slots.size === 0) return;
  if (sender.currentEpoch < currentEpoch || cluster.lastVoteEpoch === currentEpoch) return;
  if (candidate.isPrimary || primary === undefined) return;
  if (!primary.has(FAILED) && !sender.isForced) return;
  if (now - primary.votedAt < cluster.timeout * 2) return;
  // No node may have taken the slots after the candidate last heard of them.
  const isOld = owners.some(
    (owner, slot) =>
      owner !== undefined && hasSlot(sender.slots, slot) && owner.configEpoch > sender.configEpoch,
  );
  if (isOld) return;
  primary.votedAt = now;
  cluster.lastVoteEpoch = currentEpoch;
  // The vote is stored before it is sent, so that a node that restarts does not vote twice.
  cluster.store();
  send(cluster, candidate.link, 'auth-ack');
  cluster.note('vote', `Vote for ${candidate.id} in epoch ${currentEpoch}`);
}

/** Counts the vote of a primary. */
export function countVote(cluster: Cluster, voter: Member, epoch: number): void {
  if (!voter.isPrimary || voter.slots.size === 0 || epoch < cluster.takeover.epoch) return;
  cluster.takeover.votes++;
  cluster.due.takeover = true;
}

/** How many replicas of the same primary have more of its stream. */
function rankOf({ myself, server }: Cluster): number {
  const { offset } = server.replication;
  const others = myself.primary?.replicas ?? [];
  return others.filter((each) => each !== myself && !each.has(NO_FAILOVER) && each.offset > offset).length;
}

/** How old the data of this replica is, in milliseconds, beyond the time in which nobody could know. */
function ageOfData(cluster: Cluster): number {
  const { server, timeout } = cluster;
  const { primary } = server;
  const age =
    primary === undefined
      ? 0
      : cluster.silence(primary.linkUp ? primary.heardAt : (primary.downSince ?? primary.upSince));
  return age > timeout ? age - timeout : age;
}

/** Whether this node may take over from its primary now. */
function mayTakeOver(cluster: Cluster, byHand: boolean): boolean {
  const { myself, server, timeout } = cluster;
  const { primary } = myself;
  if (myself.isPrimary || primary === undefined || primary.slots.size === 0) return false;
  if (byHand) return true;
  if (!primary.has(FAILED) || server.settings['cluster-replica-no-failover']) return false;
  const factor = server.settings['cluster-replica-validity-factor'];
  const longest = server.settings['repl-ping-replica-period'] * 1000 + timeout * factor;
  return factor === 0 || ageOfData(cluster) <= longest;
}

/** Goes on with the takeover by this replica, if there is a reason for one. */
export function continueTakeover(cluster: Cluster): void {
  cluster.due.takeover = false;
  const { now, takeover, handover, myself } = cluster;
  const byHand = handover.until !== 0 && handover.isReady;
  if (!mayTakeOver(cluster, byHand)) return;
  const limit = Math.max(cluster.timeout * 2, LEAST_TIMEOUT);
  const age = now - takeover.at;
  if (age > limit * 2) {
    plan(cluster, byHand);
    return;
  }
  if (!takeover.asked && handover.until === 0) {
    const rank = rankOf(cluster);
    if (rank > takeover.rank) takeover.at += (rank - takeover.rank) * 1000;
    takeover.rank = Math.max(rank, takeover.rank);
  }
  if (now < takeover.at || age > limit) return;
  if (!takeover.asked) {
    cluster.currentEpoch++;
    takeover.epoch = cluster.currentEpoch;
    takeover.asked = true;
    cluster.note('election', `Asking for votes in epoch ${takeover.epoch}`);
    broadcast(cluster, 'auth-req', { isForced: handover.until !== 0 });
    cluster.due.store = true;
    return;
  }
  if (takeover.votes < cluster.majority) return;
  myself.configEpoch = Math.max(myself.configEpoch, takeover.epoch);
  replacePrimary(cluster);
}

/** Sets the time of the next attempt: later for a replica that has less of the stream, and by chance. */
function plan(cluster: Cluster, byHand: boolean): void {
  const { now, myself } = cluster;
  const rank = byHand ? 0 : rankOf(cluster);
  const at = byHand ? now : now + 500 + cluster.random(500) + rank * 1000;
  cluster.takeover = { at, epoch: cluster.takeover.epoch, votes: 0, asked: false, rank };
  if (byHand) cluster.due.takeover = true;
  announce(cluster, myself.primary?.replicas ?? []);
}

/** This replica is the primary of its shard from now on, and tells everybody. */
export function replacePrimary(cluster: Cluster): void {
  const { myself, server } = cluster;
  const old = myself.primary;
  if (myself.isPrimary || old === undefined) return;
  cluster.makePrimary(myself);
  promote(server);
  for (const slot of [...old.slots]) {
    cluster.release(slot);
    cluster.assign(slot, myself);
  }
  cluster.note('promoted', `This node is the primary of its shard in epoch ${myself.configEpoch}`);
  updateState(cluster);
  cluster.due.store = true;
  announce(cluster);
  cluster.endHandover();
}

// By hand

/** A replica asks its primary to hand over: the clients of the primary pause, so that the replica can catch up. */
export function beginHandover(cluster: Cluster, replica: Member): void {
  const limit = cluster.server.settings['cluster-manual-failover-timeout'];
  cluster.endHandover();
  cluster.handover = { until: cluster.now + limit, replica, offset: undefined, isReady: false };
  cluster.server.pausing.pause(limit * 2, false);
  cluster.note('election', `Hand-over to ${replica.id} requested by it`);
}

/** Goes on with a hand-over at the replica: it is ready when it has all that the paused primary has. */
export function continueHandover(cluster: Cluster): void {
  cluster.due.handover = false;
  const { handover, server } = cluster;
  if (handover.until === 0 || handover.isReady || handover.offset === undefined) return;
  if (handover.offset !== server.replication.offset) return;
  handover.isReady = true;
  cluster.due.takeover = true;
}

/** Gives up a hand-over that takes too long. */
export function expireHandover(cluster: Cluster): void {
  const { until } = cluster.handover;
  if (until !== 0 && until < cluster.now) cluster.endHandover();
}
