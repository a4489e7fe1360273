/** The flags of `npx lostlock`, when it starts a server, and the parameters of redis.conf among them. */
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { nearest } from '../base/similar.ts';
import { type Bytes, fromBuffer, fromText, toBuffer } from '../protocol/bytes.ts';
import { type DialectName, dialectNames } from '../server/dialects/index.ts';
import { placed, reasonOf } from '../server/host/directory.ts';
import { parseMemory } from '../server/settings/parameters.ts';
import {
  BadDirective,
  Configuration,
  directives,
  isDirective,
  takesSeveralWords,
} from '../start/configuration.ts';
import { includedFiles } from '../start/files/included.ts';
import type { SentinelsOptions } from '../start/sentinel-options.ts';
import { dialectOfVersion } from '../start/version.ts';
import { flagMeant, UsageError } from './usage.ts';

/** What `--help` prints. */
export const HELP = `Usage: lostlock [port | path/to/redis.conf | -] [--<parameter> <value> ...] [options]
       lostlock path/to/sentinel.conf [--sentinel]
       lostlock init                          (writes a test of a lock for your runner and library)
       lostlock demo | explore | timeline | playground   (each has a --help of its own)
       lostlock help [PAGE]                   (prints a page of the documentation)

A Redis-compatible server for testing distributed locks. It reads a redis.conf, or standard input (-).
Parameters have the names of redis.conf, and override those in the file:
  --port 6379            TCP port; 0 takes a free one
  --bind 127.0.0.1       address to listen on
  --replicaof HOST PORT  follow a primary
  --unixsocket PATH      listen on a unix socket as well
  --requirepass WORD     password that AUTH requires
  --tls-port N           TCP port for TLS, with --tls-cert-file, --tls-key-file, --tls-ca-cert-file, --tls-auth-clients;
                         with --port 0 there is no plain port
  --databases 16, --maxclients 10000, --notify-keyspace-events KEA, --maxmemory 100mb ...
  --dir PATH, --dbfilename NAME   dump file, read at startup, written by SAVE and BGSAVE
  --appendonly yes --dir PATH     append-only file, read at startup, to which every write is added
  --appendfsync everysec          when it is synced: always, everysec or no
Options:
  --dialect NAME         the server to answer as (default: redis-8.2):
                         ${dialectNames.join(', ')}
  --strict yes           refuse the commands and options that this server does not have; the default with --dialect;
                         with --strict no, the lock commands of other servers work too
  --request-memory 64mb  how much memory one request may keep allocated (default: a quarter of the heap's limit)
  --replicas N           start N replicas of this server
  --cluster N            start a cluster of N primaries, each with --replicas replicas, on consecutive ports; with
                         --tls-port instead of --port, clients, replication and the bus speak TLS
  --lab                  start a primary with --replicas replicas (default 1), and answer LAB (see LAB HELP, or lostlock
                         help lab-commands): it holds links, crashes nodes, fails over, and reports lost writes
  --lab-port N           the port for LAB, which outlives every node; 0, the default, takes a free one
  --lab-url-file FILE    write the redis:// URL of the port for LAB to FILE once it listens
  --sentinels N          start N Sentinels that monitor this server, from port 26379 on
  --sentinel-port PORT   the port of the first Sentinel; 0 takes free ones
  --quorum N             how many Sentinels must agree that the server is down (default: a majority)
  --master-name NAME     the name by which clients ask the Sentinels for it (default: mymaster)
  --down-after-milliseconds MS, --failover-timeout MS, --parallel-syncs N   as in sentinel.conf
  --port-file FILE       write the port to FILE once the server listens
  --url-file FILE        write the redis:// URL to FILE once the server listens
  --loglevel LEVEL       debug, verbose, notice (default) or warning
  --logfile FILE         append the log to FILE instead of printing it
  --exit-with-parent     stop when standard input ends
  --version, --help
`;

/** What the command line asks for. */
export interface Invocation {
  readonly configuration: Configuration;
  /** The absolute path of the configuration file. */
  configFile?: string;
  /** The configuration that standard input gave. */
  configText?: Bytes;
  /** Start a Sentinel instead of a server. */
  sentinel?: boolean;
  portFile?: string;
  urlFile?: string;
  replicas?: number;
  /** The primaries of a cluster; undefined: a single server. */
  cluster?: number;
  lab?: boolean;
  labPort?: number;
  /** Where to write the URL of the port for LAB. */
  labUrlFile?: string;
  /** Undefined: no Sentinels. */
  sentinels?: SentinelsOptions;
  dialect?: DialectName;
  strict?: boolean;
  requestMemory?: number;
  exitWithParent: boolean;
}

function takeValue(args: string[], flag: string): string {
  return args.shift() ?? usage(`${flag} needs a value`);
}

function usage(why: string): never {
  throw new UsageError(why);
}

/**
 * Reads the command line.
 * @throws UsageError for a wrong flag, and BadDirective for a wrong configuration file
 */
export function parseCommandLine(argv: readonly string[]): Invocation {
  const sentinels = new Map<string, string>();
  const args = argv.flatMap((word) => (/^--[a-z-]+=/.test(word) ? splitOnce(word) : [word]));
  // What a file may say depends on the server that it is for, which a later word names.
  const later = (flag: string): string | undefined => args[args.lastIndexOf(flag) + 1];
  const named = dialectNames.find((name) => args.includes('--dialect') && later('--dialect') === name);
  const strict = args.includes('--strict') ? later('--strict') === 'yes' : named !== undefined;
  const invocation: Invocation = { configuration: new Configuration(named, strict), exitWithParent: false };
  const first = args[0] ?? '';
  if (/^\d+$/.test(first)) args.unshift('--port');
  else if (first !== '' && !first.startsWith('--')) {
    args.shift();
    const text = readFile(first === '-' ? 0 : first);
    if (first === '-') invocation.configText = text;
    else invocation.configFile = resolve(first);
    const { configuration } = invocation;
    const seen = (path: Bytes): string => placed(configuration.settings.dir, path);
    const include = (path: Bytes): Bytes[] =>
      includedFiles(seen(path)).map((file) =>
        isFolder(file) ? '' : readFile(file, toBuffer(path).toString()),
      );
    // Redis opens the log at the end of each file, from where the lines so far have led it.
    configuration.load(text, include, () => {
      const { logfile = '' } = configuration.settings;
      if (logfile !== '') openLog(seen(logfile));
    });
  }
  for (let flag = args.shift(); flag !== undefined; flag = args.shift()) {
    if (flag === '--port-file') invocation.portFile = takeValue(args, flag);
    else if (flag === '--url-file') invocation.urlFile = takeValue(args, flag);
    else if (flag === '--dialect') invocation.dialect = dialect(takeValue(args, flag));
    else if (flag === '--strict') invocation.strict = yesOrNo(flag, takeValue(args, flag));
    else if (flag === '--request-memory') invocation.requestMemory = memory(flag, takeValue(args, flag));
    else if (flag === '--replicas') invocation.replicas = wholeNumber(flag, takeValue(args, flag), 5);
    else if (flag === '--cluster') invocation.cluster = wholeNumber(flag, takeValue(args, flag), 3);
    else if (sentinelFlags[flag] !== undefined) sentinels.set(flag, takeValue(args, flag));
    else if (flag === '--lab') invocation.lab = true;
    else if (flag === '--sentinel') invocation.sentinel = true;
    else if (flag === '--lab-port') invocation.labPort = wholeNumber(flag, takeValue(args, flag), 5);
    else if (flag === '--lab-url-file') invocation.labUrlFile = takeValue(args, flag);
    else if (flag === '--exit-with-parent') invocation.exitWithParent = true;
    else if (flag.startsWith('--')) directive(invocation.configuration, flag, args);
    else usage(`${flag} is not a flag`);
  }
  if (invocation.cluster !== undefined) checkCluster(invocation, sentinels);
  if (invocation.lab === true) checkLab(invocation, sentinels);
  else if (invocation.labPort !== undefined) usage('--lab-port needs --lab');
  else if (invocation.labUrlFile !== undefined) usage('--lab-url-file needs --lab');
  readSentinelFlags(invocation, sentinels);
  checkClusterNode(invocation);
  if (invocation.configuration.sentinelLines.length > 0) invocation.sentinel = true;
  if (invocation.sentinel === true) checkSentinel(invocation);
  if (invocation.exitWithParent && invocation.configuration.settings.daemonize === true)
    usage('--exit-with-parent does not work with --daemonize');
  return invocation;
}

/** An amount of memory as redis.conf writes it. */
function memory(flag: string, value: string): number {
  const bytes = parseMemory(value);
  if (bytes === undefined || bytes < 2 ** 20)
    usage(`${flag} ${value}: must be an amount of memory of at least 1mb`);
  return bytes;
}

/** Throws for what a Sentinel does not have. */
function checkSentinel(invocation: Invocation): void {
  for (const name of ['replicas', 'cluster', 'lab', 'sentinels'] as const) {
    if (invocation[name] !== undefined) usage(`--${name} does not work with a Sentinel`);
  }
  if (invocation.configuration.replicaOf !== undefined) usage('--replicaof does not work with a Sentinel');
  if (invocation.configuration.renamings.length > 0) usage('--rename-command does not work with a Sentinel');
}

/** The parameters that a lab's nodes cannot have: their links carry plain bytes, which the lab reads. */
const NOT_IN_LAB = ['tls-replication', 'tls-cluster'] as const;

/** Throws for what a lab does not have. */
function checkLab({ configuration }: Invocation, sentinels: ReadonlyMap<string, string>): void {
  const wrong = NOT_IN_LAB.find((name) => configuration.settings[name] === true);
  if (wrong !== undefined) usage(`--${wrong} yes does not work with --lab: its links carry plain bytes`);
  if (configuration.replicaOf !== undefined) usage('--replicaof does not work with --lab');
  if (Object.keys(configuration.users).length > 0) usage('--user does not work with --lab');
  if (configuration.renamings.length > 0) usage('--rename-command does not work with --lab');
  for (const flag of sentinels.keys()) usage(`${flag} does not work with --lab`);
}

/** Throws for what a single node of a cluster does not have. */
function checkClusterNode({ configuration, replicas = 0, sentinels }: Invocation): void {
  if (configuration.settings['cluster-enabled'] !== true) return;
  const hint = '--cluster starts primaries with replicas';
  if (configuration.replicaOf !== undefined)
    usage(`replicaof directive not allowed in cluster mode; ${hint}`);
  if (replicas > 0) usage(`--replicas does not work with --cluster-enabled; ${hint}`);
  if (sentinels !== undefined) usage('--sentinels does not work with --cluster-enabled');
}

/** The parameters that the nodes of a cluster cannot share. */
const NOT_IN_CLUSTER = ['unixsocket', 'pidfile', 'dir', 'cluster-port', 'cluster-enabled'] as const;

/** Throws for what a cluster that is started at once does not have. */
function checkCluster({ configuration, lab }: Invocation, sentinels: ReadonlyMap<string, string>): void {
  const wrong = NOT_IN_CLUSTER.find((name) => configuration.settings[name] !== undefined);
  if (wrong !== undefined) usage(`--${wrong} does not work with --cluster`);
  const { port = 0, 'tls-port': tlsPort = 0 } = configuration.settings;
  if (port !== 0 && tlsPort !== 0) {
    usage(
      '--port does not work with --cluster and --tls-port: the nodes have no plain ports beside those for TLS',
    );
  }
  if (configuration.replicaOf !== undefined) usage('--replicaof does not work with --cluster');
  if (Object.keys(configuration.users).length > 0) usage('--user does not work with --cluster');
  if (configuration.renamings.length > 0) usage('--rename-command does not work with --cluster');
  if (lab === true) usage('--lab does not work with --cluster');
  for (const flag of sentinels.keys()) usage(`${flag} does not work with --cluster`);
}

/** What the command line runs beside a server. */
const COMMANDS = ['demo', 'explore', 'timeline', 'playground', 'init', 'help'];

/** Makes the log file, if it is missing. Throws BadDirective if it cannot be written. */
export function openLog(file: string): void {
  try {
    appendFileSync(file, '');
  } catch (error) {
    throw new BadDirective(`\n*** FATAL CONFIG FILE ERROR ***\nCan't open the log file: ${reasonOf(error)}`);
  }
}

/** True for a directory. As an included file, Redis finds nothing in it. */
function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The bytes of a file, or of standard input (0). @param name how an error calls it */
function readFile(file: string | 0, name = String(file)): Bytes {
  try {
    return fromBuffer(readFileSync(file));
  } catch (error) {
    const meant = nearest(name, COMMANDS);
    const hint = meant === undefined ? '' : `; did you mean the command ${meant}?`;
    throw new BadDirective(`Fatal error, can't open config file '${name}': ${reasonOf(error)}${hint}`);
  }
}

function splitOnce(word: string): string[] {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1)];
}

function dialect(word: string): DialectName {
  return (
    dialectNames.find((each) => each === word) ??
    usage(`--dialect ${word}: must be one of ${dialectNames.join(', ')}${closest(word)}`)
  );
}

/** For a version between two dialects, such as redis-8.4: the dialect with which its images are answered. */
function closest(word: string): string {
  const [, server, version = ''] = /^(redis|valkey)-(\d+(?:\.\d+)*)$/.exec(word) ?? [];
  const known = dialectNames.filter((name) => name.startsWith(`${server}-${version.split('.')[0]}`));
  if (server === undefined || known.length === 0) return '';
  return `; the closest is ${dialectOfVersion('--dialect', version, server)}`;
}

function yesOrNo(flag: string, word: string): boolean {
  if (word === 'yes' || word === 'no') return word === 'yes';
  return usage(`${flag} ${word}: must be yes or no`);
}

function wholeNumber(flag: string, word: string, digits: number): number {
  if (/^\d+$/.test(word) && word.length <= digits) return Number(word);
  return usage(`${flag} ${word}: must be a whole number of at most ${digits} digits`);
}

/** The flags about Sentinels, and the options that they set. */
const sentinelFlags: Readonly<Record<string, keyof SentinelsOptions>> = {
  '--sentinels': 'count',
  '--sentinel-port': 'port',
  '--quorum': 'quorum',
  '--master-name': 'name',
  '--down-after-milliseconds': 'downAfter',
  '--failover-timeout': 'failoverTimeout',
  '--parallel-syncs': 'parallelSyncs',
};

/** Applies the flags about Sentinels. Without Sentinels they would do nothing, and are refused. */
function readSentinelFlags(invocation: Invocation, words: ReadonlyMap<string, string>): void {
  const options = Object.fromEntries(
    [...words].map(([flag, word]): [string, string | number] => {
      const option = sentinelFlags[flag] as keyof SentinelsOptions;
      return [option, option === 'name' ? word : wholeNumber(flag, word, 9)];
    }),
  );
  if ((options.count ?? 0) !== 0) invocation.sentinels = { port: 26379, ...options };
  else for (const flag of words.keys()) if (flag !== '--sentinels') usage(`${flag} needs --sentinels`);
}

/** Applies `--name value` like a line of redis.conf. Several words follow one another up to the next flag. */
function directive(configuration: Configuration, flag: string, args: string[]): void {
  const name = flag.slice(2);
  if (!isDirective(name)) {
    const flags = HELP.match(/(?<=--)[a-z-]+/g) ?? [];
    usage(`${flag} is not a parameter of lostlock${flagMeant(flag, [...flags, ...directives])}`);
  }
  const values = [takeValue(args, flag)];
  if (takesSeveralWords(name))
    while (args.length > 0 && !args[0]?.startsWith('--')) values.push(args.shift() ?? '');
  try {
    configuration.apply([name, ...values].map(fromText));
  } catch (error) {
    if (error instanceof BadDirective) usage(`${flag} ${values.join(' ')}: ${error.message}`);
    throw error;
  }
}
