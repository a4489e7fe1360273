/** The addresses, the unix socket and TLS of a lab, its password, and the folder for its files. */
import { copyFileSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import { type LabOptions, type LabServer, startLab } from '../../../lab/remote/serve.ts';
import { refusalOfMachine } from '../../../server/clients/admission.ts';
import { certificateSettings, clientTls } from '../../support/certificates/files.ts';
import { freePort } from '../../support/redis-server.ts';

let running: LabServer;
const opened: Redis[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) each.disconnect();
  await running.stop();
});

async function start(options: LabOptions): Promise<Redis> {
  running = await startLab(options);
  return open(running.labUrl);
}

function open(url: string, options: object = {}): Redis {
  const tls = url.startsWith('rediss:') ? { tls: clientTls as object } : {};
  const all = { maxRetriesPerRequest: 0, retryStrategy: () => null, ...tls, ...options };
  const redis = new Redis(url, all as never);
  redis.on('error', () => {});
  opened.push(redis);
  return redis;
}

test('with a password, nodes, clients and the port for LAB ask for it, also after NEW', async () => {
  const control = await start({ password: 'sec ret' });
  expect(running.url).toMatch(/^redis:\/\/:sec%20ret@127\.0\.0\.1:\d+$/);
  expect(await control.call('LAB', 'SYNC')).toBe('OK');
  expect(await open(String(await control.call('LAB', 'ACTOR', 'A'))).set('k', '1')).toBe('OK');
  for (const port of [running.labPort, Number(new URL(running.url).port), running.pair.replica.port]) {
    await expect(open(`redis://127.0.0.1:${port}`).call('LAB', 'NODES')).rejects.toThrow('NOAUTH');
  }
  await control.call('LAB', 'FAILOVER', 'CRASH');
  expect(await control.call('LAB', 'NEW')).toBe('OK');
  expect(await control.call('LAB', 'SYNC')).toBe('OK');
  expect(await open(running.url).get('k')).toBeNull();
});

test('it listens at several addresses and on a unix socket, also after NEW', async () => {
  const unixSocket = join(mkdtempSync(join(tmpdir(), 'lostlock-entrance-')), 's');
  const control = await start({ host: '127.0.0.1 127.0.0.2 -::1', unixSocket });
  for (const again of [false, true]) {
    if (again) await control.call('LAB', 'NEW');
    await open(running.url).set('k', String(again));
    const other = running.url.replace('127.0.0.1', '127.0.0.2');
    expect(await open(other).get('k')).toBe(String(again));
    expect(await open(unixSocket).get('k')).toBe(String(again));
    expect(await open(running.labUrl.replace('127.0.0.1', '127.0.0.2')).ping()).toBe('PONG');
  }
});

test('a lab that cannot have one of its addresses listens at none', async () => {
  const port = await freePort();
  const unixSocket = join(mkdtempSync(join(tmpdir(), 'lostlock-entrance-')), 'missing', 's');
  await expect(startLab({ port, unixSocket })).rejects.toThrow(unixSocket);
  await start({ port });
  expect(await open(running.url).ping()).toBe('PONG');
});

test('protected mode refuses addresses of other machines, as a server does', () => {
  expect(refusalOfMachine('192.168.0.7')).toContain('-DENIED');
  expect(['127.0.0.1', '::1', '::ffff:127.0.0.1', ''].map(refusalOfMachine)).toEqual(
    Array(4).fill(undefined),
  );
});

test('with TLS and no plain port, clients, actors and the port for LAB speak TLS', async () => {
  const control = await start({
    port: 0,
    settings: { 'tls-port': await freePort(), ...certificateSettings },
  });
  expect([running.url, running.labUrl].map((url) => url.split(':')[0])).toEqual(['rediss', 'rediss']);
  expect(await open(running.url).set('k', '1')).toBe('OK');
  const a = open(String(await control.call('LAB', 'ACTOR', 'A')));
  expect(await a.get('k')).toBe('1');
  await control.call('LAB', 'NEW');
  expect(await open(running.url).get('k')).toBeNull();
  const plain = open(running.url.replace('rediss', 'redis'), { connectTimeout: 5000 });
  await expect(plain.ping()).rejects.toThrow();
});

test('in a folder, each node keeps its files, and the primary begins with the data that is there', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-entrance-'));
  await start({ dir });
  await open(running.url).set('k', 'saved');
  expect(await open(running.url).save()).toBe('OK');
  await running.stop();
  expect(readdirSync(join(dir, 'redis-1'))).toEqual(['dump.rdb']);
  const control = await start({ dir });
  expect(await open(running.url).get('k')).toBe('saved');
  await open(running.url).set('k', 'changed');
  await control.call('LAB', 'NEW');
  expect(await open(running.url).get('k')).toBe('saved');
  await control.call('LAB', 'SYNC');
  expect(JSON.parse(String(await control.call('LAB', 'DUMP', 'redis-2')))).toMatchObject([{ key: 'k' }]);
});

test('a dump file in the folder itself is what a first lab begins with, and an append-only file is written', async () => {
  const [made, dir] = [
    mkdtempSync(join(tmpdir(), 'lostlock-entrance-')),
    mkdtempSync(join(tmpdir(), 'lostlock-entrance-')),
  ];
  await start({ dir: made });
  await open(running.url).set('k', 'v');
  await open(running.url).save();
  copyFileSync(join(made, 'redis-1', 'dump.rdb'), join(dir, 'dump.rdb'));
  await running.stop();
  await start({ dir });
  expect(await open(running.url).get('k')).toBe('v');
  await running.stop();
  const appended = mkdtempSync(join(tmpdir(), 'lostlock-entrance-'));
  await start({ dir: appended, settings: { appendonly: true } });
  await open(running.url).set('k', 'appended');
  await running.stop();
  await start({ dir: appended, settings: { appendonly: true } });
  expect(await open(running.url).get('k')).toBe('appended');
});
