/** What a node does with each message of the bus. */

import type { Bytes } from '../protocol/bytes.ts';
import { fromBuffer } from '../protocol/bytes.ts';
import { SLOT_COUNT } from '../protocol/slot.ts';
import type { Cluster } from './cluster.ts';
import { beginHandover, countVote, vote } from './election.ts';
import { gossip, hearRumours, send } from './gossip.ts';
import { recoverIfPossible } from './health.ts';
import {
  FAILED,
  HANDSHAKE,
  type Member,
  type MemberLink,
  MIGRATE_TO,
  NO_ADDRESS,
  NO_FAILOVER,
  PRIMARY,
  REPLICA,
  SUSPECTED,
  TO_MEET,
} from './member.ts';
import type { BusMessage } from './message.ts';
import { fromBus } from './ports.ts';
import { believeSlots, hasSlot } from './slots.ts';

/**
 * Handles one message.
 * @param size how many bytes it had
 */
export function receive(cluster: Cluster, link: MemberLink, message: BusMessage, size: number): void {
  cluster.received.count(message.type, size);
  const sender = senderOf(cluster, link, message);
  if (sender !== undefined) {
    sender.heardAt = cluster.now;
    if (!sender.has(HANDSHAKE)) hearOfSender(cluster, sender, message);
  }
  const { type } = message;
  if (type === 'ping' || type === 'pong' || type === 'meet') receiveGossip(cluster, link, message, sender);
  else if (sender !== undefined) receiveFrom(cluster, sender, message);
}

/** Handles a message that counts only if its sender is known. */
function receiveFrom(cluster: Cluster, sender: Member, message: BusMessage): void {
  const { type } = message;
  if (type === 'fail') receiveFail(cluster, message, sender);
  else if (type === 'publish' || type === 'publishshard') receivePublish(cluster, message);
  else if (type === 'auth-req') vote(cluster, sender, message);
  else if (type === 'auth-ack') countVote(cluster, sender, message.sender.currentEpoch);
  else if (type === 'update') receiveUpdate(cluster, message);
  else if (type === 'mfstart' && sender.primary === cluster.myself) beginHandover(cluster, sender);
}

function senderOf(cluster: Cluster, link: MemberLink, { sender: { id } }: BusMessage): Member | undefined {
  if (link.dialled !== undefined && !link.dialled.has(HANDSHAKE)) return link.dialled;
  const member = cluster.members.get(id);
  if (link.dialled === undefined && member !== undefined && link.caller !== member) {
    if (member.inbound !== undefined && member.inbound !== link) cluster.unlink(member.inbound);
    link.caller = member;
    member.inbound = link;
  }
  return member;
}

/** Epochs only grow, and the offset of the sender matters for elections. */
function hearOfSender(cluster: Cluster, sender: Member, { sender: header }: BusMessage): void {
  cluster.currentEpoch = Math.max(cluster.currentEpoch, header.currentEpoch);
  if (header.configEpoch > sender.configEpoch) {
    sender.configEpoch = header.configEpoch;
    cluster.due.store = true;
  }
  sender.offset = header.offset;
  const { handover, myself } = cluster;
  const awaits = handover.until !== 0 && myself.primary === sender && handover.offset === undefined;
  if (awaits && header.isPaused) {
    handover.offset = header.offset;
    cluster.due.handover = true;
  }
}

function receiveGossip(
  cluster: Cluster,
  link: MemberLink,
  message: BusMessage,
  sender: Member | undefined,
): void {
  const { type } = message;
  if (type !== 'pong') {
    learnOwnAddress(cluster, link, type === 'meet');
    if (sender === undefined && type === 'meet') {
      meetBack(cluster, link, message);
      hearRumours(cluster, sender, message);
    }
    gossip(cluster, link, 'pong');
  }
  if (link.dialled !== undefined && !knows(cluster, link, link.dialled, message, sender)) return;
  if (sender !== undefined) {
    sender.mark(message.sender.flags & NO_FAILOVER, NO_FAILOVER);
    if (message.hostname !== undefined) sender.hostname = message.hostname;
    if (type === 'ping' && !sender.has(HANDSHAKE)) followAddress(cluster, sender, link, message);
  }
  if (link.dialled !== undefined && type === 'pong') noteAnswer(cluster, link.dialled);
  if (sender === undefined) return;
  hearRole(cluster, sender, message);
  hearSlots(cluster, link, sender, message);
  resolveCollision(cluster, sender, message.sender.configEpoch);
  hearRumours(cluster, sender, message);
}

/** A node learns its own address from the connections of others. */
function learnOwnAddress(cluster: Cluster, link: MemberLink, isMeet: boolean): void {
  const { myself, server } = cluster;
  if ((!isMeet && myself.ip !== '') || server.settings['cluster-announce-ip'] !== '') return;
  const { local } = link.addresses;
  if (local === '' || local === myself.ip) return;
  myself.ip = local;
  cluster.due.store = true;
}

function ipOf(link: MemberLink, { sender: { ip } }: BusMessage): Bytes {
  return ip === '' ? link.addresses.remote : ip;
}

/** A stranger has sent MEET: this node dials it in turn. */
function meetBack(cluster: Cluster, link: MemberLink, message: BusMessage): void {
  const member = cluster.add(cluster.server.randomHex(40), HANDSHAKE);
  member.settle(ipOf(link, message), fromBus(cluster.server, message.sender), message.sender.busPort);
  cluster.due.store = true;
}

/** Checks who answers on a connection that this node has dialled. Returns false if the message says nothing more. */
function knows(
  cluster: Cluster,
  link: MemberLink,
  dialled: Member,
  message: BusMessage,
  sender: Member | undefined,
): boolean {
  const { id, flags } = message.sender;
  if (dialled.has(HANDSHAKE)) {
    if (sender !== undefined) {
      followAddress(cluster, sender, link, message);
      cluster.remove(dialled);
      return false;
    }
    cluster.rename(dialled, id);
    dialled.mark(flags & (PRIMARY | REPLICA), HANDSHAKE | TO_MEET);
    if (message.shardId !== undefined) dialled.shardId = message.shardId;
    cluster.due.store = true;
    return true;
  }
  if (dialled.id === id) return true;
  // Another node is at this address now.
  dialled.mark(NO_ADDRESS);
  dialled.settle('', { port: 0, tlsPort: 0 }, 0);
  cluster.unlink(link);
  cluster.due.store = true;
  return false;
}

/** The sender has another address than before. */
function followAddress(cluster: Cluster, sender: Member, link: MemberLink, message: BusMessage): void {
  if (link === sender.link) return;
  const { sender: header } = message;
  if (!sender.settle(ipOf(link, message), fromBus(cluster.server, header), header.busPort)) return;
  cluster.unlink(sender.link);
  sender.mark(0, NO_ADDRESS);
  cluster.due.store = true;
  cluster.due.state = true;
  cluster.onMoved(sender);
}

function noteAnswer(cluster: Cluster, member: Member): void {
  member.pongAt = cluster.now;
  member.pingSentAt = 0;
  if (member.has(SUSPECTED)) {
    member.mark(0, SUSPECTED);
    cluster.due.state = true;
    cluster.due.store = true;
  } else if (member.has(FAILED)) recoverIfPossible(cluster, member);
}

function hearRole(cluster: Cluster, sender: Member, message: BusMessage): void {
  const { primary: id } = message.sender;
  if (id === '') {
    cluster.makePrimary(sender);
    if (message.shardId !== undefined) sender.shardId = message.shardId;
    return;
  }
  if (sender.isPrimary) {
    cluster.releaseAll(sender);
    sender.mark(REPLICA, PRIMARY | MIGRATE_TO);
    cluster.due.state = true;
    cluster.due.store = true;
  }
  const primary = cluster.members.get(id);
  if (primary === undefined || sender.primary === primary) return;
  sender.follow(primary);
  cluster.due.store = true;
}

function hearSlots(cluster: Cluster, link: MemberLink, sender: Member, message: BusMessage): void {
  const { slots, configEpoch } = message.sender;
  const head = sender.head;
  if (head === undefined || fromBuffer(head.slots.bits) === slots) return;
  if (sender.isPrimary) believeSlots(cluster, sender, configEpoch, slots);
  // Tell a node that claims slots of another node about the newer owner.
  for (let slot = 0; slot < SLOT_COUNT; slot++) {
    const owner = cluster.owners[slot];
    if (!hasSlot(slots, slot) || owner === undefined || owner === sender) continue;
    if (owner.configEpoch <= configEpoch) continue;
    const about = { about: owner.id, configEpoch: owner.configEpoch, slots: fromBuffer(owner.slots.bits) };
    send(cluster, sender.link ?? link, 'update', about);
    return;
  }
}

/** Two primaries must not have one configuration epoch. The one with the smaller id takes a new one. */
function resolveCollision(cluster: Cluster, sender: Member, epoch: number): void {
  const { myself } = cluster;
  if (!myself.isPrimary || !sender.isPrimary || epoch !== myself.configEpoch) return;
  if (sender.id <= myself.id) return;
  cluster.currentEpoch++;
  myself.configEpoch = cluster.currentEpoch;
  cluster.due.store = true;
}

function receiveFail(cluster: Cluster, { about = '' }: BusMessage, sender: Member): void {
  const member = cluster.members.get(about);
  if (member === undefined || member === cluster.myself || member.has(FAILED)) return;
  member.mark(FAILED, SUSPECTED);
  member.failedAt = cluster.now;
  cluster.note('failed', `Node ${member.id} has failed, as ${sender.id} says`);
  cluster.due.state = true;
  cluster.due.store = true;
}

function receivePublish(cluster: Cluster, { type, channel = '', text = '' }: BusMessage): void {
  const { pubsub, observer } = cluster.server;
  if (type === 'publish') pubsub.publish(channel, text);
  else {
    observer.usage?.delivered(channel, text, pubsub.shardChannels.get(channel));
    pubsub.publishShard(channel, text);
  }
}

function receiveUpdate(cluster: Cluster, { about = '', configEpoch = 0, slots = '' }: BusMessage): void {
  const member = cluster.members.get(about);
  if (member === undefined || member.configEpoch >= configEpoch) return;
  cluster.makePrimary(member);
  member.configEpoch = configEpoch;
  cluster.due.store = true;
  believeSlots(cluster, member, configEpoch, slots);
}
