/** Asks the real servers of this machine for every parameter of redis.conf: `npx tsx test/start/conf/record.ts`. Takes a quarter of an hour. */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { defined } from '../../../base/defined.ts';
import { dialectNames } from '../../../server/dialects/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { type RawReply, request } from '../../support/reply-text.ts';
import { until } from '../../support/until.ts';
import { FILE, HIDDEN, IGNORED, type Recorded, type Recording } from './recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'lostlock-parameters-'));
const dir = join(folder, 'dir');
mkdirSync(join(dir, 'sub'), { recursive: true });
writeFileSync(join(dir, 'users.acl'), '');
const certificates = resolve('test/support/certificates');
const [, , ...only] = process.argv;

/** A running server, or why it did not start. */
interface Started {
  readonly child: ChildProcess;
  readonly client: RawClient | undefined;
  readonly said: string;
}

const SOCKET = join(dir, 's');

function connects(path: string): Promise<boolean> {
  return new Promise((answer) => {
    const socket = createConnection({ path });
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function start(program: string, lines: readonly string[]): Promise<Started> {
  rmSync(SOCKET, { force: true });
  rmSync(join(dir, 'other'), { force: true });
  const child = spawn(program, ['-'], { cwd: dir, stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.on('data', (chunk) => (said += chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(['port 0', `dir ${dir}`, 'save ""', `unixsocket ${SOCKET}`, ...lines, ''].join('\n'));
  const forks = lines.some((line) => line.startsWith('daemonize'));
  const path = await until(
    async () => {
      const open = [SOCKET, join(dir, 'other')].find((each) => existsSync(each));
      if (open !== undefined && (await connects(open))) return open;
      const ended = child.exitCode !== null || child.signalCode !== null;
      return ended && !(forks && child.exitCode === 0) ? 'none' : undefined;
    },
    { what: `the start with ${lines.join(', ')}: ${said}` },
  );
  if (path === 'none') return { child, client: undefined, said };
  const client = await RawClient.connect({ path });
  return { child, client, said };
}

async function stop({ child, client }: Started): Promise<void> {
  const gone =
    child.exitCode === null && child.signalCode === null
      ? new Promise((done) => child.once('exit', done))
      : undefined;
  await client?.send(request('SHUTDOWN', 'NOSAVE', 'NOW'));
  await gone;
  client?.close();
}

function texts([, value]: RawReply): string[] {
  return Array.isArray(value) ? value.flatMap((each: RawReply) => texts(each)) : [String(value)];
}

async function ask({ client }: Started, ...words: string[]): Promise<string[]> {
  await client?.send(request(...words));
  return client === undefined ? [] : texts((await client.read()).value);
}

/** Without what differs between runs and machines. */
function plain(text: string): string {
  return text.replaceAll(certificates, 'CERTIFICATES').replaceAll(dir, 'DIR');
}

const TLS = [
  `tls-cert-file ${certificates}/server.crt`,
  `tls-key-file ${certificates}/server.key`,
  `tls-ca-cert-file ${certificates}/ca.crt`,
];

/** Values other than the default, for parameters that do not take just any word or number. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  bind: ['127.0.0.1'],
  'bind-source-addr': ['127.0.0.1'],
  save: ['60 5'],
  'client-output-buffer-limit': ['normal 1 2 3'],
  'latency-tracking-info-percentiles': ['50 90'],
  'oom-score-adj-values': ['0 100 200'],
  'notify-keyspace-events': ['KEA'],
  unixsocket: [join(dir, 'other')],
  unixsocketperm: ['700'],
  replicaof: ['127.0.0.1 1'],
  slaveof: ['127.0.0.1 1'],
  primaryof: ['127.0.0.1 1'],
  dir: ['sub'],
  logfile: ['log'],
  aclfile: ['users.acl'],
  'ignore-warnings': ['ARM64-COW-BUG'],
  'proc-title-template': ['{title} {port}'],
  'tls-cert-file': [`${certificates}/client.crt`],
  'tls-key-file': [`${certificates}/client.key`],
  'tls-ca-cert-file': [`${certificates}/ca.crt`],
  'tls-protocols': ['TLSv1.2'],
  'tls-ciphers': ['ECDHE-RSA-AES128-GCM-SHA256'],
  'tls-ciphersuites': ['TLS_AES_128_GCM_SHA256'],
  'tls-ca-cert-dir': [certificates],
  'locale-collate': ['C'],
  'cluster-announce-client-ipv4': ['127.0.0.1'],
  'cluster-announce-client-ipv6': ['::1'],
  unixsocketgroup: ['root'],
  'oom-score-adj': ['relative'],
  appendfilename: ['other.aof'],
  appenddirname: ['other-dir'],
  dbfilename: ['other.rdb'],
  requirepass: [],
  port: [],
};

async function candidates(program: string, name: string, value: string): Promise<readonly string[]> {
  const own = OTHERS[name];
  if (own !== undefined) return own;
  if (value === 'yes') return ['no'];
  if (value === 'no') {
    const refused = await start(program, [`${name} zz`]);
    const words = /one of the following: (.*)/.exec(refused.said)?.[1]?.split(', ');
    await stop(refused);
    return words?.filter((word) => word !== value) ?? ['yes'];
  }
  if (/^-?\d+%?$/.test(value)) {
    const number = Number.parseInt(value, 10);
    return [number + 1, number * 2, number - 1, 1, 2, 5].filter((each) => each !== number).map(String);
  }
  const refused = await start(program, [`${name} zz`]);
  const words = /one of the following: (.*)/.exec(refused.said)?.[1]?.split(', ');
  const accepted = refused.client !== undefined;
  await stop(refused);
  if (words !== undefined) return words.filter((word) => word !== value);
  return accepted ? ['word', 'zz'] : ['127.0.0.1', '0-1', '1', 'yes', 'CN'];
}

/** Other lines without which the parameter could not be tried. */
function around(name: string): string[] {
  if (name === 'tls-key-file') return [TLS[2] ?? '', `tls-cert-file ${certificates}/client.crt`];
  if (name === 'tls-cert-file') return [TLS[2] ?? '', `tls-key-file ${certificates}/client.key`];
  return name.startsWith('tls-') ? TLS : [];
}

function pairs(words: readonly string[]): [string, string][] {
  return words.flatMap((word, i): [string, string][] => (i % 2 === 0 ? [[word, words[i + 1] ?? '']] : []));
}

function quoted(value: string): string {
  return value === '' || /[^\w./:%*-]/.test(value) ? `"${value}"` : value;
}

/** The line that sets the default, which some parameters do not have. */
async function lineOf(program: string, name: string, value: string): Promise<string | undefined> {
  for (const line of new Set([`${name} ${quoted(value)}`, `${name} ${value}`])) {
    const started = await start(program, [...around(name), line]);
    await stop(started);
    if (started.client !== undefined) return line;
  }
  return undefined;
}

async function record(program: string): Promise<Recorded[]> {
  const base = await start(program, []);
  const found = [
    ...pairs(await ask(base, 'CONFIG', 'GET', '*')),
    ...pairs(await ask(base, 'CONFIG', 'GET', ...HIDDEN)),
  ];
  const out: Recorded[] = [];
  for (const [name, value] of found) {
    if (out.some((each) => each.name === name)) continue;
    const set = (await ask(base, 'CONFIG', 'SET', name, value)).join(' ');
    const isOwn = ['dir', 'unixsocket', 'port', 'save', 'requirepass'].includes(name);
    const line = isOwn ? undefined : await lineOf(program, name, value);
    let other: Recorded['other'];
    for (const candidate of await candidates(program, name, value)) {
      const words = [`${name} ${quoted(candidate)}`, `${name} ${candidate}`];
      for (const tried of new Set(words)) {
        const started = await start(program, [...around(name), tried]);
        const [, shown = ''] = await ask(started, 'CONFIG', 'GET', name);
        await stop(started);
        if (started.client === undefined || (shown === value && name !== 'slaveof')) continue;
        other = { line: plain(tried), shown: plain(shown) };
        break;
      }
      if (other !== undefined) break;
    }
    out.push({
      name,
      ...(name !== 'dir' && name !== 'unixsocket' && { value: plain(value) }),
      ...(line !== undefined && { line: plain(line) }),
      ...defined({ other }),
      set: plain(set),
    });
    console.log(JSON.stringify(out.at(-1)));
  }
  await stop(base);
  return out;
}

/** The names that the server takes in a file and ignores. */
async function ignored(
  program: string,
  parameters: readonly Recorded[],
  names: readonly string[],
): Promise<string[]> {
  const out: string[] = [];
  for (const name of names) {
    if (parameters.some((each) => each.name === name)) continue;
    const started = await start(program, [`${name} 1`]);
    await stop(started);
    if (started.client !== undefined) out.push(name);
  }
  return out;
}

/** The redis.conf that Debian ships with a server. */
const SHIPPED: Readonly<Record<string, string>> = {
  'redis-7.0': '/etc/redis/redis.conf',
  'redis-8.0': join(dirname(oracleOf('redis-8.0') ?? ''), '../root/etc/redis/redis.conf'),
  'valkey-8.1': join(dirname(oracleOf('valkey-8.1') ?? ''), '../root/etc/valkey/valkey.conf'),
};

/** Where else the recorder listens and writes. */
const NOT_TRIED =
  /^(port|tls-port|unixsocket|dir|save|daemonize|include|pidfile|logfile|requirepass|maxclients|rename-command)$/;

/** The lines of the server's own redis.conf, commented or not, that it accepts. */
async function linesOf(dialect: string, program: string, parameters: readonly Recorded[]): Promise<string[]> {
  const path = SHIPPED[dialect];
  if (path === undefined || !existsSync(path)) return [];
  const known = new Set([...parameters.map(({ name }) => name), 'rename-command', 'user']);
  const lines = readFileSync(path, 'latin1')
    .split('\n')
    .map((line) => line.replace(/^#\s?/, '').trim())
    .filter((line) => known.has(line.split(' ')[0] ?? '') && !NOT_TRIED.test(line.split(' ')[0] ?? ''));
  const out: string[] = [];
  for (const line of new Set(lines)) {
    const started = await start(program, [...around(line.split(' ')[0] ?? ''), line]);
    if (started.client !== undefined) out.push(line);
    await stop(started);
  }
  return out;
}

/** One line for each parameter, so that the file can be read. */
function written(all: Record<string, Recording>): string {
  const servers = Object.entries(all).map(([name, { parameters, ignored, lines }]) => {
    const rows = parameters.map((each) => `   ${JSON.stringify(each)}`).join(',\n');
    const rest = `  "ignored": ${JSON.stringify(ignored)},\n  "lines": [\n${lines.map((line) => `   ${JSON.stringify(line)}`).join(',\n')}\n  ]`;
    return ` ${JSON.stringify(name)}: {\n  "parameters": [\n${rows}\n  ],\n${rest}\n }`;
  });
  return `{\n${servers.join(',\n')}\n}\n`;
}

const recordings: Record<string, Recording> = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
for (const dialect of only.length > 0 ? only : dialectNames) {
  const program = oracleOf(dialect);
  if (program === undefined) continue;
  const parameters = await record(program);
  const others = Object.values(recordings).flatMap((each) => each.parameters.map(({ name }) => name));
  const names = [...new Set([...IGNORED, ...others])];
  const lines = await linesOf(dialect, program, parameters);
  recordings[dialect] = { parameters, ignored: await ignored(program, parameters, names), lines };
  writeFileSync(FILE, written(recordings));
}
rmSync(folder, { recursive: true });
