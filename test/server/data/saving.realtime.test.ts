/** SAVE, BGSAVE, LASTSAVE, BGREWRITEAOF and DEBUG RELOAD without a dump file: redis-server's answers, and nothing on the disk. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { startPair, startServer } from '../../../index.ts';
import { createNode } from '../../../server/index.ts';
import { Beside } from '../../support/beside/beside.ts';
import { INSTALLED } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { TestHost } from '../../support/targets.ts';
import { until } from '../../support/until.ts';
import { Conversation } from '../../transcripts/own.ts';
import { splitWords } from '../../transcripts/transcript.ts';

/** INFO's fields that depend on the requests only; the others are about processes, memory and time. */
const TOLD = [
  'rdb_changes_since_last_save',
  'rdb_bgsave_in_progress',
  'rdb_last_bgsave_status',
  'rdb_last_bgsave_time_sec',
  'rdb_current_bgsave_time_sec',
  'rdb_saves',
  'rdb_last_load_keys_expired',
  'rdb_last_load_keys_loaded',
  'current_save_keys_total',
  'aof_enabled',
  'aof_rewrite_in_progress',
  'aof_rewrite_scheduled',
  'aof_last_rewrite_time_sec',
  'aof_current_rewrite_time_sec',
  'aof_last_bgrewrite_status',
  'aof_rewrites',
  'total_forks',
];

/** Those fields of a raw INFO reply. A save that crosses the end of a second took one second, on either side, so seconds are N. */
function told(info: string): string[] {
  return TOLD.map((name) => {
    const [, value] = new RegExp(`\\b${name}:([^\\r]*)`).exec(info) ?? [];
    return `${name}:${name.endsWith('_sec') ? value?.replace(/^\d+$/, 'N') : value}`;
  });
}

/** INFO replies reduced to those fields, other replies unchanged. */
function comparable(replies: readonly string[]): (string | string[])[] {
  return replies.map((reply) => (reply.includes('# Persistence') ? told(reply) : reply));
}

const INFO = 'INFO persistence stats';

/** Requests that are sent at once, so that no cron runs between them. */
const BATCHES: Record<string, string[]> = {
  'SAVE, with changes before and after': [
    ...[INFO, 'SET a 1', 'SADD s a b c', INFO, 'SAVE', INFO, 'SET b 1', INFO, 'SAVE', 'SAVE', INFO],
  ],
  'SAVE in transactions and scripts, and with too many words': [
    ...['MULTI', 'SAVE', 'EXEC', 'SAVE x', 'BGSAVE SCHEDULE x', 'BGSAVE x', 'BGREWRITEAOF x', 'LASTSAVE x'],
    ...['save', 'bgsave', 'bgrewriteaof', 'lastsave'].map(
      (name) => `EVAL "return type(redis.pcall('${name}'))" 0`,
    ),
    INFO,
  ],
  'a background save that is under way': [
    ...['SET a 1', 'BGSAVE', INFO, 'BGSAVE', 'BGSAVE SCHEDULE', 'SAVE', 'SET b 1', INFO],
    ...['BGREWRITEAOF', 'BGREWRITEAOF', INFO],
  ],
  'an AOF that is being written anew': [
    ...['BGREWRITEAOF', INFO, 'BGREWRITEAOF', 'BGSAVE', 'BGSAVE SCHEDULE', 'SAVE', INFO],
  ],
  'a background save in a transaction': [
    ...['MULTI', 'BGSAVE', 'BGSAVE', 'BGSAVE SCHEDULE', 'BGREWRITEAOF', 'BGSAVE x', 'EXEC', INFO],
  ],
  'DEBUG RELOAD': [
    ...['SET a 1 EX 100', 'SADD s a b', 'SELECT 3', 'SET c 3', INFO, 'DEBUG RELOAD', INFO, 'TTL c', 'GET c'],
    ...[
      'SET d 4',
      'DEBUG RELOAD NOSAVE',
      INFO,
      'EXISTS d',
      'KEYS *',
      'SELECT 0',
      'TTL a',
      'SCARD s',
      'SISMEMBER s b',
    ],
    ...['SET e 5', 'SET a other', 'DEBUG RELOAD NOSAVE NOFLUSH MERGE', 'GET e', 'GET a', INFO],
    ...['SAVE', 'DEL e', 'DEBUG RELOAD NOSAVE MERGE', 'GET e', INFO],
    ...['DEBUG RELOAD NOSAVE x', 'DEBUG RELOAD NOFLUSH MERGE', 'DBSIZE', INFO],
  ],
  'DEBUG RELOAD without a dump': ['SET a 1', 'DEBUG RELOAD NOSAVE', 'DBSIZE', 'DEBUG RELOAD NOSAVE MERGE'],
  'FLUSHALL during a save': ['MSET a 1 b 2 c 3', 'SAVE', 'SET d 4', 'BGSAVE', INFO, 'FLUSHALL', 'FLUSHALL'],
  'FLUSHALL where saves are configured': [
    ...[
      'CONFIG SET save "3600 1"',
      'MSET a 1 b 2',
      'FLUSHALL',
      INFO,
      'SET c 1',
      'DEBUG RELOAD NOSAVE',
      'DBSIZE',
    ],
    ...['FLUSHDB', 'SET d 1', INFO],
  ],
  'SAVE and functions': [
    `FUNCTION LOAD "#!lua name=l\\nredis.register_function('f', function() return 1 end)"`,
    ...['SAVE', 'FUNCTION DELETE l', 'DEBUG RELOAD NOSAVE', 'FCALL f 0', INFO],
    ...['DEBUG RELOAD NOSAVE NOFLUSH MERGE', 'FCALL f 0'],
  ],
};

describe.skipIf(!hasRedisServer)('beside a real one (needs redis-server)', () => {
  test.each(Object.keys(BATCHES))('%s (needs redis-server)', async (what) => {
    await using both = await Beside.start();
    const lines = BATCHES[what]!;
    const { ours, theirs } = await both.ask(...lines);
    const show = (replies: readonly string[]) =>
      comparable(replies).map((reply, i) => [lines[i], reply] as const);
    expect(show(ours)).toEqual(show(theirs));

    // The scheduled save runs and ends.
    const idle = /bgsave_in_progress:0[\s\S]*aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/;
    const settled = async () => {
      const answers = await both.ask(INFO);
      const [mine, real] = [answers.ours[0]!, answers.theirs[0]!];
      return idle.test(mine) && idle.test(real) && told(mine).join() === told(real).join() && told(mine);
    };
    expect(await until(settled, { what: 'the same figures on both sides' })).toContain(
      'rdb_last_bgsave_status:ok',
    );
  });

  test('LASTSAVE is the time of the last save (needs redis-server)', async () => {
    await using both = await Beside.start();
    const seconds = (raw: string) => parseInt(raw.slice(1), 10);
    const before = Math.floor(Date.now() / 1000);
    await both.ask('SAVE');
    const { ours, theirs } = await both.ask('LASTSAVE');
    for (const reply of [ours[0]!, theirs[0]!]) expect(seconds(reply)).toBeGreaterThanOrEqual(before);
    await both.ask('BGSAVE');
    const [mine] = (await both.ask('LASTSAVE')).ours;
    expect(mine).toBe(ours[0]);
  });
});

describe('on a clock that the test drives', () => {
  let host: TestHost;
  let redis: Conversation;

  beforeEach(() => {
    host = new TestHost();
    redis = new Conversation(createNode(host));
  });

  test('a background save ends a tenth of a second later, with the data from its start', () => {
    const seconds = host.clock.now() / 1000;
    redis.ask('SET k v');
    host.advance(5000);
    expect(redis.ask('LASTSAVE')).toBe(`:${seconds}`);
    expect(redis.ask('BGSAVE')).toBe('+Background saving started');
    redis.ask('SET k w');
    host.advance(99);
    expect(redis.ask('INFO persistence')).toContain('rdb_bgsave_in_progress:1');
    host.advance(1);
    expect(redis.ask('INFO persistence')).toContain('rdb_bgsave_in_progress:0');
    expect(redis.ask('INFO persistence')).toContain('rdb_changes_since_last_save:1');
    expect(redis.ask('LASTSAVE')).toBe(`:${seconds + 5}`);
    redis.ask('DEBUG RELOAD NOSAVE');
    expect(redis.ask('GET k')).toBe('"v"');
  });

  test('a save that is stopped writes nothing', () => {
    redis.ask('SET k v');
    redis.ask('BGSAVE');
    redis.ask('FLUSHALL');
    host.advance(1000);
    expect(redis.ask('INFO persistence')).toContain('rdb_bgsave_in_progress:0');
    expect(redis.ask('DEBUG RELOAD NOSAVE')).toBe('-ERR Error trying to load the RDB dump');
  });

  test('DEBUG RELOAD NOFLUSH without MERGE refuses an existing key', () => {
    expect(redis.ask('DEBUG RELOAD NOFLUSH')).toBe('+OK');
    redis.ask('SET k v');
    expect(redis.ask('DEBUG RELOAD NOFLUSH')).toBe('-ERR Error trying to load the RDB dump');
    expect(redis.ask('GET k')).toBe('"v"');
  });
});

/** The requests after a failed background save, while the directory of the dump file is missing. */
const UNSAVED = [
  ...[
    'SET a 1',
    'PING',
    'GET a',
    'PUBLISH c x',
    'FLUSHALL',
    'MULTI',
    'SET a 1',
    'EXEC',
    'MULTI',
    'GET a',
    'PING',
  ],
  ...['EXEC', `EVAL "return redis.call('set', 'a', '1')" 0`, `EVAL "return redis.call('get', 'a')" 0`],
  ...[`EVAL "#!lua\\nreturn redis.call('set', 'a', '1')" 0`, 'CONFIG SET min-replicas-to-write 1', 'SET a 1'],
  ...['CONFIG SET min-replicas-to-write 0 maxmemory 1', 'SET a 1', 'CONFIG SET maxmemory 0', 'SAVE'],
  ...[
    'CONFIG SET stop-writes-on-bgsave-error no',
    'SET a 2',
    'PING',
    'CONFIG SET stop-writes-on-bgsave-error yes',
  ],
  ...['SET a 2', 'CONFIG SET save ""', 'SET a 3', 'CONFIG SET save "3600 1"', 'SET a 4'],
];

test.skipIf(!hasRedisServer)(
  'after a failed save, writes and PING are refused until a save succeeds (needs redis-server)',
  async () => {
    const dirs = [
      mkdtempSync(join(tmpdir(), 'lostlock-gone-')),
      mkdtempSync(join(tmpdir(), 'lostlock-gone-')),
    ];
    await using both = await Beside.start(['--dir', dirs[0]!]);
    await using mine = await startServer({ dialect: INSTALLED, settings: { dir: dirs[1]! } });
    for (const dir of dirs) rmSync(dir, { recursive: true });
    const ours = await RawClient.connect({ port: mine.port });
    const play = async (client: RawClient) => {
      const ask = async (line: string) => {
        const [name = '', ...words] = splitWords(line);
        return (await client.ask(name, ...words)).raw;
      };
      const answers = [await ask('CONFIG SET save "3600 1"'), await ask('SET a 0'), await ask('BGSAVE')];
      const ended = async () => /rdb_bgsave_in_progress:0[^:]/.test(await ask('INFO persistence'));
      await until(ended, { what: 'the end of the save' });
      for (const line of UNSAVED) answers.push(`${line}: ${await ask(line)}`);
      return answers;
    };
    const [here, there] = [await play(ours), await play(both.theirs)];
    expect(here).toEqual(there);
    expect(there.filter((answer) => answer.includes('-MISCONF')).length).toBeGreaterThan(8);
    for (const dir of dirs) mkdirSync(dir);
    expect((await ours.ask('SAVE')).raw).toBe('+OK\r\n');
    expect((await ours.ask('SET', 'a', '5')).raw).toBe('+OK\r\n');
    ours.close();
    for (const dir of dirs) rmSync(dir, { recursive: true });
  },
);

test('a background save takes rdb-key-save-delay microseconds for each key', () => {
  const host = new TestHost(0);
  const redis = new Conversation(createNode(host, { settings: { 'rdb-key-save-delay': 2_000_000 } }));
  const saving = (): string | undefined =>
    /rdb_bgsave_in_progress:(\d)/.exec(redis.ask('INFO persistence'))?.[1];
  redis.ask('MSET a 1 b 2');
  redis.ask('BGSAVE');
  redis.ask('CONFIG SET rdb-key-save-delay 0');
  host.advance(3900);
  expect(saving()).toBe('1');
  host.advance(200);
  expect(saving()).toBe('0');
  redis.ask('BGSAVE');
  host.advance(100);
  expect(saving()).toBe('0');
});

test('no file is written unless dir or dbfilename is set', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-saving-'));
  const cwd = process.cwd();
  process.chdir(dir);
  try {
    const server = await startServer({ seed: { k: 'v' } });
    const redis = new Conversation(server.node);
    expect(redis.ask('SAVE')).toBe('+OK');
    expect(redis.ask('BGSAVE')).toBe('+Background saving started');
    await until(() => !server.node.dumpFile.saving, { what: 'the end of the save' });
    redis.ask('SHUTDOWN SAVE');
    await until(() => server.node.clients.size === 0, { what: 'the end of the server' });
    expect(readdirSync(dir)).toEqual([]);
  } finally {
    process.chdir(cwd);
    rmSync(dir, { recursive: true });
  }
  expect(existsSync(dir)).toBe(false);
});

test('the lab saves and reloads on its virtual clock', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 1 });
  const client = pair.client('A');
  await client.set('k', 'v');
  expect(await client.bgsave()).toBe('Background saving started');
  await pair.advance(100);
  expect(await client.info('persistence')).toContain('rdb_bgsave_in_progress:0');
  await client.set('k', 'w');
  expect(await client.call('DEBUG', 'RELOAD', 'NOSAVE')).toBe('OK');
  expect(await client.get('k')).toBe('v');
});
