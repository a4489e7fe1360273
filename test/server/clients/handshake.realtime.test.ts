/** The commands about the connection and about the node itself, answered as redis-server answers them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../../index.ts';
import { splitInline } from '../../../protocol/inline.ts';
import { INSTALLED } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { hasRedisServer, type RealRedis, startRedisServer } from '../../support/redis-server.ts';

/** Each script runs on a connection of its own, on both servers; every reply must be the same bytes. */
const scripts: readonly (readonly string[])[] = [
  ['PING', 'PING hello', 'PING a b', 'ECHO', 'ECHO hello', 'SELECT 15', 'SELECT 16', 'SELECT -1', 'SELECT x'],
  ['AUTH x', 'AUTH default x', 'AUTH other x', 'AUTH', 'AUTH a b c'],
  [
    'HELLO 4',
    'HELLO x',
    'HELLO 3 AUTH other x',
    'HELLO 3 SETNAME',
    'HELLO 2 SETNAME "a b"',
    'HELLO 2 SETNAME me',
  ],
  ['HELLO 2 SETNAME me', 'CLIENT GETNAME', 'CLIENT SETNAME you', 'CLIENT GETNAME', 'CLIENT SETNAME "a b"'],
  ['READONLY', 'READWRITE', 'ASKING', 'SET k v', 'RESET', 'GET k', 'CLIENT GETNAME', 'RESET x'],
  [
    'CLIENT NO-EVICT on',
    'CLIENT NO-EVICT maybe',
    'CLIENT GETREDIR',
    'CLIENT',
    'CLIENT nonsense',
    'CLIENT GETNAME x',
  ],
  [
    'CLIENT KILL 1.2.3.4:5',
    'CLIENT KILL ID x',
    'CLIENT KILL ID 99999999',
    'CLIENT KILL TYPE nonsense',
    'CLIENT KILL ID',
  ],
  [
    'CLIENT UNBLOCK 99999999',
    'CLIENT UNBLOCK x',
    'CLIENT UNBLOCK 1 NONSENSE',
    'CLIENT REPLY ON',
    'CLIENT REPLY x',
  ],
  [
    'CLIENT PAUSE x',
    'CLIENT PAUSE 0',
    'CLIENT PAUSE 1 NONSENSE',
    'CLIENT UNPAUSE',
    'CLIENT LIST TYPE nonsense',
  ],
  ['CLIENT LIST ID x', 'CLIENT LIST ID 99999999', 'CLIENT LIST NONSENSE', 'CLIENT ID x', 'CLIENT INFO x'],
  [
    'CONFIG GET maxmemory',
    'CONFIG SET maxmemory 1mb',
    'CONFIG GET maxmemory',
    'CONFIG SET maxmemory 0',
    'CONFIG SET a',
  ],
  [
    'CONFIG GET nonsense',
    'CONFIG SET nonsense 1',
    'CONFIG SET maxmemory x',
    'CONFIG RESETSTAT',
    'CONFIG REWRITE',
  ],
  [
    'CONFIG SET notify-keyspace-events KEA',
    'CONFIG GET notify-keyspace-events',
    'CONFIG SET notify-keyspace-events ""',
  ],
  [
    'COMMAND COUNT x',
    'COMMAND INFO get nonsense',
    'COMMAND LIST nonsense',
    'COMMAND GETKEYS SET k v',
    'COMMAND GETKEYS',
  ],
  [
    'COMMAND GETKEYS PING',
    'COMMAND GETKEYS nonsense x',
    'COMMAND GETKEYSANDFLAGS GET k',
    'COMMAND LIST FILTERBY x y',
  ],
  ['COMMAND INFO ping select client|id', 'COMMAND DOCS nonsense', 'COMMAND nonsense'],
  [
    'FLUSHALL',
    'SET k v',
    'DBSIZE',
    'SWAPDB 0 1',
    'DBSIZE',
    'GET k',
    'SWAPDB 0 1',
    'SWAPDB 0 99',
    'SWAPDB x 1',
    'DBSIZE x',
  ],
  [
    'SET k v',
    'FLUSHDB',
    'DBSIZE',
    'FLUSHDB SYNC',
    'FLUSHALL ASYNC',
    'FLUSHALL NONSENSE',
    'SELECT 3',
    'FLUSHDB',
  ],
  ['TIME x', 'INFO nonsense', 'nonsense', 'nonsense "a b" c', 'QUIT'],
];

/** HELLO answers the connection's id, which is unique. */
function withoutId(reply = ''): string {
  return reply.replace(/(\r\nid\r\n):\d+/, '$1:N');
}

describe.skipIf(!hasRedisServer)('beside redis-server (needs redis-server)', () => {
  let ours: LostlockServer;
  let real: RealRedis;
  beforeAll(async () => {
    [ours, real] = await Promise.all([startServer({ dialect: INSTALLED }), startRedisServer()]);
  });
  afterAll(() => Promise.all([ours.stop(), real.stop()]));

  for (const protocol of ['2', '3']) {
    for (const script of scripts) {
      test(`RESP${protocol}: ${script.slice(0, 4).join(', ')}, …`, async () => {
        const both = [await RawClient.connect(ours), await RawClient.connect({ path: real.path })];
        for (const client of both) await client.ask('HELLO', protocol);
        for (const line of script) {
          const words = splitInline(line) as [string, ...string[]];
          const [mine, theirs] = await Promise.all(
            both.map(async (client) => (await client.ask(...words)).raw),
          );
          expect(`${line} -> ${withoutId(mine)}`).toBe(`${line} -> ${withoutId(theirs)}`);
        }
        for (const client of both) client.close();
      });
    }
  }
});

test('replies that describe the node have the form that clients parse', async () => {
  await using server = await startServer();
  const client = await RawClient.connect(server);
  const call = async (...words: [string, ...string[]]): Promise<string> => (await client.ask(...words)).raw;
  expect(await call('HELLO', '3')).toMatch(/^%7\r\n\$6\r\nserver\r\n\$5\r\nredis\r\n\$7\r\nversion\r\n/);
  expect(await call('CLIENT', 'SETINFO', 'LIB-NAME', 'mine')).toBe('+OK\r\n');
  const id = await call('CLIENT', 'ID');
  expect(id).toMatch(/^:\d+\r\n$/);
  expect(await call('CLIENT', 'INFO')).toContain(`id=${id.slice(1, -2)} addr=127.0.0.1:`);
  expect(await call('CLIENT', 'LIST')).toContain('cmd=client|list');
  expect(await call('INFO', 'replication')).toContain('role:master\r\n');
  expect(await call('TIME')).toMatch(/^\*2\r\n\$10\r\n\d{10}\r\n\$\d\r\n\d{0,6}/);
  expect(await call('COMMAND', 'COUNT')).toMatch(/^:\d+\r\n$/);
  expect(await call('COMMAND', 'LIST')).toContain('$3\r\nset\r\n');
  expect(await call('COMMAND', 'DOCS', 'get')).toContain('summary');
  client.close();
});
