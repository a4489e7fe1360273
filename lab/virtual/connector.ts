/** An ioredis Connector that dials in a world, for clients that follow whichever node is primary. */
import type { Duplex } from 'node:stream';
import type { Inside } from '../time/current-world.ts';

/** The address for a client's next connection. */
export interface Address {
  /** The IP address. */
  readonly host: string;
  /** The TCP port. */
  readonly port: number;
}

/** The methods that ioredis calls on instances of its `Connector` option. */
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
 * A class for ioredis' `Connector` option. Each time the client dials, `where` returns the address, for example that of
 * the current primary. Dialling from outside the world throws, because such a client would live in real time.
 */
export function connectorTo(world: DialWorld, where: () => Address): new () => WorldConnector {
  // Bound, because a class or function for each client would get a hidden class of its own when it is constructed. V8 keeps
  // those, and with them the client's whole world, until the next full collection.
  return Dialler.bind(null, world, where) as unknown as new () => WorldConnector;
}

class Dialler implements WorldConnector {
  firstError?: Error;
  readonly #world: DialWorld;
  readonly #where: () => Address;
  #stream: Duplex | undefined;
  #wanted = false;

  constructor(world: DialWorld, where: () => Address) {
    this.#world = world;
    this.#where = where;
  }

  check(): boolean {
    return true;
  }

  connect(): Promise<Duplex> {
    this.#wanted = true;
    return new Promise((resolve, reject) => {
      // As in ioredis' own connector: the client installs its handlers after the promise has resolved.
      process.nextTick(() => {
        if (!this.#wanted) return reject(new Error('Connection is closed.'));
        const world = this.#world;
        if (!world.isInside) return reject(new Error('a client of a world must connect inside world.run()'));
        const { host, port } = this.#where();
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
}
