/**
 * A running server as `startServer` returns it: its address, in-memory connections, data, intercept rules, and `stop`.
 */
import type { Duplex } from 'node:stream';
import { empty } from '../server/commands/node/server.ts';
import { connectInMemory } from '../server/host/in-memory.ts';
import type { Listener } from '../server/host/tcp.ts';
import type { Server } from '../server/server.ts';
import { type ConnectorClass, connectorFor } from './connector.ts';
import { type DumpEntry, dump, type Seed } from './dataset.ts';
import { type Interception, Interceptor, type Intervention, type RequestFilter } from './interceptor.ts';
import { ScriptRegistry } from './native-scripts.ts';
import { seed } from './seed.ts';
import type { LostlockSentinel } from './sentinel.ts';

/** A running server. */
export class LostlockServer implements AsyncDisposable {
  /** The node itself, for access to what this class does not expose. */
  readonly node: Server;
  /** The address that the server listens on, or the first of several. */
  readonly host: string;
  /** The TCP port that the server listens on: the one without TLS, if there are two. */
  readonly port: number;
  /** The TCP port at which connections speak TLS; undefined if there is none. */
  readonly tlsPort: number | undefined;
  /** For ioredis: `new Redis({ Connector: server.connector })` connects in memory, without a socket. */
  readonly connector: ConnectorClass;
  /** Registers TypeScript functions that replace Lua scripts. */
  readonly scripts: ScriptRegistry;
  /** The replicas of this server, as the option `replicas` requested. `stop` stops them as well. */
  readonly replicas: readonly LostlockServer[];
  /** The Sentinels, as the option `sentinels` requested. `stop` stops them as well. */
  readonly sentinels: readonly LostlockSentinel[];
  readonly #listeners: readonly Listener[];
  readonly #interceptor: Interceptor;
  readonly #password: string | undefined;
  #stopped = false;

  constructor(
    node: Server,
    options: { readonly host?: string; readonly password?: string },
    listeners: readonly Listener[],
    others: { replicas?: readonly LostlockServer[]; sentinels?: readonly LostlockSentinel[] } = {},
  ) {
    this.node = node;
    [this.host = ''] = (options.host ?? '127.0.0.1').split(' ');
    const { port, 'tls-port': tlsPort } = node.settings;
    this.port = port || tlsPort;
    this.tlsPort = tlsPort === 0 ? undefined : tlsPort;
    this.replicas = others.replicas ?? [];
    this.sentinels = others.sentinels ?? [];
    this.connector = connectorFor(() => this.connect());
    this.#listeners = listeners;
    this.scripts = new ScriptRegistry(node, () => this.#assertRunning('scripts.register()'));
    this.#interceptor = new Interceptor(node);
    this.#password = options.password;
    // Behind Sentinels, a primary that shuts down is replaced.
    node.onShutdown = () => void (this.sentinels.length > 0 ? this.#stopAlone() : this.stop());
    node.onFatal = () => {
      node.stop();
      void this.stop();
    };
  }

  #assertRunning(call: string): void {
    if (!this.#stopped && !this.node.stopped) return;
    throw new Error(`lostlock: ${call} on a server that has stopped (${this.host}:${this.port})`);
  }

  /** The URL for any client: `redis://host:port`, with the password if there is one; `rediss://` if every port speaks TLS. */
  get url(): string {
    const login = this.#password === undefined ? '' : `:${encodeURIComponent(this.#password)}@`;
    const scheme = this.port === this.tlsPort ? 'rediss' : 'redis';
    return `${scheme}://${login}${this.host}:${this.port}`;
  }

  /**
   * Opens an in-memory connection: write requests to the stream and read replies from it, both as RESP bytes. Throws
   * when the server has stopped, like the methods below.
   */
  connect(): Duplex {
    this.#assertRunning('connect()');
    return connectInMemory(this.node.connections);
  }

  /** Stores keys, overwriting existing ones, in one step. Throws TypeError for invalid data and then stores nothing. */
  seed(data: Seed): void {
    this.#assertRunning('seed()');
    seed(this.node, data);
  }

  /** Every key as plain values, in the form that `seed` accepts. */
  dump(): DumpEntry[] {
    this.#assertRunning('dump()');
    return dump(this.node);
  }

  /** Removes every key of every database. */
  flush(): void {
    this.#assertRunning('flush()');
    this.node.unit(() => {
      empty(this.node, this.node.databases);
      this.node.effects.propagateAlso(this.node.db(0), ['FLUSHALL']);
    });
    this.node.settle();
  }

  /** The names that clients sent and that are no command of this server, each with its number of requests. */
  unknownCommands(): { readonly command: string; readonly count: number }[] {
    return [...this.node.stats.unknownCommands].map(([command, count]) => ({ command, count }));
  }

  /**
   * Answers, delays or breaks matching requests. Rules are checked in the order in which they were added. Throws
   * TypeError for an unknown filter or intervention.
   */
  intercept(filter: RequestFilter, intervention: Intervention): Interception {
    this.#assertRunning('intercept()');
    return this.#interceptor.add(filter, intervention);
  }

  /** The host. Named as in Testcontainers and redis-memory-server. */
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

  /** Closes every connection and listener. Resolves when no handle is left. A second call has no effect. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.sentinels, ...this.replicas].map((each) => each.stop()));
    await this.#stopAlone();
  }

  /** Stops this server, and leaves its replicas and Sentinels alone. */
  async #stopAlone(): Promise<void> {
    this.node.stop();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
