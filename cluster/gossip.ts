/** What nodes tell each other: the header about the sender, and rumours about others. */
import { type Bytes, fromBuffer } from '../protocol/bytes.ts';
import type { Cluster } from './cluster.ts';
import { addReport, countReports, failIfAgreed, removeReport } from './health.ts';
import {
  FAILED,
  HANDSHAKE,
  type Member,
  type MemberLink,
  MYSELF,
  NO_ADDRESS,
  SUSPECTED,
  TO_MEET,
} from './member.ts';
import {
  type BusMessage,
  encodeMessage,
  type MessageBody,
  type MessageType,
  type Rumour,
  type Sender,
} from './message.ts';
import { fromBus, toBus } from './ports.ts';

/** The bits of slots as bytes of a message. */
function bytesOf(bits: Uint8Array): Bytes {
  return fromBuffer(bits);
}

function senderOf(cluster: Cluster, isForced: boolean): Sender {
  const { myself, server } = cluster;
  const head = myself.head ?? myself;
  return {
    id: myself.id,
    ...toBus(cluster.server, myself),
    busPort: myself.busPort,
    ip: server.settings['cluster-announce-ip'],
    flags: myself.flags,
    currentEpoch: cluster.currentEpoch,
    configEpoch: head.configEpoch,
    offset: server.replication.offset,
    slots: bytesOf(head.slots.bits),
    primary: myself.primary?.id ?? '',
    isOk: cluster.isOk,
    isPaused: myself.isPrimary && cluster.handover.until !== 0,
    isForced,
  };
}

/** Encodes a message of this node. */
function compose(cluster: Cluster, type: MessageType, body: MessageBody = {}, isForced = false): Bytes {
  return encodeMessage({ type, sender: senderOf(cluster, isForced), ...body });
}

/** Sends a message over a link, if it is open. */
export function send(
  cluster: Cluster,
  link: MemberLink | undefined,
  type: MessageType,
  body?: MessageBody,
): void {
  if (link === undefined) return;
  const bytes = compose(cluster, type, body);
  if (link.send(bytes)) cluster.sent.count(type, bytes.length);
}

/** Sends a message to every member, or to some of them. */
export function broadcast(
  cluster: Cluster,
  type: MessageType,
  {
    to = cluster.peers,
    isForced = false,
    ...body
  }: MessageBody & { to?: readonly Member[]; isForced?: boolean } = {},
): void {
  const open = to.filter((member) => cluster.isPeer(member) && member.link?.isOpen === true);
  if (open.length === 0) return;
  const bytes = compose(cluster, type, body, isForced);
  for (const { link } of open) {
    if (link?.send(bytes)) cluster.sent.count(type, bytes.length);
  }
}

function rumourAbout(cluster: Cluster, member: Member): Rumour {
  const { id, pingSentAt, pongAt, ip, busPort, flags } = member;
  return { id, pingSentAt, pongAt, ip, ...toBus(cluster.server, member), busPort, flags };
}

/** Chooses what to tell: a tenth of the members, at least three, and every member that is suspected. */
function chooseRumours(cluster: Cluster, target: Member | undefined): Rumour[] {
  const members = [...cluster.members.values()];
  const wanted = Math.min(Math.max(3, Math.floor(members.length / 10)), members.length - 2);
  const known = members.filter((member) => member !== target && !member.has(MYSELF | HANDSHAKE | NO_ADDRESS));
  const fresh = known.filter(
    (member) => !member.has(SUSPECTED) && (member.link !== undefined || member.slots.size > 0),
  );
  const chosen: Member[] = [];
  while (chosen.length < wanted && fresh.length > 0) {
    chosen.push(...fresh.splice(cluster.random(fresh.length), 1));
  }
  return [...chosen, ...known.filter((member) => member.has(SUSPECTED))].map((member) =>
    rumourAbout(cluster, member),
  );
}

/** Sends PING, PONG or MEET over a link. */
export function gossip(cluster: Cluster, link: MemberLink | undefined, type: 'ping' | 'pong' | 'meet'): void {
  if (link === undefined || !link.isOpen) return;
  const target = link.dialled;
  if (target !== undefined && type === 'ping') target.pingSentAt = cluster.now;
  const { hostname, shardId } = cluster.myself;
  const rumours = chooseRumours(cluster, target);
  send(cluster, link, type, { rumours, ...described(cluster, hostname, shardId) });
}

/** What the extensions of a message say about this node. Redis 7.0 knows no shards. */
function described(cluster: Cluster, hostname: Bytes, shardId: Bytes): MessageBody {
  return {
    ...(hostname !== '' && { hostname }),
    ...(cluster.server.dialect.cluster.hasShards && { shardId }),
  };
}

/** Tells a changed role or changed slots at once. @param to by default everybody */
export function announce(cluster: Cluster, to?: readonly Member[]): void {
  for (const member of to ?? cluster.peers) if (cluster.isPeer(member)) gossip(cluster, member.link, 'pong');
}

/** Believes what a message says about third nodes. */
export function hearRumours(
  cluster: Cluster,
  sender: Member | undefined,
  { rumours = [] }: BusMessage,
): void {
  for (const rumour of rumours) {
    const member = cluster.members.get(rumour.id);
    if (member !== undefined) hearAbout(cluster, sender, member, rumour);
    else if (sender !== undefined) learnOf(cluster, rumour);
  }
}

function hearAbout(cluster: Cluster, sender: Member | undefined, member: Member, rumour: Rumour): void {
  const failing = (rumour.flags & (SUSPECTED | FAILED)) !== 0;
  if (sender?.isPrimary === true && member !== cluster.myself) {
    if (failing) {
      addReport(cluster, member, sender);
      failIfAgreed(cluster, member);
    } else removeReport(member, sender);
  }
  if (
    !failing &&
    !member.has(SUSPECTED | FAILED) &&
    member.pingSentAt === 0 &&
    countReports(cluster, member) === 0
  ) {
    const { pongAt } = rumour;
    if (pongAt <= cluster.now + 500 && pongAt > member.pongAt) member.pongAt = pongAt;
  }
  if (!member.has(SUSPECTED | FAILED) || failing || (rumour.flags & NO_ADDRESS) !== 0) return;
  if (!member.settle(rumour.ip, fromBus(cluster.server, rumour), rumour.busPort)) return;
  cluster.unlink(member.link);
  member.mark(0, NO_ADDRESS);
}

/** A member that this node has not heard of. It is dialled at the next heartbeat. */
function learnOf(cluster: Cluster, rumour: Rumour): void {
  const { id, flags, ip, busPort } = rumour;
  if ((flags & NO_ADDRESS) !== 0 || isForgotten(cluster, id)) return;
  const member = cluster.add(id, flags & ~(MYSELF | TO_MEET));
  member.settle(ip, fromBus(cluster.server, rumour), busPort);
}

/** True while a node that was forgotten may not come back by hearsay. */
export function isForgotten(cluster: Cluster, id: Bytes): boolean {
  for (const [each, until] of cluster.forgotten) if (until < cluster.now) cluster.forgotten.delete(each);
  return cluster.forgotten.has(id);
}
