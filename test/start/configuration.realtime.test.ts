/** redis.conf: directives, files that include others, and the errors of redis-server for wrong lines. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseCommandLine } from '../../cli/command-line.ts';
import { startOptionsOf } from '../../cli/start-options.ts';
import { startServer } from '../../index.ts';
import { type Bytes, fromText } from '../../protocol/bytes.ts';
import { Listener } from '../../server/host/tcp.ts';
import { BadDirective, Configuration } from '../../start/configuration.ts';
import { ensureBuilt } from '../support/built.ts';
import { RawClient } from '../support/raw-client.ts';
import { findProgram, hasRedisServer } from '../support/redis-server.ts';
import { request } from '../support/reply-text.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'lostlock-conf-'));
afterAll(() => rmSync(folder, { recursive: true }));

const hasIpv6 = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ address }) => address === '::1'),
);

function file(name: string, ...lines: string[]): string {
  const path = join(folder, name);
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

function configure(...lines: string[]): Configuration {
  const configuration = new Configuration();
  configuration.load(lines.join('\n'), () => []);
  return configuration;
}

function errorOf(...lines: Bytes[]): string {
  try {
    configure(...lines);
  } catch (error) {
    expect(error).toBeInstanceOf(BadDirective);
    return (error as Error).message;
  }
  return 'no error';
}

describe('a file', () => {
  test('sets parameters by any of their names, with quoting and comments', () => {
    const { settings } = configure(
      '# a comment',
      '  PORT 7000  ',
      'requirepass "two words\\x21"',
      "dbfilename 'a file'",
      'slave-read-only no',
      'bind 127.0.0.1 -::1',
      'port 7001',
    );
    expect(settings).toEqual({
      port: 7001,
      requirepass: 'two words!',
      dbfilename: 'a file',
      'replica-read-only': false,
      bind: '127.0.0.1 -::1',
    });
  });

  test('lines of save and client-output-buffer-limit add to the earlier ones, and an empty save starts again', () => {
    const limits = ['client-output-buffer-limit normal 1 2 3', 'client-output-buffer-limit pubsub 4 5 6'];
    expect(configure('save 900 1', 'save 300 10', ...limits).settings).toEqual({
      save: '900 1 300 10',
      'client-output-buffer-limit': 'normal 1 2 3 pubsub 4 5 6',
    });
    expect(configure('save 900 1', 'save ""', 'save 60 5').settings).toEqual({ save: '60 5' });
  });

  test.skipIf(!existsSync('/etc/redis/redis.conf'))("Debian's redis.conf works (needs it)", () => {
    const { settings } = configure(...readFileSync('/etc/redis/redis.conf', 'latin1').split('\n'));
    expect(settings).toMatchObject({ daemonize: true, 'oom-score-adj': 'no', 'repl-diskless-sync-delay': 5 });
  });

  test('names a primary, unless a later line says no one', () => {
    expect(configure('replicaof localhost 6380').replicaOf).toEqual({ host: 'localhost', port: 6380 });
    expect(configure('slaveof localhost 6380', 'replicaof no one').replicaOf).toBeUndefined();
  });

  test('what lostlock cannot do is refused with the reason', () => {
    expect(errorOf('loadmodule x.so')).toContain('lostlock loads no modules');
    expect(errorOf('user a on', 'user a off')).toContain(
      "Error in user declaration 'a': Duplicate user found",
    );
  });
});

const WRONG = [
  'foo bar',
  'port abc',
  'maxmemory',
  'maxmemory 1 2',
  '"unbalanced',
  'save 900',
  'client-output-buffer-limit normal 1',
  'client-output-buffer-limit some 1 2 3',
  'replicaof a',
  'replicaof localhost abc',
  'databases 0',
  'daemonize maybe',
  'maxmemory-policy never',
  'notify-keyspace-events Q',
  'include',
  'user',
  'user default on nopass',
  'rename-command set',
  'rename-command set a b',
];

test.skipIf(!hasRedisServer).each(WRONG)(
  'the line %j has the error of redis-server (needs redis-server)',
  (line) => {
    const path = file('wrong.conf', 'user default on', 'port 0', `   ${line} `);
    const theirs = spawnSync(findProgram('redis-server') ?? '', [path], { encoding: 'utf8', timeout: 20_000 })
      .stderr.trim()
      .split('\n');
    expect(theirs[1]).toBe('Reading the configuration file, at line 3');
    expect(errorOf('user default on', 'port 0', `   ${line} `).trim().split('\n').slice(1)).toEqual(
      theirs.slice(1),
    );
  },
);

test.each([
  ['unixsocketgroup redis', 'lostlock leaves the group of its socket alone'],
  ['rdma-port 7000', 'lostlock does not listen on RDMA'],
])('%s is refused: %s', (line, why) => {
  expect(errorOf(line)).toContain(`at line 1\n>>> '${line}'\n${why}`);
});

describe('the command line', () => {
  beforeAll(ensureBuilt);

  const fails = (...args: string[]): string => {
    const run = spawnSync(process.execPath, ['dist/cli.js', ...args], { encoding: 'utf8' });
    expect([run.status, run.stdout]).toEqual([1, '']);
    return run.stderr;
  };

  /** Starts the command line and asks one request on a connection that logs in first. */
  async function ask(args: string[], input: string, ...requests: string[][]): Promise<string[]> {
    const portFile = join(folder, 'port');
    rmSync(portFile, { force: true });
    const child = spawn(process.execPath, ['dist/cli.js', ...args, '--port-file', portFile]);
    child.stdin.end(input);
    const [line] = await once(child.stdout, 'data');
    const port = Number(/tcp (\d+)/.exec(String(line))?.[1]);
    const client = await RawClient.connect({ port });
    const replies: string[] = [];
    for (const words of requests) {
      await client.send(request(...words));
      replies.push((await client.read()).raw);
    }
    client.close();
    child.kill('SIGTERM');
    await once(child, 'exit');
    return replies;
  }

  test('flags replace what the file and the files that it includes say', async () => {
    file('more.conf', 'databases 3', 'user alice on >secret ~* +@all', 'requirepass hidden');
    const path = file('redis.conf', 'port 1', `include ${join(folder, 'more.conf')}`, 'timeout 7', 'hz 50');
    const replies = await ask(
      [path, '--port', '0', '--hz', '20', '--save', '900', '1', '--save', '60 5'],
      '',
      ['AUTH', 'alice', 'secret'],
      ['CONFIG', 'GET', 'hz'],
      ['CONFIG', 'GET', 'timeout'],
      ['CONFIG', 'GET', 'databases'],
      ['CONFIG', 'GET', 'save'],
      ['AUTH', 'hidden'],
    );
    const pair = (name: string, value: string) =>
      `*2\r\n$${name.length}\r\n${name}\r\n$${value.length}\r\n${value}\r\n`;
    expect(replies).toEqual([
      '+OK\r\n',
      pair('hz', '20'),
      pair('timeout', '7'),
      pair('databases', '3'),
      pair('save', '900 1 60 5'),
      '+OK\r\n',
    ]);
  });

  test('a dash reads the configuration from standard input', async () => {
    expect(await ask(['-', '--port', '0'], 'maxclients 12\n', ['CONFIG', 'GET', 'maxclients'])).toEqual([
      '*2\r\n$10\r\nmaxclients\r\n$2\r\n12\r\n',
    ]);
  });

  test('a password may have any bytes, from the command line and from a file', async () => {
    expect(await ask(['--port', '0', '--requirepass', 'wörd€'], '', ['AUTH', fromText('wörd€')])).toEqual([
      '+OK\r\n',
    ]);
    const path = file('password.conf', 'port 0', 'requirepass "\\xff\\xfe"');
    expect(await ask([path], '', ['AUTH', '\xff\xfe'], ['CONFIG', 'GET', 'masterauth'])).toEqual([
      '+OK\r\n',
      '*2\r\n$10\r\nmasterauth\r\n$0\r\n\r\n',
    ]);
  });

  test('the path of a unix socket may have any letters', async () => {
    const path = join(folder, 'söcket');
    await using server = await startServer(startOptionsOf(parseCommandLine(['0', '--unixsocket', path])));
    const client = await RawClient.connect({ path });
    await client.send(request('PING'));
    expect((await client.read()).raw).toBe('+PONG\r\n');
    client.close();
    expect(server.node.settings.unixsocket).toBe(fromText(path));
  });

  test('a wrong file ends the process with status 1 and the line', () => {
    const path = file('broken.conf', 'port 0', 'hz many');
    expect(fails(path)).toContain("at line 2\n>>> 'hz many'\nargument couldn't be parsed into an integer\n");
    expect(fails(join(folder, 'missing.conf'))).toMatch(
      /^Fatal error, can't open config file '.*missing\.conf'/,
    );
    expect(fails('explor')).toMatch(
      / 'explor': No such file or directory; did you mean the command explore\?$/m,
    );
    expect(fails(file('including.conf', 'include /missing.conf'))).toContain("'/missing.conf'");
    expect(fails(file('user.conf', 'port 0', 'user alice on foo'))).toContain('users.alice');
  });
});

describe('startServer', () => {
  test('creates users, whose wrong rules are refused', async () => {
    await using server = await startServer({ users: { alice: 'on >secret ~cache:* +get (+set ~own:*)' } });
    const client = await RawClient.connect({ port: server.port });
    await client.send(request('AUTH', 'alice', 'secret'));
    expect((await client.read()).raw).toBe('+OK\r\n');
    await client.send(request('SET', 'own:1', 'v'));
    expect((await client.read()).raw).toBe('+OK\r\n');
    await client.send(request('SET', 'cache:1', 'v'));
    expect((await client.read()).raw).toMatch(/^-NOPERM/);
    client.close();
    await expect(startServer({ users: { bob: 'on nonsense' } })).rejects.toThrow(
      /users\.bob is 'on nonsense'/,
    );
    await expect(startServer({ users: { bob: 5 as unknown as string } })).rejects.toThrow(/users\.bob is 5/);
  });

  test('follows a primary', async () => {
    await using primary = await startServer({ seed: { key: 'value' } });
    const replicaOf = { host: '127.0.0.1', port: primary.port };
    await using replica = await startServer({ replicaOf });
    await until(() => replica.dump().length === 1, { what: 'the copy' });
    await expect(startServer({ replicaOf: { ...replicaOf, port: 0 } })).rejects.toThrow(
      /replicaOf\.port is 0/,
    );
  });

  test('listens on several addresses, of which some may be missing', async () => {
    await using server = await startServer({ host: '127.0.0.1 127.0.0.2 -192.0.2.1' });
    expect(server.host).toBe('127.0.0.1');
    for (const host of ['127.0.0.1', '127.0.0.2']) {
      const client = await RawClient.connect({ port: server.port, host });
      await client.send(request('PING'));
      expect((await client.read()).raw).toBe('+PONG\r\n');
      client.close();
    }
    await expect(startServer({ host: '127.0.0.1 192.0.2.1' })).rejects.toThrow(/EADDRNOTAVAIL/);
    await using only = await startServer({ host: '-127.0.0.1' });
    expect(only.host).toBe('127.0.0.1');
  });

  test.each(['* -::*', '-:: 0.0.0.0'])(
    'listens on %s: an IPv6 address is not one of IPv4 too',
    async (host) => {
      await using server = await startServer({ host });
      const client = await RawClient.connect({ port: server.port, host: '127.0.0.1' });
      expect(client.ending).toBeUndefined();
      client.close();
    },
  );

  test('picks another port when the first one is in use at the next address', async () => {
    const { listen } = Listener.prototype;
    const spy = vi.spyOn(Listener.prototype, 'listen').mockImplementation(function (
      this: Listener,
      ...where
    ) {
      const inUse = Object.assign(new Error('in use'), { code: 'EADDRINUSE' });
      return spy.mock.calls.length === 2 ? Promise.reject(inUse) : listen.apply(this, where);
    });
    onTestFinished(() => spy.mockRestore());
    await using server = await startServer({ host: '127.0.0.1 127.0.0.2' });
    for (const host of ['127.0.0.1', '127.0.0.2'])
      (await RawClient.connect({ port: server.port, host })).close();
    expect(spy).toHaveBeenCalledTimes(4);
    spy.mockRestore();
    // An address that is named twice is never free.
    await expect(startServer({ host: '127.0.0.1 127.0.0.1' })).rejects.toThrow('EADDRINUSE');
  });

  test.skipIf(!hasIpv6)('listens on IPv6 alone, as redis-server does (needs IPv6)', async () => {
    await using server = await startServer({ host: '::' });
    (await RawClient.connect({ port: server.port, host: '::1' })).close();
    await expect(RawClient.connect({ port: server.port, host: '127.0.0.1' })).rejects.toThrow('ECONNREFUSED');
  });
});
