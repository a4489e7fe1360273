#!/usr/bin/env node
/** `npx lostlock`: the command-line server. Flags use redis.conf's parameter names. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { BadDirective, Configuration, isDirective, takesSeveralWords } from './embed/configuration.ts';
import { LOG_LEVELS, type LogOrigin, logLine } from './embed/log-line.ts';
import type { SentinelsOptions } from './embed/sentinel-options.ts';
import { type LostlockServer, startServer } from './index.ts';
import { type Bytes, fromBuffer, fromText, toBuffer } from './protocol/bytes.ts';
import { type DialectName, dialectNames } from './server/dialects/index.ts';
import type { LogLevel } from './server/ports.ts';
import { LOSTLOCK_VERSION } from './server/version.ts';

const parent = process.ppid;

const HELP = `Usage: lostlock [port | path/to/redis.conf | -] [--<parameter> <value> ...] [options]

An in-process Redis-protocol server, made for locks. It reads a redis.conf, or standard input (-).
Parameters have redis.conf's names, and replace those of the file:
  --port 6379            TCP port; 0 takes a free one
  --bind 127.0.0.1       address to listen on
  --replicaof HOST PORT  follow a primary
  --unixsocket PATH      listen on a unix socket as well
  --requirepass WORD     password that AUTH requires
  --tls-port N           TCP port for TLS, with --tls-cert-file, --tls-key-file, --tls-ca-cert-file, --tls-auth-clients;
                         --port 0 leaves the other one out
  --databases 16, --maxclients 10000, --notify-keyspace-events KEA, --maxmemory 100mb ...
  --dir PATH, --dbfilename NAME   dump file, read at startup, written by SAVE and BGSAVE
  --appendonly yes --dir PATH     append-only file, read at startup, to which every write is added
  --appendfsync everysec          when it is synced: always, everysec or no
Options:
  --dialect NAME         the server to answer as, redis-8.2 unless given: ${dialectNames.join(', ')}
  --strict yes           refuse the commands and options that this server does not have
  --replicas N           start N replicas of this server
  --lab                  answer LAB (LAB HELP), which crashes nodes, holds links and fails over, and prints what is lost
  --lab-port N           the port for LAB, which outlives every node; 0, the default, takes a free one
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

interface Invocation {
  readonly configuration: Configuration;
  portFile?: string;
  urlFile?: string;
  replicas?: number;
  lab?: boolean;
  labPort?: number;
  sentinels: SentinelsOptions;
  dialect?: DialectName;
  strict?: boolean;
  exitWithParent: boolean;
}

class UsageError extends Error {}

function takeValue(args: string[], flag: string): string {
  return args.shift() ?? usage(`${flag} needs a value`);
}

function usage(why: string): never {
  throw new UsageError(why);
}

function parse(argv: readonly string[]): Invocation {
  const invocation: Invocation = {
    configuration: new Configuration(),
    sentinels: { count: 0, port: 26379 },
    exitWithParent: false,
  };
  const args = argv.flatMap((word) => (/^--[a-z-]+=/.test(word) ? splitOnce(word) : [word]));
  const first = args[0] ?? '';
  if (/^\d+$/.test(first)) args.unshift('--port');
  else if (first !== '' && !first.startsWith('--')) {
    args.shift();
    invocation.configuration.load(readFile(first === '-' ? 0 : first), (path) =>
      readFile(toBuffer(path).toString()),
    );
  }
  for (let flag = args.shift(); flag !== undefined; flag = args.shift()) {
    if (flag === '--port-file') invocation.portFile = takeValue(args, flag);
    else if (flag === '--url-file') invocation.urlFile = takeValue(args, flag);
    else if (flag === '--dialect') invocation.dialect = dialect(takeValue(args, flag));
    else if (flag === '--strict') invocation.strict = yesOrNo(flag, takeValue(args, flag));
    else if (flag === '--replicas') invocation.replicas = count(flag, takeValue(args, flag));
    else if (sentinelFlags[flag] !== undefined) sentinelOption(invocation, flag, takeValue(args, flag));
    else if (flag === '--lab') invocation.lab = true;
    else if (flag === '--lab-port') invocation.labPort = count(flag, takeValue(args, flag));
    else if (flag === '--exit-with-parent') invocation.exitWithParent = true;
    else if (flag.startsWith('--')) directive(invocation.configuration, flag, args);
    else usage(`${flag} is not a flag`);
  }
  return invocation;
}

/** The bytes of a file, or of standard input (0). */
function readFile(file: string | 0): Bytes {
  try {
    return fromBuffer(readFileSync(file));
  } catch (error) {
    throw new BadDirective(`Fatal error, can't open config file '${file}': ${(error as Error).message}`);
  }
}

function splitOnce(word: string): string[] {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1)];
}

function dialect(word: string): DialectName {
  return (
    dialectNames.find((each) => each === word) ??
    usage(`--dialect ${word}: allowed are ${dialectNames.join(', ')}`)
  );
}

function yesOrNo(flag: string, word: string): boolean {
  if (word === 'yes' || word === 'no') return word === 'yes';
  return usage(`${flag} ${word}: allowed are yes, no`);
}

function count(flag: string, word: string): number {
  return /^\d{1,5}$/.test(word) ? Number(word) : usage(`${flag} ${word}: allowed are whole numbers`);
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

function sentinelOption(invocation: Invocation, flag: string, word: string): void {
  const option = sentinelFlags[flag];
  if (option === undefined) return;
  const value = option === 'name' ? word : /^\d{1,9}$/.test(word) ? Number(word) : Number.NaN;
  if (Number.isNaN(value)) usage(`${flag} ${word}: allowed are whole numbers`);
  invocation.sentinels = { ...invocation.sentinels, [option]: value };
}

/** Applies `--name value` like a line of redis.conf. Several words follow one another up to the next flag. */
function directive(configuration: Configuration, flag: string, args: string[]): void {
  const name = flag.slice(2);
  const values = [takeValue(args, flag)];
  if (takesSeveralWords(name))
    while (args.length > 0 && !args[0]?.startsWith('--')) values.push(args.shift() ?? '');
  if (!isDirective(name)) usage(`${flag} is not a parameter of lostlock; --help lists some`);
  try {
    configuration.apply([name, ...values].map(fromText));
  } catch (error) {
    if (error instanceof BadDirective) usage(`${flag} ${values.join(' ')}: ${error.message}`);
    throw error;
  }
}

/** What serves until the process ends. */
interface Serving {
  stop(): Promise<void>;
}

/** The parameters that a lab's nodes cannot have: all listen on 127.0.0.1, and trust each other. */
const NOT_IN_LAB = [
  'bind',
  'unixsocket',
  'requirepass',
  'tls-port',
  'tls-replication',
  'pidfile',
  'dir',
] as const;

/** Starts a pair whose LAB commands other processes use. */
async function serveLab(invocation: Invocation): Promise<void> {
  const { configuration, replicas, dialect, strict, labPort } = invocation;
  const { port = 6379, loglevel: _, logfile = '', ...settings } = configuration.settings;
  const wrong = NOT_IN_LAB.find((name) => settings[name] !== undefined);
  if (wrong !== undefined) usage(`--${wrong} does not work with --lab`);
  if (configuration.replicaOf !== undefined) usage('--replicaof does not work with --lab');
  if (Object.keys(configuration.users).length > 0) usage('--user does not work with --lab');
  if (invocation.sentinels.count !== 0) usage('--sentinels does not work with --lab');
  const file = toBuffer(logfile).toString();
  const { startLab } = await import('./lab/wire/serve.ts');
  const lab = await startLab({
    port,
    settings,
    ...(replicas !== undefined && { replicas }),
    ...(labPort !== undefined && { labPort }),
    ...(dialect !== undefined && { dialect }),
    ...(strict !== undefined && { strict }),
  });
  const say = (text: string, role: LogOrigin['role']): void =>
    write(file, logLine('notice', text, { pid: process.pid, role, at: Date.now() }));
  follow(lab, invocation);
  for (const { name, port: own } of lab.pair.nodes) {
    say(`Node ${name} ready tcp ${own}`, name === lab.pair.primary.name ? 'primary' : 'replica');
  }
  say(`Lab ready tcp ${lab.labPort}`, 'primary');
  const { port: open } = new URL(lab.url);
  if (invocation.portFile !== undefined) writeFileSync(invocation.portFile, `${open}\n`);
  if (invocation.urlFile !== undefined) writeFileSync(invocation.urlFile, `${lab.url}\n`);
  say(`Ready to accept connections tcp ${open}`, 'primary');
}

/** Ends with a signal, with npm's shell, and with standard input if that was asked for. */
function follow(serving: Serving, { exitWithParent }: Invocation): void {
  stopOnSignals(serving);
  if (process.env.npm_command !== undefined) stopWithShell(serving);
  if (exitWithParent) process.stdin.resume().once('end', () => stop(serving));
}

async function serve(invocation: Invocation): Promise<void> {
  if (invocation.lab === true) return serveLab(invocation);
  if (invocation.labPort !== undefined) usage('--lab-port needs --lab');
  const {
    port = 6379,
    bind = '127.0.0.1',
    unixsocket = '',
    requirepass = '',
    pidfile = '',
    ...settings
  } = invocation.configuration.settings;
  const { users, replicaOf } = invocation.configuration;
  const startLevel = settings.loglevel ?? 'notice';
  const file = toBuffer(settings.logfile ?? '').toString();
  let server: LostlockServer | undefined;
  const log = (level: LogLevel, text: string, role: LogOrigin['role']): void => {
    const least = server?.node.settings.loglevel ?? startLevel;
    if (least === 'nothing') return;
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least as LogLevel)) return;
    write(file, logLine(level, text, { pid: process.pid, role, at: Date.now() }));
  };
  server = await startServer({
    port,
    host: bind,
    settings,
    users,
    ...(replicaOf !== undefined && { replicaOf }),
    ...(invocation.replicas !== undefined && { replicas: invocation.replicas }),
    ...(invocation.sentinels.count !== 0 && { sentinels: invocation.sentinels }),
    ...(invocation.dialect !== undefined && { dialect: invocation.dialect }),
    ...(invocation.strict !== undefined && { strict: invocation.strict }),
    ...(unixsocket !== '' && { unixSocket: unixsocket }),
    ...(requirepass !== '' && { password: requirepass }),
    log,
  });
  follow(server, invocation);
  if (server.sentinels.length === 0) server.node.onShutdown = () => stop(server);
  server.node.onFatal = () => process.exit(1);
  if (invocation.portFile !== undefined) writeFileSync(invocation.portFile, `${server.port}\n`);
  if (pidfile !== '') writePid(toBuffer(pidfile).toString());
  if (invocation.urlFile !== undefined) writeFileSync(invocation.urlFile, `${server.url}\n`);
  for (const replica of server.replicas) log('notice', `Replica ready tcp ${replica.port}`, 'replica');
  for (const { port: ready } of server.sentinels) log('notice', `Sentinel ready tcp ${ready}`, 'sentinel');
  const transport = server.tlsPort === server.port ? 'tls' : 'tcp';
  log('notice', `Ready to accept connections ${transport} ${server.port}`, server.node.role);
  if (server.tlsPort !== undefined && server.tlsPort !== server.port) {
    log('notice', `Ready to accept connections tls ${server.tlsPort}`, server.node.role);
  }
  if (unixsocket !== '') log('notice', `Ready to accept connections unix ${unixsocket}`, server.node.role);
}

// A script that waits for the ready line may close the pipe afterwards. redis-server keeps running then, and so do we.
process.stdout.on('error', () => {});

/** Appends a line to the log file, or prints it when there is no log file. Scripts may log any bytes. */
function write(file: string, line: string): void {
  const bytes = Buffer.from(`${line}\n`, /[^\x00-\xff]/.test(line) ? 'utf8' : 'latin1');
  if (file === '') process.stdout.write(bytes);
  else appendFileSync(file, bytes);
}

/** Writes the process id to a file, and removes the file on exit. */
function writePid(path: string): void {
  writeFileSync(path, `${process.pid}\n`);
  process.once('exit', () => rmSync(path, { force: true }));
}

function stop(server: Serving): void {
  void server.stop().then(() => process.exit(0));
}

/** npm and npx start us through a shell that does not forward SIGTERM. Stops the server when that shell is gone. */
function stopWithShell(server: Serving): void {
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    stop(server);
  }, 250);
  watch.unref();
}

function stopOnSignals(server: Serving): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(server));
}

/** Ends the process because of a wrong flag. */
function refuse(error: UsageError): never {
  console.error(`lostlock: ${error.message}\n\n${HELP}`);
  process.exit(2);
}

const argv = process.argv.slice(2);
if (argv.includes('--help') || argv.includes('-h')) {
  console.log(HELP);
} else if (argv.includes('--version') || argv.includes('-v')) {
  console.log(`lostlock ${LOSTLOCK_VERSION}`);
} else {
  try {
    serve(parse(argv)).catch((error: Error) => {
      if (error instanceof UsageError) return refuse(error);
      console.error(`lostlock: ${error.message.replace(/^lostlock: /, '')}`);
      process.exit(1);
    });
  } catch (error) {
    if (error instanceof BadDirective) {
      console.error(error.message);
      process.exit(1);
    }
    if (!(error instanceof UsageError)) throw error;
    refuse(error);
  }
}
