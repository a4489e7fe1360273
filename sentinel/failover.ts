/**
 * The failover of one primary, step by step: the election of a leader, the choice of a replica, its promotion, and the
 * reconfiguration of the others (https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/).
 */
import { asciiLower } from '../protocol/bytes.ts';
import { wordsOf } from './address.ts';
import { desync, leaderOf } from './election.ts';
import { hurryHello } from './hello.ts';
import type { FailoverState, Primary, Replica } from './instances.ts';
import { switchAddress } from './primaries.ts';
import { changeRole, dismissClients, handOver } from './reconfigure.ts';
import { selectReplica } from './selection.ts';
import type { Sentinel } from './sentinel.ts';

/** Begins a failover in a new epoch. */
export function startFailover(sentinel: Sentinel, primary: Primary): void {
  const { failover } = primary;
  sentinel.enterEpoch(sentinel.epoch + 1);
  failover.epoch = sentinel.epoch;
  go(sentinel, primary, 'wait_start');
  sentinel.event('warning', '+try-failover', primary);
  failover.startedAt = sentinel.now + desync(sentinel);
}

/** Begins a failover if the primary is down by agreement and the last attempt is long enough ago. Returns whether it did. */
export function startIfNeeded(sentinel: Sentinel, primary: Primary): boolean {
  const { failover } = primary;
  if (!primary.isAgreedDown || failover.isUnderWay) return false;
  const next = failover.startedAt + primary.failoverTimeout * 2;
  if (sentinel.now < next) {
    if (failover.loggedFor !== failover.startedAt) {
      failover.loggedFor = failover.startedAt;
      sentinel.home.log('warning', `Next failover delay: none starts in the next ${next - sentinel.now} ms`);
    }
    return false;
  }
  startFailover(sentinel, primary);
  return true;
}

function go(sentinel: Sentinel, { failover }: Primary, state: FailoverState): void {
  failover.state = state;
  failover.changedAt = sentinel.now;
}

/** Takes the next step, if it is time for it. */
export function continueFailover(sentinel: Sentinel, primary: Primary): void {
  const { state } = primary.failover;
  if (state === 'wait_start') awaitElection(sentinel, primary);
  else if (state === 'select_slave') choose(sentinel, primary);
  else if (state === 'send_slaveof_noone') {
    if (primary.failover.isCoordinated) coordinate(sentinel, primary);
    else promote(sentinel, primary);
  } else if (state === 'wait_promotion') checkTimeout(sentinel, primary);
  else if (state === 'reconf_slaves') reconfigureNext(sentinel, primary);
}

function awaitElection(sentinel: Sentinel, primary: Primary): void {
  const { failover } = primary;
  const leader = leaderOf(sentinel, primary, failover.epoch);
  const isLeader = leader !== undefined && asciiLower(leader) === asciiLower(sentinel.id);
  if (!isLeader && !failover.isForced) {
    const patience = Math.min(sentinel.periods['election-timeout'], primary.failoverTimeout);
    if (sentinel.now - failover.startedAt > patience) {
      abort(sentinel, primary, '-failover-abort-not-elected');
    }
    return;
  }
  sentinel.event('warning', '+elected-leader', primary);
  sentinel.crashIfAsked(1);
  go(sentinel, primary, 'select_slave');
  sentinel.event('warning', '+failover-state-select-slave', primary);
}

function choose(sentinel: Sentinel, primary: Primary): void {
  const replica = selectReplica(sentinel, primary);
  if (replica === undefined) {
    abort(sentinel, primary, '-failover-abort-no-good-slave');
    return;
  }
  sentinel.event('warning', '+selected-slave', replica);
  replica.isPromoted = true;
  primary.failover.promoted = replica;
  go(sentinel, primary, 'send_slaveof_noone');
  sentinel.event('notice', '+failover-state-send-slaveof-noone', replica);
}

function promote(sentinel: Sentinel, primary: Primary): void {
  const replica = primary.failover.promoted;
  if (replica === undefined || replica.link.disconnected || !changeRole(sentinel, replica, undefined)) {
    checkTimeout(sentinel, primary);
    return;
  }
  sentinel.event('notice', '+failover-state-wait-promotion', replica);
  go(sentinel, primary, 'wait_promotion');
}

/** Tells the primary to hand over. It needs at least a second for that. */
function coordinate(sentinel: Sentinel, primary: Primary): void {
  const left = primary.failoverTimeout - (sentinel.now - primary.failover.changedAt);
  if (left < 1000) {
    abort(sentinel, primary, '-failover-abort-master-timeout');
    return;
  }
  const replica = primary.failover.promoted;
  if (replica === undefined || primary.link.disconnected || !handOver(primary, replica.address, left)) return;
  sentinel.event('notice', '+failover-state-wait-promotion', replica);
  go(sentinel, primary, 'wait_promotion');
}

/** Gives up when the replica takes too long to become a primary. */
function checkTimeout(sentinel: Sentinel, primary: Primary): void {
  if (sentinel.now - primary.failover.changedAt <= primary.failoverTimeout) return;
  abort(sentinel, primary, '-failover-abort-slave-timeout');
}

/** The chosen replica says that it is a primary. From here on the failover is completed, and others adopt it. */
export function promoted(sentinel: Sentinel, replica: Replica): void {
  const primary = replica.group;
  primary.configEpoch = primary.failover.epoch;
  go(sentinel, primary, 'reconf_slaves');
  sentinel.flush();
  sentinel.event('warning', '+promoted-slave', replica);
  sentinel.crashIfAsked(2);
  if (primary.failover.isCoordinated) {
    dismissClients(primary);
    dismissClients(replica);
  }
  sentinel.event('warning', '+failover-state-reconf-slaves', primary);
  hurryHello(sentinel, primary);
}

/** Makes the other replicas follow the new primary, at most `parallel-syncs` at a time. */
function reconfigureNext(sentinel: Sentinel, primary: Primary): void {
  const replicas = [...primary.replicas.values()];
  const fresh = primary.failover.promoted;
  let busy = replicas.filter(({ reconfiguration: step }) => step === 'sent' || step === 'inprog').length;
  for (const replica of replicas) {
    if (busy >= primary.parallelSyncs) break;
    if (replica.isPromoted || replica.reconfiguration === 'done') continue;
    const limit = sentinel.periods['slave-reconf-timeout'];
    if (replica.reconfiguration === 'sent' && sentinel.now - replica.sentAt > limit) {
      sentinel.event('notice', '-slave-reconf-sent-timeout', replica);
      replica.reconfiguration = 'done';
    }
    if (replica.reconfiguration === 'sent' || replica.reconfiguration === 'inprog') continue;
    if (replica.link.disconnected || !changeRole(sentinel, replica, fresh?.address)) continue;
    replica.reconfiguration = 'sent';
    replica.sentAt = sentinel.now;
    sentinel.event('notice', '+slave-reconf-sent', replica);
    busy++;
  }
  detectEnd(sentinel, primary);
}

function detectEnd(sentinel: Sentinel, primary: Primary): void {
  const { failover } = primary;
  const fresh = failover.promoted;
  if (fresh === undefined || fresh.isDown) return;
  const isLate = sentinel.now - failover.changedAt > primary.failoverTimeout;
  const replicas = [...primary.replicas.values()];
  const left = replicas.filter((each) => !each.isPromoted && each.reconfiguration !== 'done' && !each.isDown);
  if (isLate) sentinel.event('warning', '+failover-end-for-timeout', primary);
  else if (left.length > 0) return;
  sentinel.event('warning', '+failover-end', primary);
  go(sentinel, primary, 'update_config');
  if (!isLate) return;
  for (const replica of replicas) {
    if (replica.isPromoted || replica.reconfiguration === 'done' || replica.reconfiguration === 'sent')
      continue;
    if (replica.link.disconnected || !changeRole(sentinel, replica, fresh.address)) continue;
    sentinel.event('notice', '+slave-reconf-sent-be', replica);
    replica.reconfiguration = 'sent';
  }
}

/** The last step: the promoted replica is the primary. */
export function finishFailover(sentinel: Sentinel, primary: Primary): void {
  const { address } = primary.failover.promoted ?? primary;
  const change = `${primary.name} ${wordsOf(primary.address)} ${wordsOf(address)}`;
  sentinel.announce('warning', '+switch-master', change);
  switchAddress(sentinel, primary, address);
}

function abort(sentinel: Sentinel, primary: Primary, why: string): void {
  const { failover } = primary;
  sentinel.event('warning', why, primary);
  failover.isForced = false;
  failover.isCoordinated = false;
  go(sentinel, primary, 'none');
  if (failover.promoted !== undefined) failover.promoted.isPromoted = false;
  failover.promoted = undefined;
}
