/** startServer: a node on the real clock with its listeners, as users embed it. */
import { basename, dirname, resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import { RdbError } from '../keyspace/rdb/errors.ts';
import { fromText, toBuffer } from '../protocol/bytes.ts';
import { connectInMemory } from '../server/memory.ts';
import { nodeHost } from '../server/node-host.ts';
import { replicateFrom } from '../server/role.ts';
import { type LogLevel, Server } from '../server/server.ts';
import type { Settings } from '../server/settings.ts';
import { Listener } from '../server/tcp.ts';
import { type ConnectorClass, connectorFor } from './connector.ts';
import { type DumpEntry, dump, type Seed } from './dataset.ts';
import { type Interception, Interceptor, type Intervention, type RequestFilter } from './interceptor.ts';
import { ScriptRegistry } from './native-scripts.ts';
import { badOption, checkFlag, checkInteger, checkNames, checkSettings, checkString } from './options.ts';
import { seed } from './seed.ts';

/** How to start a server. */
export interface StartOptions {
  /** TCP port; 0, the default, takes a free one. */
  readonly port?: number;
  /** Address to listen on; 127.0.0.1 unless said otherwise. */
  readonly host?: string;
  /** A path to listen on as a unix socket besides. */
  readonly unixSocket?: string;
  /** What AUTH must give; none by default. */
  readonly password?: string;
  /** Number of databases; 16 by default. */
  readonly databases?: number;
  /** Any other parameter, by redis.conf's name. */
  readonly settings?: Partial<Settings>;
  /** Keys to begin with. */
  readonly seed?: Seed;
  /**
   * A dump file, by path: read at the start if it is there, written by SAVE and BGSAVE. `settings.dir` and
   * `settings.dbfilename` mean the same. By default nothing is read and nothing written.
   */
  readonly rdbFile?: string;
  /** So many further servers that follow this one; 0 by default. */
  readonly replicas?: number;
  /** False: the server does not keep the process alive. True by default. */
  readonly keepAlive?: boolean;
  readonly log?: (level: LogLevel, text: string) => void;
}

const OPTIONS = [
  'port',
  'host',
  'unixSocket',
  'password',
  'databases',
  'settings',
  'seed',
  'rdbFile',
  'replicas',
  'keepAlive',
  'log',
];

/** Throws TypeError for the first option that is wrong. */
function checkOptions(options: StartOptions): void {
  checkNames(options, OPTIONS, 'startServer');
  if (options.port !== undefined) checkInteger('port', options.port, 0, 65535);
  if (options.host !== undefined) checkString('host', options.host);
  if (options.unixSocket !== undefined) checkString('unixSocket', options.unixSocket);
  if (options.password !== undefined) checkString('password', options.password);
  if (options.databases !== undefined) checkInteger('databases', options.databases, 1, 2 ** 31 - 1);
  if (options.rdbFile !== undefined) checkString('rdbFile', options.rdbFile);
  if (options.replicas !== undefined) checkInteger('replicas', options.replicas, 0, 100);
  if (options.keepAlive !== undefined) checkFlag('keepAlive', options.keepAlive);
  if (options.log !== undefined && typeof options.log !== 'function') {
    throw badOption('log', options.log, 'a function (level, text)');
  }
  checkSettings(options.settings ?? {});
}

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

  constructor(
    node: Server,
    options: StartOptions,
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
    this.scripts = new ScriptRegistry(node);
    this.#interceptor = new Interceptor(node);
    this.#password = options.password;
    node.onShutdown = () => void this.stop();
  }

  /** redis://host:port, with the password where there is one, for any client. */
  get url(): string {
    const login = this.#password === undefined ? '' : `:${encodeURIComponent(this.#password)}@`;
    return `redis://${login}${this.host}:${this.port}`;
  }

  /** Opens an in-memory connection: write requests to it, read replies from it. */
  connect(): Duplex {
    return connectInMemory(this.node);
  }

  /** Stores keys over what is there. Throws TypeError for a value it does not understand. */
  seed(data: Seed): void {
    seed(this.node, data);
  }

  /** Every key as plain values, in a form that `seed` takes back. */
  dump(): DumpEntry[] {
    return dump(this.node);
  }

  /** Removes every key of every database. */
  flush(): void {
    this.node.unit(() => {
      for (const db of this.node.databases) {
        db.touchAll();
        this.node.world.dirty += db.size;
        db.clear();
      }
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
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    this.node.stop();
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** What replicas log in with. */
const PRIMARY_PASSWORD = 'masterauth';

/** The settings that the options amount to. */
function settingsOf(options: StartOptions): Partial<Settings> {
  const settings: Partial<Settings> = { ...options.settings };
  if (options.password !== undefined) {
    settings.requirepass = fromText(options.password);
    settings[PRIMARY_PASSWORD] ??= settings.requirepass;
  }
  if (options.databases !== undefined) settings.databases = options.databases;
  if (options.host !== undefined) settings.bind = options.host;
  if (options.unixSocket !== undefined) settings.unixsocket = fromText(options.unixSocket);
  if (options.rdbFile !== undefined) {
    settings.dir = fromText(dirname(resolve(options.rdbFile)));
    settings.dbfilename = fromText(basename(options.rdbFile));
  }
  return settings;
}

/** Begins with what the dump file holds, if the user asked for one. */
function openDumpFile(node: Server, { dir, dbfilename }: Partial<Settings>): void {
  if (dir === undefined && dbfilename === undefined) return;
  try {
    node.dumpFile.open();
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
    const path = resolve(
      ...[node.settings.dir, node.settings.dbfilename].map((part) => toBuffer(part).toString()),
    );
    throw new Error(`lostlock: the dump file ${path} cannot be loaded: ${error.message}`, { cause: error });
  }
}

/** Starts a server that follows the other, and waits until it has caught up. */
async function startReplica(primary: Server, options: StartOptions, port: number): Promise<LostlockServer> {
  const { rdbFile: _, unixSocket: _path, seed: _data, replicas: _count, ...rest } = options;
  const { dir: _dir, dbfilename: _name, ...settings } = rest.settings ?? {};
  const replica = await startServer({ ...rest, port: 0, settings });
  const { node } = replica;
  const host = options.host ?? '127.0.0.1';
  const anywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  node.unit(() => replicateFrom(node, anywhere[host] ?? host, port));
  const { clock } = primary.host;
  while (node.primary?.linkUp !== true || node.replication.offset < primary.replication.offset) {
    await new Promise<void>((wake) => clock.at(clock.now() + 1, wake));
  }
  return replica;
}

/**
 * Starts a server, on a free port of 127.0.0.1 unless told otherwise. Rejects with a TypeError that names a wrong
 * option, with Node's error when an address cannot be had, and with an Error that names a dump file that cannot be loaded.
 */
export async function startServer(options: StartOptions = {}): Promise<LostlockServer> {
  checkOptions(options);
  const settings = settingsOf(options);
  const node = new Server(nodeHost(toBuffer(settings.dir ?? '.').toString()), {
    settings,
    ...(options.log && { log: options.log }),
  });
  const listeners: Listener[] = [];
  const replicas: LostlockServer[] = [];
  try {
    openDumpFile(node, settings);
    if (options.seed !== undefined) seed(node, options.seed);
    const tcp = new Listener(node);
    listeners.push(tcp);
    const { port } = await tcp.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0 });
    node.settings.port = port;
    if (options.unixSocket !== undefined) {
      const unix = new Listener(node, options.unixSocket);
      listeners.push(unix);
      await unix.listen({ path: options.unixSocket });
    }
    if (options.keepAlive === false) for (const listener of listeners) listener.unref();
    for (let i = 0; i < (options.replicas ?? 0); i++) replicas.push(await startReplica(node, options, port));
    return new LostlockServer(node, options, port, listeners, replicas);
  } catch (error) {
    await Promise.all(replicas.map((replica) => replica.stop()));
    node.stop();
    await Promise.all(listeners.map((listener) => listener.close()));
    throw error;
  }
}
