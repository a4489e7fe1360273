/** Changes to the set of monitored nodes: a new primary, replica or Sentinel, a reset, another address. */
import type { Bytes } from '../protocol/bytes.ts';
import { type Address, isSame, nameOf } from './address.ts';
import { FailoverProgress, OtherSentinel, Primary, Replica } from './instances.ts';
import type { Sentinel } from './sentinel.ts';

/** Monitors a primary. Returns undefined when one of that name is monitored already. */
export function monitor(
  sentinel: Sentinel,
  name: Bytes,
  address: Address,
  quorum: number,
): Primary | undefined {
  if (sentinel.primaries.has(name)) return undefined;
  const { periods, now } = sentinel;
  const [downAfter, failoverTimeout] = [periods['default-down-after'], periods['default-failover-timeout']];
  const primary = new Primary(name, address, { quorum, downAfter, failoverTimeout }, now);
  sentinel.primaries.set(name, primary);
  return primary;
}

/** Says that a primary is monitored from now on. */
export function announceMonitored(sentinel: Sentinel, primary: Primary): void {
  sentinel.event('warning', '+monitor', primary, `quorum ${primary.quorum}`);
}

/** No longer monitors a primary. */
export function unmonitor(sentinel: Sentinel, primary: Primary): void {
  sentinel.event('warning', '-monitor', primary);
  sentinel.primaries.delete(primary.name);
  forget(primary);
}

/** Closes the links of a primary, its replicas, and its Sentinels. */
function forget(primary: Primary): void {
  primary.link.close();
  for (const replica of primary.replicas.values()) replica.link.close();
  for (const other of primary.sentinels.values()) other.link.release();
}

/** Adds a replica. Returns undefined if it is known. */
export function addReplica(sentinel: Sentinel, primary: Primary, address: Address): Replica | undefined {
  if (primary.replicas.has(nameOf(address))) return undefined;
  const replica = new Replica(primary, address, sentinel.now);
  primary.replicas.set(replica.name, replica);
  return replica;
}

/** Adds another Sentinel. It shares its link with the same Sentinel in other groups. Returns undefined if it is known. */
export function addSentinel(
  sentinel: Sentinel,
  primary: Primary,
  id: Bytes,
  address: Address,
): OtherSentinel | undefined {
  if (primary.sentinels.has(id)) return undefined;
  const other = new OtherSentinel(primary, id, address, sentinel.now);
  for (const same of sentinel.otherSentinels()) {
    if (same.runId !== id) continue;
    other.link = same.link;
    other.link.users++;
    break;
  }
  primary.sentinels.set(id, other);
  return other;
}

/** Removes a Sentinel from a group. Returns whether it was there. */
export function removeSentinel(primary: Primary, id: Bytes): boolean {
  const other = primary.sentinels.get(id);
  other?.link.release();
  return primary.sentinels.delete(id);
}

/** Forgets the replicas and the state of a primary, and the other Sentinels unless they are to be kept. */
export function reset(sentinel: Sentinel, primary: Primary, keepSentinels = false): void {
  for (const replica of primary.replicas.values()) replica.link.close();
  primary.replicas.clear();
  if (!keepSentinels) for (const id of [...primary.sentinels.keys()]) removeSentinel(primary, id);
  primary.link.close();
  primary.link.reset(sentinel.now);
  primary.isDown = false;
  primary.isAgreedDown = false;
  primary.scriptKillSent = false;
  primary.rebootedAt = undefined;
  primary.leader = undefined;
  primary.runId = undefined;
  primary.upstream.host = undefined;
  primary.roleReported = 'master';
  primary.roleReportedAt = sentinel.now;
  primary.failover = new FailoverProgress();
}

/**
 * Goes over to another primary, after a failover or because another Sentinel says so. The old one is monitored as a
 * replica, so that it is reconfigured when it comes back.
 */
export function switchAddress(sentinel: Sentinel, primary: Primary, address: Address): void {
  const addresses = [...primary.replicas.values()].map((replica) => replica.address);
  const replicas = addresses.filter((each) => !isSame(each, address));
  if (!isSame(primary.address, address)) replicas.push(primary.address);
  reset(sentinel, primary, true);
  primary.address = address;
  primary.downSince = 0;
  primary.agreedDownSince = 0;
  for (const each of replicas) {
    const replica = addReplica(sentinel, primary, each);
    if (replica !== undefined) sentinel.event('notice', '+slave', replica);
  }
  sentinel.flush();
}

/** Applies the primary's down-after-milliseconds to its replicas and to the other Sentinels. */
export function spreadDownAfter(primary: Primary): void {
  for (const each of [...primary.replicas.values(), ...primary.sentinels.values()]) {
    each.downAfter = primary.downAfter;
  }
}
