/** SHUTDOWN, the `save` setting, forbidden DEBUG, and INFO's sections and figures. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { INSTALLED } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { hasRedisServer, startRedisServer } from '../../support/redis-server.ts';
import { Talk } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';
import { until } from '../../support/until.ts';
import { Conversation } from '../../transcripts/own.ts';
import { splitWords } from '../../transcripts/transcript.ts';

/** A host that records the files written. */
function remembering(): { host: TestHost; files: Map<string, string> } {
  const host = new TestHost();
  const files = new Map<string, string>();
  Object.assign(host.disk, { write: (name: string, bytes: string) => void files.set(name, bytes) });
  return { host, files };
}

let host: TestHost;
let files: Map<string, string>;
let server: Server;
let a: Conversation;

beforeEach(() => {
  ({ host, files } = remembering());
  server = createNode(host, { dialect: INSTALLED });
  a = new Conversation(server);
});
afterEach(() => server.stop());

test('SHUTDOWN closes all connections without an answer, and saves when asked or configured to', () => {
  server.dumpFile.open();
  a.ask('SET k v');
  expect(a.ask('SHUTDOWN NOSAVE')).toBe('');
  expect(files.size).toBe(0);
  host.advance(0);
  expect(server.clients.size).toBe(0);
  server = createNode(host);
  server.dumpFile.open();
  new Conversation(server).ask('SHUTDOWN SAVE NOW');
  expect(files.get('dump.rdb')).toContain('REDIS');
});

test('the server stays up when the dump file cannot be written, unless SHUTDOWN is forced', () => {
  server.dumpFile.open();
  Object.assign(host.disk, {
    write: () => {
      throw new Error('disk full');
    },
  });
  expect(a.ask('SHUTDOWN SAVE')).toBe('-ERR Errors trying to SHUTDOWN. Check logs.');
  host.advance(0);
  expect(server.clients.size).toBe(1);
  expect(a.ask('SHUTDOWN SAVE FORCE')).toBe('');
  host.advance(0);
  expect(server.clients.size).toBe(0);
});

test('SHUTDOWN stops the server and its listeners', async () => {
  const started = await startServer();
  const talk = new Talk(started.node);
  await talk.ask('PING');
  talk.send('SHUTDOWN');
  await until(() => started.node.clients.size === 0, { what: 'the end of the connections' });
  await started.stop();
  await expect(RawClient.connect({ port: started.port })).rejects.toThrow('ECONNREFUSED');
});

test('`save` writes the dump file after so many seconds with so many changes', () => {
  server.dumpFile.open();
  a.ask('CONFIG SET save "10 2"');
  a.ask('SET a 1');
  host.advance(60_000);
  expect(server.stats.saves).toBe(0);
  a.ask('SET b 1');
  host.advance(2000);
  expect(server.stats.saves).toBe(1);
  expect(files.get('dump.rdb')).toContain('REDIS');
  expect(a.ask('INFO persistence')).toContain('rdb_changes_since_last_save:0');
  a.ask('MSET a 2 b 2');
  host.advance(5000);
  expect(server.stats.saves).toBe(1);
  a.ask('CONFIG SET save ""');
  host.advance(60_000);
  expect(server.stats.saves).toBe(1);
});

test('DEBUG can be forbidden to all connections, or to remote ones', () => {
  for (const [allowed, answer] of [
    ['no', '-ERR DEBUG command not allowed.'],
    ['local', '+OK'],
    ['yes', '+OK'],
  ] as const) {
    const other = createNode(new TestHost(), { settings: { 'enable-debug-command': allowed } });
    expect(new Conversation(other).ask('DEBUG SLEEP 0')).toContain(answer);
    other.stop();
  }
});

test('INFO counts bytes, hits and misses, and shows the average TTL', () => {
  a.ask('SET k 1 PX 60000');
  a.ask('SET j 1 PX 20000');
  for (const line of ['GET k', 'GET missing', 'EXISTS k', 'HGET none f']) a.ask(line);
  const stats = a.ask('INFO stats');
  expect(stats).toContain('keyspace_hits:2');
  expect(stats).toContain('keyspace_misses:2');
  expect(stats).toMatch(/total_net_input_bytes:[1-9]\d+/);
  expect(stats).toMatch(/total_net_output_bytes:[1-9]\d+/);
  expect(a.ask('INFO keyspace')).toContain('db0:keys=2,expires=2,avg_ttl=40000');
});

test.skipIf(!hasRedisServer)(
  'INFO has the sections of redis-server, and only fields that it has or that are ours (needs redis-server)',
  async () => {
    const redis = await startRedisServer();
    const theirs = await RawClient.connect({ path: redis.path });
    const { raw } = await theirs.ask('INFO', 'everything');
    const mine = a.ask('INFO everything').replaceAll('\\r\\n', '\r\n');
    const sections = (text: string): string[] =>
      [...text.matchAll(/# (\w+)/g)].map(([, name]) => name as string);
    expect(sections(mine)).toEqual(sections(raw));
    const fields = (text: string): string[] =>
      [...text.matchAll(/(?:^|\r\n|\n)([a-z_0-9]+):/g)].map(([, name]) => name as string);
    const known = new Set([...fields(raw), 'lostlock_version', 'config_file']);
    const strange = fields(mine).filter(
      (name) => !known.has(name) && !/^(db\d|errorstat|master_|slave|client_)/.test(name),
    );
    expect(strange).toEqual([]);
    theirs.close();
    await redis.stop();
  },
);

/** Requests in an order that makes each one hit or miss. */
const LOOKUPS = [
  'SET k 1',
  'GET k',
  'GET m',
  'EXISTS k m',
  'TTL k',
  'TTL m',
  'TYPE k',
  'TYPE m',
  'STRLEN k',
  'HGET m f',
  'HSET h f v',
  'HGET h f',
  'HGETALL h',
  'DEL m',
  'INCR k',
  'INCR n',
  'APPEND k x',
  'GETSET k 1',
  'GETDEL n',
  'GETEX k',
  'MGET k m',
  'OBJECT ENCODING k',
  'OBJECT ENCODING m',
  'TOUCH k m',
  'SETNX k 1',
  'SET k 2 NX',
  'SET k 2 GET',
  'LPUSH l 1',
  'LRANGE l 0 -1',
  'LRANGE m 0 -1',
  'LLEN l',
  'LPOP l',
  'LPOP m',
  'SADD s a',
  'SMEMBERS s',
  'SINTER s m',
  'SUNION s m',
  'SISMEMBER s a',
  'SUNIONSTORE d s m',
  'ZADD z 1 a',
  'ZRANGE z 0 -1',
  'ZUNIONSTORE zd 1 z',
  'ZSCORE m a',
  'XADD x 1-1 f v',
  'XRANGE x - +',
  'XLEN m',
  'COPY k k2',
  'COPY m m2',
  'RENAME k2 k3',
  'MOVE k3 1',
  'EXPIRE k 100',
  'EXPIRE m 100',
  'PERSIST k',
  'DUMP k',
  'DUMP m',
  'SORT s ALPHA',
  'BITCOUNT k',
  'SETBIT b 1 1',
  'GETBIT b 1',
  'MEMORY USAGE k',
  'MEMORY USAGE m',
  'RANDOMKEY',
  'KEYS *',
  'SCAN 0',
  'SMOVE s s9 a',
  'GETRANGE k 0 1',
  'SUBSTR k 0 1',
  "EVAL \"return redis.call('get','k')\" 0",
  'WATCH k',
  'UNWATCH',
  'PFADD p a',
  'PFCOUNT p',
  'SRANDMEMBER m',
  'SPOP m',
  'HINCRBY h n 1',
  'LINSERT m BEFORE a b',
  'ZADD z 2 b',
  'BITOP AND bo k m',
  'LCS k m',
];

test.skipIf(!hasRedisServer)(
  'hits and misses are counted as redis-server counts them (needs redis-server)',
  async () => {
    const redis = await startRedisServer();
    const theirs = await RawClient.connect({ path: redis.path });
    const read = (text: string): string =>
      (/keyspace_hits:\d+/.exec(text)?.[0] ?? '') + /keyspace_misses:\d+/.exec(text)?.[0];
    for (const line of LOOKUPS) {
      await theirs.ask('CONFIG', 'RESETSTAT');
      a.ask('CONFIG RESETSTAT');
      await theirs.ask(...(splitWords(line) as [string, ...string[]]));
      a.ask(line);
      const { raw } = await theirs.ask('INFO', 'stats');
      expect(read(a.ask('INFO stats')), line).toBe(read(raw));
    }
    theirs.close();
    await redis.stop();
  },
);
