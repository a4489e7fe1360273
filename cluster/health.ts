/** Which members have failed, and whether the cluster can serve requests. */
import type { Cluster } from './cluster.ts';
import { FAILED, type Member, SUSPECTED } from './member.ts';

/** How long a new primary waits before it serves requests again, in milliseconds: others may have replaced it. */
const WRITABLE_DELAY = 2000;
/** The bounds of how long a node of a minority waits before it rejoins, in milliseconds. */
const SHORTEST_REJOIN = 500;
const LONGEST_REJOIN = 5000;

/** Notes that a primary says that the member has failed. */
export function addReport(cluster: Cluster, member: Member, by: Member): void {
  member.reports.set(by, cluster.now);
}

/** Notes that a primary no longer says that the member has failed. */
export function removeReport(member: Member, by: Member): void {
  member.reports.delete(by);
}

/** Counts the reports that are not too old. */
export function countReports(cluster: Cluster, member: Member): number {
  for (const [by, at] of member.reports) {
    if (cluster.now - at > cluster.timeout * 2) member.reports.delete(by);
  }
  return member.reports.size;
}

/** Marks a suspected member as failed if a majority of the primaries says so. Returns true if it has done so. */
export function failIfAgreed(cluster: Cluster, member: Member): boolean {
  if (!member.has(SUSPECTED) || member.has(FAILED)) return false;
  const votes = countReports(cluster, member) + (cluster.myself.isPrimary ? 1 : 0);
  if (votes < cluster.majority) return false;
  markFailed(cluster, member);
  return true;
}

/** A majority agrees that the member has failed. */
export function markFailed(cluster: Cluster, member: Member): void {
  member.mark(FAILED, SUSPECTED);
  member.failedAt = cluster.now;
  cluster.note('failed', `Node ${member.id} has failed, as a majority of the primaries says`);
  cluster.due.state = true;
  cluster.due.store = true;
  cluster.onFailed(member);
}

/** A failed member answers again. A primary with slots counts as failed until nobody can have been elected in its place. */
export function recoverIfPossible(cluster: Cluster, member: Member): void {
  const isReplaceable = member.isPrimary && member.slots.size > 0;
  if (isReplaceable && cluster.now - member.failedAt <= cluster.timeout * 2) return;
  member.mark(0, FAILED);
  cluster.note('recovered', `Node ${member.id} is reachable again`);
  cluster.due.state = true;
  cluster.due.store = true;
}

/** Decides whether this node serves requests. */
export function updateState(cluster: Cluster): void {
  const { now, server, myself, owners } = cluster;
  cluster.due.state = false;
  // A primary that has just started waits: it may have been replaced in the meantime.
  if (myself.isPrimary && !cluster.isOk && now - cluster.startedAt < WRITABLE_DELAY && !cluster.isArranged) {
    cluster.due.state = true;
    return;
  }
  let isOk = true;
  if (server.settings['cluster-require-full-coverage']) {
    isOk = owners.every((owner) => owner !== undefined && !owner.has(FAILED));
  }
  const heads = [...cluster.members.values()].filter((each) => each.isPrimary && each.slots.size > 0);
  cluster.size = heads.length;
  if (heads.filter((each) => cluster.isHealthy(each)).length < cluster.majority) {
    isOk = false;
    cluster.minorityAt = now;
  }
  if (isOk === cluster.isOk) return;
  const patience = Math.min(Math.max(cluster.timeout, SHORTEST_REJOIN), LONGEST_REJOIN);
  if (isOk && myself.isPrimary && now - cluster.minorityAt < patience) return;
  cluster.isOk = isOk;
  cluster.note('state', `Cluster state changed: ${isOk ? 'ok' : 'fail'}`);
}
