/** The ports of a lab that lead to its primary: their addresses, TLS, a unix socket, and the refusal of other machines. */
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { refusalOfMachine } from '../../server/clients/admission.ts';
import { nodeTls } from '../../server/host/tls.ts';
import { listenOn, reachableHost } from '../../start/listening.ts';
import type { TlsPlan } from '../../start/tls.ts';

/** Where the ports listen, and which clients they refuse. */
export interface Entrance {
  /** The addresses of redis.conf's `bind`; default 127.0.0.1. */
  readonly host?: string;
  /** The path of a unix socket beside the ports. */
  readonly unixSocket?: string;
  readonly tls?: TlsPlan;
  /** The password in the URL. The ports do not check it: the nodes do. */
  readonly password?: string;
  /** True: other machines are refused, as in Redis' protected mode. */
  readonly isProtected?: boolean;
}

/** The ports of an entrance. */
export class EntrancePorts {
  readonly #entrance: Entrance;
  readonly #accept: (socket: Socket) => void;
  readonly #listeners: OpenListener[] = [];
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

  /** Listens; port 0 picks a free one. Rejects with Node's error when a port is taken; then `close` ends what listens already. */
  async listen(port: number): Promise<void> {
    const { host, tls, unixSocket } = this.#entrance;
    if (tls?.plain !== false) {
      this.#plain = await listenOn(port, host, (...at) => open(this.#make(), ...at), this.#listeners);
    }
    if (tls?.port !== undefined) {
      const wanted = tls.plain ? tls.port : tls.port || port;
      this.#secure = await listenOn(
        wanted,
        host,
        (...at) => open(this.#makeSecure(tls), ...at),
        this.#listeners,
      );
    }
    if (unixSocket !== undefined) this.#listeners.push(await listening(this.#make(), { path: unixSocket }));
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
    await Promise.all(this.#listeners.map((each) => each.close()));
  }
}

/** A server of Node that listens. */
interface OpenListener {
  close(): Promise<unknown>;
}

/** Makes a server of Node listen at an address. Resolves to its port too. */
async function open(listener: Server, host: string, port: number): Promise<readonly [OpenListener, number]> {
  const opened = await listening(listener, { host, port, ipv6Only: true });
  return [opened, (listener.address() as { port: number }).port];
}

async function listening(listener: Server, where: ListenOptions): Promise<OpenListener> {
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(where, resolve);
  });
  return { close: () => new Promise((resolve) => listener.close(resolve)) };
}
