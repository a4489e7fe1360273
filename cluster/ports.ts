/** The ports of nodes for clients: which ones a node announces, and which of them a client is told. */
import type { Client } from '../server/clients/client.ts';
import type { ClusterTraits } from '../server/dialects/cluster.ts';
import type { Settings } from '../server/settings/settings.ts';
import type { ClientPorts } from './member.ts';

/** The node, as its ports matter. */
interface PortsNode {
  readonly settings: Settings;
  readonly dialect: { readonly cluster: Pick<ClusterTraits, 'announces' | 'transport'> };
  /** The client whose request is running. */
  readonly running: Client | undefined;
}

/** Ports for clients as the bus transmits them. */
export interface BusPorts {
  /** The port of the transport that the bus has. */
  readonly port: number;
  /** The port of the other transport. */
  readonly otherPort: number;
}

function announcesBoth({ dialect }: PortsNode): boolean {
  return dialect.cluster.announces === 'both ports';
}

/** What this node announces. */
export function announcedPorts(node: PortsNode): ClientPorts {
  const { settings } = node;
  const { port, 'tls-port': tlsPort, 'tls-cluster': busHasTls } = settings;
  const [named, namedTls] = [settings['cluster-announce-port'], settings['cluster-announce-tls-port']];
  if (announcesBoth(node)) return { port: named || port, tlsPort: namedTls || tlsPort };
  if (!busHasTls) return { port: named || port, tlsPort: 0 };
  // Redis 7.0 takes the announced port for that of the bus's transport, unless both are announced.
  return namedTls === 0 ? { port, tlsPort: named || tlsPort } : { port: named, tlsPort: namedTls };
}

/** The port of the bus that this node announces. */
export function announcedBusPort(settings: Settings): number {
  const { port, 'tls-port': tlsPort, 'tls-cluster': busHasTls } = settings;
  const usual = (busHasTls ? tlsPort : port) + 10_000;
  return settings['cluster-announce-bus-port'] || settings['cluster-port'] || usual;
}

/** A node's ports, as this node sends them. */
export function toBus({ settings }: PortsNode, { port, tlsPort }: ClientPorts): BusPorts {
  return settings['tls-cluster'] ? { port: tlsPort, otherPort: port } : { port, otherPort: tlsPort };
}

/** A node's ports, as this node has received them, or as CLUSTER MEET and nodes.conf name one. */
export function fromBus(node: PortsNode, { port, otherPort }: BusPorts): ClientPorts {
  if (node.settings['tls-cluster']) return { port: otherPort, tlsPort: port };
  return { port, tlsPort: announcesBoth(node) ? otherPort : 0 };
}

/** Whether a client gets ports for TLS. */
function asksWithTls({ dialect, running, settings }: PortsNode, client: Client | undefined): boolean {
  const isOwn = dialect.cluster.transport === 'of the connection';
  const asker = isOwn || client === undefined ? client : (running ?? client);
  // Without a connection, as in a script of Redis 7.0, it is the transport of the bus.
  if (asker?.connection === undefined) return settings['tls-cluster'];
  return asker.connection.isSecure === true;
}

/**
 * The port of a member that a client is told.
 * @param client who asks; undefined for nobody
 */
export function portFor(node: PortsNode, { port, tlsPort }: ClientPorts, client: Client | undefined): number {
  const withTls = asksWithTls(node, client);
  if (announcesBoth(node)) return withTls ? tlsPort : port;
  return node.settings['tls-cluster'] && (withTls || port === 0) ? tlsPort : port;
}

/** The port at which this node replicates from a member. */
export function replicationPort(node: PortsNode, { port, tlsPort }: ClientPorts): number {
  const { 'tls-cluster': busHasTls, 'tls-replication': withTls } = node.settings;
  return (announcesBoth(node) ? withTls : busHasTls) ? tlsPort : port;
}
