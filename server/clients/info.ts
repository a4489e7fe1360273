/** How CLIENT LIST and CLIENT INFO describe a connection. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Connection } from '../host/host.ts';
import type { HasClients, HasNow } from '../ports.ts';
import type { ReplicaSide } from '../replication/replica.ts';
import { type Client, IN_MULTI, MONITOR, NO_EVICT, PRIMARY_LINK, REPLICA_LINK } from './client.ts';
import { memoryOf, queuedBytes } from './memory.ts';
import type { Tracking } from './tracking.ts';

/** The node, as CLIENT LIST sees it. */
export interface ListingNode extends HasClients, HasNow {
  readonly tracking: Pick<Tracking, 'modeOf'>;
  /** The client whose request is running. */
  readonly running: Client | undefined;
  readonly primary: Pick<ReplicaSide, 'linkUp' | 'client' | 'connection'> | undefined;
}

function flags({ tracking: modes }: ListingNode, client: Client): Bytes {
  let out = '';
  if (client.has(REPLICA_LINK)) out += client.has(MONITOR) ? 'O' : 'S';
  if (client.has(PRIMARY_LINK)) out += 'M';
  if (client.subscriptions.total > 0) out += 'P';
  if (client.has(IN_MULTI)) out += 'x';
  if (client.blocked !== undefined) out += 'b';
  const tracking = modes.modeOf(client);
  if (tracking !== undefined) out += `t${tracking.broken ? 'R' : ''}${tracking.broadcast ? 'B' : ''}`;
  if (client.watches.touched) out += 'd';
  if (client.closing) out += 'c';
  if (client.connection?.remote.startsWith('/')) out += 'U';
  if (client.has(NO_EVICT)) out += 'e';
  return out === '' ? 'N' : out;
}

/** Returns the clients in CLIENT LIST: all clients, and the link to the primary while it is up. */
export function everyClient(server: ListingNode): Client[] {
  const all = [...server.clients.values()];
  const { primary } = server;
  if (primary?.linkUp !== true || primary.client === undefined) return all;
  return [...all, primary.client].sort((a, b) => a.id - b.id);
}

/**
 * Returns the connection behind a client. The client that applies the primary's stream has no connection of its own, so
 * that nothing is answered.
 */
export function connectionOf(server: ListingNode, client: Client): Connection | undefined {
  return client.has(PRIMARY_LINK) ? server.primary?.connection : client.connection;
}

/**
 * Describes a client in one line, with 7.0's fields in their order
 * (https://redis.io/docs/latest/commands/client-list/).
 */
export function describeClient(server: ListingNode, client: Client): Bytes {
  const { transaction } = client;
  const connection = connectionOf(server, client);
  // The request that is running is still in the query buffer.
  const queued = client === server.running ? client.decoder.received : client.decoder.buffered;
  const seconds = (since: number): number => Math.max(0, Math.floor((server.now - since) / 1000));
  const fields: [string, Bytes | number][] = [
    ['id', client.id],
    ['addr', connection?.remote ?? ''],
    ['laddr', connection?.local ?? ''],
    ['fd', client.id + 7],
    ['name', client.name],
    ['age', seconds(client.createdAt)],
    ['idle', seconds(client.usedAt)],
    ['flags', flags(server, client)],
    ['db', client.db.index],
    ['sub', client.subscriptions.channels.size],
    ['psub', client.subscriptions.patterns.size],
    ['ssub', client.subscriptions.shardChannels.size],
    ['multi', transaction === undefined ? -1 : transaction.queue.length],
    ['qbuf', queued],
    ['qbuf-free', 0],
    ['argv-mem', 0],
    ['multi-mem', queuedBytes(client)],
    ['rbs', 16384],
    ['rbp', 0],
    ['obl', client.output.pending],
    ['oll', 0],
    ['omem', 0],
    ['tot-mem', memoryOf(client)],
    ['events', 'r'],
    ['cmd', client.lastCommand?.fullName ?? 'NULL'],
    ['user', client.has(PRIMARY_LINK) ? '(superuser)' : client.user],
    ['redir', server.tracking.modeOf(client)?.redirect ?? -1],
    ['resp', client.protocol],
  ];
  return fields.map(([name, value]) => `${name}=${value}`).join(' ');
}
