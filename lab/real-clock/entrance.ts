/** Where the ports of a lab listen that lead to its primary: addresses, TLS, a unix socket, a password. */
import { createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { refusalOfMachine } from '../../server/clients/admission.ts';
import { nodeTls } from '../../server/host/tls.ts';
import { boundAddresses, isMissing, reachableHost } from '../../start/listening.ts';
import type { TlsPlan } from '../../start/tls.ts';

/** Where a port listens, and whom it lets in. */
export interface Entrance {
  /** The addresses of redis.conf's `bind`; default 127.0.0.1. */
  readonly host?: string;
  /** The path of a unix socket beside the ports. */
  readonly unixSocket?: string;
  readonly tls?: TlsPlan;
  /** What the URL has as its password, which the nodes ask for. */
  readonly password?: string;
  /** True: other machines are refused, as in Redis' protected mode. */
  readonly isProtected?: boolean;
}

/** The ports of an entrance, once they listen. */
export class EntrancePorts {
  readonly #entrance: Entrance;
  readonly #accept: (socket: Socket) => void;
  readonly #listeners: Server[] = [];
  /** The port without TLS; undefined if there is none. */
  #plain: number | undefined;
  #secure: number | undefined;

  /** @param accept receives each connection */
  constructor(entrance: Entrance, accept: (socket: Socket) => void) {
    this.#entrance = entrance;
    this.#accept = accept;
  }

  /** The port: the one without TLS, if there are two. */
  get port(): number {
    return this.#plain ?? this.#secure ?? 0;
  }

  /** The port at which connections speak TLS; undefined if there is none. */
  get tlsPort(): number | undefined {
    return this.#secure;
  }

  /** The URL of the port. */
  get url(): string {
    const { password } = this.#entrance;
    const login = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
    const reachable = reachableHost(this.#entrance);
    const host = reachable.includes(':') ? `[${reachable}]` : reachable;
    return `${this.#plain === undefined ? 'rediss' : 'redis'}://${login}${host}:${this.port}`;
  }

  /** Listens; port 0 picks a free one. Rejects with Node's error when a port is taken. */
  async listen(port: number): Promise<void> {
    const { tls, unixSocket } = this.#entrance;
    if (tls?.plain !== false) this.#plain = await this.#listenAt(port, () => this.#make());
    if (tls?.port !== undefined) {
      const wanted = tls.plain ? tls.port : tls.port || port;
      this.#secure = await this.#listenAt(wanted, () => this.#makeSecure(tls));
    }
    if (unixSocket !== undefined) await this.#bind(this.#make(), { path: unixSocket });
  }

  /** Listens on one port at all addresses. Returns the port. */
  async #listenAt(wanted: number, make: () => Server): Promise<number> {
    let port = wanted;
    for (const { host, mayBeMissing } of boundAddresses(this.#entrance.host)) {
      try {
        const listener = await this.#bind(make(), { host, port, ipv6Only: true });
        port = (listener.address() as { port: number }).port;
      } catch (error) {
        if (!mayBeMissing || !isMissing(error)) throw error;
      }
    }
    return port;
  }

  async #bind(
    listener: Server,
    where: { path: string } | { host: string; port: number; ipv6Only: true },
  ): Promise<Server> {
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(where, resolve);
    });
    this.#listeners.push(listener);
    return listener;
  }

  #make(): Server {
    return createServer({ noDelay: true }, (socket) => this.#admit(socket));
  }

  #makeSecure({ context }: TlsPlan): Server {
    const listener = nodeTls().createServer({ ...context.serve, noDelay: true }, (socket: TLSSocket) => {
      // Node admits a certificate that no authority has signed where certificates are optional.
      const isForged = !socket.authorized && Object.keys(socket.getPeerCertificate()).length > 0;
      if (isForged) socket.destroy();
      else this.#admit(socket);
    });
    listener.on('tlsClientError', () => {});
    return listener;
  }

  #admit(socket: Socket): void {
    const refusal =
      this.#entrance.isProtected === true ? refusalOfMachine(socket.remoteAddress ?? '') : undefined;
    if (refusal === undefined) this.#accept(socket);
    else socket.on('error', () => {}).end(refusal);
  }

  /** Stops listening. Resolves when all connections have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((each) => new Promise((resolve) => each.close(resolve))));
  }
}
