/**
 * An address on the real clock that follows the primary: a TCP port of 127.0.0.1 that forwards each connection to the
 * current primary.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { resetSocket } from '../../server/host/reset.ts';
import type { RealClockNetwork } from './network.ts';
import { RealClockSocket } from './socket.ts';

/** The party to which clients without a name belong. On the virtual clock, code that runs without a name has the same one. */
export const ANYBODY = 'client';

/** A listening port that forwards to the primary of the moment. */
export class RealClockEndpoint {
  /** The name of the party to which the connections belong. */
  readonly name: string;
  readonly #network: RealClockNetwork;
  readonly #port: () => number;
  readonly #partyOf: (address: string) => string;
  readonly #listener: Server;
  readonly #sockets = new Set<Socket>();
  #own = 0;

  /**
   * @param port returns the current primary's port; called for each connection
   * @param partyOf returns the party that dials from an IP address, where several parties use the endpoint
   */
  constructor(
    network: RealClockNetwork,
    name: string,
    port: () => number,
    partyOf: (address: string) => string = () => name,
  ) {
    this.#network = network;
    this.name = name;
    this.#port = port;
    this.#partyOf = partyOf;
    this.#listener = createServer({ noDelay: true }, (near) => this.#forward(near));
  }

  /** A URL for any client. A connection stays with the primary that it was opened to, and ends with it. */
  get url(): string {
    return `redis://127.0.0.1:${this.#own}`;
  }

  /** The port. */
  get port(): number {
    return this.#own;
  }

  /** Listens; 0 picks a free port. Rejects with Node's error when the port is taken. */
  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#listener.once('error', reject);
      this.#listener.listen(port, '127.0.0.1', resolve);
    });
    this.#own = (this.#listener.address() as { port: number }).port;
  }

  #forward(near: Socket): void {
    const far = new RealClockSocket(this.#network, this.#partyOf(near.remoteAddress ?? ''), this.#port());
    this.#sockets.add(near);
    near.on('close', () => {
      this.#sockets.delete(near);
      if (!far.silent) far.destroy();
    });
    near.on('error', () => far.reset());
    far.on('error', () => resetSocket(near));
    near.pipe(far).pipe(near);
  }

  /** Breaks every connection. Resolves when no handle is left. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#listener.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
