/** Decides whether a node is down: for this Sentinel alone (subjectively), and by agreement (objectively). */
import { type Reply, ReplyError } from '../protocol/reply.ts';
import { type Instance, type OtherSentinel, Primary } from './instances.ts';
import { commandFor } from './renamed.ts';
import type { Sentinel } from './sentinel.ts';

/** Updates whether this Sentinel finds that a node is down. Dials again where a connection is silent. */
export function checkDown(sentinel: Sentinel, instance: Instance): void {
  const { link } = instance;
  const { now } = sentinel;
  let silence = 0;
  if (link.unansweredSince !== 0) silence = sentinel.silence(link.unansweredSince, instance.downAfter);
  else if (link.disconnected) silence = sentinel.silence(link.availableAt, instance.downAfter);
  renewLink(sentinel, instance);
  const isDown =
    silence > instance.downAfter || (instance instanceof Primary && actsWrong(sentinel, instance));
  if (isDown && !instance.isDown) {
    sentinel.event('warning', '+sdown', instance);
    instance.downSince = now;
  } else if (!isDown && instance.isDown) {
    sentinel.event('warning', '-sdown', instance);
    instance.scriptKillSent = false;
  }
  instance.isDown = isDown;
}

/** Closes connections that look open and carry nothing. */
function renewLink(sentinel: Sentinel, { link, downAfter }: Instance): void {
  const { now, periods } = sentinel;
  const period = periods['min-link-reconnect-period'];
  const half = downAfter / 2;
  const isSilent =
    link.unansweredSince !== 0 && sentinel.silence(Math.max(link.unansweredSince, link.pongAt), half) > half;
  if (isSilent && now - link.commandSince > period) link.closeCommand();
  const hellos = periods['publish-period'] * 3;
  if (now - link.helloSince > period && sentinel.silence(link.helloHeardAt, hellos) > hellos)
    link.closeHello();
}

/** True when a primary has been saying for long that it is a replica, or has restarted and does not answer. */
function actsWrong({ now, periods }: Sentinel, primary: Primary): boolean {
  const patience = primary.downAfter + periods['info-period'] * 2;
  if (primary.roleReported === 'slave' && now - primary.roleReportedAt > patience) return true;
  return primary.rebootedAt !== undefined && now - primary.rebootedAt > primary.rebootDownAfter;
}

/** Updates whether a quorum of Sentinels finds that the primary is down. */
export function checkAgreedDown(sentinel: Sentinel, primary: Primary): void {
  const others = [...primary.sentinels.values()].filter((each) => each.saysDown).length;
  const isDown = primary.isDown && others + 1 >= primary.quorum;
  if (isDown && !primary.isAgreedDown) {
    sentinel.event('warning', '+odown', primary, `#quorum ${others + 1}/${primary.quorum}`);
    primary.agreedDownSince = sentinel.now;
  } else if (!isDown && primary.isAgreedDown) {
    sentinel.event('warning', '-odown', primary);
  }
  primary.isAgreedDown = isDown;
}

/**
 * Asks the other Sentinels whether the primary is down, and for their vote while this one wants to lead a failover.
 * @param atOnce true: does not wait for the next period, and also asks those that have just answered
 */
export function askOthers(sentinel: Sentinel, primary: Primary, atOnce: boolean): void {
  const period = sentinel.periods['ask-period'];
  for (const other of primary.sentinels.values()) {
    const age = sentinel.now - other.saidAt;
    if (age > period * 5) {
      other.saysDown = false;
      other.leader = undefined;
    }
    if (!primary.isDown || other.link.disconnected || (!atOnce && age < period)) continue;
    const { host, port } = primary.address;
    const candidate = primary.failover.isUnderWay ? sentinel.id : '*';
    const words = ['is-master-down-by-addr', host, String(port), String(sentinel.epoch), candidate];
    other.link.send([commandFor(other, 'SENTINEL'), ...words], (reply) => heard(sentinel, other, reply));
  }
}

/** Notes the reply of another Sentinel: whether it finds the primary down, and its vote. */
function heard(sentinel: Sentinel, other: OtherSentinel, reply: Reply): void {
  if (!Array.isArray(reply) || reply.length !== 3 || reply instanceof ReplyError) return;
  const [isDown, leader, epoch] = reply as readonly Reply[];
  if (typeof isDown !== 'number' || typeof leader !== 'string' || typeof epoch !== 'number') return;
  other.saidAt = sentinel.now;
  other.saysDown = isDown === 1;
  if (leader === '*') return;
  if (other.leaderEpoch !== epoch) {
    sentinel.home.log('warning', `${other.name} voted for ${leader} ${epoch}`);
  }
  other.leader = leader;
  other.leaderEpoch = epoch;
}
