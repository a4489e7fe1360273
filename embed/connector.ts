/** Lets ioredis connect without a socket: a Connector class that opens in-memory connections. */
import type { Duplex } from 'node:stream';

/** The methods that ioredis calls on a connector. */
export interface InMemoryConnector {
  /** The error of the last attempt. In memory there is none. */
  firstError?: Error;
  connect(): Promise<Duplex>;
  disconnect(): void;
  check(): boolean;
}

/**
 * A class for ioredis' `Connector` option. The type fits the connector type of every ioredis version, which cannot be
 * named when ioredis is not installed.
 */
export type ConnectorClass = new (options: unknown) => never;

/**
 * A connector class that takes its connections from `open`. ioredis reports what `open` throws as a connection error.
 */
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
  // ioredis declares the stream as a net.Socket, but uses only what a Duplex has.
  return MemoryConnector as unknown as ConnectorClass;
}
