/** What the command line does when no command is named: it starts a server, a lab, a cluster or a Sentinel. */

import { spawn } from 'node:child_process';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { defined } from '../base/defined.ts';
import { LOSTLOCK_VERSION } from '../base/version.ts';
import { plainLabCommand } from '../lab/remote/plain.ts';
import { type Bytes, toBuffer } from '../protocol/bytes.ts';
import { shutdownBySignal } from '../server/commands/node/shutdown.ts';
import { DEFAULT_DIALECT, dialectNamed } from '../server/dialects/index.ts';
import { placed } from '../server/host/directory.ts';
import type { LogLevel } from '../server/ports.ts';
import type { Settings } from '../server/settings/settings.ts';
import { BadDirective } from '../start/configuration.ts';
import { DiskConfigFile } from '../start/files/config-file.ts';
import { LOG_LEVELS, type LogOrigin, logLine } from '../start/log-line.ts';
import { isNode } from '../start/running/runtime.ts';
import type { LostlockServer } from '../start/running/server.ts';
import { startServer } from '../start/start.ts';
import { type Invocation, openLog, parseCommandLine } from './command-line.ts';
import { isSea } from './executable.ts';
import { passwordOptions, startOptionsOf } from './start-options.ts';
import { systemRefusal, UsageError } from './usage.ts';

const parent = process.ppid;

/**
 * V8 collects young objects on several threads, and the main thread waits for the others. A server keeps few of these objects, so
 * one thread is enough. The 99th percentile of the latency of a lock's script fell from 0.62 to 0.52 ms (docs/decisions/0033).
 */
const COLLECTS_ALONE = '--no-parallel-scavenge';

/** What serves until the process ends. */
interface Serving {
  stop(): Promise<void>;
}

/** Starts a pair whose LAB commands other processes use. */
async function serveLab(invocation: Invocation): Promise<void> {
  const { configuration, replicas, dialect, strict, labPort } = invocation;
  const {
    port = (configuration.settings['tls-port'] ?? 0) === 0 ? 6379 : 0,
    bind: host,
    unixsocket = '',
    requirepass = '',
    dir,
    logfile = '',
    loglevel = 'notice',
    pidfile = '',
    daemonize: _background,
    ...settings
  } = configuration.settings;
  const file = toBuffer(logfile).toString();
  const { startLab } = await import('../lab/remote/serve.ts');
  const lab = await startLab({
    port,
    settings,
    ...defined({ replicas, labPort, dialect, strict, host }),
    ...(unixsocket !== '' && { unixSocket: placed(dir, unixsocket) }),
    ...(dir !== undefined && { dir: toBuffer(dir).toString() }),
    ...(requirepass !== '' && { password: toBuffer(requirepass).toString() }),
  });
  const isQuiet = loglevel === 'nothing' || loglevel === 'warning';
  const say = (text: string, role: LogOrigin['role']): void => {
    if (isQuiet) return;
    write(file, logLine('notice', text, { pid: process.pid, role, at: Date.now() }));
  };
  follow(lab, invocation);
  for (const { name, port: own } of lab.pair.nodes) {
    say(`Node ${name} ready tcp ${own}`, name === lab.pair.primary.name ? 'primary' : 'replica');
  }
  say(`Lab ready ${lab.labUrl.startsWith('rediss') ? 'tls' : 'tcp'} ${lab.labPort}`, 'primary');
  const { port: open, protocol } = new URL(lab.url);
  keepPid({ settings: lab.pair.primary.server.settings }, pidfile, placed(dir, pidfile), (_, text) =>
    say(text, 'primary'),
  );
  if (invocation.labUrlFile !== undefined) writeFileSync(invocation.labUrlFile, `${lab.labUrl}\n`);
  if (invocation.portFile !== undefined) writeFileSync(invocation.portFile, `${open}\n`);
  if (invocation.urlFile !== undefined) writeFileSync(invocation.urlFile, `${lab.url}\n`);
  if (unixsocket !== '')
    say(`Ready to accept connections unix ${toBuffer(unixsocket).toString()}`, 'primary');
  const { tlsPort } = lab.pair;
  if (tlsPort !== undefined && tlsPort !== Number(open))
    say(`Ready to accept connections tls ${tlsPort}`, 'primary');
  say(`Ready to accept connections ${protocol === 'rediss:' ? 'tls' : 'tcp'} ${open}`, 'primary');
  say(startedText(invocation, lab.url), 'primary');
}

/** Starts a cluster, whose nodes listen on consecutive ports. */
async function serveCluster(invocation: Invocation, primaries: number): Promise<void> {
  const { configuration, replicas, dialect, strict } = invocation;
  const {
    port = (configuration.settings['tls-port'] ?? 0) === 0 ? 6379 : 0,
    bind,
    requirepass = '',
    loglevel = 'notice',
    logfile = '',
    ...settings
  } = configuration.settings;
  const file = toBuffer(logfile).toString();
  const { 'cluster-node-timeout': nodeTimeout, ...others } = settings;
  const log = (level: LogLevel, text: string, role: LogOrigin['role']): void => {
    if (loglevel === 'nothing' || LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(loglevel as LogLevel))
      return;
    write(file, logLine(level, text, { pid: process.pid, role, at: Date.now() }));
  };
  const { startCluster } = await import('../lab/start.ts');
  const { password, settings: secret } = passwordOptions(requirepass);
  const cluster = await startCluster({
    primaries,
    port,
    settings: { ...others, ...secret },
    log,
    ...defined({ replicas, host: bind, password, nodeTimeout, dialect, strict }),
  });
  follow(cluster, invocation);
  const [first] = cluster.nodes;
  if (invocation.portFile !== undefined) writeFileSync(invocation.portFile, `${first?.port}\n`);
  if (invocation.urlFile !== undefined) writeFileSync(invocation.urlFile, `${first?.url}\n`);
  const how = first?.tlsPort === undefined ? 'tcp' : 'tls';
  for (const { port: own, node } of cluster.nodes) log('notice', `Node ready ${how} ${own}`, node.role);
  log('notice', `Ready to accept connections ${how} ${first?.port}`, 'primary');
  if (first !== undefined) log('notice', startedText(invocation, first.url), 'primary');
}

/** Prepares the end that a signal asks for. Returns false if the server must go on. */
type MayEnd = (signal: 'SIGTERM' | 'SIGINT') => boolean;

/** Ends with a signal, with npm's shell, and with standard input if that was asked for. */
function follow(serving: Serving, { exitWithParent }: Invocation, mayEnd?: MayEnd): void {
  stopOnSignals(serving, mayEnd);
  if (process.env.npm_command !== undefined) stopWithShell(serving);
  if (exitWithParent) {
    process.stdin.resume().once('end', () => {
      process.stderr.write('lostlock: standard input has ended, so lostlock stops (--exit-with-parent)\n');
      stop(serving);
    });
  }
}

/** Starts the Sentinel of a configuration file. */
async function serveSentinel(invocation: Invocation): Promise<void> {
  const { loglevel = 'notice', logfile = '', pidfile = '', dir } = invocation.configuration.settings;
  const file = logfile === '' ? '' : placed(dir, logfile);
  if (file !== '') openLog(file);
  let level = (): string => loglevel;
  const log = (at: LogLevel, text: string): void => {
    if (level() === 'nothing' || LOG_LEVELS.indexOf(at) < LOG_LEVELS.indexOf(level() as LogLevel)) return;
    write(file, logLine(at, text, { pid: process.pid, role: 'sentinel', at: Date.now() }));
  };
  const { startSentinelFromFile } = await import('../start/files/sentinel-file.ts');
  const sentinel = await startSentinelFromFile(invocation, log);
  const { node } = sentinel;
  level = () => node.settings.loglevel;
  node.onShutdown = () => stop(sentinel);
  node.sentinel.onCrash = () => process.exit(99);
  follow(sentinel, invocation);
  const port = node.settings.port || node.settings['tls-port'];
  if (invocation.portFile !== undefined) writeFileSync(invocation.portFile, `${port}\n`);
  keepPid(node, pidfile, placed(dir, pidfile), log);
  if (invocation.urlFile !== undefined) writeFileSync(invocation.urlFile, `redis://127.0.0.1:${port}\n`);
  log('notice', `Ready to accept connections ${node.settings.port === 0 ? 'tls' : 'tcp'} ${port}`);
}

async function serve(invocation: Invocation): Promise<void> {
  if (invocation.sentinel === true) return serveSentinel(invocation);
  if (invocation.lab === true) return serveLab(invocation);
  if (invocation.cluster !== undefined) return serveCluster(invocation, invocation.cluster);
  const options = startOptionsOf(invocation);
  const { pidfile = '', ...settings } = invocation.configuration.settings;
  const startLevel = settings.loglevel ?? 'notice';
  const { dir, logfile = '' } = settings;
  let server: LostlockServer | undefined;
  // Redis opens the file for each line, so that it moves with the directory.
  const file = (): string => (logfile === '' ? '' : placed(server?.node.settings.dir ?? dir, logfile));
  if (logfile !== '') openLog(file());
  const log = (level: LogLevel, text: string, role: LogOrigin['role']): void => {
    const least = server?.node.settings.loglevel ?? startLevel;
    if (least === 'nothing') return;
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least as LogLevel)) return;
    write(file(), logLine(level, text, { pid: process.pid, role, at: Date.now() }));
  };
  server = await startServer({ ...options, log });
  const { node } = server;
  node.elsewhere.set('lab', plainLabCommand(server));
  follow(server, invocation, (signal) => shutdownBySignal(node, signal));
  if (server.sentinels.length === 0) server.node.onShutdown = () => stop(server);
  server.node.onFatal = () => process.exit(1);
  if (invocation.configFile !== undefined) {
    server.node.configFile = new DiskConfigFile(invocation.configFile);
  }
  if (invocation.portFile !== undefined) writeFileSync(invocation.portFile, `${server.port}\n`);
  keepPid(node, pidfile, placed(dir, pidfile), (level, text) => log(level, text, node.role));
  if (invocation.urlFile !== undefined) writeFileSync(invocation.urlFile, `${server.url}\n`);
  for (const replica of server.replicas) log('notice', `Replica ready tcp ${replica.port}`, 'replica');
  for (const { port: ready } of server.sentinels) log('notice', `Sentinel ready tcp ${ready}`, 'sentinel');
  const transport = server.tlsPort === server.port ? 'tls' : 'tcp';
  log('notice', `Ready to accept connections ${transport} ${server.port}`, server.node.role);
  if (server.tlsPort !== undefined && server.tlsPort !== server.port) {
    log('notice', `Ready to accept connections tls ${server.tlsPort}`, server.node.role);
  }
  const { unixSocket } = options;
  if (unixSocket !== undefined)
    log('notice', `Ready to accept connections unix ${unixSocket}`, server.node.role);
  log('notice', startedText(invocation, server.url), server.node.role);
}

/** What a user wants to know of a server that has started: what it answers as, where, and how it is stopped. */
function startedText({ dialect = DEFAULT_DIALECT }: Invocation, url: string): string {
  const { family, version } = dialectNamed(dialect).server;
  return `lostlock ${LOSTLOCK_VERSION} answers as ${family}-server ${version} (dialect ${dialect}) at ${url}; Ctrl-C or SIGTERM stops it`;
}

/** Appends a line to the log file, or prints it when there is no log file. Scripts may log any bytes. */
function write(file: string, line: string): void {
  const bytes = Buffer.from(`${line}\n`, /[^\x00-\xff]/.test(line) ? 'utf8' : 'latin1');
  if (file === '') process.stdout.write(bytes);
  else appendFileSync(file, bytes);
}

/**
 * Writes the process id to a file, and removes the file on exit. As in Redis, a server without the file goes on.
 * @param pidfile the parameter; '' for none
 * @param path where the file is
 */
function keepPid(
  { settings }: { readonly settings: Settings },
  pidfile: Bytes,
  path: string,
  log: (level: LogLevel, text: string) => void,
): void {
  if (pidfile === '') return;
  settings.pidfile = pidfile;
  try {
    writeFileSync(path, `${process.pid}\n`);
  } catch (error) {
    log('warning', `Failed to write PID file: ${(error as Error).message}`);
    return;
  }
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

function stopOnSignals(server: Serving, mayEnd: MayEnd = () => true): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (mayEnd(signal)) stop(server);
    });
  }
}

/** Ends the process because of a wrong flag. */
function refuse(error: UsageError): never {
  console.error(`lostlock: ${error.message}\n'lostlock --help' lists the flags and the usual parameters`);
  process.exit(2);
}

/**
 * `daemonize yes`: starts the server again as a process of its own, without a terminal, and ends. A log without a logfile is lost, as
 * in Redis.
 */
function runInBackground(argv: readonly string[], { configText }: Invocation): void {
  const script = isSea() ? [] : [...process.execArgv, process.argv[1] ?? ''];
  const child = spawn(process.execPath, [...script, ...argv, '--daemonize', 'no'], {
    detached: true,
    stdio: [configText === undefined ? 'ignore' : 'pipe', 'ignore', 'ignore'],
  });
  child.stdin?.end(toBuffer(configText ?? ''));
  child.unref();
}

/** Serves as the flags say. Ends the process because of a wrong flag. */
export function serverCommand(argv: readonly string[]): void {
  if (isNode) setFlagsFromString(COLLECTS_ALONE);
  try {
    const invocation = parseCommandLine(argv);
    if (invocation.configuration.settings.daemonize === true) {
      runInBackground(argv, invocation);
      return;
    }
    serve(invocation).catch((error: Error) => {
      if (error instanceof BadDirective) console.error(error.message);
      else console.error(`lostlock: ${systemRefusal(error) ?? error.message.replace(/^lostlock: /, '')}`);
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
