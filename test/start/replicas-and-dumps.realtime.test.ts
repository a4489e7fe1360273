/** startServer and the command line with replicas and with a dump file, also one that redis-server wrote or reads. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { type DumpEntry, startServer } from '../../index.ts';
import { ensureBuilt } from '../support/built.ts';
import { INSTALLED } from '../support/oracles.ts';
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { Conversation } from '../transcripts/own.ts';

const cleanups: (() => void)[] = [];

beforeAll(ensureBuilt, 120_000);

afterEach(() => {
  for (const clean of cleanups.splice(0).reverse()) clean();
});

function directory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-dump-'));
  cleanups.push(() => rmSync(dir, { recursive: true }));
  return dir;
}

function client(url: string): Redis {
  const redis = new Redis(url);
  redis.on('error', () => {});
  cleanups.push(() => redis.disconnect());
  return redis;
}

test('a seed that comes later reaches the replicas', async () => {
  await using server = await startServer({ replicas: 1 });
  const seeds: DumpEntry[] = [
    { key: 'l', type: 'list', value: ['a'], db: 1, expiresAt: 4_000_000_000_000 },
    { key: 'h', type: 'hash', value: [['f', 'v']], db: 0 },
  ];
  server.seed(seeds);
  const [replica] = server.replicas;
  await until(() => replica?.dump().length === 2, { what: 'the copy' });
  expect(replica?.dump()).toEqual(server.dump());
  expect(replica?.dump().find(({ key }) => key === 'l')).toMatchObject(seeds[0] ?? {});
});

test('replicas follow the server from its start, and stop with it', async () => {
  const server = await startServer({ replicas: 2, password: 'secret', seed: { before: '1' } });
  const [first, second] = server.replicas;
  const redis = client(server.url);
  await redis.set('lock', 'A');
  expect(await redis.wait(2, 0)).toBe(2);
  for (const replica of [first, second]) {
    const reader = client(replica?.url ?? '');
    expect(await reader.mget('before', 'lock')).toEqual(['1', 'A']);
    await expect(reader.set('lock', 'B')).rejects.toThrow('READONLY');
  }
  server.flush();
  await until(() => [first, second].every((replica) => replica?.dump().length === 0), { what: 'the flush' });
  await server.stop();
  await expect(
    once(client(first?.url ?? ''), 'error').then(([error]) => Promise.reject(error)),
  ).rejects.toThrow('ECONNREFUSED');
});

test('a dump file is written by SAVE and BGSAVE, and read at the next start', async () => {
  const rdbFile = join(directory(), 'data.rdb');
  {
    await using server = await startServer({ rdbFile });
    const redis = client(server.url);
    await redis.hset('hash', 'field', 'value');
    await redis.set('gone', '1', 'PX', 1_000_000);
    expect(existsSync(rdbFile)).toBe(false);
    expect(await redis.save()).toBe('OK');
    await redis.multi().select(2).rpush('list', 'a', 'b').exec();
    expect(await redis.bgsave()).toBe('Background saving started');
    await until(async () => /rdb_bgsave_in_progress:0/.test(String(await redis.info('persistence'))));
    expect(await redis.info('persistence')).toMatch(/rdb_changes_since_last_save:0\r\n[\s\S]*rdb_saves:2\r/);
    expect(await redis.multi().bgsave().exec()).toEqual([[null, 'Background saving scheduled']]);
    await expect(redis.call('BGSAVE', 'x')).rejects.toThrow('ERR syntax error');
    await expect(redis.call('BGSAVE', 'SCHEDULE', 'x')).rejects.toThrow('ERR syntax error');
    await expect(redis.config('SET', 'dir', '/')).rejects.toThrow("can't set protected config");
    await redis.set('unsaved', '1');
  }
  await using again = await startServer({ rdbFile, replicas: 1 });
  const entries = again.dump().map(({ db, key, value }) => [db, key, value]);
  expect(entries).toEqual([
    [0, 'hash', [['field', 'value']]],
    [0, 'gone', '1'],
    [2, 'list', ['a', 'b']],
  ]);
  expect(again.replicas[0]?.dump()).toEqual(again.dump());
});

test('errors name a damaged dump file and a path that cannot be written', async () => {
  const dir = directory();
  const rdbFile = join(dir, 'data.rdb');
  writeFileSync(rdbFile, 'nonsense');
  await expect(startServer({ rdbFile })).rejects.toThrow(`the dump file ${rdbFile} cannot be loaded: `);
  await using server = await startServer({ settings: { dir: join(dir, 'missing') } });
  const redis = client(server.url);
  await expect(redis.save()).rejects.toThrow(/^ERR$/);
  await redis.bgsave();
  await until(async () => /rdb_last_bgsave_status:err/.test(String(await redis.info('persistence'))));
});

test.skipIf(!hasRedisServer)(
  'redis-server reads our dump file, and we read its (needs redis-server)',
  async () => {
    const dir = directory();
    const fill = async (redis: Redis): Promise<void> => {
      await redis.set('string', 'value', 'PX', 1_000_000);
      await redis.hset('hash', 'field', 'value');
      await redis.rpush('list', 'a', 'b', 'x'.repeat(10_000));
      await redis.sadd('set', '1', '2', 'three');
      await redis.zadd('zset', 1.5, 'm', 2, 'n');
    };
    {
      await using ours = await startServer({ dialect: INSTALLED, settings: { dir, dbfilename: 'dump.rdb' } });
      const redis = client(ours.url);
      await fill(redis);
      await redis.save();
      await using theirs = await startRedisServer({ tcp: true, args: ['--dir', dir] });
      const other = client(`redis://127.0.0.1:${theirs.port}`);
      expect(await other.dbsize()).toBe(5);
      expect(await other.lrange('list', 0, 1)).toEqual(['a', 'b']);
      await other.flushall();
      await fill(other);
      await other.set('theirs', '1');
      await other.xadd('stream', '5-1', 'field', 'value');
      await other.save();
    }
    await using again = await startServer({ rdbFile: join(dir, 'dump.rdb') });
    expect(
      again
        .dump()
        .map(({ key }) => String(key))
        .sort(),
    ).toEqual(['hash', 'list', 'set', 'stream', 'string', 'theirs', 'zset']);
  },
);

test('the command line starts replicas and logs their ports', async () => {
  const args = ['dist/cli.js', '--port', '0', '--replicas', '2'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanups.push(() => void child.kill());
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.includes('Ready to accept')) break;
  }
  const ports = [...printed.matchAll(/ \* (?:Replica ready|Ready to accept connections) tcp (\d+)$/gm)].map(
    Number,
  );
  expect(ports).toHaveLength(3);
  const last = /connections tcp (\d+)/.exec(printed)?.[1];
  const redis = client(`redis://127.0.0.1:${last}`);
  expect(await redis.info('replication')).toContain('connected_slaves:2\r\n');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('CONFIG GET dir shows the whole path, as redis-server does', async () => {
  await using server = await startServer({ settings: { dir: '.' } });
  expect(new Conversation(server.node).ask('CONFIG GET dir')).toContain(process.cwd());
});
