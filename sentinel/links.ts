/** Dials the nodes that a Sentinel monitors, and sends them PING, INFO and hello messages at regular times. */
import type { Bytes } from '../protocol/bytes.ts';
import { type Reply, ReplyError, SimpleString } from '../protocol/reply.ts';
import { Outgoing } from './connection.ts';
import { HELLO_CHANNEL, hearHello, sayHello } from './hello.ts';
import { readInfo } from './info.ts';
import { DataInstance, type Instance, OtherSentinel, Primary, Replica } from './instances.ts';
import { commandFor } from './renamed.ts';
import type { Sentinel } from './sentinel.ts';

/** How many requests may be without a reply before nothing more is sent, for each user of a link. */
const MOST_PENDING = 100;

/** Dials what is not connected, at most once in a ping period. */
export function reconnect(sentinel: Sentinel, instance: Instance): void {
  const { link, address } = instance;
  const { now } = sentinel;
  if (!link.disconnected || address.port === 0) return;
  if (now - link.dialledAt < sentinel.periods['ping-period']) return;
  link.dialledAt = now;
  if (link.command === undefined) dialForCommands(sentinel, instance);
  if (link.hello === undefined && instance instanceof DataInstance) dialForHello(sentinel, instance);
  link.disconnected =
    link.command === undefined || (link.hello === undefined && instance instanceof DataInstance);
}

function dialForCommands(sentinel: Sentinel, instance: Instance): void {
  const { link } = instance;
  const command = new Outgoing(sentinel, instance.address, () => {
    if (link.command !== command) return;
    link.command = undefined;
    link.disconnected = true;
  });
  link.command = command;
  link.pending = 0;
  link.commandSince = sentinel.now;
  for (const words of introduction(sentinel, instance, 'cmd')) link.send(words);
  ping(sentinel, instance);
}

function dialForHello(sentinel: Sentinel, instance: DataInstance): void {
  const { link } = instance;
  const hello = new Outgoing(sentinel, instance.address, () => {
    if (link.hello !== hello) return;
    link.hello = undefined;
    link.disconnected = true;
  });
  link.hello = hello;
  link.helloSince = sentinel.now;
  for (const words of introduction(sentinel, instance, 'pubsub')) hello.send(words);
  hello.listen([commandFor(instance, 'SUBSCRIBE'), HELLO_CHANNEL], (reply) => {
    link.helloHeardAt = sentinel.now;
    if (!Array.isArray(reply) || reply.length !== 3) return;
    const [kind, , message] = reply as readonly Reply[];
    if (kind !== 'message' || typeof message !== 'string' || message.includes(sentinel.id)) return;
    hearHello(sentinel, message);
  });
}

/** The requests with which a connection begins: AUTH if there is a password, and the connection's name. */
function introduction(sentinel: Sentinel, instance: Instance, purpose: string): Bytes[][] {
  const [user, password] = loginFor(sentinel, instance);
  const name = `sentinel-${sentinel.id.slice(0, 8)}-${purpose}`;
  const named = [commandFor(instance, 'CLIENT'), 'SETNAME', name];
  if (password === '') return [named];
  const auth = commandFor(instance, 'AUTH');
  return [user === '' ? [auth, password] : [auth, user, password], named];
}

/** User and password at a node; '' for none. Sentinels share theirs, by default what this one requires itself. */
function loginFor({ globals, home }: Sentinel, instance: Instance): [user: Bytes, password: Bytes] {
  if (!(instance instanceof OtherSentinel)) {
    return [instance.group.user ?? '', instance.group.password ?? ''];
  }
  if (globals['sentinel-pass'] !== '') return [globals['sentinel-user'], globals['sentinel-pass']];
  return ['', home.settings.requirepass];
}

function ping(sentinel: Sentinel, instance: Instance): void {
  const { link } = instance;
  const { now } = sentinel;
  if (!link.send([commandFor(instance, 'PING')], (reply) => answered(sentinel, instance, reply))) return;
  link.pingedAt = now;
  if (link.unansweredSince === 0) link.unansweredSince = now;
}

/** A reply to PING. A node that loads its data, or has lost its primary, is there as well. */
function answered(sentinel: Sentinel, instance: Instance, reply: Reply): void {
  const { link } = instance;
  const text = reply instanceof SimpleString || reply instanceof ReplyError ? reply.text : '';
  if (/^(PONG|LOADING|MASTERDOWN)/.test(text)) {
    link.availableAt = sentinel.now;
    link.unansweredSince = 0;
    if (instance instanceof Primary && text.startsWith('PONG')) instance.rebootedAt = undefined;
  } else if (text.startsWith('BUSY') && instance.isDown && !instance.scriptKillSent) {
    link.send([commandFor(instance, 'SCRIPT'), 'KILL']);
    instance.scriptKillSent = true;
  }
  link.pongAt = sentinel.now;
}

/** Sends what is due: INFO to primaries and replicas, PING and hello messages to everyone. */
export function sendPeriodic(sentinel: Sentinel, instance: Instance): void {
  const { link } = instance;
  const { now, periods } = sentinel;
  if (link.disconnected || link.pending >= MOST_PENDING * link.users) return;
  if (instance instanceof DataInstance) {
    const isDue = instance.infoAt === 0 || now - instance.infoAt > infoPeriod(sentinel, instance);
    if (isDue) {
      link.send([commandFor(instance, 'INFO')], (reply) => {
        if (typeof reply === 'string') readInfo(sentinel, instance, reply);
      });
    }
  }
  const pingPeriod = Math.min(instance.downAfter, periods['ping-period']);
  if (now - link.pongAt > pingPeriod && now - link.pingedAt > pingPeriod / 2) ping(sentinel, instance);
  if (now - instance.publishedAt > periods['publish-period'] && !isPaused(sentinel, instance)) {
    sayHello(sentinel, instance);
  }
}

/** True for a node that is about to hand over: it would hold back a PUBLISH. */
function isPaused({ traits }: Sentinel, instance: Instance): boolean {
  if (!traits.coordinates || !(instance instanceof DataInstance)) return false;
  if (instance.isHandingOver === true) return true;
  if (!(instance instanceof Primary) || !instance.failover.isCoordinated) return false;
  return !['reconf_slaves', 'update_config'].includes(instance.failover.state);
}

/** Replicas are asked more often while their primary is down, is being replaced, or has lost them. */
function infoPeriod({ periods }: Sentinel, instance: DataInstance): number {
  const { group } = instance;
  const isUrgent = group.isAgreedDown || group.failover.isUnderWay || instance.linkDownFor !== 0;
  return instance instanceof Replica && isUrgent ? 1000 : periods['info-period'];
}
