/** What a test can do to a running server: set its clock, restart it, cut it off, and read what clients sent. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type StartOptions, startCluster, startServer } from '../../index.ts';
import { until } from '../support/until.ts';

async function started(options: StartOptions = {}) {
  const server = await startServer(options);
  const redis = new Redis(server.port, { retryStrategy: () => 5 });
  redis.on('error', () => {});
  onTestFinished(async () => {
    redis.disconnect();
    await server.stop();
  });
  await redis.ping();
  return { server, redis };
}

describe('the clock', () => {
  test('fastForward expires keys at once, and TIME follows', async () => {
    const { server, redis } = await started();
    await redis.config('SET', 'notify-keyspace-events', 'Ex');
    await redis.set('lock', 'A', 'PX', 30_000);
    await redis.set('longer', 'A', 'PX', 90_000);
    const [before] = (await redis.time()) as unknown as [string];
    server.fastForward(30_001);
    expect(server.dump().map(({ key }) => key)).toEqual(['longer']);
    const [after] = (await redis.time()) as unknown as [string];
    expect(Number(after) - Number(before)).toBeGreaterThanOrEqual(30);
    expect(await redis.pttl('longer')).toBeLessThanOrEqual(60_000);
    expect(await redis.set('lock', 'B', 'PX', 30_000, 'NX')).toBe('OK');
    expect(await redis.info('stats')).toContain('expired_keys:1\r\n');
  });

  test('however many keys expire, all are gone when fastForward returns', async () => {
    const { server } = await started();
    const expiresAt = Date.now() + 30_000;
    const locks = Array.from({ length: 10_000 }, (_, i) => `lock:${i}`);
    server.seed(locks.map((key) => ({ key, type: 'string', value: 'A', expiresAt })));
    server.fastForward(30_001);
    expect(server.node.db(0).size).toBe(0);
  });

  test('fastForward answers blocked clients whose timeout has passed', async () => {
    const { server, redis } = await started();
    const popped = redis.blpop('list', 3600);
    await until(() => server.node.stats.commands > 1 && server.node.blocking.count > 0);
    server.fastForward(3_600_000);
    expect(await popped).toBeNull();
  });

  test('setTime sets it forwards and backwards, on replicas too', async () => {
    const { server, redis } = await started({ replicas: 1 });
    const noon = new Date('2031-05-06T12:00:00Z');
    server.setTime(noon);
    await redis.set('key', 'v', 'EX', 60);
    expect(Math.abs((await redis.pexpiretime('key')) - (noon.getTime() + 60_000))).toBeLessThan(60_000);
    const [replica] = server.replicas;
    await until(() => replica?.dump().length === 1);
    server.setTime(noon.getTime() - 1000_000);
    expect(await redis.pttl('key')).toBeGreaterThan(900_000);
    server.setTime(noon.getTime() + 1000_000);
    expect(await redis.exists('key')).toBe(0);
    await until(() => replica?.dump().length === 0);
  });

  test('wrong amounts are refused, and so is the clock of fake timers', async () => {
    const { server } = await started();
    for (const wrong of [-1, 0.5, Number.NaN, '5']) {
      expect(() => server.fastForward(wrong as number)).toThrow('option fastForward is');
      expect(() => server.setTime(wrong === '5' ? ('noon' as never) : (wrong as number))).toThrow(
        'option setTime is',
      );
    }
    await using ambient = await startServer({ clock: 'ambient' });
    expect(() => ambient.fastForward(1)).toThrow("fastForward() on a server with clock 'ambient'");
  });
});

describe('restart', () => {
  test('keeps the data, the port, rules and functions, and loses what only a process has', async () => {
    const { server, redis } = await started();
    server.scripts.register('return 1', () => 'replaced');
    server.intercept({ command: 'get', argument: 'broken' }, { error: 'ERR broken' });
    await redis.set('key', 'v', 'EX', 60);
    const sha = (await redis.script('LOAD', 'return 2')) as string;
    const { port, node } = server;
    server.restart();
    expect([server.port, server.node === node, node.stopped]).toEqual([port, false, true]);
    await until(() => redis.status === 'ready');
    expect(await redis.get('key')).toBe('v');
    expect(await redis.ttl('key')).toBeGreaterThan(0);
    expect(await redis.script('EXISTS', sha)).toEqual([0]);
    expect(await redis.eval('return 1', 0)).toBe('replaced');
    await expect(redis.get('broken')).rejects.toThrow('ERR broken');
    expect(await redis.config('GET', 'port')).toEqual(['port', String(port)]);
  });

  test('loads the append-only file, or the dump file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lostlock-restart-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    for (const settings of [{ dir }, { dir, appendonly: true }]) {
      const { server, redis } = await started({ settings });
      await redis.set(`appendonly ${settings.appendonly}`, 'v');
      const before = server.dump();
      server.restart();
      expect(server.dump()).toEqual(before);
      await server.stop();
    }
  });

  test('a replica catches up with its restarted primary, and a restarted replica with its primary', async () => {
    const { server, redis } = await started({ replicas: 1 });
    const [replica] = server.replicas;
    server.restart();
    await until(() => redis.status === 'ready');
    await redis.set('key', 'v');
    await until(() => replica?.dump().length === 1);
    replica?.restart();
    expect(replica?.dump()).toHaveLength(1);
  });

  test('is refused on a node of a cluster', async () => {
    await using cluster = await startCluster({ primaries: 1 });
    expect(() => cluster.nodes[0]?.restart()).toThrow('restart() on a node of a cluster');
  });
});

describe('connections', () => {
  test('disconnectAll resets the clients, and leaves replicas alone', async () => {
    const { server, redis } = await started({ replicas: 1 });
    let closed = 0;
    redis.on('close', () => closed++);
    expect(server.disconnectAll()).toBe(1);
    await until(() => closed === 1 && redis.status === 'ready');
    expect(await redis.info('replication')).toContain('connected_slaves:1');
  });

  test('a server that is not connected resets everybody, and answers again afterwards', async () => {
    const { server, redis } = await started();
    await redis.set('key', 'v');
    let attempts = 0;
    redis.on('close', () => attempts++);
    server.connected = false;
    await until(() => attempts > 2);
    server.connected = true;
    expect(await redis.get('key')).toBe('v');
    expect(() => Object.assign(server, { connected: 1 })).toThrow('option connected is 1');
  });
});

describe('a recording of requests', () => {
  test('has commands, arguments and clients in order, from its beginning to its end', async () => {
    const { server, redis } = await started();
    await redis.client('SETNAME', 'A');
    const recording = server.requests();
    await redis.set('key', Buffer.from([0xff]));
    await redis.multi().get('key').exec();
    expect(recording.entries.map(({ command, args, client }) => [client.name, command, ...args])).toEqual([
      ['A', 'set', 'key', Buffer.from([0xff])],
      ['A', 'multi'],
      ['A', 'get', 'key'],
      ['A', 'exec'],
    ]);
    expect(recording.entries.every(({ at }) => Math.abs(at - Date.now()) < 60_000)).toBe(true);
    recording.clear();
    await redis.ping();
    expect(recording.entries).toHaveLength(1);
    recording.stop();
    await redis.ping();
    expect(recording.entries).toHaveLength(1);
    expect(server.node.interceptor).toBeUndefined();
  });
});
