/** `lostlock --lab` with the flags that a server takes: password, addresses, folder, unix socket, TLS, files with URLs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from '../../support/built.ts';
import { certificateSettings, clientTls } from '../../support/certificates/files.ts';
import { freePort } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

beforeAll(ensureBuilt);

/** Starts a lab with the flags, and gives the URLs that it has written to the test. */
async function withLab(
  flags: string[],
  use: (url: string, labUrl: string, dir: string) => Promise<void>,
): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-lab-'));
  const [url, labUrl] = [join(dir, 'url'), join(dir, 'lab-url')];
  const files = ['--url-file', url, '--lab-url-file', labUrl];
  const child = spawn(process.execPath, ['dist/cli.js', '--lab', ...files, '--dir', dir, ...flags], {
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  try {
    await until(() => existsSync(url) && readFileSync(url, 'utf8').endsWith('\n'), {
      what: 'the URL of the primary',
    });
    await use(readFileSync(url, 'utf8').trim(), readFileSync(labUrl, 'utf8').trim(), dir);
  } finally {
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }
}

function open(address: string, options: object = {}): Redis {
  const redis = new Redis(address, { maxRetriesPerRequest: 0, ...options } as never);
  redis.on('error', () => {});
  return redis;
}

test('a password, two addresses, a unix socket and a folder', async () => {
  const flags = [
    '--port',
    '0',
    '--requirepass',
    'secret',
    '--bind',
    '127.0.0.1',
    '127.0.0.2',
    '--unixsocket',
    's.sock',
  ];
  await withLab([...flags, '--pidfile', 'lab.pid', '--loglevel', 'notice'], async (url, labUrl, dir) => {
    expect([url, labUrl].every((each) => each.startsWith('redis://:secret@127.0.0.1:'))).toBe(true);
    const clients = [
      open(url.replace('127.0.0.1', '127.0.0.2')),
      open(join(dir, 's.sock'), { password: 'secret' }),
      open(labUrl),
    ];
    const [other, socket, lab] = clients as [Redis, Redis, Redis];
    await other.set('k', 'v');
    expect(await socket.get('k')).toBe('v');
    expect(await socket.save()).toBe('OK');
    expect(existsSync(join(dir, 'redis-1', 'dump.rdb'))).toBe(true);
    expect(await lab.call('LAB', 'SYNC')).toBe('OK');
    expect(String(await lab.call('LAB', 'TRACE', 'HTML'))).toMatch(/^<!doctype html>/i);
    for (const each of clients) each.disconnect();
  });
});

test('TLS without a plain port', async () => {
  const certificates = Object.entries(certificateSettings).flatMap(([name, file]) => [
    `--${name}`,
    String(file),
  ]);
  const port = await freePort();
  await withLab(['--tls-port', String(port), ...certificates], async (url, labUrl) => {
    expect(url).toBe(`rediss://127.0.0.1:${port}`);
    const [client, lab] = [open(url, { tls: clientTls }), open(labUrl, { tls: clientTls })];
    expect(await client.set('k', 'v')).toBe('OK');
    expect(await lab.call('LAB', 'NEW')).toBe('OK');
    client.disconnect();
    lab.disconnect();
  });
});
