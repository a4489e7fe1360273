/** The command line as other programs use it: the ready line, an answer, and a clean end on both signals. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { ensureBuilt } from './support/built.ts';
import { until } from './support/until.ts';

beforeAll(ensureBuilt);

/** Starts `lostlock` as it is built, with the flags given; resolves with its port once it says that it is ready. */
async function startCli(...flags: string[]) {
  const child = spawn(process.execPath, ['dist/cli.js', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.includes('\n')) break;
  }
  const port = Number(/ \* Ready to accept connections tcp (\d+)$/m.exec(printed)?.[1]);
  return { child, port, printed };
}

/** Sends one line and returns what comes back before the server closes. */
async function talk(port: number, text: string): Promise<string> {
  const socket = createConnection(port, '127.0.0.1');
  socket.write(text);
  let received = '';
  for await (const chunk of socket) received += chunk;
  return received;
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`serves, and ends with status 0 on ${signal} while a client is connected`, async () => {
    const { child, port, printed } = await startCli('--port', '0');
    const now = '\\d\\d [A-Z][a-z]{2} \\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d{3}';
    const line = `^${child.pid}:M ${now} \\* Ready to accept connections tcp ${port}\\n`;
    expect(printed).toMatch(new RegExp(line));
    expect(await talk(port, 'ECHO hello\r\nSELECT 3\r\nSET k v\r\nGET k\r\nQUIT\r\n')).toBe(
      '$5\r\nhello\r\n+OK\r\n+OK\r\n$1\r\nv\r\n+OK\r\n',
    );
    const idle = createConnection(port, '127.0.0.1');
    idle.on('error', () => {});
    await once(idle, 'connect');
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
}

test('logs the levels of --loglevel and CONFIG SET, to the file of --logfile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-cli-'));
  const [logfile, portFile] = [join(folder, 'log'), join(folder, 'port')];
  const flags = ['--port', '0', '--loglevel', 'warning', '--logfile', logfile, '--port-file', portFile];
  const child = spawn(process.execPath, ['dist/cli.js', ...flags], { stdio: 'inherit' });
  const read = (path: string) => (existsSync(path) ? readFileSync(path, 'latin1') : '');
  const port = Number(await until(() => read(portFile).trim(), { what: 'the port', limitMs: 60_000 }));
  const log = (level: string, text: string) => `EVAL "redis.log(redis.LOG_${level}, '${text}')" 0\r\n`;
  const quiet = log('NOTICE', 'too quiet') + log('WARNING', 'loud\\xe9');
  const told = await talk(
    port,
    `CONFIG GET loglevel\r\n${quiet}CONFIG SET loglevel verbose\r\n${log('VERBOSE', 'low')}QUIT\r\n`,
  );
  expect(told).toContain('$7\r\nwarning\r\n');
  const texts = read(logfile).replaceAll(/^.*:\d\d\.\d{3} /gm, '');
  expect(texts).toBe('# loud\xe9\n- low\n');
  child.kill('SIGTERM');
  await once(child, 'exit');
  rmSync(folder, { recursive: true });
});

test('SHUTDOWN ends the process with status 0', async () => {
  const { child, port } = await startCli('--port', '0');
  const ended = once(child, 'exit');
  await talk(port, 'SHUTDOWN NOSAVE\r\n');
  expect(await ended).toEqual([0, null]);
});

test('ends when the shell that npm started it through is gone', async () => {
  const command = `"${process.execPath}" dist/cli.js --port 0; true`;
  const shell = spawn('sh', ['-c', command], { env: { ...process.env, npm_command: 'exec' } });
  let printed = '';
  shell.stdout.on('data', (chunk) => (printed += chunk));
  await until(() => printed.includes('\n'), { what: 'the first line' });
  const port = Number(/ tcp (\d+)$/m.exec(printed)?.[1]);
  const client = createConnection(port, '127.0.0.1').on('error', () => {});
  const closed = new Promise((resolve) => client.once('close', resolve));
  await once(client, 'connect');
  shell.kill('SIGTERM');
  await closed;
  expect(client.destroyed).toBe(true);
});

test('an unknown flag, a wrong value and a port in use end the process with the reason', async () => {
  const fails = (...flags: string[]): string => {
    const run = spawnSync(process.execPath, ['dist/cli.js', ...flags], { encoding: 'utf8' });
    expect([run.status, run.stdout]).toEqual([expect.toSatisfy((status) => status > 0), '']);
    return run.stderr;
  };
  expect(fails('--prot', '7000').split('\n')).toEqual([
    'lostlock: --prot is not a parameter of lostlock; did you mean --port?',
    "'lostlock --help' lists the flags and the usual parameters",
    '',
  ]);
  expect(fails('demo', 'fail-over')).toMatch(
    /^there is no story 'fail-over'; .*; did you mean failover\?\n$/,
  );
  expect(fails('demo', '--htm', 'x')).toBe('there is no option --htm; did you mean --html?\n');
  expect(fails('playground', '--prt', '1')).toMatch(/^there is no option --prt; did you mean --port\?\n/);
  expect(fails('--port', '70000')).toMatch(/^lostlock: --port 70000: argument must be between 0 and 65535/);
  expect(fails('--dialect', 'redis-9')).toMatch(/^lostlock: --dialect redis-9: must be one of redis-7.0, /);
  expect(fails('--strict', 'on')).toMatch(/^lostlock: --strict on: must be yes or no/);
  const { child, port } = await startCli('--port', '0', '--dialect', 'valkey-8.1', '--strict', 'yes');
  expect(await talk(port, 'DELIFEQ k v\r\nINFO server\r\nQUIT\r\n')).toMatch(
    /^-ERR unknown command.*valkey_version/s,
  );
  expect(fails('--port', String(port))).toContain('EADDRINUSE');
  child.kill('SIGTERM');
  await once(child, 'exit');
});

test('unsupported settings are refused with the reason; values that describe the current behaviour are accepted', async () => {
  for (const [flag, value, why] of [
    ['--unixsocketgroup', 'redis', 'lostlock leaves the group of its socket alone'],
    ['--unixsocketperm', '789', "argument couldn't be parsed into an integer"],
  ] as const) {
    const run = spawnSync(process.execPath, ['dist/cli.js', flag, value], { encoding: 'utf8' });
    expect([run.status, run.stdout, run.stderr.split('\n')[0]]).toEqual([
      2,
      '',
      expect.stringContaining(`lostlock: ${flag} ${value}: ${why}`),
    ]);
  }
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-cli-'));
  const [pidfile, unixsocket] = [join(dir, 'pid'), join(dir, 'socket')];
  const none = [
    'daemonize',
    'appendonly',
    'cluster-enabled',
    'syslog-enabled',
    'supervised',
    'aof-use-rdb-preamble',
  ];
  const flags = none.flatMap((name) => [`--${name}`, 'no']);
  const paths = ['--pidfile', pidfile, '--unixsocket', unixsocket, '--unixsocketperm', '700'];
  const { child } = await startCli('--port', '0', ...flags, ...paths);
  expect(readFileSync(pidfile, 'utf8')).toBe(`${child.pid}\n`);
  expect(statSync(unixsocket).mode & 0o777).toBe(0o700);
  child.kill('SIGTERM');
  await once(child, 'exit');
  expect(existsSync(pidfile)).toBe(false);
  rmSync(dir, { recursive: true });
});

test('--version is the version of the package', () => {
  const run = spawnSync(process.execPath, ['dist/cli.js', '--version'], { encoding: 'utf8' });
  expect(run.stdout).toBe(`lostlock ${manifest.version}\n`);
});

test('says why it stops when standard input ends, and names --lab to a client that sends LAB', async () => {
  const child = spawn(process.execPath, ['dist/cli.js', '--port', '0', '--exit-with-parent'], {
    stdio: 'pipe',
  });
  let printed = '';
  child.stderr.on('data', (chunk) => {
    printed += chunk;
  });
  let log = '';
  child.stdout.on('data', (chunk) => {
    log += chunk;
  });
  const port = (): number => Number(/accept connections tcp (\d+)$/m.exec(log)?.[1]);
  await until(() => port() > 0, { what: 'the ready line' });
  expect(await talk(port(), 'LAB NODES\r\nQUIT\r\n')).toBe(
    '-ERR LAB NODES needs a lab, and this server has none; start lostlock with --lab\r\n+OK\r\n',
  );
  child.stdin.end();
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(printed).toBe('lostlock: standard input has ended, so lostlock stops (--exit-with-parent)\n');
});

test('help lists the pages of docs/ and prints them, and a wrong word gets the closest page', () => {
  const run = (...words: string[]) =>
    spawnSync(process.execPath, ['dist/cli.js', 'help', ...words], { encoding: 'utf8' });
  const { stdout: list } = run();
  for (const page of ['explore', 'testing', 'start/jest']) expect(list).toContain(`  ${page} `);
  expect(run('explore').stdout).toBe(readFileSync('docs/explore.md', 'utf8'));
  expect(run('jest').stdout).toBe(readFileSync('docs/start/jest.md', 'utf8'));
  const { status, stderr } = run('explor');
  expect([status, stderr.split('\n')[0]]).toEqual([
    2,
    'lostlock: there is no page explor; did you mean explore?',
  ]);
});

test('a file that cannot be written or a port in use ends a command with one line, without a stack trace', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const inFile = join(process.execPath, 'x');
  try {
    const inUse = `lostlock: port ${port} of 127.0.0.1 is in use (EADDRINUSE): choose another with --port, or --port 0 for a free one\n`;
    const ends = [
      [['demo', 'failover', '--html', `${inFile}.html`], 2, /^--html .*x\.html: cannot mkdir .*\n$/],
      [['playground', '--out', inFile], 1, /^lostlock: cannot (mkdir|open) .*\n$/],
      [['playground', '--port', `${port}`], 1, inUse],
      [['--port', `${port}`], 1, inUse],
      [['--port', `${port}`, '--lab'], 1, inUse],
      [['--port', `${port}`, '--cluster', '1'], 1, inUse],
      [
        ['--port', '0', '--url-file', inFile],
        1,
        /^lostlock: cannot open .*x: not a directory \(ENOTDIR\)\n$/,
      ],
    ] as const;
    for (const [words, status, said] of ends) {
      const end = spawnSync(process.execPath, ['dist/cli.js', ...words], { encoding: 'utf8' });
      expect([words, end.status]).toEqual([words, status]);
      expect(end.stderr).toMatch(said);
    }
  } finally {
    taken.close();
  }
});

test('says what it answers as, where, and how to stop it', async () => {
  const child = spawn(process.execPath, ['dist/cli.js', '--port', '0', '--dialect', 'valkey-8.1'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.includes('stops it')) break;
  }
  child.kill();
  const url = 'redis://127\\.0\\.0\\.1:\\d+';
  expect(printed).toMatch(
    new RegExp(
      `lostlock [\\d.]+ answers as valkey-server 8\\.1\\.1 \\(dialect valkey-8\\.1\\) at ${url}; Ctrl-C or SIGTERM stops it`,
    ),
  );
});
