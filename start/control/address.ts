/** Where a server listens, under the names of this package and under those of Testcontainers and redis-memory-server. */

export interface AddressParts {
  readonly host: string;
  readonly port: number;
  readonly tlsPort: number | undefined;
  readonly password: string | undefined;
}

/** A server that has an address. */
export abstract class AddressedServer implements AsyncDisposable {
  /** The address that the server listens on, or the first of several. */
  readonly host: string;
  /** The TCP port that the server listens on: the one without TLS, if there are two. */
  readonly port: number;
  /** The TCP port at which connections speak TLS; undefined if there is none. */
  readonly tlsPort: number | undefined;
  readonly #password: string | undefined;

  /** @internal */
  constructor({ host, port, tlsPort, password }: AddressParts) {
    this.host = host;
    this.port = port;
    this.tlsPort = tlsPort;
    this.#password = password;
  }

  /** The URL for any client: `redis://host:port`, with the password if there is one; `rediss://` if every port speaks TLS. */
  get url(): string {
    const login = this.#password === undefined ? '' : `:${encodeURIComponent(this.#password)}@`;
    const host = this.host.includes(':') ? `[${this.host}]` : this.host;
    const scheme = this.port === this.tlsPort ? 'rediss' : 'redis';
    return `${scheme}://${login}${host}:${this.port}`;
  }

  /** The host, by the name that Testcontainers and redis-memory-server give it. */
  getHost(): string {
    return this.host;
  }

  /** The port. Named as in Testcontainers and redis-memory-server. */
  getPort(): number {
    return this.port;
  }

  /** The port, whichever container port is asked for. Named as in Testcontainers. */
  getMappedPort(_port?: number): number {
    return this.port;
  }

  /** The URL. Named as in Testcontainers. */
  getConnectionUrl(): string {
    return this.url;
  }

  /** The password, undefined if there is none. Named as in Testcontainers. */
  getPassword(): string | undefined {
    return this.#password;
  }

  /** Stops the server. Resolves when no handle is left. A second call has no effect. */
  abstract stop(): Promise<void>;

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
