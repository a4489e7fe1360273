/** An ioredis Connector that dials in a world, for clients that follow a node which may change. */
import type { Duplex } from 'node:stream';
import type { Inside } from '../time/present.ts';

/** Where a client's next connection goes. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** What ioredis asks of its `Connector` option's instances. */
export interface WorldConnector {
  firstError?: Error;
  check(): boolean;
  connect(): Promise<Duplex>;
  disconnect(): void;
}

/** The world that clients dial in. */
export interface DialWorld {
  /** True while code of this world is running. */
  readonly isInside: boolean;
  readonly inside: Pick<Inside, 'dial'>;
}

/**
 * A class for ioredis' option `Connector`. Every time the client dials, `where` is asked anew; the present primary, say.
 * Dialling outside of the world throws: such a client would live on real time.
 */
export function connectorTo(world: DialWorld, where: () => Address): new () => WorldConnector {
  return class implements WorldConnector {
    firstError?: Error;
    #stream: Duplex | undefined;
    #wanted = false;

    check(): boolean {
      return true;
    }

    connect(): Promise<Duplex> {
      this.#wanted = true;
      return new Promise((resolve, reject) => {
        // As ioredis' own: handlers are installed after the promise has resolved.
        process.nextTick(() => {
          if (!this.#wanted) return reject(new Error('Connection is closed.'));
          if (!world.isInside)
            return reject(new Error('a client of a world must connect inside world.run()'));
          const { host, port } = where();
          const stream = world.inside.dial(host, port);
          stream.once('error', (error: Error) => {
            this.firstError = error;
          });
          this.#stream = stream;
          resolve(stream);
        });
      });
    }

    disconnect(): void {
      this.#wanted = false;
      this.#stream?.end();
    }
  };
}
