/** A running server as users hold it: its address, connections in memory, its data, rules for its requests, and its end. */
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

/** A running server. */
export class LostlockServer implements AsyncDisposable {
  /** The node itself, for what this class does not offer. */
  readonly node: Server;
  readonly host: string;
  readonly port: number;
  /** For ioredis: `new Redis({ Connector: server.connector })` connects in memory, without a socket. */
  readonly connector: ConnectorClass;
  /** TypeScript functions that stand in for Lua scripts. */
  readonly scripts: ScriptRegistry;
  /** The servers that follow this one, as `replicas` asked for; `stop` stops them, too. */
  readonly replicas: readonly LostlockServer[];
  readonly #listeners: readonly Listener[];
  readonly #interceptor: Interceptor;
  readonly #password: string | undefined;
  #stopped = false;

  constructor(
    node: Server,
    options: { readonly host?: string; readonly password?: string },
    port: number,
    listeners: readonly Listener[],
    replicas: readonly LostlockServer[] = [],
  ) {
    this.node = node;
    this.host = options.host ?? '127.0.0.1';
    this.port = port;
    this.replicas = replicas;
    this.connector = connectorFor(() => this.connect());
    this.#listeners = listeners;
    this.scripts = new ScriptRegistry(node, () => this.#assertRunning('scripts.register()'));
    this.#interceptor = new Interceptor(node);
    this.#password = options.password;
    node.onShutdown = () => void this.stop();
  }

  #assertRunning(call: string): void {
    if (!this.#stopped && !this.node.stopped) return;
    throw new Error(`lostlock: ${call} on a server that has stopped (${this.host}:${this.port})`);
  }

  /** redis://host:port, with the password where there is one, for any client. */
  get url(): string {
    const login = this.#password === undefined ? '' : `:${encodeURIComponent(this.#password)}@`;
    return `redis://${login}${this.host}:${this.port}`;
  }

  /**
   * Opens an in-memory connection: write requests to it, read replies from it, both as RESP bytes.
   * Throws where the server has stopped, as the methods below do.
   */
  connect(): Duplex {
    this.#assertRunning('connect()');
    return connectInMemory(this.node);
  }

  /** Stores keys over what is there, as one change. Throws TypeError for what it does not understand, and stores nothing then. */
  seed(data: Seed): void {
    this.#assertRunning('seed()');
    seed(this.node, data);
  }

  /** Every key as plain values, in a form that `seed` takes back. */
  dump(): DumpEntry[] {
    this.#assertRunning('dump()');
    return dump(this.node);
  }

  /** Removes every key of every database. */
  flush(): void {
    this.#assertRunning('flush()');
    this.node.unit(() => {
      empty(this.node, this.node.databases);
      this.node.propagateAlso(this.node.db(0), ['FLUSHALL']);
    });
    this.node.settle();
  }

  /** Requests that named no command of ours, with how often each came: what a client tried and did not get. */
  unknownCommands(): { readonly command: string; readonly count: number }[] {
    return [...this.node.stats.unknownCommands].map(([command, count]) => ({ command, count }));
  }

  /**
   * Answers, delays or breaks requests that match. Rules are asked in order of their making.
   * Throws TypeError for a filter or intervention that does not exist.
   */
  intercept(filter: RequestFilter, intervention: Intervention): Interception {
    this.#assertRunning('intercept()');
    return this.#interceptor.add(filter, intervention);
  }

  /** As Testcontainers and redis-memory-server name it. */
  getHost(): string {
    return this.host;
  }

  /** As Testcontainers and redis-memory-server name it. */
  getPort(): number {
    return this.port;
  }

  /** As Testcontainers names it; whatever port is asked for, there is one. */
  getMappedPort(_port?: number): number {
    return this.port;
  }

  /** As Testcontainers names it. */
  getConnectionUrl(): string {
    return this.url;
  }

  /** As Testcontainers names it. */
  getPassword(): string | undefined {
    return this.#password;
  }

  /** Closes every connection and listener; resolves when no handle is left. A second call does nothing more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    this.node.stop();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
