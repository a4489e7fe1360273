/** What a node does ten times a second: it dials, pings, suspects, and goes on with elections. */

import type { Timer } from '../server/host/host.ts';
import { replicateFrom } from '../server/replication/role.ts';
import type { Cluster } from './cluster.ts';
import { continueHandover, continueTakeover, expireHandover } from './election.ts';
import { gossip } from './gossip.ts';
import { failIfAgreed, updateState } from './health.ts';
import { BusLink, type LinkOwner } from './link.ts';
import {
  FAILED,
  HANDSHAKE,
  type Member,
  MIGRATE_TO,
  MYSELF,
  NO_ADDRESS,
  SUSPECTED,
  TO_MEET,
} from './member.ts';
import { replicationPort } from './ports.ts';
import { followPrimary } from './slots.ts';

/** The time between two beats, in milliseconds. */
const INTERVAL = 100;
/** The least time for a handshake, in milliseconds. */
const LEAST_HANDSHAKE = 1000;
/** How long a primary without working replicas waits for another replica, in milliseconds. */
const ORPHAN_TIME = 5000;

/** The heartbeat of a node. */
export class ClusterHeartbeat {
  readonly #cluster: Cluster;
  readonly #owner: LinkOwner<Member>;
  #timer: Timer | undefined;
  #beats = 0;

  constructor(cluster: Cluster, owner: LinkOwner<Member>) {
    this.#cluster = cluster;
    this.#owner = owner;
  }

  /** Begins to beat. */
  start(): void {
    this.#timer = this.#cluster.host.clock.after(INTERVAL, () => {
      this.start();
      this.#owner.enter(() => this.#beat());
    });
  }

  /** Stops for good. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #beat(): void {
    const cluster = this.#cluster;
    cluster.followSettings();
    for (const member of [...cluster.members.values()]) this.#connect(member);
    if (this.#beats++ % 10 === 0) pingSomebody(cluster);
    const orphaned = watchMembers(cluster);
    const { myself, server } = cluster;
    const { primary } = myself;
    if (primary !== undefined && server.primary === undefined && !primary.has(NO_ADDRESS)) {
      replicateFrom(server, primary.ip, replicationPort(cluster.server, primary));
    }
    expireHandover(cluster);
    if (myself.isReplica) {
      continueHandover(cluster);
      continueTakeover(cluster);
      if (orphaned !== undefined) moveToOrphan(cluster, orphaned);
    }
    cluster.onBeat();
    if (!cluster.isOk || cluster.due.state) updateState(cluster);
  }

  /** Dials a member that is not connected. Gives up one that does not answer the handshake. */
  #connect(member: Member): void {
    const cluster = this.#cluster;
    if (member.has(MYSELF | NO_ADDRESS)) return;
    if (
      member.has(HANDSHAKE) &&
      cluster.silence(member.createdAt) > Math.max(cluster.timeout, LEAST_HANDSHAKE)
    ) {
      cluster.remove(member);
      return;
    }
    if (member.link !== undefined || member.busPort === 0) return;
    const link = BusLink.dial(this.#owner, member, () => {
      // A member that was silent before the connection broke stays silent until it answers.
      const since = member.pingSentAt;
      gossip(cluster, link, member.has(TO_MEET) ? 'meet' : 'ping');
      if (since !== 0) member.pingSentAt = since;
      member.mark(0, TO_MEET);
    });
    member.link = link;
    cluster.links.add(link);
  }
}

/** Once a second: pings the member, of a few, that has not been heard for longest. */
function pingSomebody(cluster: Cluster): void {
  const members = [...cluster.members.values()];
  let oldest: Member | undefined;
  for (let i = 0; i < 5; i++) {
    const member = members[cluster.random(members.length)];
    if (member === undefined || member.link === undefined || member.pingSentAt !== 0) continue;
    if (member.has(MYSELF | HANDSHAKE)) continue;
    if (oldest === undefined || member.pongAt < oldest.pongAt) oldest = member;
  }
  if (oldest !== undefined) gossip(cluster, oldest.link, 'ping');
}

/** Pings the members, and suspects those that are silent. Returns a primary that needs a replica of another. */
function watchMembers(cluster: Cluster): Member | undefined {
  const { now, timeout } = cluster;
  let orphaned: Member | undefined;
  for (const member of [...cluster.members.values()]) {
    if (member.has(MYSELF | NO_ADDRESS | HANDSHAKE)) continue;
    if (isOrphaned(cluster, member)) orphaned ??= member;
    dropSilentLink(cluster, member);
    const { link } = member;
    const isDue = link?.isOpen === true && member.pingSentAt === 0 && now - member.pongAt > timeout / 2;
    if (isDue || (cluster.handover.replica === member && link !== undefined)) {
      gossip(cluster, link, 'ping');
      continue;
    }
    // A connection that is not established brings no answer either.
    if (member.pingSentAt === 0 && link?.isOpen !== true) member.pingSentAt = now;
    if (member.pingSentAt === 0) continue;
    if (member.has(SUSPECTED | FAILED)) continue;
    if (cluster.silence(Math.max(member.pingSentAt, member.heardAt)) <= timeout) continue;
    member.mark(SUSPECTED);
    cluster.note('suspected', `Node ${member.id} is silent`);
    cluster.due.state = true;
    if (cluster.size === 1 && cluster.myself.isPrimary && cluster.myself.slots.size > 0)
      failIfAgreed(cluster, member);
  }
  return orphaned;
}

/** A connection that has not brought an answer for a while may be broken: it is dialled again. */
function dropSilentLink(cluster: Cluster, member: Member): void {
  const { link, pingSentAt, pongAt, heardAt } = member;
  const { timeout } = cluster;
  if (link === undefined || pingSentAt === 0 || pongAt >= pingSentAt) return;
  if (cluster.silence(link.createdAt) <= timeout) return;
  if (cluster.silence(Math.max(pingSentAt, heardAt)) <= timeout / 2) return;
  cluster.unlink(link);
}

function isOrphaned({ myself }: Cluster, member: Member): boolean {
  return (
    myself.isReplica &&
    member.isPrimary &&
    !member.has(FAILED) &&
    member.slots.size > 0 &&
    member.has(MIGRATE_TO) &&
    member.workingReplicas === 0
  );
}

/** A replica of the primary with the most replicas moves to one without, if its own keeps enough. */
function moveToOrphan(cluster: Cluster, orphan: Member): void {
  const { myself, server, now } = cluster;
  const { primary } = myself;
  if (primary === undefined || !server.settings['cluster-allow-replica-migration'] || !cluster.isOk) return;
  const most = Math.max(...[...cluster.members.values()].map((each) => each.workingReplicas));
  const barrier = server.settings['cluster-migration-barrier'];
  if (most < 2 || primary.workingReplicas !== most || most <= barrier) return;
  if (orphan.orphanedAt === 0) orphan.orphanedAt = now;
  const first = primary.replicas
    .filter((replica) => !replica.has(FAILED))
    .reduce((least, replica) => (replica.id < least.id ? replica : least));
  if (first !== myself || now - orphan.orphanedAt <= ORPHAN_TIME) return;
  orphan.orphanedAt = 0;
  cluster.note('slots', `This node moves to ${orphan.id}, which has no replica`);
  followPrimary(cluster, orphan);
}
