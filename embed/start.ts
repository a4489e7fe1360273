/** startServer: starts a node on the real clock, with its listeners. */
import { chmodSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { RdbError } from '../keyspace/format/errors.ts';
import { fromText, toBuffer } from '../protocol/bytes.ts';
import type { DialectName } from '../server/dialects/index.ts';
import { AmbientClock } from '../server/host/ambient-clock.ts';
import { nodeClock, nodeHost } from '../server/host/node.ts';
import { realDelay } from '../server/host/real-time.ts';
import { Listener } from '../server/host/tcp.ts';
import { createNode } from '../server/index.ts';
import type { LogLevel } from '../server/ports.ts';
import { replicateFrom } from '../server/replication/role.ts';
import type { Server } from '../server/server.ts';
import type { Settings } from '../server/settings/settings.ts';
import type { Seed } from './dataset.ts';
import {
  badOption,
  checkDialect,
  checkFlag,
  checkInteger,
  checkNames,
  checkSettings,
  checkString,
} from './options.ts';
import { LostlockServer } from './running.ts';
import { seed } from './seed.ts';

/** The options of `startServer`. */
export interface StartOptions {
  /** The TCP port. 0, the default, picks a free one. */
  readonly port?: number;
  /**
   * The address to listen on; default 127.0.0.1. As in Redis' protected mode, other machines are refused while there is
   * no password, unless `settings['protected-mode']` is false.
   */
  readonly host?: string;
  /** A path at which to listen on a unix socket, in addition to TCP. */
  readonly unixSocket?: string;
  /** The password that AUTH requires; none by default. */
  readonly password?: string;
  /** The number of databases; default 16. */
  readonly databases?: number;
  /**
   * The server to answer as: its commands, replies, error texts and version. 'redis-7.0' by default.
   * docs/dialects.md lists what each has.
   */
  readonly dialect?: DialectName;
  /**
   * True: commands and options that the dialect's server does not have are refused as it refuses them. By default the lock
   * commands of other servers (DELEX, DELIFEQ, CAS and so on) work in every dialect.
   */
  readonly strict?: boolean;
  /** Any other parameter, by its name in redis.conf. */
  readonly settings?: Partial<Settings>;
  /** The initial data. */
  readonly seed?: Seed;
  /**
   * The path of a dump file. It is loaded at startup if it exists, and written by SAVE and BGSAVE. Equivalent to
   * `settings.dir` and `settings.dbfilename`. By default nothing is read or written.
   */
  readonly rdbFile?: string;
  /** How many replicas of this server to start; default 0. */
  readonly replicas?: number;
  /** Whether the server keeps the process alive; default true. */
  readonly keepAlive?: boolean;
  /**
   * The time that TTLs, TIME and timeouts follow. 'real' (the default) is the machine's, even while a test has fake
   * timers installed. 'ambient' uses the global Date and timers, so that keys expire when a test advances its fake
   * timers.
   */
  readonly clock?: 'real' | 'ambient';
  /** Receives every line of the server's log, with the server's current role. By default nothing is logged. */
  readonly log?: (level: LogLevel, text: string, role: 'primary' | 'replica') => void;
}

const OPTIONS = [
  'port',
  'host',
  'unixSocket',
  'password',
  'databases',
  'dialect',
  'strict',
  'settings',
  'seed',
  'rdbFile',
  'replicas',
  'keepAlive',
  'clock',
  'log',
];

/** Throws TypeError for the first wrong option. */
function checkOptions(options: StartOptions): void {
  checkNames(options, OPTIONS, 'startServer');
  if (options.port !== undefined) checkInteger('port', options.port, 0, 65535);
  if (options.host !== undefined) checkString('host', options.host);
  if (options.unixSocket !== undefined) checkString('unixSocket', options.unixSocket);
  if (options.password !== undefined) checkString('password', options.password);
  if (options.databases !== undefined) checkInteger('databases', options.databases, 1, 2 ** 31 - 1);
  if (options.dialect !== undefined) checkDialect('dialect', options.dialect);
  if (options.strict !== undefined) checkFlag('strict', options.strict);
  if (options.rdbFile !== undefined) checkString('rdbFile', options.rdbFile);
  if (options.replicas !== undefined) checkInteger('replicas', options.replicas, 0, 100);
  if (options.keepAlive !== undefined) checkFlag('keepAlive', options.keepAlive);
  if (options.clock !== undefined && options.clock !== 'real' && options.clock !== 'ambient') {
    throw badOption('clock', options.clock, "'real' or 'ambient'");
  }
  if (options.log !== undefined && typeof options.log !== 'function') {
    throw badOption('log', options.log, 'a function (level, text)');
  }
  checkSettings(options.settings ?? {});
}

/** The setting that holds the password with which replicas log in. */
const PRIMARY_PASSWORD = 'masterauth';

/** The settings that the options stand for. */
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

/** Loads the dump file, if one was requested. */
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

/** Starts a replica and waits until it has caught up with the primary. */
async function startReplica(primary: Server, options: StartOptions, port: number): Promise<LostlockServer> {
  const { rdbFile: _, unixSocket: _path, seed: _data, replicas: _count, ...rest } = options;
  const { dir: _dir, dbfilename: _name, ...settings } = rest.settings ?? {};
  const replica = await startServer({ ...rest, port: 0, settings });
  const { node } = replica;
  const host = options.host ?? '127.0.0.1';
  const anywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  node.unit(() => replicateFrom(node, anywhere[host] ?? host, port));
  while (node.primary?.linkUp !== true || node.replication.offset < primary.replication.offset) {
    await new Promise<void>((wake) => realDelay(wake, 1));
  }
  return replica;
}

/**
 * Starts a server, by default on a free port of 127.0.0.1. Rejects with a TypeError that names a wrong option, with
 * Node's error when the address is not available, and with an Error that names a dump file that cannot be loaded.
 */
export async function startServer(options: StartOptions = {}): Promise<LostlockServer> {
  checkOptions(options);
  const settings = settingsOf(options);
  const clock = options.clock === 'ambient' ? new AmbientClock() : nodeClock;
  const node = createNode(nodeHost(toBuffer(settings.dir ?? '.').toString(), clock), {
    settings,
    ...(options.dialect && { dialect: options.dialect }),
    ...(options.strict !== undefined && { strict: options.strict }),
    ...(options.log && { log: options.log }),
  });
  const listeners: Listener[] = [];
  const replicas: LostlockServer[] = [];
  try {
    openDumpFile(node, settings);
    if (options.seed !== undefined) seed(node, options.seed);
    const tcp = new Listener(node.connections);
    listeners.push(tcp);
    const { port } = await tcp.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0 });
    node.settings.port = port;
    if (options.unixSocket !== undefined) {
      const unix = new Listener(node.connections, options.unixSocket);
      listeners.push(unix);
      await unix.listen({ path: options.unixSocket });
      const mode = `0o${node.settings.unixsocketperm}`;
      if (Number(mode) !== 0) chmodSync(options.unixSocket, Number(mode));
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
