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
 * A connector class that takes its connections from `open`, which is given the client's options.
 * ioredis reports what `open` throws as a connection error.
 */
export function connectorFor(open: (options: { readonly port?: number }) => Duplex): ConnectorClass {
  class MemoryConnector implements InMemoryConnector {
    #stream: Duplex | undefined;
    #wanted = false;
    readonly #options: { readonly port?: number };

    constructor(options: { readonly port?: number }) {
      this.#options = options;
    }

    async connect(): Promise<Duplex> {
      this.#wanted = true;
      this.#stream = open(this.#options);
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
