/** Reads the INFO of primaries and replicas, and acts on what has changed. */
import { asciiLower, type Bytes, parseSafeInteger } from '../protocol/bytes.ts';
import { hostOf, isSame } from './address.ts';
import { promoted } from './failover.ts';
import { type DataInstance, Primary, Replica, type Role } from './instances.ts';
import { addReplica } from './primaries.ts';
import { changeRole, looksSane } from './reconfigure.ts';
import type { Sentinel } from './sentinel.ts';

/** Takes in a node's INFO. */
export function readInfo(sentinel: Sentinel, instance: DataInstance, text: Bytes): void {
  const { now } = sentinel;
  instance.info = text;
  const role = takeFields(sentinel, instance, text);
  instance.infoAt = now;
  if (role !== undefined && role !== instance.roleReported) {
    instance.roleReported = role;
    instance.roleReportedAt = now;
    if (role === 'slave') instance.upstream.changedAt = now;
    const type = instance.kind === role ? '+role-change' : '-role-change';
    sentinel.event('verbose', type, instance, `new reported role is ${role}`);
  }
  if (sentinel.isTilted || !(instance instanceof Replica)) return;
  if (role === 'master') foundPrimary(sentinel, instance);
  if (role !== 'slave') return;
  endHandover(sentinel, instance);
  if (!follows(instance)) fixUpstream(sentinel, instance);
  followReconfiguration(sentinel, instance);
}

/** Notes the fields of an INFO. Returns the role. */
function takeFields(sentinel: Sentinel, instance: DataInstance, text: Bytes): Role | undefined {
  const { upstream } = instance;
  instance.linkDownFor = 0;
  let role: Role | undefined;
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    const [field, value] = [line.slice(0, colon), line.slice(colon + 1)];
    const number = parseSafeInteger(value) ?? 0;
    if (field === 'master_failover_state') takeHandover(sentinel, instance, value);
    if (field === 'run_id') takeRunId(sentinel, instance, value);
    else if (field === 'role' && (value === 'master' || value === 'slave')) role = value;
    else if (field === 'master_link_down_since_seconds') instance.linkDownFor = number * 1000;
    else if (instance instanceof Primary && /^slave\d+$/.test(field)) meetReplica(sentinel, instance, value);
    if (role !== 'slave') continue;
    if (field === 'master_host' && asciiLower(value) !== asciiLower(upstream.host ?? '')) {
      upstream.host = value;
      upstream.changedAt = sentinel.now;
    } else if (field === 'master_port' && number !== upstream.port) {
      upstream.port = number;
      upstream.changedAt = sentinel.now;
    } else if (field === 'master_link_status') upstream.isUp = value === 'up';
    else if (field === 'slave_priority') instance.priority = number;
    else if (field === 'slave_repl_offset') instance.offset = number;
    else if (field === 'replica_announced') instance.isAnnounced = number !== 0;
  }
  return role;
}

function takeHandover({ now }: Sentinel, instance: DataInstance, state: Bytes): void {
  const isHandingOver = state !== 'no-failover';
  if (isHandingOver === instance.isHandingOver) return;
  instance.isHandingOver = isHandingOver;
  instance.handingOverChangedAt = now;
}

function takeRunId(sentinel: Sentinel, instance: DataInstance, runId: Bytes): void {
  if (instance.runId !== undefined && instance.runId !== runId) {
    sentinel.event('notice', '+reboot', instance);
    if (instance instanceof Primary && instance.rebootDownAfter !== 0) instance.rebootedAt = sentinel.now;
  }
  instance.runId = runId;
}

/** A replica that its primary lists, such as `ip=127.0.0.1,port=6380,state=online,offset=14,lag=0`. */
function meetReplica(sentinel: Sentinel, primary: Primary, line: Bytes): void {
  const ip = /(?:^|,)ip=([^,]*)/.exec(line)?.[1];
  const port = parseSafeInteger(/,port=(\d+)/.exec(line)?.[1] ?? '');
  const host = hostOf(ip ?? '', sentinel.globals['resolve-hostnames']);
  if (host === undefined || port === undefined) return;
  const replica = addReplica(sentinel, primary, { host, port });
  if (replica === undefined) return;
  sentinel.event('notice', '+slave', replica);
  sentinel.flush();
}

/** A replica says that it is a primary: the failover has promoted it, or it came back and must follow again. */
function foundPrimary(sentinel: Sentinel, replica: Replica): void {
  const { group } = replica;
  if (replica.isPromoted && group.failover.state === 'wait_promotion') {
    promoted(sentinel, replica);
    return;
  }
  // Another Sentinel may have promoted it. Waits for its hello message.
  const patience = sentinel.periods['publish-period'] * 4;
  if (replica.isPromoted || !looksSane(sentinel, group) || !wasUpFor(sentinel, replica, patience)) return;
  if (sentinel.now - replica.roleReportedAt <= patience) return;
  if (changeRole(sentinel, replica, group.address)) sentinel.event('notice', '+convert-to-slave', replica);
}

function follows({ upstream, group }: Replica): boolean {
  return upstream.host !== undefined && isSame({ host: upstream.host, port: upstream.port }, group.address);
}

/** A replica follows another primary: corrects that when there is no doubt. */
function fixUpstream(sentinel: Sentinel, replica: Replica): void {
  const { group, upstream } = replica;
  const patience = group.failoverTimeout;
  if (!looksSane(sentinel, group) || !wasUpFor(sentinel, replica, patience)) return;
  if (sentinel.now - upstream.changedAt <= patience) return;
  if (changeRole(sentinel, replica, group.address)) sentinel.event('notice', '+fix-slave-config', replica);
}

/** Ends the FAILOVER of a replica that has been in it for too long. */
function endHandover(sentinel: Sentinel, replica: Replica): void {
  const { group } = replica;
  if (!sentinel.traits.coordinates || replica.isHandingOver !== true) return;
  const patience = group.failoverTimeout;
  if (!looksSane(sentinel, group) || !wasUpFor(sentinel, replica, patience)) return;
  if (sentinel.now - replica.handingOverChangedAt <= patience) return;
  if (changeRole(sentinel, replica, group.address)) sentinel.event('notice', '+fix-slave-config', replica);
}

/** True when the replica was not down in the last `ms` milliseconds. */
function wasUpFor({ now }: Sentinel, { downSince }: Replica, ms: number): boolean {
  return downSince === 0 || now - downSince > ms;
}

/** A replica that was told to follow the new primary has got on. */
function followReconfiguration(sentinel: Sentinel, replica: Replica): void {
  const { upstream, group } = replica;
  const fresh = group.failover.promoted;
  if (replica.reconfiguration === 'sent' && fresh !== undefined && upstream.host !== undefined) {
    if (!isSame({ host: upstream.host, port: upstream.port }, fresh.address)) return;
    replica.reconfiguration = 'inprog';
    sentinel.event('notice', '+slave-reconf-inprog', replica);
  }
  if (replica.reconfiguration !== 'inprog' || !upstream.isUp) return;
  replica.reconfiguration = 'done';
  sentinel.event('notice', '+slave-reconf-done', replica);
}
