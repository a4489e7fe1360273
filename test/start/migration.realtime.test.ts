/** The entries for projects that come from redis-memory-server and Testcontainers: their classes, their methods, their habits. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import RedisMemoryServerByDefault, {
  RedisMemoryServer,
  type RedisMemoryServerOptions,
} from '../../adapters/redis-memory-server.ts';
import { RedisContainer } from '../../adapters/testcontainers.ts';
import { until } from '../support/until.ts';

/** An ioredis client that is disconnected when the test ends. */
function client(url: string): Redis {
  const redis = new Redis(url);
  redis.on('error', () => {}); // A server that stops resets its connections.
  onTestFinished(() => redis.disconnect());
  return redis;
}

describe('RedisMemoryServer', () => {
  test('starts when it is first needed, stops, and starts again on the same port', async () => {
    const server = new RedisMemoryServer();
    expect(server.getInstanceInfo()).toBe(false);
    const [host, port] = [await server.getHost(), await server.getPort()];
    expect(server.getInstanceInfo()).toMatchObject({ ip: '127.0.0.1', port });
    expect(await client(`redis://${host}:${port}`).ping()).toBe('PONG');
    await expect(server.start()).rejects.toThrow('running already');
    expect(await server.stop()).toBe(true);
    expect(server.getInstanceInfo()).toBe(false);
    expect(await server.stop()).toBe(true);
    expect(await server.getPort()).toBe(port);
    await server.stop();
  });

  test('stops while it starts, even if it cannot start', async () => {
    const server = new RedisMemoryServer({ instance: { ip: '192.0.2.1' } });
    const [started, stopped] = await Promise.allSettled([server.start(), server.stop()]);
    expect([started.status, stopped]).toEqual(['rejected', { status: 'fulfilled', value: true }]);
  });

  test('create starts it only if asked, and the options reach the server', async () => {
    expect((await RedisMemoryServerByDefault.create()).getInstanceInfo()).toBe(false);
    await using server = await RedisMemoryServer.create({
      autoStart: true,
      instance: { ip: '127.0.0.1', args: ['--requirepass', 'secret', '--maxmemory', '1mb'] },
      binary: { version: '7.2.4' },
    });
    const info = server.getInstanceInfo();
    if (info === false) throw new Error('not started');
    const redis = client(info.instance.url);
    expect(await redis.config('GET', 'maxmemory')).toEqual(['maxmemory', '1048576']);
    expect(await redis.info('server')).toContain('redis_version:7.0.');
  });

  test('takes the options of a child process, a directive in one string, and numbers', async () => {
    await using server = new RedisMemoryServer({
      spawn: { env: {} },
      instance: { args: ['--requirepass "a secret"', '--maxclients', 77] },
    });
    const redis = new Redis({ port: await server.getPort(), password: 'a secret' });
    onTestFinished(() => redis.disconnect());
    expect(await redis.config('GET', 'maxclients')).toEqual(['maxclients', '77']);
  });

  test('takes a free port if its port is taken', async () => {
    const taken = createServer();
    await new Promise<void>((listening) => taken.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    await using server = new RedisMemoryServer({ instance: { port } });
    expect(await server.getPort()).not.toBe(port);
  });

  test.each<[unknown, string]>([
    [{ spawn: 1 }, 'option spawn is 1; allowed: an object'],
    [{ instance: { args: [{}] } }, 'option instance.args'],
    [{ binary: { systemBinary: '/usr/bin/redis-server' } }, 'option binary.systemBinary'],
    [{ binary: { version: '6.0.10' } }, "option binary.version is '6.0.10'"],
    [{ instance: { args: ['--no-such-thing', '1'] } }, 'option instance.args'],
    [{ instance: { args: '--port 1' } }, 'option instance.args'],
    [{ instance: { port: 70_000 } }, 'option instance.port'],
    [{ autoStart: 1 }, 'option autoStart'],
  ])('%j is refused', (options, message) => {
    expect(() => new RedisMemoryServer(options as RedisMemoryServerOptions)).toThrow(message);
  });
});

describe('RedisContainer', () => {
  test('starts with a password, and gives its address', async () => {
    await using container = await new RedisContainer('valkey/valkey:8.1-alpine')
      .withPassword('secret')
      .withCommand(['valkey-server', '--databases', '4'])
      .withExposedPorts(6379)
      .start();
    const url = `redis://:secret@${container.getHost()}:${container.getMappedPort(6379)}`;
    expect([container.getConnectionUrl(), container.getPassword()]).toEqual([url, 'secret']);
    expect(container.getFirstMappedPort()).toBe(container.getPort());
    expect(() => container.getMappedPort(6380)).toThrow('port 6380/tcp is not exposed');
    const redis = client(url);
    expect(await redis.info('server')).toContain('server_name:valkey');
    expect(await redis.config('GET', 'databases')).toEqual(['databases', '4']);
  });

  test('keeps what withPersistence stores over a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lostlock-container-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const container = await new RedisContainer().withPersistence(folder).start();
    await client(container.getConnectionUrl()).set('key', 'val');
    await container.restart();
    expect(await client(container.getConnectionUrl()).get('key')).toBe('val');
    await container.stop();
    await using again = await new RedisContainer('redis:8').withPersistence(folder).start();
    expect(await client(again.getConnectionUrl()).get('key')).toBe('val');
    expect(again.getPassword()).toBe('');
  });

  test('has the methods of a container, and what has no meaning here is ignored', async () => {
    const lines: string[] = [];
    const container = await new RedisContainer('redis:7.4-alpine@sha256:0123')
      .withName('cache')
      .withReuse()
      .withStartupTimeout(120_000)
      .withWaitStrategy({})
      .withEnvironment({ TZ: 'UTC' })
      .withLogConsumer((stream) => stream.on('data', (line) => lines.push(String(line))))
      .withCommand(['redis-server', '--loglevel debug'])
      .start();
    expect([container.getName(), container.getHostname()]).toEqual(['cache', hostname()]);
    expect(container.getId()).toMatch(/^[0-9a-f]{40}$/);
    expect(container.getMappedPort('6379/tcp')).toBe(container.getMappedPort(6379, 'tcp'));
    expect(() => container.getMappedPort(6379, 'udp')).toThrow('port 6379/udp is not exposed');
    await container.restart({ timeout: 10 });
    const redis = client(container.getConnectionUrl());
    expect(await redis.info('server')).toContain('redis_version:7.0.');
    await redis.call('DEBUG', 'LOG', 'a line');
    await until(() => lines.some((line) => line.includes('a line')), { what: 'the line' });
    await container.stop({ timeout: 10, remove: true });
  });

  test('keeps an append-only file until it is stopped', async () => {
    const container = await new RedisContainer('redis@sha256:0123')
      .withCommand(['redis-server', '--appendonly', 'yes'])
      .start();
    const redis = client(container.getConnectionUrl());
    await redis.set('key', 'val');
    const [, folder = ''] = (await redis.config('GET', 'dir')) as string[];
    await container.restart();
    expect(await client(container.getConnectionUrl()).get('key')).toBe('val');
    expect(existsSync(folder)).toBe(true);
    await container.stop();
    expect(existsSync(folder)).toBe(false);
  });

  test('what it cannot do is refused', () => {
    expect(() => new RedisContainer('postgres:16')).toThrow("option image is 'postgres:16'");
    expect(() => new RedisContainer('redis:5')).toThrow("option image is '5'");
    const container = new RedisContainer('docker.io/library/redis:7.4');
    expect(() => container.withExposedPorts(80)).toThrow('option withExposedPorts is 80');
    expect(() => container.withExposedPorts(null as never)).toThrow('option withExposedPorts is null');
    expect(() => container.withExposedPorts({ container: 6379 } as never)).toThrow('withExposedPorts.host');
    expect(() => container.withEnvironment({ VALKEY_EXTRA_FLAGS: '--save 1 1' })).toThrow('use withCommand');
    expect(() => container.withCommand(['sh'])).toThrow('option withCommand');
    expect(() => container.withCommand('redis-server' as never)).toThrow(
      "option withCommand is 'redis-server'",
    );
    expect(() => container.withCommand(undefined as never)).toThrow('option withCommand is undefined');
    expect(() => container.withCommand(['redis-server', '--cluster', '3'])).toThrow('start several servers');
  });
});
