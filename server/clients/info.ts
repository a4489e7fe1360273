/** How CLIENT LIST and CLIENT INFO describe a connection. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Connection } from '../host/host.ts';
import type { HasClients, HasDialect, HasNow } from '../ports.ts';
import type { ReplicaSide } from '../replication/replica.ts';
import {
  type Client,
  FOLLOWS_REDIRECTS,
  IMPORT_SOURCE,
  IN_MULTI,
  MONITOR,
  NO_EVICT,
  NO_TOUCH,
  PRIMARY_LINK,
  READS_REPLICAS,
  REPLICA_LINK,
} from './client.ts';
import type { ClientField } from './fields.ts';
import { memoryOf, queuedBytes } from './memory.ts';
import type { Tracking } from './tracking.ts';

/** The node, as CLIENT LIST sees it. */
export interface ListingNode extends HasClients, HasDialect, HasNow {
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
  if (client.has(READS_REPLICAS)) out += 'r';
  if (client.has(NO_EVICT)) out += 'e';
  if (client.has(NO_TOUCH)) out += 'T';
  if (client.has(IMPORT_SOURCE)) out += 'I';
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

const seconds = (server: ListingNode, since: number): number =>
  Math.max(0, Math.floor((server.now - since) / 1000));

/** The size of the data in a client's query buffer. The request that is running is still in it. */
function queryBuffer(server: ListingNode, client: Client): number {
  const { received, buffered, pipelined, split } = client.decoder;
  if (client !== server.running) return buffered;
  switch (server.dialect.sharedQueryBuffer) {
    case 'none':
      return received;
    // Valkey takes a buffer of the client's own away after two idle seconds. Here the client keeps it.
    case 'for lone requests':
      return split || pipelined || buffered > 0 ? received : 0;
    case 'for whole requests':
      return split ? received : 0;
  }
}

/** How long a client has sent nothing, in whole seconds. */
export function idleSeconds(server: ListingNode, client: Client): number {
  return seconds(server, client.usedAt);
}

/** The value of each field. */
const FIELDS: Record<ClientField, (server: ListingNode, client: Client) => Bytes | number> = {
  id: (_, client) => client.id,
  addr: (server, client) => connectionOf(server, client)?.remote ?? '',
  laddr: (server, client) => connectionOf(server, client)?.local ?? '',
  fd: (_, client) => client.id + 7,
  name: (_, client) => client.name,
  age: (server, client) => seconds(server, client.createdAt),
  idle: idleSeconds,
  flags,
  capa: (_, client) => (client.has(FOLLOWS_REDIRECTS) ? 'r' : ''),
  db: (_, client) => client.db.index,
  sub: (_, client) => client.subscriptions.channels.size,
  psub: (_, client) => client.subscriptions.patterns.size,
  ssub: (_, client) => client.subscriptions.shardChannels.size,
  multi: (server, client) =>
    client.transaction?.queue.length ??
    (client.watches.used && server.dialect.emptyTransaction === 'once one was begun' ? 0 : -1),
  watch: (_, client) => client.watches.size,
  qbuf: queryBuffer,
  'qbuf-free': () => 0,
  'argv-mem': () => 0,
  'multi-mem': (_, client) => queuedBytes(client),
  rbs: (_, client) => client.replyBuffer.read().size,
  rbp: (_, client) => client.replyBuffer.read().peak,
  obl: (_, client) => client.output.pending,
  oll: () => 0,
  omem: () => 0,
  'tot-mem': (_, client) => memoryOf(client),
  events: () => 'r',
  cmd: (_, client) => client.lastCommand?.fullName ?? 'NULL',
  user: (_, client) => (client.has(PRIMARY_LINK) ? '(superuser)' : client.user),
  redir: (server, client) => server.tracking.modeOf(client)?.redirect ?? -1,
  resp: (_, client) => client.protocol,
  'lib-name': (_, client) => client.library.name,
  'lib-ver': (_, client) => client.library.version,
  'io-thread': () => 0,
  'tot-net-in': (_, client) => client.totals.bytesIn,
  'tot-net-out': (_, client) => client.totals.bytesOut,
  'tot-cmds': (_, client) => client.totals.commands,
};

/** The value of one field. */
export function fieldOf(server: ListingNode, client: Client, name: ClientField): Bytes | number {
  return FIELDS[name](server, client);
}

/**
 * Describes a client in one line, with the fields of the dialect's server in their order
 * (https://redis.io/docs/latest/commands/client-list/).
 */
export function describeClient(server: ListingNode, client: Client): Bytes {
  return server.dialect.clientFields.map((name) => `${name}=${FIELDS[name](server, client)}`).join(' ');
}
