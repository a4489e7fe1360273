/** How a replica connects to its primary: with TLS if `tls-replication` is on. */
import type { Connection, Receiver } from '../host/host.ts';
import type { HasHost, HasSettings } from '../ports.ts';
import type { Settings } from '../settings/settings.ts';

/** The port at which other nodes can reach this one. */
export function announcedPort(settings: Settings): number {
  const { port, 'tls-port': tlsPort, 'tls-replication': withTls } = settings;
  return settings['replica-announce-port'] || (withTls && tlsPort !== 0 ? tlsPort : port);
}

/** Connects to a primary. Returns false if this node has no certificates for a connection with TLS. */
export function dial(
  { host, settings }: HasHost & HasSettings,
  primary: { readonly host: string; readonly port: number },
  receiver: Receiver,
  opened: (connection: Connection) => void,
): boolean {
  const connect = settings['tls-replication'] ? host.connectWithTls : host.connect;
  connect?.call(host, primary.host, primary.port, receiver, opened);
  return connect !== undefined;
}
