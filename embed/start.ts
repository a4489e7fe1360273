/** startServer: starts a node on the real clock, with its listeners. */
import { basename, dirname, resolve } from 'node:path';
import { RdbError } from '../keyspace/format/errors.ts';
import { fromText, toBuffer } from '../protocol/bytes.ts';
import { ReplyError } from '../protocol/reply.ts';
import { mergeSelectors } from '../server/acl/rules.ts';
import { AofError } from '../server/aof/aof-error.ts';
import { AppendOnlyFile } from '../server/aof/append-only-file.ts';
import { loadSnapshot, snapshot } from '../server/data/snapshot.ts';
import type { DialectName } from '../server/dialects/index.ts';
import { AmbientClock } from '../server/host/ambient-clock.ts';
import type { Host } from '../server/host/host.ts';
import { nodeClock, nodeHost } from '../server/host/node.ts';
import { realDelay } from '../server/host/real-time.ts';
import type { Listener } from '../server/host/tcp.ts';
import type { LogLevel } from '../server/ports.ts';
import { replicateFrom } from '../server/replication/role.ts';
import type { Server, ServerOptions } from '../server/server.ts';
import { namesPlace } from '../server/settings/refusals.ts';
import { defaultSettings, type Settings } from '../server/settings/settings.ts';
import { createServerNode, openBus } from './cluster-node.ts';
import { Door } from './control/door.ts';
import { MovableClock } from './control/movable-clock.ts';
import type { Seed } from './dataset.ts';
import { listen, reachableHost } from './listening.ts';
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
import { type LostlockSentinel, type SentinelPlace, startSentinels } from './sentinel.ts';
import { readSentinels, type SentinelsOptions } from './sentinel-options.ts';
import { checkTls, planTls, type TlsOptions } from './tls.ts';

/** The options of `startServer`. */
export interface StartOptions {
  /** The TCP port. 0, the default, picks a free one. */
  readonly port?: number;
  /**
   * The address to listen on; default 127.0.0.1. As in Redis' protected mode, other machines are refused while there is
   * no password, unless `settings['protected-mode']` is false. Several addresses are separated by blanks, as in
   * redis.conf's `bind`: '*' is every IPv4 address, '::*' every IPv6 address, and an address with '-' in front may be
   * missing on this machine.
   */
  readonly host?: string;
  /** A path at which to listen on a unix socket, in addition to TCP. */
  readonly unixSocket?: string;
  /** The password that AUTH requires; none by default. */
  readonly password?: string;
  /**
   * ACL users, each with its rules as in ACL SETUSER: `{ alice: 'on >secret ~cache:* +@read' }`. A user `default`
   * changes the user of clients that do not log in.
   */
  readonly users?: Readonly<Record<string, string>>;
  /**
   * TLS with these certificates. All TCP connections speak it, unless `tls.port` names a port of its own. A server that
   * follows a primary with TLS needs `settings['tls-replication']` too.
   */
  readonly tls?: TlsOptions;
  /** The primary that the server follows, which can be any Redis or Valkey server. By default it is a primary itself. */
  readonly replicaOf?: { readonly host: string; readonly port: number };
  /** The number of databases; default 16. */
  readonly databases?: number;
  /**
   * The server to answer as: its commands, replies, error texts and version. 'redis-8.2' by default.
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
  /**
   * How many Sentinels to start, or their options; default 0. They listen on ports of their own, monitor the server and
   * its replicas, and fail over when the server stops. SHUTDOWN then stops the server alone.
   */
  readonly sentinels?: number | SentinelsOptions;
  /** Whether the server keeps the process alive; default true. */
  readonly keepAlive?: boolean;
  /**
   * The time that TTLs, TIME and timeouts follow. 'real' (the default) is the machine's, even while a test has fake
   * timers installed. 'ambient' uses the global Date and timers, so that keys expire when a test advances its fake
   * timers.
   */
  readonly clock?: 'real' | 'ambient';
  /** Receives every line of the log, with the current role of the node that wrote it. By default nothing is logged. */
  readonly log?: (level: LogLevel, text: string, role: 'primary' | 'replica' | 'sentinel') => void;
}

const OPTIONS = [
  'port',
  'host',
  'unixSocket',
  'password',
  'users',
  'tls',
  'replicaOf',
  'databases',
  'dialect',
  'strict',
  'settings',
  'seed',
  'rdbFile',
  'replicas',
  'sentinels',
  'keepAlive',
  'clock',
  'log',
];

function checkUsers(users: unknown): void {
  if (typeof users !== 'object' || users === null) throw badOption('users', users, 'an object of rules');
  for (const [name, rules] of Object.entries(users)) checkString(`users.${name}`, rules, false);
}

function checkPrimary(primary: { readonly host: string; readonly port: number }): void {
  checkNames(primary, ['host', 'port'], 'replicaOf');
  checkString('replicaOf.host', primary.host);
  checkInteger('replicaOf.port', primary.port, 1, 65535);
}

/** Throws TypeError for the first wrong option. */
function checkOptions(options: StartOptions): void {
  checkNames(options, OPTIONS, 'startServer');
  if (options.port !== undefined) checkInteger('port', options.port, 0, 65535);
  if (options.host !== undefined) checkString('host', options.host);
  if (options.unixSocket !== undefined) checkString('unixSocket', options.unixSocket);
  if (options.password !== undefined) checkString('password', options.password);
  if (options.users !== undefined) checkUsers(options.users);
  if (options.tls !== undefined) checkTls(options.tls);
  if (options.replicaOf !== undefined) checkPrimary(options.replicaOf);
  if (options.databases !== undefined) checkInteger('databases', options.databases, 1, 2 ** 31 - 1);
  if (options.dialect !== undefined) checkDialect('dialect', options.dialect);
  if (options.strict !== undefined) checkFlag('strict', options.strict);
  if (options.rdbFile !== undefined) checkString('rdbFile', options.rdbFile);
  if (options.replicas !== undefined) checkInteger('replicas', options.replicas, 0, 100);
  const { count } = readSentinels(options.sentinels);
  if (count > 0 && options.tls !== undefined && options.tls.port === undefined) {
    throw badOption(
      'tls.port',
      undefined,
      'an integer from 0 to 65535: the Sentinels use the port without TLS',
    );
  }
  if (options.keepAlive !== undefined) checkFlag('keepAlive', options.keepAlive);
  if (options.clock !== undefined && options.clock !== 'real' && options.clock !== 'ambient') {
    throw badOption('clock', options.clock, "'real' or 'ambient'");
  }
  if (options.log !== undefined && typeof options.log !== 'function') {
    throw badOption('log', options.log, 'a function (level, text)');
  }
  checkSettings(options.settings ?? {}, namesPlace(settingsOf(options)));
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
  if (settings.dir !== undefined) settings.dir = fromText(resolve(toBuffer(settings.dir).toString()));
  if (options.rdbFile !== undefined) {
    settings.dir = fromText(dirname(resolve(options.rdbFile)));
    settings.dbfilename = fromText(basename(options.rdbFile));
  }
  return settings;
}

/** Loads the append-only file, if there is a place for one and `appendonly` is set. */
function openAppendOnlyFile(node: Server, settings: Partial<Settings>): void {
  if (!namesPlace(settings)) return;
  try {
    new AppendOnlyFile(node).open();
  } catch (error) {
    if (!(error instanceof AofError)) throw error;
    node.log('warning', error.message);
    throw new Error(`lostlock: the append-only file cannot be loaded: ${error.message}`, { cause: error });
  }
}

/** Loads the dump file, if one was requested and there is no append-only file. */
function openDumpFile(node: Server, { dir, dbfilename, appendonly }: Partial<Settings>): void {
  if (dir === undefined && dbfilename === undefined) return;
  try {
    node.dumpFile.open(appendonly);
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
    const path = resolve(
      ...[node.settings.dir, node.settings.dbfilename].map((part) => toBuffer(part).toString()),
    );
    throw new Error(`lostlock: the dump file ${path} cannot be loaded: ${error.message}`, { cause: error });
  }
}

/** Creates the users. Throws TypeError for rules that ACL SETUSER refuses. */
export function addUsers(node: Server, users: Readonly<Record<string, string>>): void {
  for (const [name, rules] of Object.entries(users)) {
    try {
      const words = fromText(rules).split(/\s+/);
      node.acl.change(fromText(name), mergeSelectors(words.filter((word) => word !== '')));
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      throw badOption(`users.${name}`, rules, `rules of ACL SETUSER (${error.message})`);
    }
  }
}

/** Loads what is on the disk, and creates the users. */
function load(node: Server, options: StartOptions, settings: Partial<Settings>): void {
  openAppendOnlyFile(node, settings);
  openDumpFile(node, settings);
  addUsers(node, options.users ?? {});
}

/** Follows the primary, if there is to be one. */
function follow(node: Server, { replicaOf }: StartOptions): void {
  if (replicaOf === undefined) return;
  node.unit(() => replicateFrom(node, fromText(replicaOf.host), replicaOf.port));
}

/** The options of the node itself. */
function nodeOptions(options: StartOptions, settings: Partial<Settings>): ServerOptions {
  const { dialect, strict, log } = options;
  return {
    settings,
    ...(dialect && { dialect }),
    ...(strict !== undefined && { strict }),
    ...(log && { log }),
  };
}

/** Stops a node as SHUTDOWN SAVE does, and starts another one in its place. */
function renewed(old: Server, host: Host, options: StartOptions, settings: Partial<Settings>): Server {
  const isStored = settings.dir !== undefined || settings.dbfilename !== undefined || namesPlace(settings);
  const rdb = isStored ? undefined : old.unit(() => snapshot(old));
  if (isStored) old.unit(() => old.dumpFile.saveUncounted());
  old.stop();
  const { node } = createServerNode(host, nodeOptions(options, settings));
  load(node, options, settings);
  if (rdb !== undefined) node.unit(() => loadSnapshot(node, rdb));
  for (const name of ['port', 'tls-port'] as const) node.settings[name] = old.settings[name];
  follow(node, options);
  return node;
}

/** What the Sentinels of a server need to know of it. */
function sentinelPlace(options: StartOptions, port: number): Omit<SentinelPlace, 'port'> {
  const host = reachableHost(options);
  const { log } = options;
  return {
    host,
    primary: { host, port },
    ...(options.password !== undefined && { password: options.password }),
    ...(options.dialect && { dialect: options.dialect }),
    ...(options.strict !== undefined && { strict: options.strict }),
    ...(log && { log: (level, text) => log(level, text, 'sentinel') }),
  };
}

/** The settings of a server's files, which its replicas do not share. */
const PLACES = ['dir', 'dbfilename', 'appendonly', 'appenddirname', 'appendfilename'] as const;

/** Starts a replica and waits until it has caught up with the primary. */
async function startReplica(primary: Server, options: StartOptions): Promise<LostlockServer> {
  const { rdbFile: _, unixSocket: _path, seed: _data, replicas: _count, replicaOf: _up, ...others } = options;
  const { sentinels: _watchers, ...rest } = others;
  const settings = { ...rest.settings };
  for (const name of PLACES) delete settings[name];
  const { port, 'tls-port': tlsPort } = primary.settings;
  const replica = await startServer({
    ...rest,
    port: 0,
    settings: {
      ...settings,
      ...(tlsPort !== 0 && { 'tls-port': 0 }),
      ...(port === 0 && { 'tls-replication': true }),
    },
    ...(options.tls?.port !== undefined && { tls: { ...options.tls, port: 0 } }),
  });
  const { node } = replica;
  node.unit(() => replicateFrom(node, reachableHost(options), port || tlsPort));
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
  const clock = options.clock === 'ambient' ? undefined : new MovableClock(nodeClock);
  const tls = planTls({ ...defaultSettings(), ...settings }, options.tls, options.port);
  const host = nodeHost(
    toBuffer(settings.dir ?? '.').toString(),
    clock ?? new AmbientClock(),
    tls?.context.connect,
  );
  const { node, member } = createServerNode(host, nodeOptions(options, settings));
  const door = new Door(node);
  const listeners: Listener[] = [];
  const replicas: LostlockServer[] = [];
  const sentinels: LostlockSentinel[] = [];
  try {
    load(node, options, settings);
    if (options.seed !== undefined) seed(node, options.seed);
    await listen(door, options, tls, listeners);
    if (member !== undefined) {
      listeners.push(await openBus(member, settings, reachableHost(options), (options.port ?? 0) === 0));
    }
    follow(node, options);
    if (options.keepAlive === false) for (const listener of listeners) listener.unref();
    for (let i = 0; i < (options.replicas ?? 0); i++) replicas.push(await startReplica(node, options));
    await startSentinels(
      sentinelPlace(options, node.settings.port),
      readSentinels(options.sentinels),
      sentinels,
    );
    const renew = (old: Server): Server => renewed(old, host, options, settings);
    const parts = {
      door,
      listeners,
      replicas,
      sentinels,
      clock,
      renew: member === undefined ? renew : undefined,
    };
    return new LostlockServer(parts, options);
  } catch (error) {
    await Promise.all([...sentinels, ...replicas].map((each) => each.stop()));
    node.stop();
    await Promise.all(listeners.map((listener) => listener.close()));
    throw error;
  }
}
