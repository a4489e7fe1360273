/** Embedded servers: seeds and dumps, in-memory connections, addresses, and stopping without leftovers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { type DumpEntry, type LostlockServer, type Seed, startServer } from '../../index.ts';
import { Talk } from '../support/talk.ts';
import { until } from '../support/until.ts';

/** True if nothing listens on the port. */
function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(false);
    }).on('error', () => resolve(true));
  });
}

const bytes = Buffer.from([0xff, 0x00, 0xfe]);

test('a dump returns what was seeded, with Buffers for bytes that are not UTF-8', async () => {
  await using server = await startServer({
    seed: {
      text: 'häß',
      number: 5,
      list: ['a', 'b'],
      set: new Set(['x']),
      hash: { field: 'value' },
      raw: bytes,
    },
  });
  const dumped = server.dump();
  expect(dumped).toEqual([
    { db: 0, key: 'text', type: 'string', value: 'häß' },
    { db: 0, key: 'number', type: 'string', value: '5' },
    { db: 0, key: 'list', type: 'list', value: ['a', 'b'] },
    { db: 0, key: 'set', type: 'set', value: ['x'] },
    { db: 0, key: 'hash', type: 'hash', value: [['field', 'value']] },
    { db: 0, key: 'raw', type: 'string', value: bytes },
  ]);
  await using twin = await startServer();
  const entries = [
    ...dumped,
    { db: 3, key: 'z', type: 'zset' as const, value: [['m', 1.5]] as [string, number][], expiresAt: 4e12 },
    { db: 3, key: 's', type: 'stream' as const, value: [['5-1', ['field', bytes]]] as [string, Buffer[]][] },
  ];
  twin.seed(entries as DumpEntry[]);
  expect(twin.dump()).toEqual(entries);
  const backwards = [['5-1', ['f', 'v']] as const, ['4-1', ['f', 'v']] as const];
  expect(() => twin.seed([{ key: 's', type: 'stream', value: backwards }])).toThrow('ascending ids');
  twin.flush();
  expect(twin.dump()).toEqual([]);
});

test('as many databases as Redis allows: only those in use take memory, in the order of their numbers', async () => {
  const last = 2 ** 31 - 2;
  await using server = await startServer({ databases: last + 1 });
  const client = new Talk(server.node);
  expect(await client.ask(`SELECT ${last + 1}`)).toBe('-ERR DB index is out of range\r\n');
  await client.ask(`SELECT ${last}`);
  await client.ask('SET k v');
  await client.ask('MOVE k 7');
  await client.ask('SET k w');
  await client.ask('SWAPDB 1000000 7');
  const found = server.dump().map(({ db, value }) => [db, value]);
  expect(found).toEqual([
    [1_000_000, 'v'],
    [last, 'w'],
  ]);
  await client.ask('FLUSHALL');
  expect(server.dump()).toEqual([]);
});

test.each<[what: string, seed: unknown]>([
  ['a number', 5],
  ['a string', 'x'],
  ['null', null],
  ['a boolean as a value', { a: true }],
  ['null as a value', { a: null }],
  ['an empty list', { a: [] }],
  ['an empty set', { a: new Set() }],
  ['an empty hash', { a: {} }],
  ['a list of objects', { a: [{}] }],
  ['a hash of objects', { a: { field: {} } }],
  ['a Map with an object for a field', { a: new Map([[{}, 'v']]) }],
  ['no entry', [null]],
  ['an entry that is a word', ['k']],
  ['an entry without a key', [{ type: 'string', value: 'v' }]],
  ['an entry of no known type', [{ key: 'k', type: 'tree', value: ['v'] }]],
  ['a string that is an object', [{ key: 'k', type: 'string', value: {} }]],
  ['a list that is a word', [{ key: 'k', type: 'list', value: 'v' }]],
  ['a database below the first', [{ db: -1, key: 'k', type: 'string', value: 'v' }]],
  ['half a database', [{ db: 0.5, key: 'k', type: 'string', value: 'v' }]],
  ['a database that is not there', [{ db: 16, key: 'k', type: 'string', value: 'v' }]],
  ['a hash of single words', [{ key: 'k', type: 'hash', value: [['field']] }]],
  ['a hash of words in threes', [{ key: 'k', type: 'hash', value: [['field', 'value', 'more']] }]],
  ['a hash that is not in pairs', [{ key: 'k', type: 'hash', value: ['fv'] }]],
  ['a hash of nothing', [{ key: 'k', type: 'hash', value: [] }]],
  ['a member that is an object', [{ key: 'k', type: 'zset', value: [[{}, 1]] }]],
  ['a score in words', [{ key: 'k', type: 'zset', value: [['m', '1']] }]],
  ['an id of no stream', [{ key: 'k', type: 'stream', value: [['x', ['f', 'v']]] }]],
  ['an id that is a number', [{ key: 'k', type: 'stream', value: [[5, ['f', 'v']]] }]],
  ['a field without a value', [{ key: 'k', type: 'stream', value: [['1-1', ['f']]] }]],
  ['an entry without fields', [{ key: 'k', type: 'stream', value: [['1-1', []]] }]],
  ['fields in a word', [{ key: 'k', type: 'stream', value: [['1-1', 'fv']] }]],
  ['a score that is no number', [{ key: 'k', type: 'zset', value: [['m', Number.NaN]] }]],
  ['a time before time', [{ key: 'k', type: 'string', value: 'v', expiresAt: -1 }]],
  ['a time in words', [{ key: 'k', type: 'string', value: 'v', expiresAt: 'soon' }]],
])('a seed that is %s, or contains it, is refused as a whole', async (_what, wrong) => {
  await using server = await startServer();
  const fine = { key: 'fine', type: 'string', value: 'v' };
  const seed = Array.isArray(wrong) ? [fine, ...wrong] : wrong;
  expect(() => server.seed(seed as Seed)).toThrow(/^lostlock: option seed is .*; allowed: /s);
  expect(server.dump()).toEqual([]);
});

test('a flush is a change like any other: for clients that track, wait for or watch a key, and for the count of changes', async () => {
  await using server = await startServer({ seed: { k: '1', other: '2' } });
  const redis = new Redis({ Connector: server.connector });
  const reader = new Talk(server.node);
  await reader.ask('HELLO 3', 'CLIENT TRACKING ON');
  await reader.ask('GET k');
  await redis.xgroup('CREATE', 'stream', 'group', '$', 'MKSTREAM');
  const waiter = new Talk(server.node);
  waiter.send('XREADGROUP GROUP group me BLOCK 0 STREAMS stream >');
  await until(() => server.node.blocking.count === 1, { what: 'the waiter' });
  await redis.watch('k');
  const changes = async (): Promise<number> =>
    Number(/rdb_changes_since_last_save:(\d+)/.exec(await redis.info('persistence'))?.[1]);
  const before = await changes();
  server.flush();
  expect(await reader.hear()).toBe('>2\r\n$10\r\ninvalidate\r\n_\r\n');
  expect(await waiter.hear()).toMatch(/^-(NOGROUP|UNBLOCKED)/);
  expect(await changes()).toBe(before + 3);
  expect(await redis.multi().set('k', '3').exec()).toBeNull();
  redis.disconnect();
});

test("names of JavaScript's object properties are ordinary keys", async () => {
  await using server = await startServer();
  const redis = new Redis({ Connector: server.connector });
  for (const name of ['__proto__', 'constructor', 'toString']) {
    await redis.set(name, name);
    expect(await redis.get(name)).toBe(name);
  }
  expect(Object.keys(Object.prototype)).toEqual([]);
  redis.disconnect();
});

test('servers of one process share nothing', async () => {
  await using one = await startServer({ seed: { key: 'one' } });
  await using two = await startServer({ seed: { key: 'two' } });
  const redis = new Redis(one.url);
  await redis.set('key', 'changed');
  redis.disconnect();
  expect(two.dump()).toMatchObject([{ value: 'two' }]);
});

const PASSWORD = 'p@ss/w%6frd:#?';

test('a unix socket works beside the port, and the URL contains the password', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-'));
  const path = join(folder, 'redis.sock');
  await using server = await startServer({ unixSocket: path, password: PASSWORD });
  const overSocket = new Redis({ path, password: PASSWORD });
  const overTcp = new Redis(server.url);
  expect(await overSocket.set('a', '1')).toBe('OK');
  expect(await overTcp.get('a')).toBe('1');
  overSocket.disconnect();
  overTcp.disconnect();
  rmSync(folder, { recursive: true });
});

test('the methods that Testcontainers users know exist', async () => {
  await using server = await startServer({ password: 'secret' });
  expect(server.getMappedPort(6379)).toBe(server.port);
  expect(server.getConnectionUrl()).toBe(`redis://:secret@${server.getHost()}:${server.getPort()}`);
  expect(server.getPassword()).toBe('secret');
});

test('unknown commands are listed by name, whatever their arguments, and those of scripts too', async () => {
  await using server = await startServer();
  const redis = new Redis({ Connector: server.connector });
  const fails = (...words: [string, ...string[]]): Promise<void> =>
    expect(redis.call(...words)).rejects.toThrow(/unknown|Unknown/);
  for (let i = 0; i < 5; i++) await fails(i < 3 ? 'NOSUCH' : 'nosuch', `key:${i}`);
  await fails('CLIENT', 'Nothing', 'x');
  await fails('EVAL', "return redis.call('JSON.GET', KEYS[1])", '1', 'a');
  await fails('EVAL', "return redis.call('client', 'nothing')", '0');
  await redis.call('EVAL', "redis.pcall('json.get', KEYS[1]) return 1", '1', 'b');
  await redis.call(
    'FUNCTION',
    'LOAD',
    "#!lua name=l\nredis.register_function('f', function() return redis.call('x.y') end)",
  );
  await fails('FCALL', 'f', '0');
  redis.disconnect();
  expect(server.unknownCommands()).toEqual([
    { command: 'nosuch', count: 5 },
    { command: 'client nothing', count: 2 },
    { command: 'json.get', count: 2 },
    { command: 'x.y', count: 1 },
  ]);
});

test('an address in use rejects and leaves nothing behind', async () => {
  await using server = await startServer();
  await expect(startServer({ port: server.port })).rejects.toThrow('EADDRINUSE');
});

test('after stop() no handle of the server is left', async () => {
  const before = process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
  const server = await startServer();
  const redis = new Redis(server.url, { retryStrategy: () => null });
  redis.on('error', () => {});
  await redis.set('k', 'v', 'PX', 5000);
  await server.stop();
  await server.stop();
  redis.disconnect();
  await expect
    .poll(() => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length)
    .toBeLessThanOrEqual(before);
});

test.each<[how: string, stop: (server: LostlockServer) => unknown]>([
  ['stop', (server) => server.stop()],
  ['SHUTDOWN', (server) => new Talk(server.node).send('SHUTDOWN NOSAVE')],
])('%s ends in-memory connections and closes the listeners', async (_how, stop) => {
  const server = await startServer();
  const inMemory = server.connect();
  inMemory.on('error', () => {});
  stop(server);
  await until(() => inMemory.destroyed, { what: 'the end of the connection' });
  await until(() => isRefused(server.port), { what: 'the end of the listener' });
  await server.stop();
  expect(await isRefused(server.port)).toBe(true);
});

test.each<[what: string, filter: unknown, act: unknown, option: string]>([
  ['no filter', undefined, 'disconnect', 'intercept'],
  ['a number for a command', { command: 5 }, 'disconnect', 'intercept.command'],
  ['a misspelt filter', { comand: 'get' }, 'disconnect', 'intercept.comand'],
  ['a match before the first', { nth: 0 }, 'disconnect', 'intercept.nth'],
  ['a test of words', { when: 'get' }, 'disconnect', 'intercept.when'],
  ['no intervention', {}, undefined, 'intercept'],
  ['an unknown intervention', {}, 'explode', 'intercept'],
  ['a delay back in time', {}, { delayMs: -1 }, 'intercept.delayMs'],
])('a rule with %s is refused', async (_what, filter, act, option) => {
  await using server = await startServer();
  const add = server.intercept.bind(server) as (filter: unknown, act: unknown) => unknown;
  expect(() => add(filter, act)).toThrow(`lostlock: option ${option} is `);
});
