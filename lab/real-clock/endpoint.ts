/**
 * An address on the real clock that follows the primary: a TCP port of 127.0.0.1 that forwards each connection to the
 * current primary.
 */
import type { Socket } from 'node:net';
import { resetSocket } from '../../server/host/reset.ts';
import { type Entrance, EntrancePorts } from './entrance.ts';
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
  readonly #ports: EntrancePorts;
  readonly #sockets = new Set<Socket>();

  /**
   * @param port returns the current primary's port; called for each connection
   * @param partyOf returns the party that dials from an IP address, where several parties use the endpoint
   * @param entrance where it listens; default on 127.0.0.1
   */
  constructor(
    network: RealClockNetwork,
    name: string,
    port: () => number,
    partyOf: (address: string) => string = () => name,
    entrance: Entrance = {},
  ) {
    this.#network = network;
    this.name = name;
    this.#port = port;
    this.#partyOf = partyOf;
    this.#ports = new EntrancePorts(entrance, (near) => this.#forward(near));
  }

  /** A URL for any client. A connection stays with the primary that it was opened to, and ends with it. */
  get url(): string {
    return this.#ports.url;
  }

  /** The port. */
  get port(): number {
    return this.#ports.port;
  }

  /** Listens; 0 picks a free port. Rejects with Node's error when a port is taken, and then listens nowhere. */
  async listen(port = 0): Promise<void> {
    try {
      await this.#ports.listen(port);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** The port at which connections speak TLS; undefined if there is none. */
  get tlsPort(): number | undefined {
    return this.#ports.tlsPort;
  }

  #forward(near: Socket): void {
    const far = new RealClockSocket(this.#network, this.#partyOf(near.remoteAddress ?? ''), this.#port());
    this.#sockets.add(near);
    near.on('close', () => {
      this.#sockets.delete(near);
      if (!far.silent) far.destroy();
    });
    near.on('error', () => far.reset());
    // A unix socket cannot be reset, nor can TLS.
    const isTcp = near.remoteAddress !== undefined && !('encrypted' in near);
    far.on('error', () => (isTcp ? resetSocket(near) : near.destroy()));
    near.pipe(far).pipe(near);
  }

  /** Breaks every connection. Resolves when no handle is left. */
  async close(): Promise<void> {
    const closed = this.#ports.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
