/**
 * A running server as `startServer` returns it: its address, in-memory connections, data, intercept rules, and `stop`. The
 * package exports the class, so this file loads with the package: what it needs of the server, it is given.
 */
import type { Duplex } from 'node:stream';
import { badOption, checkFlag, checkInteger } from '../../base/options.ts';
import type { Listener } from '../../server/host/tcp.ts';
import type { Server } from '../../server/server.ts';
import { AddressedServer } from '../control/address.ts';
import type { Contents } from '../control/contents.ts';
import type { Door } from '../control/door.ts';
import type { Interception, Interceptor, Intervention, RequestFilter } from '../control/interceptor.ts';
import type { MovableClock } from '../control/movable-clock.ts';
import { ScriptRegistry } from '../control/native-scripts.ts';
import { ended, type RecordedRequest, type RequestRecording } from '../control/recording.ts';
import type { DumpEntry, Seed } from '../dataset.ts';
import { type ConnectorClass, connectorFor } from './connector.ts';
import type { LostlockSentinel } from './sentinel.ts';

/** How many requests stay readable after a server whose test has ended. */
const LAST_REQUESTS = 1000;

/** What can be read of a server that has stopped. */
export interface Remains {
  readonly dump: DumpEntry[];
  readonly requests: readonly RecordedRequest[];
  /** When they were read, in milliseconds since the epoch, by the server's clock. */
  readonly at: number;
}

/** The latest moment that a Date can hold, in milliseconds since the epoch. */
const LATEST = 8.64e15;

/** What a running server consists of. */
export interface Parts {
  readonly door: Door;
  readonly contents: Contents;
  readonly interceptor: Interceptor;
  readonly listeners: readonly Listener[];
  readonly replicas: readonly LostlockServer[];
  readonly sentinels: readonly LostlockSentinel[];
  /** Undefined for a server on the clock of fake timers. */
  readonly clock: MovableClock | undefined;
  /** Stops the node and returns one that has been started in its place; undefined for a node of a cluster. */
  readonly renew: ((old: Server) => Server) | undefined;
}

/** A running server. */
export class LostlockServer extends AddressedServer {
  /** For ioredis: `new Redis({ Connector: server.connector })` connects in memory, without a socket. */
  readonly connector: ConnectorClass;
  /** Registers TypeScript functions that replace Lua scripts. */
  readonly scripts: ScriptRegistry;
  /** The replicas of this server, as the option `replicas` requested. `stop` stops them as well. */
  readonly replicas: readonly LostlockServer[];
  /** The Sentinels, as the option `sentinels` requested. `stop` stops them as well. */
  readonly sentinels: readonly LostlockSentinel[];
  readonly #parts: Parts;
  #stopped = false;
  /** The last requests, of a server that stays readable. */
  #recording: RequestRecording | undefined;
  #remains: Remains | undefined;

  /** @internal */
  constructor(parts: Parts, options: { readonly host: string; readonly password?: string }) {
    const { node } = parts.door;
    const { port, 'tls-port': tlsPort } = node.settings;
    super({
      host: options.host,
      port: port || tlsPort,
      tlsPort: tlsPort === 0 ? undefined : tlsPort,
      password: options.password,
    });
    this.#parts = parts;
    this.replicas = parts.replicas;
    this.sentinels = parts.sentinels;
    this.connector = connectorFor(() => parts.door.connect(this));
    this.scripts = new ScriptRegistry(node, () => this.#assertRunning('scripts.register()'));
    this.#obey(node);
  }

  /** @internal The node itself, for access to what this class does not expose. A restart replaces it. */
  get node(): Server {
    return this.#parts.door.node;
  }

  #obey(node: Server): void {
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

  /**
   * Opens an in-memory connection: write requests to the stream and read replies from it, both as RESP bytes. While the
   * server is not `connected`, the stream ends with ECONNRESET. Throws when the server has stopped, like the methods below.
   */
  connect(): Duplex {
    this.#assertRunning('connect()');
    return this.#parts.door.connect(this);
  }

  /** Stores keys, overwriting existing ones, in one step. Throws TypeError for invalid data and then stores nothing. */
  seed(data: Seed): void {
    this.#assertRunning('seed()');
    this.#parts.contents.seed(data);
  }

  /**
   * Every key as plain values, in the form that `seed` accepts. The server of a fixture can still be asked after it has
   * stopped, as in a hook for failed tests; then these are the keys that it had when it stopped.
   */
  dump(): DumpEntry[] {
    if (this.#remains !== undefined) return this.#remains.dump;
    this.#assertRunning('dump()');
    return this.#parts.contents.dump();
  }

  /** Removes every key of every database. */
  flush(): void {
    this.#assertRunning('flush()');
    this.#parts.contents.flush();
  }

  /**
   * The names of the commands that clients and scripts called and the server does not have, in lower case ('json.get',
   * 'client nosuch'), each with the number of calls. At most 1,000 names are kept.
   */
  unknownCommands(): { readonly command: string; readonly count: number }[] {
    return [...this.node.stats.unknownCommands].map(([command, count]) => ({ command, count }));
  }

  /**
   * Answers, delays or breaks matching requests. Rules are checked in the order in which they were added. Throws
   * TypeError for an unknown filter or intervention.
   */
  intercept(filter: RequestFilter, intervention: Intervention): Interception {
    this.#assertRunning('intercept()');
    return this.#parts.interceptor.add(filter, intervention);
  }

  /**
   * Begins to record the requests that clients send: commands, arguments and clients, in order. Keep what it returns, and
   * `stop` it when it is no longer needed, because it grows with every request. After the server of a fixture has stopped,
   * this returns its last 1,000 requests or more.
   */
  requests(): RequestRecording {
    if (this.#remains !== undefined) return ended(this.#remains.requests);
    this.#assertRunning('requests()');
    return this.#parts.interceptor.record();
  }

  /** Resets the connections of all clients, which may connect again at once. @returns how many there were */
  disconnectAll(): number {
    this.#assertRunning('disconnectAll()');
    return this.#parts.door.disconnectAll();
  }

  /**
   * False while clients cannot reach the server. Setting it to false resets their connections and every new one, as a
   * broken network does; the data stays. Links to replicas, to the primary and to Sentinels of `sentinels` are not cut.
   */
  get connected(): boolean {
    return this.#parts.door.open;
  }

  set connected(value: boolean) {
    this.#assertRunning('connected');
    checkFlag('connected', value);
    this.#parts.door.open = value;
    if (!value) this.disconnectAll();
  }

  /**
   * Moves the server's clock forward, and its replicas' clocks. Keys that expire on the way are gone when it returns, and
   * blocked clients whose timeout has passed are answered. Timers of the test and of clients are not affected.
   * @param ms milliseconds, 0 or more
   */
  fastForward(ms: number): void {
    checkInteger('fastForward', ms, 0, LATEST);
    this.#setClock('fastForward()', (now) => now + ms);
  }

  /**
   * Sets the server's clock, and its replicas' clocks, forwards or backwards, as when an administrator sets a machine's
   * clock. Time continues from there.
   * @param date a Date, or milliseconds since the epoch
   */
  setTime(date: Date | number): void {
    // A year in quotes would be so many milliseconds.
    const ms = date instanceof Date || typeof date === 'number' ? Number(date) : NaN;
    if (!Number.isInteger(ms) || ms < 0 || ms > LATEST) {
      throw badOption('setTime', date, 'a Date, or milliseconds since the epoch');
    }
    this.#setClock('setTime()', () => ms);
  }

  #setClock(call: string, moment: (now: number) => number): void {
    this.#assertRunning(call);
    const { clock } = this.#parts;
    if (clock === undefined) {
      throw new Error(`lostlock: ${call} on a server with clock 'ambient': advance the fake timers instead`);
    }
    if (this.node.depth > 0) throw new Error(`lostlock: ${call} while the server runs a request`);
    clock.set(moment(clock.now()));
    for (const replica of this.replicas) replica.#setClock(call, moment);
  }

  /**
   * Stops the server and starts it again on the same port, with the same options, rules and registered scripts. Clients are
   * disconnected. The data is what SHUTDOWN SAVE keeps: it comes from the append-only file or the dump file if there is
   * one, otherwise from memory. What only a process has is gone: scripts that were loaded, statistics, the slow log, settings
   * of CONFIG SET. Replicas and Sentinels go on, and notice.
   * @throws Error when a file cannot be loaded, or when the server is a node of a cluster
   */
  restart(): void {
    this.#assertRunning('restart()');
    const { door, renew } = this.#parts;
    if (renew === undefined)
      throw new Error('lostlock: restart() on a node of a cluster, whose view of it would be lost');
    if (door.node.depth > 0) throw new Error('lostlock: restart() while the server runs a request');
    door.node = renew(door.node);
    this.#obey(door.node);
    this.scripts.attach(door.node);
    this.#parts.interceptor.attach(door.node);
  }

  /** @internal Lets `dump` and `requests` be called after the server has stopped. */
  keepReadable(): void {
    this.#recording ??= this.#parts.interceptor.record(LAST_REQUESTS);
  }

  /** @internal What stays readable after the server has stopped; undefined unless `keepReadable` was called. */
  remains(): Remains | undefined {
    if (this.#remains !== undefined || this.#recording === undefined) return this.#remains;
    const { contents, door } = this.#parts;
    return { dump: contents.dump(), requests: this.#recording.entries, at: door.node.host.clock.now() };
  }

  /** Closes every connection and listener. Resolves when no handle is left. A second call has no effect. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.sentinels, ...this.replicas].map((each) => each.stop()));
    await this.#stopAlone();
  }

  /** Stops this server, and leaves its replicas and Sentinels alone. */
  async #stopAlone(): Promise<void> {
    this.#remains = this.remains();
    this.node.stop();
    await Promise.all(this.#parts.listeners.map((listener) => listener.close()));
  }
}
