/** The options of startServer: what they are, which values are allowed, and the settings that they stand for. */
import { basename, dirname, resolve } from 'node:path';
import { badOption, checkFlag, checkInteger, checkNames, checkString } from '../base/options.ts';
import { fromText, toBuffer } from '../protocol/bytes.ts';
import { commandTable } from '../server/commands/index.ts';
import { DEFAULT_DIALECT, type DialectName, dialectNamed, isStrict } from '../server/dialects/index.ts';
import type { LogLevel } from '../server/ports.ts';
import { namesPlace } from '../server/settings/refusals.ts';
import { parameters, type Settings } from '../server/settings/settings.ts';
import { BadRenaming, type Named, renamed } from '../server/table/rename.ts';
import type { Seed } from './dataset.ts';
import { checkDialect, checkSettings, OPTION_OF } from './node-options.ts';
import { checkOwnCommands, ownCommands } from './own/declare.ts';
import type { OwnCommands } from './own/own-command.ts';
import { readSentinels, type SentinelsOptions } from './sentinel-options.ts';
import { checkTls, type TlsOptions } from './tls.ts';

/** The options of `startServer`. */
export interface StartOptions {
  /** The TCP port. 0, the default, picks a free one. */
  readonly port?: number;
  /**
   * The address to listen on; default 127.0.0.1. As in Redis' protected mode, other machines are refused while there is
   * no password, unless `settings['protected-mode']` is false. Several addresses are separated by spaces, as in
   * redis.conf's `bind`: '*' is every IPv4 address, '::*' every IPv6 address, and an address with '-' in front may be
   * missing on this machine.
   */
  readonly host?: string;
  /** A path at which to listen on a unix socket, in addition to TCP. A relative one is taken from `settings.dir`, if that is given. */
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
   * True: commands and options that the dialect's server does not have are refused as it refuses them. False: the lock commands
   * of other servers (DELEX, DELIFEQ, CAS and so on) and TTLs of hash fields work too. By default true if `dialect` names a
   * server, and false otherwise.
   */
  readonly strict?: boolean;
  /**
   * How many bytes one request may keep allocated, at least a megabyte; by default a quarter of the heap's limit. A request that
   * needs more gets an error that says so, and the process goes on. The smaller the limit, the more often garbage is collected.
   */
  readonly requestMemory?: number;
  /**
   * Commands with other names, as redis.conf's `rename-command` gives them, in order: `[['CONFIG', 'c0nf1g'], ['FLUSHALL', '']]`.
   * An empty name takes the command away.
   */
  readonly renamedCommands?: readonly (readonly [name: string, to: string])[];
  /** Commands of your own, by their names, such as 'json.get': docs/commands-of-your-own.md. A thread cannot have them. */
  readonly commands?: OwnCommands;
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
  /** True runs the server in a worker thread (`ThreadOptions`); default false. */
  readonly thread?: false;
}

/**
 * The options of a server in a thread of its own. It answers while the test blocks its event loop, as `execFileSync` does.
 * It takes the options of any other server, except `clock: 'ambient'`, as fake timers do not reach the thread, and `commands`, as
 * functions do not.
 */
export interface ThreadOptions extends Omit<StartOptions, 'thread' | 'commands'> {
  /** True: the server runs in a worker thread. */
  readonly thread: true;
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
  'renamedCommands',
  'requestMemory',
  'commands',
  'settings',
  'seed',
  'rdbFile',
  'replicas',
  'sentinels',
  'keepAlive',
  'clock',
  'log',
  'thread',
];

function checkUsers(users: unknown): void {
  if (typeof users !== 'object' || users === null) throw badOption('users', users, 'an object of rules');
  for (const [name, rules] of Object.entries(users)) checkString(`users.${name}`, rules, false);
}

/** Throws for a mistake in the commands of the user's own. */
function checkCommands({
  commands,
  dialect,
  strict,
  thread,
}: Omit<StartOptions, 'thread'> & { readonly thread?: unknown }): void {
  if (commands !== undefined && thread === true)
    throw badOption('commands', commands, 'no value with thread: functions do not reach another thread');
  const named = { ...(dialect && { dialect }), ...(strict !== undefined && { strict }) };
  checkOwnCommands(commands, [named]);
}

/** Throws for a command that does not exist, and for a name that another command has. */
function checkRenamings({
  renamedCommands: pairs = [],
  dialect,
  strict,
  commands: own,
}: Omit<StartOptions, 'thread'>): void {
  if (!Array.isArray(pairs)) throw badOption('renamedCommands', pairs, 'pairs of a name and a new name');
  let commands: Named<unknown> = commandTable(
    ownCommands(own),
    dialectNamed(dialect ?? DEFAULT_DIALECT),
    isStrict({ ...(dialect && { dialect }), ...(strict !== undefined && { strict }) }),
  );
  for (const [i, pair] of pairs.entries()) {
    const option = `renamedCommands[${i}]`;
    const [name, to, ...more] = Array.isArray(pair) ? pair : [];
    if (typeof name !== 'string' || typeof to !== 'string' || more.length > 0)
      throw badOption(option, pair, 'a pair of a name and a new name');
    try {
      commands = renamed(commands, [fromText(name), fromText(to)]);
    } catch (error) {
      if (!(error instanceof BadRenaming)) throw error;
      throw badOption(option, pair, `a command and a name that is free (${error.message})`);
    }
  }
}

function checkPrimary(primary: { readonly host: string; readonly port: number }): void {
  checkNames(primary, ['host', 'port'], 'replicaOf');
  checkString('replicaOf.host', primary.host);
  checkInteger('replicaOf.port', primary.port, 1, 65535);
}

/** Throws TypeError for a parameter of redis.conf that is given as an option. */
function refuseParameters(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (OPTIONS.includes(name) || !Object.hasOwn(parameters, name)) continue;
    throw badOption(
      `startServer.${name}`,
      value,
      `the option ${OPTION_OF[name] ?? `settings.${name}`} instead`,
    );
  }
}

/** Throws TypeError for what a node of a cluster does not have. */
function checkClusterNode({
  settings,
  replicaOf,
  replicas = 0,
  sentinels,
}: StartOptions | ThreadOptions): void {
  if (settings?.['cluster-enabled'] !== true) return;
  const allowed = (what: string): string =>
    `${what} with settings.cluster-enabled (startCluster starts replicas)`;
  if (replicaOf !== undefined) throw badOption('replicaOf', replicaOf, allowed('no value'));
  if (replicas > 0) throw badOption('replicas', replicas, allowed('0'));
  if (readSentinels(sentinels).count > 0) throw badOption('sentinels', sentinels, allowed('0'));
}

/** Throws TypeError for the first wrong option. */
export function checkOptions(options: StartOptions | ThreadOptions): void {
  refuseParameters(options ?? {});
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
  if (options.requestMemory !== undefined) {
    checkInteger('requestMemory', options.requestMemory, 2 ** 20, Number.MAX_SAFE_INTEGER);
  }
  if (options.rdbFile !== undefined) checkString('rdbFile', options.rdbFile);
  if (options.replicas !== undefined) checkInteger('replicas', options.replicas, 0, 100);
  readSentinels(options.sentinels);
  if (options.keepAlive !== undefined) checkFlag('keepAlive', options.keepAlive);
  if (options.clock !== undefined && options.clock !== 'real' && options.clock !== 'ambient') {
    throw badOption('clock', options.clock, "'real' or 'ambient'");
  }
  checkCommands(options);
  checkRenamings(options);
  checkClusterNode(options);
  if (options.thread !== undefined) checkFlag('thread', options.thread);
  if (options.thread === true && options.clock === 'ambient') {
    throw badOption('clock', options.clock, "'real' with thread: fake timers do not reach another thread");
  }
  if (options.log !== undefined && typeof options.log !== 'function') {
    throw badOption('log', options.log, 'a function (level, text)');
  }
  const { settings = {}, dialect } = options;
  checkSettings(settings, { dialect, stores: namesPlace({ ...settings }) || options.rdbFile !== undefined });
  const { aclfile = '' } = settings;
  if (aclfile !== '' && Object.keys(options.users ?? {}).length > 0) {
    throw badOption(
      'users',
      options.users,
      '{} with settings.aclfile: the users are either in the file or here',
    );
  }
  const password = settings.requirepass ?? '';
  if (password !== '' && ((options.replicas ?? 0) > 0 || readSentinels(options.sentinels).count > 0))
    throw badOption(
      'settings.requirepass',
      password,
      "'' with replicas or sentinels (use the option password)",
    );
}

/** The setting that holds the password with which replicas log in. */
const PRIMARY_PASSWORD = 'masterauth';

/** The settings that the options stand for. */
export function settingsOf(options: StartOptions | ThreadOptions): Partial<Settings> {
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
