/** ioredis' way to a server without a socket: a Connector class that opens in-memory connections. */
import type { Duplex } from 'node:stream';

/** What ioredis asks of a connector. */
export interface InMemoryConnector {
  /** The error that ended the last attempt; there is none in memory. */
  firstError?: Error;
  connect(): Promise<Duplex>;
  disconnect(): void;
  check(): boolean;
}

/**
 * The class to give to ioredis as its `Connector` option. It is typed to fit any version's own connector type, which
 * cannot be named where ioredis is not installed.
 */
export type ConnectorClass = new (options: unknown) => never;

/** A connector class whose connections come from `open`; what that throws, ioredis reports as its error. */
export function connectorFor(open: () => Duplex): ConnectorClass {
  class MemoryConnector implements InMemoryConnector {
    #stream: Duplex | undefined;
    #wanted = false;

    async connect(): Promise<Duplex> {
      this.#wanted = true;
      this.#stream = open();
      return this.#stream;
    }

    disconnect(): void {
      this.#wanted = false;
      this.#stream?.end();
    }

    check(): boolean {
      return this.#wanted;
    }
  }
  // ioredis types the stream as a net.Socket, of which it uses what a Duplex has.
  return MemoryConnector as unknown as ConnectorClass;
}
