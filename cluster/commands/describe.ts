/** How CLUSTER NODES, SLOTS, SHARDS, LINKS and INFO describe the cluster. */
import type { Bytes } from '../../protocol/bytes.ts';
import { MapReply, type Reply, Verbatim } from '../../protocol/reply.ts';
import { SLOT_COUNT } from '../../protocol/slot.ts';
import type { Client } from '../../server/clients/client.ts';
import type { Cluster } from '../cluster.ts';
import { FAILED, HANDSHAKE, type Member, MYSELF, SUSPECTED } from '../member.ts';
import { TYPES } from '../message.ts';
import type { Move } from '../moving/move.ts';
import { portFor } from '../ports.ts';
import { endpointOf } from '../routing.ts';
import type { Traffic } from '../traffic.ts';

function rangeText([first, last]: readonly [number, number]): string {
  return first === last ? String(first) : `${first}-${last}`;
}

/**
 * One line of CLUSTER NODES, without the end of the line.
 * @param port the port for clients that it names
 */
export function describeMember(cluster: Cluster, member: Member, port: number): Bytes {
  const { id, ip, busPort, hostname, flagNames, primary, pingSentAt, pongAt } = member;
  const epoch = (member.head ?? member).configEpoch;
  const connected = member.has(MYSELF) || member.link !== undefined ? 'connected' : 'disconnected';
  const words = [
    id,
    `${ip}:${port}@${busPort}${hostname === '' ? '' : `,${hostname}`}`,
    flagNames,
    primary?.id ?? '-',
    pingSentAt,
    pongAt,
    epoch,
    connected,
    ...member.slots.ranges().map(rangeText),
  ];
  if (member.has(MYSELF)) words.push(...openSlots(cluster));
  return words.join(' ');
}

/** The slots that are being moved, as CLUSTER NODES shows them. */
function* openSlots({ migrating, importing }: Cluster): Iterable<string> {
  const slots = new Set([...migrating.keys(), ...importing.keys()]);
  for (const slot of [...slots].sort((one, other) => one - other)) {
    const [to, from] = [migrating.get(slot), importing.get(slot)];
    if (to !== undefined) yield `[${slot}->-${to.id}]`;
    else if (from !== undefined) yield `[${slot}-<-${from.id}]`;
  }
}

/** CLUSTER NODES: a line for each member. */
export function nodesReply(cluster: Cluster, client: Client): Reply {
  const lines = [...cluster.members.values()].map(
    (member) => `${describeMember(cluster, member, portFor(cluster.server, member, client))}\n`,
  );
  return new Verbatim('txt', lines.join(''));
}

/** What a client may want to know of a node besides its preferred endpoint. */
function metadata(cluster: Cluster, { ip, hostname }: Member): Reply {
  const type = cluster.server.settings['cluster-preferred-endpoint-type'];
  const items: Reply[] = [];
  if (type !== 'ip') items.push('ip', ip);
  if (type !== 'hostname' && hostname !== '') items.push('hostname', hostname);
  return new MapReply(items);
}

function nodeOfSlots(cluster: Cluster, member: Member, client: Client): Reply {
  const port = portFor(cluster.server, member, client);
  return [endpointOf(cluster, member) ?? null, port, member.id, metadata(cluster, member)];
}

/** The last slot of the range that begins at a slot. V8 compiles this loop sooner than one with more in it. */
function lastOfRange(owners: Cluster['owners'], first: number): number {
  const owner = owners[first];
  let last = first;
  while (last + 1 < SLOT_COUNT && owners[last + 1] === owner) last++;
  return last;
}

/** CLUSTER SLOTS: for each range of slots, its primary and the replicas that work and have its data. */
export function slotsReply(cluster: Cluster, client: Client): Reply {
  const { owners } = cluster;
  const ranges: { first: number; last: number; owner: Member }[] = [];
  for (let first = 0, last = 0; first < SLOT_COUNT; first = last + 1) {
    const owner = owners[first];
    last = lastOfRange(owners, first);
    if (owner !== undefined) ranges.push({ first, last, owner });
  }
  return ranges.map(({ first, last, owner }): Reply => {
    const working = owner.replicas.filter((each) => !each.has(FAILED) && offsetOf(cluster, each) !== 0);
    return [first, last, ...[owner, ...working].map((member) => nodeOfSlots(cluster, member, client))];
  });
}

function healthOf(cluster: Cluster, member: Member): string {
  if (member.has(SUSPECTED | FAILED)) return 'fail';
  return member.isReplica && offsetOf(cluster, member) === 0 ? 'loading' : 'online';
}

function offsetOf({ server }: Cluster, member: Member): number {
  return member.has(MYSELF) ? server.replication.offset : member.offset;
}

function nodeOfShards(cluster: Cluster, member: Member): Reply {
  const { id, ip, port, tlsPort, hostname } = member;
  const items: Reply[] = ['id', id];
  if (port !== 0) items.push('port', port);
  if (tlsPort !== 0) items.push('tls-port', tlsPort);
  items.push('ip', ip, 'endpoint', endpointOf(cluster, member) ?? '');
  if (hostname !== '') items.push('hostname', hostname);
  items.push('role', member.isReplica ? 'replica' : 'master');
  items.push('replication-offset', offsetOf(cluster, member), 'health', healthOf(cluster, member));
  return new MapReply(items);
}

/** CLUSTER SHARDS: each primary with its replicas. */
export function shardsReply(cluster: Cluster): Reply {
  const heads = [...cluster.members.values()].filter((member) => member.isPrimary && !member.has(HANDSHAKE));
  return heads.map((head): Reply => {
    const nodes = [head, ...head.replicas].map((member) => nodeOfShards(cluster, member));
    const slots = head.slots.ranges().flat();
    const id = cluster.server.dialect.cluster.showsShardIds ? ['id', head.shardId] : [];
    return new MapReply(['slots', slots, 'nodes', nodes, ...id]);
  });
}

/** CLUSTER LINKS: both connections to each member. */
export function linksReply(cluster: Cluster): Reply {
  return [...cluster.members.values()].flatMap((member) =>
    (['to', 'from'] as const).flatMap((direction): Reply[] => {
      const link = direction === 'to' ? member.link : member.inbound;
      if (link === undefined) return [];
      const waits = link.pending > 0 ? 'rw' : 'r';
      const fields: Reply[] = ['direction', direction, 'node', member.id, 'create-time', link.createdAt];
      fields.push('events', waits, 'send-buffer-allocated', link.pending, 'send-buffer-used', link.pending);
      return [new MapReply(fields)];
    }),
  );
}

function countSlots({ members }: Cluster, counts: (owner: Member) => boolean): number {
  return [...members.values()].filter(counts).reduce((sum, { slots }) => sum + slots.size, 0);
}

function* messageLines({ counts }: Traffic, suffix: string): Iterable<string> {
  let total = 0;
  for (const type of TYPES) {
    const count = counts.get(type) ?? 0;
    total += count;
    if (count > 0) yield `cluster_stats_messages_${type}_${suffix}:${count}`;
  }
  yield `cluster_stats_messages_${suffix}:${total}`;
}

/** How many nodes, and how many primaries with slots, have failed or may have. */
function failedLines({ members }: Cluster): string[] {
  const all = [...members.values()];
  const some = (voting: boolean, flag: number): number =>
    all.filter((each) => each.has(flag) && (!voting || (each.isPrimary && each.slots.size > 0))).length;
  return [
    `cluster_nodes_pfail:${some(false, SUSPECTED)}`,
    `cluster_nodes_fail:${some(false, FAILED)}`,
    `cluster_voting_nodes_pfail:${some(true, SUSPECTED)}`,
    `cluster_voting_nodes_fail:${some(true, FAILED)}`,
  ];
}

/** The moves of slots with Redis 8.4 and later. The keys of slots that have left are removed at once: nothing is trimmed later. */
function moveLines(moves: readonly Move[]): string[] {
  const idle = ['running', 'current_job_keys', 'current_job_trimmed'].map((name) => `active_trim_${name}:0`);
  const done = ['started', 'completed', 'cancelled'].map((name) => `stats_active_trim_${name}:0`);
  const active = moves.filter(({ isFinished }) => !isFinished).length;
  return [`active_tasks:${active}`, ...idle, ...done].map((line) => `cluster_slot_migration_${line}`);
}

/** What went over the bus in bytes; no module sends anything. */
function byteLines({ sent, received }: Cluster): string[] {
  return [
    `cluster_stats_bytes_sent:${sent.bytes}`,
    `cluster_stats_bytes_received:${received.bytes}`,
    `cluster_stats_pubsub_bytes_sent:${sent.pubsubBytes}`,
    `cluster_stats_pubsub_bytes_received:${received.pubsubBytes}`,
    'cluster_stats_module_bytes_sent:0',
    'cluster_stats_module_bytes_received:0',
  ];
}

/** CLUSTER INFO: the state of the cluster in figures. */
export function infoReply(cluster: Cluster, moves: readonly Move[]): Reply {
  const { myself, members } = cluster;
  const shows = cluster.server.dialect.cluster.countsNodesAndBytes;
  const lines = [
    `cluster_state:${cluster.isOk ? 'ok' : 'fail'}`,
    `cluster_slots_assigned:${countSlots(cluster, () => true)}`,
    `cluster_slots_ok:${countSlots(cluster, (owner) => !owner.has(SUSPECTED | FAILED))}`,
    `cluster_slots_pfail:${countSlots(cluster, (owner) => owner.has(SUSPECTED) && !owner.has(FAILED))}`,
    `cluster_slots_fail:${countSlots(cluster, (owner) => owner.has(FAILED))}`,
    ...(shows ? failedLines(cluster) : []),
    `cluster_known_nodes:${members.size}`,
    `cluster_size:${cluster.size}`,
    `cluster_current_epoch:${cluster.currentEpoch}`,
    `cluster_my_epoch:${(myself.head ?? myself).configEpoch}`,
    ...messageLines(cluster.sent, 'sent'),
    ...messageLines(cluster.received, 'received'),
    ...(shows ? byteLines(cluster) : []),
    'total_cluster_links_buffer_limit_exceeded:0',
    ...(cluster.server.dialect.cluster.movesSlots === 'to the target' ? moveLines(moves) : []),
  ];
  return new Verbatim('txt', lines.map((line) => `${line}\r\n`).join(''));
}
