/** How a node connects to others: a replica and a Sentinel with TLS if `tls-replication` is on, the bus if `tls-cluster` is. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Connection, Host, PendingConnection, Receiver } from '../host/host.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * The REPLCONF commands of a Redis replica: it accepts a dataset of unknown length, and follows the stream after a
 * promotion. Newer Redis adds `rdb-channel-repl` and Valkey adds `dual-channel`, which send the dataset over a separate
 * connection; this is not supported here. Valkey also sends its version.
 */
export const INTRODUCTION: readonly (readonly Bytes[])[] = [['REPLCONF', 'capa', 'eof', 'capa', 'psync2']];

/** The port at which other nodes can reach this one. */
export function announcedPort(settings: Settings): number {
  const { port, 'tls-port': tlsPort, 'tls-replication': withTls } = settings;
  return settings['replica-announce-port'] || (withTls && tlsPort !== 0 ? tlsPort : port);
}

/** Connects to another node as `Host.connect` does. With TLS, the attempt fails if this node has no certificates. */
export function dial(
  host: Host,
  withTls: boolean,
  to: { readonly host: string; readonly port: number },
  receiver: Receiver,
  opened: (connection: Connection) => void,
): PendingConnection | undefined {
  if (!withTls) return host.connect(to.host, to.port, receiver, opened);
  if (host.connectWithTls !== undefined) return host.connectWithTls(to.host, to.port, receiver, opened);
  host.clock.soon(() => receiver.closed());
  return undefined;
}

/** The replica's side, as it hears of an attempt to reach its primary. */
interface DialOwner {
  received(dialled: PrimaryDial, chunk: Uint8Array): void;
  closed(dialled: PrimaryDial): void;
}

/** One connection attempt and its connection. Events of an abandoned attempt are ignored. */
export class PrimaryDial implements Receiver {
  readonly comesFirst = true;
  connection: Connection | undefined;
  attempt: PendingConnection | undefined;
  readonly #side: DialOwner;

  constructor(side: DialOwner) {
    this.#side = side;
  }

  /** Ends the attempt or the connection. */
  end(): void {
    this.attempt?.cancel();
    this.connection?.abort();
  }

  receive(chunk: Uint8Array): void {
    this.#side.received(this, chunk);
  }

  closed(): void {
    this.#side.closed(this);
  }
}
