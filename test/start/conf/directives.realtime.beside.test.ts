/** Lines of redis.conf that change what a whole server does: rename-command, signals, daemonize, modules, the source address. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseCommandLine } from '../../../cli/command-line.ts';
import { startOptionsOf } from '../../../cli/start-options.ts';
import { startServer } from '../../../index.ts';
import { dialectNames } from '../../../server/dialects/index.ts';
import { ensureBuilt } from '../../support/built.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'lostlock-directives-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a configuration file. Returns its path. */
function file(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

const RENAMED = [
  'rename-command CONFIG abc',
  'rename-command FLUSHALL ""',
  'rename-command set Store',
  'rename-command store Keep',
];

/** Requests whose replies are compared, apart from COMMAND's, which depend on the table. */
const REQUESTS = [
  'config get hz',
  'abc get hz',
  'ABC GET hz',
  'abc foo',
  'abc get',
  'flushall async',
  'set a b',
  'store a b',
  'keep a b',
  'KeEp a b',
  'keep a',
  'get a',
  'command info config',
  'command getkeys keep a b',
  'command getkeys set a b',
  'acl setuser u on nopass ~* +set -config|get +keep',
  'acl setuser u on nopass ~* +set -config|get',
  'acl dryrun u keep a b',
  'acl dryrun u set a b',
  'multi',
  'set a c',
  'exec',
];

/** The lines as arguments of redis-server. */
function asArguments(lines: readonly string[]): string[] {
  return lines.flatMap((line) => `--${line}`.split(' ').map((word) => (word === '""' ? '' : word)));
}

describe.each(dialectNames.filter((name) => oracleOf(name) !== undefined))('beside %s', (dialect) => {
  test('renamed commands answer as on the real server (needs that server)', async () => {
    const args = asArguments(['enable-debug-command yes', ...RENAMED]);
    const line = [...args, '--port', '0', '--dialect', dialect, '--strict', 'yes'];
    await using server = await startServer(startOptionsOf(parseCommandLine(line)));
    await using real = await startRedisServer({ program: oracleOf(dialect) ?? '', args });
    const clients = [await RawClient.connect({ path: real.path }), new RawClient(server.connect())];
    const answers: string[][] = [];
    for (const line of [...REQUESTS]) {
      const both: string[] = [];
      for (const client of clients) both.push((await client.ask(...(line.split(' ') as [string]))).raw);
      answers.push([line, ...both]);
    }
    expect(answers.filter(([, theirs, ours]) => theirs !== ours)).toEqual([]);
    for (const client of clients) client.close();
  });

  test.each([
    'rename-command nosuch x',
    'rename-command set get',
    'rename-command SET Y\nrename-command get y',
    'rename-command set ""\nrename-command set x',
  ])('%j has the error of the real server (needs that server)', async (lines) => {
    const path = file('wrong.conf', ...lines.split('\n'));
    const child = spawn(oracleOf(dialect) ?? '', [path], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk) => (said += chunk));
    await once(child, 'exit');
    const why = said.trim().split('\n').slice(1);
    expect(() => parseCommandLine([path, '--dialect', dialect, '--strict', 'yes'])).toThrow(why.join('\n'));
    expect(why).toHaveLength(3);
  });
});

test('scripts use the new names', async () => {
  await using server = await startServer({ renamedCommands: [['SET', 'keep']] });
  const client = new RawClient(server.connect());
  expect((await client.ask('EVAL', "return redis.call('keep','k','v')", '0')).raw).toBe('+OK\r\n');
  expect((await client.ask('EVAL', "return redis.call('set','k','v')", '0')).raw).toMatch(
    /^-ERR Unknown .*command called/,
  );
  client.close();
});

test('replicas have the same names, and a wrong one is an error of the option', async () => {
  await using server = await startServer({
    renamedCommands: [
      ['SET', 'store'],
      ['FLUSHALL', ''],
    ],
    replicas: 1,
  });
  const client = new RawClient(server.connect());
  expect((await client.ask('store', 'a', 'b')).raw).toBe('+OK\r\n');
  expect((await client.ask('flushall')).raw).toMatch(/^-ERR unknown command/);
  const [replica] = server.replicas;
  await until(() => replica?.dump().length === 1, { what: 'the copy' });
  client.close();
  await expect(startServer({ renamedCommands: [['SET', 'get']] })).rejects.toThrow(
    /renamedCommands\[0\] is \[ 'SET', 'get' \].*Target command name already exists/,
  );
  await expect(startServer({ renamedCommands: [['SET']] as never })).rejects.toThrow(/renamedCommands\[0\]/);
});

test('a module fails to load where modules may be loaded, and is refused elsewhere', async () => {
  for (const [value, why] of [
    ['no', 'MODULE command not allowed'],
    ['yes', 'Error loading the extension'],
  ] as const) {
    await using server = await startServer({ settings: { 'enable-module-command': value } });
    const client = new RawClient(server.connect());
    expect((await client.ask('MODULE', 'LOAD', '/x.so')).raw).toContain(why);
    client.close();
  }
});

test('a replica that is not announced says so in INFO', async () => {
  await using primary = await startServer();
  await using replica = await startServer({
    replicaOf: { host: '127.0.0.1', port: primary.port },
    settings: { 'replica-announced': false },
  });
  const client = new RawClient(replica.connect());
  expect((await client.ask('INFO', 'replication')).raw).toContain('replica_announced:0\r\n');
  client.close();
});

test.skipIf(process.platform !== 'linux').each([
  ['127.0.0.2', '127.0.0.2'],
  // As in Redis, an address that this machine does not have is no reason to stay alone.
  ['192.0.2.1', '127.0.0.1'],
  ['nonsense', '127.0.0.1'],
])('a replica with bind-source-addr %s comes from %s (needs Linux)', async (source, seen) => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  const came = once(listener, 'connection');
  await using replica = await startServer({
    replicaOf: { host: '127.0.0.1', port },
    settings: { 'bind-source-addr': source },
  });
  const [socket] = await came;
  expect(socket.remoteAddress).toBe(seen);
  socket.destroy();
  listener.close();
  expect(replica.node.role).toBe('replica');
});

describe('the command line', () => {
  beforeAll(ensureBuilt, 180_000);

  /** Starts it and waits until it listens. */
  async function run(...args: string[]) {
    const portFile = join(folder, 'port');
    rmSync(portFile, { force: true });
    const child = spawn(process.execPath, ['dist/cli.js', '--port', '0', '--port-file', portFile, ...args]);
    let said = '';
    child.stdout.on('data', (chunk) => (said += chunk));
    onTestFinished(() => void child.kill('SIGKILL'));
    await until(() => existsSync(portFile) && readFileSync(portFile, 'utf8').endsWith('\n'), {
      what: 'the port',
    });
    const client = await RawClient.connect({ port: Number(readFileSync(portFile, 'utf8')) });
    return { child, client, said: () => said };
  }

  test.each([
    ['SIGTERM', [], false],
    ['SIGTERM', ['--save', '900', '1'], true],
    ['SIGINT', ['--shutdown-on-sigint', 'save'], true],
    ['SIGTERM', ['--save', '900', '1', '--shutdown-on-sigterm', 'nosave', 'now'], false],
  ] as const)('%s with the flags %j ends it; it saves: %j', async (signal, flags, saves) => {
    const dump = join(folder, 'signal.rdb');
    rmSync(dump, { force: true });
    const { child, client } = await run('--dir', folder, '--dbfilename', 'signal.rdb', ...flags);
    await client.ask('SET', 'a', 'b');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(existsSync(dump)).toBe(saves);
  });

  test('a signal does not end a server that cannot save, unless it is to be forced', async () => {
    const gone = mkdtempSync(join(folder, 'gone-'));
    const { child, client, said } = await run('--dir', gone, '--dbfilename', 'a.rdb', '--save', '900', '1');
    await client.ask('SET', 'a', 'b');
    rmSync(gone, { recursive: true });
    child.kill('SIGTERM');
    await until(() => said().includes('Errors trying to shut down the server'), { what: 'the warning' });
    expect((await client.ask('GET', 'a')).raw).toBe('$1\r\nb\r\n');
    await client.ask('CONFIG', 'SET', 'shutdown-on-sigterm', 'force');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('daemonize yes leaves a server in the background, which writes its pid file and its log', async () => {
    const [pid, log] = ['pid', 'log'].map((name) => join(folder, name)) as [string, string];
    const socket = join(folder, 's');
    const path = file(
      'daemon.conf',
      'daemonize yes',
      `pidfile ${pid}`,
      `logfile ${log}`,
      `unixsocket ${socket}`,
    );
    const parent = spawn(process.execPath, ['dist/cli.js', path, '--port', '0'], { stdio: 'ignore' });
    expect(await once(parent, 'exit')).toEqual([0, null]);
    await until(() => existsSync(log) && readFileSync(log, 'utf8').includes('unix'), { what: 'the log' });
    const client = await RawClient.connect({ path: socket });
    expect((await client.ask('PING')).raw).toBe('+PONG\r\n');
    const id = Number(readFileSync(pid, 'utf8'));
    expect(id).not.toBe(parent.pid);
    void client.ask('SHUTDOWN', 'NOSAVE').catch(() => {});
    await until(() => !existsSync(pid), { what: 'the end' });
  });
});
