/** TLS: clients of several libraries, certificates of clients, replication, and redis.conf's parameters for it. */
import { execFile, spawnSync } from 'node:child_process';
import { connect as dial } from 'node:net';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type StartOptions, startServer, type TlsOptions } from '../../index.ts';
import { fromText } from '../../protocol/bytes.ts';
import { Listener } from '../../server/host/tcp.ts';
import {
  certificateSettings,
  clientTls,
  cliTls,
  serverTls,
  strangerTls,
} from '../support/certificates/files.ts';
import { INSTALLED } from '../support/oracles.ts';
import { findProgram, freePort, hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

// Without an authority the server asks no client for a certificate.
const { ca, ...own } = serverTls satisfies TlsOptions;

/** The reply to PING of a client with these certificates, or its error. */
async function ping(port: number, tls: object | undefined): Promise<string> {
  const redis = new Redis({
    port,
    ...(tls && { tls }),
    lazyConnect: true,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    connectTimeout: 5000,
  } as never);
  let why = '';
  redis.on('error', (error: Error) => (why ||= error.message));
  try {
    await redis.connect();
    return await redis.ping();
  } catch (error) {
    return why || (error as Error).message;
  } finally {
    redis.disconnect();
  }
}

test('every client library speaks TLS with the server, and a client that does not trust it goes away', async () => {
  const log: string[] = [];
  await using server = await startServer({ tls: own, log: (_, text) => void log.push(text) });
  expect(server.url).toBe(`rediss://127.0.0.1:${server.port}`);
  expect(server.tlsPort).toBe(server.port);
  expect(await ping(server.port, { ca })).toBe('PONG');
  const node = createClient({ url: server.url, socket: { tls: true, ca, rejectUnauthorized: true } });
  await node.connect();
  expect(await node.set('k', 'x'.repeat(200_000))).toBe('OK');
  expect((await node.get('k'))?.length).toBe(200_000);
  node.destroy();
  expect(await ping(server.port, {})).toContain('unable to verify');
  const plain = dial(server.port, '127.0.0.1').on('error', () => {});
  await new Promise((resolve) => plain.once('connect', resolve));
  const { localPort } = plain;
  const closed = new Promise((resolve) => plain.once('close', resolve));
  plain.write('PING\r\n');
  await closed;
  const isRefused = (line: string): boolean =>
    line.startsWith('Error accepting a client connection: ') &&
    line.endsWith(`(addr=127.0.0.1:${localPort})`);
  await until(() => log.some(isRefused), { what: 'the log line with the address' });
});

test('the log names the client of a handshake that ended early, whose socket has no address any more', async () => {
  const log: string[] = [];
  await using server = await startServer({ tls: own, log: (_, text) => void log.push(text) });
  const hasty = dial(server.port, '127.0.0.1').on('error', () => {});
  await new Promise((resolve) => hasty.once('connect', resolve));
  const { localPort } = hasty;
  hasty.resetAndDestroy();
  const lines = (): string[] =>
    log.filter((line) => line.startsWith('Error accepting a client connection: '));
  await until(() => lines().length > 0, { what: 'the log line' });
  expect(lines()[0]).toContain(`(addr=127.0.0.1:${localPort})`);
});

test('neither the plain port nor the port for TLS answers before the other one is open', async () => {
  const opened: string[] = [];
  const { listen } = Listener.prototype;
  const spied = vi.spyOn(Listener.prototype, 'listen').mockImplementation(function (this: Listener, where) {
    opened.push('begins');
    return listen.call(this, where).finally(() => opened.push('is open'));
  });
  onTestFinished(() => spied.mockRestore());
  await using server = await startServer({ port: await freePort(), tls: { ...serverTls, port: 0 } });
  expect(opened).toEqual(['begins', 'begins', 'is open', 'is open']);
  expect(server.tlsPort).not.toBe(server.port);
});

test('when one of two ports is in use, the other one is closed', async () => {
  await using other = await startServer();
  const port = await freePort();
  for (const [plain, secure] of [
    [port, other.port],
    [other.port, port],
  ] as const) {
    const starting = startServer({ port: plain, tls: { ...serverTls, port: secure } });
    await expect(starting).rejects.toThrow('EADDRINUSE');
    expect(await ping(port, undefined)).toContain('ECONNREFUSED');
  }
});

test('a connection that never speaks does not keep the server from stopping', async () => {
  const server = await startServer({ tls: own });
  const silent = dial(server.port, '127.0.0.1').on('error', () => {});
  await new Promise((resolve) => silent.once('connect', resolve));
  const closed = new Promise((resolve) => silent.once('close', resolve));
  await server.stop();
  await closed;
  expect(silent.destroyed).toBe(true);
});

test.each([
  ['required', 'alert', 'alert', 'PONG'],
  ['optional', 'PONG', 'alert', 'PONG'],
  ['none', 'PONG', 'PONG', 'PONG'],
] as const)('certificates of clients are %s', async (clients, without, wrong, right) => {
  await using server = await startServer({ tls: { ...own, ca, clients } });
  const outcome = async (shown: object): Promise<string> =>
    (await ping(server.port, { ca, ...shown })) === 'PONG' ? 'PONG' : 'alert';
  expect([await outcome({}), await outcome(strangerTls), await outcome(clientTls)]).toEqual([
    without,
    wrong,
    right,
  ]);
});

test('a port of its own for TLS leaves the other one plain', async () => {
  await using server = await startServer({ tls: { ...own, port: 0 }, password: 'secret' });
  expect(server.url).toMatch(/^redis:/);
  expect(server.tlsPort).not.toBe(server.port);
  expect(await ping(server.port, undefined)).toContain('NOAUTH');
  expect(await ping(server.tlsPort ?? 0, { ca })).toContain('NOAUTH');
});

test('replicas follow with TLS when there is no other port', async () => {
  await using server = await startServer({ tls: own, replicas: 1 });
  server.seed({ k: 'v' });
  const [replica] = server.replicas;
  await until(() => replica?.dump().length === 1, { what: 'the copy' });
  expect(replica?.url).toMatch(/^rediss:/);
});

const files = certificateSettings;
const asFlags = (settings: object): string[] =>
  Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);

test.skipIf(!hasRedisServer)(
  'redis-cli and redis-server speak TLS with ours, in both directions (needs redis-server)',
  async () => {
    const settings = { ...files, 'tls-replication': true };
    await using ours = await startServer({
      port: 0,
      dialect: INSTALLED,
      tls: { ...own, ca },
      settings: { 'tls-replication': true },
    });
    const cli = findProgram('redis-cli');
    if (cli !== undefined) {
      const { stdout } = await promisify(execFile)(cli, [
        '-p',
        String(ours.port),
        ...cliTls,
        'SET',
        'k',
        'v',
      ]);
      expect(stdout).toBe('OK\n');
    } else ours.seed({ k: 'v' });
    const followers = asFlags({ ...settings, 'tls-replication': 'yes', 'tls-port': 0 });
    await using theirs = await startRedisServer({
      args: [...followers, '--replicaof', '127.0.0.1', String(ours.port)],
    });
    const redis = new Redis(theirs.path);
    onTestFinished(() => redis.disconnect());
    await until(async () => (await redis.get('k')) === 'v', { what: "redis-server's copy" });
  },
);

test.skipIf(!hasRedisServer)('ours follows a redis-server with TLS (needs redis-server)', async () => {
  const port = await freePort();
  await using theirs = await startRedisServer({
    args: asFlags({ ...files, 'tls-port': port, 'repl-diskless-sync-delay': 0 }),
  });
  const redis = new Redis(theirs.path);
  await redis.set('k', 'v');
  redis.disconnect();
  const settings: StartOptions['settings'] = { ...files, 'tls-replication': true };
  await using ours = await startServer({ settings, replicaOf: { host: '127.0.0.1', port } });
  await until(() => ours.dump().length === 1, { what: 'our copy' });
  expect(ours.url).toMatch(/^redis:/);
});

/** Parameters that cannot work, each with what redis-server says about it. */
const WRONG: object[] = [
  {},
  { 'tls-cert-file': files['tls-cert-file'] },
  { ...files, 'tls-ca-cert-file': '' },
  { ...files, 'tls-cert-file': '/missing.crt' },
  { ...files, 'tls-key-file': '/missing.key' },
  { ...files, 'tls-ca-cert-file': '/missing.ca' },
  { ...files, 'tls-protocols': 'SSLv2' },
];

test.skipIf(!hasRedisServer).each(WRONG)(
  '%j has the error of redis-server (needs redis-server)',
  async (settings) => {
    const flags = asFlags({ ...settings, 'tls-port': 1, port: 0, save: '' });
    const { stdout } = spawnSync(findProgram('redis-server') ?? '', flags, {
      encoding: 'utf8',
      timeout: 20_000,
    });
    const theirs = / # (.*)\n[^\n]* # Failed to configure TLS/.exec(stdout)?.[1] ?? stdout;
    const ours = await startServer({ port: 0, settings: { ...settings, 'tls-port': 1 } }).catch(
      (error: Error) => error.message,
    );
    expect(ours).toBe(`lostlock: ${theirs.replace(/error:[\dA-F]+:[\w ]+::?/i, '')}`);
  },
);

test('names a missing file by its path, also beyond ASCII, and refuses a second port for TLS', async () => {
  const settings = { ...files, 'tls-port': 1, 'tls-cert-file': fromText('/vermißt.crt') };
  await expect(startServer({ settings })).rejects.toThrow(
    'Failed to load certificate: /vermißt.crt: No such',
  );
  await expect(startServer({ tls: own, settings: { 'tls-port': 1 } })).rejects.toThrow(
    "option settings['tls-port'] is 1; allowed: 0 with the option tls",
  );
});

test.each<[options: object, message: string]>([
  [{ key: 5, cert: 'x' }, 'option tls.key is 5; allowed: a string or a Buffer in PEM'],
  [{ key: 'x', cert: '' }, "option tls.cert is ''; allowed: a string or a Buffer in PEM"],
  [{ ...own, clients: 'some' }, "option tls.clients is 'some'; allowed: 'required', 'optional' or 'none'"],
  [{ ...own, clients: 'required' }, "allowed: 'none' without tls.ca"],
  [{ ...own, port: -1 }, 'option tls.port is -1; allowed: an integer from 0 to 65535'],
  [{ ...own, pass: 'x' }, "tls.pass is 'x'; allowed: the options key"],
  [
    { ...own, key: 'x' },
    "option tls.key is '…'; allowed: a private key, with its tls.passphrase if it has one, in PEM (",
  ],
  [{ ...own, cert: 'x' }, "option tls.cert is '…'; allowed: a certificate in PEM ("],
  [{ ...own, ca: ['x'] }, "option tls.ca is '…'; allowed: certificates in PEM ("],
  [{ ...own, key: clientTls.key }, 'lostlock: Failed to configure TLS: '],
])('refuses wrong certificates and options: %#', async (tls, message) => {
  await expect(startServer({ tls: tls as TlsOptions })).rejects.toThrow(message);
});

test('CONFIG shows the parameters, and TLS does not change while the server runs', async () => {
  await using server = await startServer({
    port: 0,
    settings: { ...files, 'tls-port': 0, 'tls-auth-clients': 'no' },
  });
  const redis = new Redis(server.url);
  expect(await redis.config('GET', 'tls-cert-file')).toEqual(['tls-cert-file', files['tls-cert-file']]);
  const failed = (name: string): string =>
    `ERR CONFIG SET failed (possibly related to argument '${name}') - Unable to update TLS configuration. Check server logs.`;
  await expect(redis.config('SET', 'tls-port', '7000')).rejects.toThrow(failed('tls-port'));
  await expect(redis.config('SET', 'tls-replication', 'yes')).rejects.toThrow(failed('tls-replication'));
  expect(await redis.config('SET', 'tls-ciphers', 'bad')).toBe('OK');
  redis.disconnect();
});
