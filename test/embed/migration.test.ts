/** The entries for projects that come from redis-memory-server and Testcontainers: their classes, their methods, their habits. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import RedisMemoryServerByDefault, {
  RedisMemoryServer,
  type RedisMemoryServerOptions,
} from '../../redis-memory-server.ts';
import { RedisContainer } from '../../testcontainers.ts';

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

  test('takes a free port if its port is taken', async () => {
    const taken = createServer();
    await new Promise<void>((listening) => taken.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    await using server = new RedisMemoryServer({ instance: { port } });
    expect(await server.getPort()).not.toBe(port);
  });

  test.each<[unknown, string]>([
    [{ spawn: {} }, 'option RedisMemoryServer.spawn'],
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
    expect(() => container.getMappedPort(6380)).toThrow('port 6380 is not exposed');
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

  test('what it cannot do is refused', () => {
    expect(() => new RedisContainer('postgres:16')).toThrow("option image is 'postgres:16'");
    expect(() => new RedisContainer('redis:5')).toThrow("option image is '5'");
    const container = new RedisContainer('docker.io/library/redis:7.4');
    expect(() => container.withExposedPorts(80)).toThrow('option withExposedPorts is 80');
    expect(() => container.withExposedPorts(null as never)).toThrow('option withExposedPorts is null');
    expect(() => container.withExposedPorts({ container: 6379 } as never)).toThrow('withExposedPorts.host');
    expect(() => container.withCommand(['sh'])).toThrow('option withCommand');
    expect(() => container.withCommand('redis-server' as never)).toThrow(
      "option withCommand is 'redis-server'",
    );
    expect(() => container.withCommand(undefined as never)).toThrow('option withCommand is undefined');
    expect(() => container.withCommand(['redis-server', '--cluster', '3'])).toThrow('start several servers');
  });
});
