/** Over the wire: rules, requests, data, time, visits, and a new lab between two tests. */
import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type LabServer, startLab } from '../../../lab/remote/serve.ts';
import { until } from '../../support/until.ts';

let running: LabServer;
let control: Redis;
const opened: Redis[] = [];

/** A connection without ioredis' own retries, so that each error is the server's. */
function open(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => 5 });
  redis.on('error', () => {});
  opened.push(redis);
  return redis;
}

const lab = (...words: (string | number)[]): Promise<unknown> => control.call('LAB', ...words);
const actor = async (name: string): Promise<Redis> => open(String(await lab('ACTOR', name)));

/** A reply of maps as objects. */
async function records(...words: (string | number)[]): Promise<Record<string, unknown>[]> {
  return ((await lab(...words)) as unknown[][]).map((list) =>
    Object.fromEntries(list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1]]] : []))),
  );
}

beforeAll(async () => {
  running = await startLab();
  control = open(running.labUrl);
});
// One lab serves all tests, as it does in other languages.
beforeEach(async () => {
  for (const each of opened.splice(0)) if (each !== control) each.disconnect();
  expect(await lab('NEW')).toBe('OK');
});
afterAll(async () => {
  for (const each of [control, ...opened]) each.disconnect();
  await running.stop();
});

test('INTERCEPT disconnects a client after its first SET, which is executed; LIST counts and REMOVE removes', async () => {
  const [a, b] = [await actor('A'), await actor('B')];
  const id = await lab(
    'INTERCEPT',
    'ADD',
    'FROM',
    'A',
    'COMMAND',
    'set',
    'KEY',
    'my:*',
    'NTH',
    1,
    'DISCONNECT-AFTER',
  );
  expect(id).toBe(1);
  expect(await b.set('my:lock', 'B')).toBe('OK');
  await expect(a.set('my:lock', 'A')).rejects.toThrow();
  expect(await b.get('my:lock')).toBe('A');
  const rule = ['FROM', 'A', 'COMMAND', 'set', 'KEY', 'my:*', 'NTH', '1', 'DISCONNECT-AFTER'];
  expect(await records('INTERCEPT', 'LIST')).toEqual([{ id: 1, rule, matches: 1, hits: 1 }]);
  expect(await lab('INTERCEPT', 'REMOVE', 1)).toBe('OK');
  expect(await lab('INTERCEPT', 'LIST')).toEqual([]);
});

test('INTERCEPT answers with an error or a reply, delays, and loses a reply with all that follow it', async () => {
  const a = open(running.url);
  await lab('INTERCEPT', 'ADD', 'COMMAND', 'get', 'ERROR', 'LOADING by a rule');
  await lab('INTERCEPT', 'ADD', 'COMMAND', 'client id', 'REPLY', '17');
  await expect(a.get('k')).rejects.toThrow('LOADING by a rule');
  expect(await a.client('ID')).toBe('17');
  await lab('INTERCEPT', 'ADD', 'COMMAND', 'incr', 'DELAY', 100_000);
  const late = a.incr('n');
  await until(async () => (await records('INTERCEPT', 'LIST'))[2]?.hits === 1, {
    what: 'the delayed request',
  });
  // Time passes for the delay too.
  await lab('ADVANCE', 100_000);
  expect(await late).toBe(1);
  await lab('INTERCEPT', 'ADD', 'COMMAND', 'del', 'REPLY-LOST');
  const lost = [a.del('n'), a.ping()].map((each) => each.then(String, () => 'no reply'));
  const b = open(running.url);
  await until(async () => (await b.exists('n')) === 0, { what: 'the deletion' });
  a.disconnect();
  expect(await Promise.all(lost)).toEqual(['no reply', 'no reply']);
});

test.each([
  [['ADD', 'COMMAND', 'sett', 'DISCONNECT'], "did you mean 'set'"],
  [['ADD', 'COMMAND', 'set'], 'a rule ends with what happens'],
  [['ADD', 'NTH', '0', 'DISCONNECT'], 'option intercept.nth is 0'],
  [['ADD', 'NTH', 'x', 'DISCONNECT'], 'ERR value is not a valid float'],
  [['ADD', 'BREAK'], "ERR 'BREAK' is neither FROM, ON"],
  [['ADD', 'DELAY'], 'ERR syntax error'],
  [['ADD', 'ON', 'redis-9', 'DISCONNECT'], "ERR no node is called 'redis-9'; there are redis-1, redis-2"],
  [['REMOVE', '99'], 'ERR there is no rule 99'],
  [['REMOVE'], "ERR wrong number of arguments for 'lab|intercept' command"],
  [['NONSENSE'], 'ERR syntax error'],
])('LAB INTERCEPT %j is an error, and no rule is added', async (words, message) => {
  await expect(lab('INTERCEPT', ...words)).rejects.toThrow(message);
  expect(await lab('INTERCEPT', 'LIST')).toEqual([]);
});

test('REQUESTS lists what clients have asked for, without passwords, and not what nodes say to each other', async () => {
  const a = await actor('A');
  await a.set('my:lock', 'x', 'NX');
  await a.get('other');
  const [request, ...more] = await records('REQUESTS', 'FROM', 'A', 'KEY', 'my:*');
  expect(more).toEqual([]);
  expect(request).toMatchObject({ node: 'redis-1', client: 'A', command: ['set', 'my:lock', 'x', 'NX'] });
  expect(Math.abs(Date.now() - Number(request?.at))).toBeLessThan(60_000);
  expect((await records('REQUESTS', 'COUNT', 1, 'FROM', 'A')).map(({ command }) => command)).toEqual([
    ['get', 'other'],
  ]);
  await a.call('AUTH', 'name', 'secret').catch(() => {});
  await a.call('HELLO', '2', 'AUTH', 'name', 'secret').catch(() => {});
  await a.config('SET', 'masterauth', 'secret');
  const all = await records('REQUESTS', 'CLEAR');
  expect(all.filter(({ command }) => /psync|replconf|lab/i.test(String((command as string[])[0])))).toEqual(
    [],
  );
  expect(JSON.stringify(all)).not.toContain('secret');
  expect(await lab('REQUESTS')).toEqual([]);
  await expect(lab('REQUESTS', 'COUNT', 'x')).rejects.toThrow('ERR value is not a valid float');
  await expect(lab('REQUESTS', 'ON', 'redis-9')).rejects.toThrow("no node is called 'redis-9'");
});

test('SEED stores JSON, DUMP returns it, and SEED takes what DUMP returned, bytes included', async () => {
  expect(await lab('SEED', '{"stock:1": "5", "tags": ["a", "b"], "user": {"name": "Ada"}}')).toBe('OK');
  const client = open(running.url);
  expect(await client.hgetall('user')).toEqual({ name: 'Ada' });
  await client.set('bytes', Buffer.from([255, 0]), 'PXAT', 4_102_444_800_000);
  const dump = JSON.parse(String(await lab('DUMP'))) as { key: string }[];
  expect(dump.find(({ key }) => key === 'bytes')).toEqual({
    ...{ db: 0, key: 'bytes', type: 'string', value: { base64: '/wA=' }, expiresAt: 4_102_444_800_000 },
  });
  await client.flushall();
  expect(await lab('SEED', JSON.stringify(dump))).toBe('OK');
  expect(await client.getBuffer('bytes')).toEqual(Buffer.from([255, 0]));
  expect(await lab('SYNC')).toBe('OK');
  expect(JSON.parse(String(await lab('DUMP', 'redis-2')))).toEqual(JSON.parse(String(await lab('DUMP'))));
  await expect(lab('SEED', 'x')).rejects.toThrow('ERR the seed is no JSON');
  await expect(lab('SEED', '{"k": null}')).rejects.toThrow('option seed is');
  await expect(lab('DUMP', 'redis-9')).rejects.toThrow("no node is called 'redis-9'");
});

test('ADVANCE ends a lease for the nodes and for its holder, so that the next holder is no double hold', async () => {
  const [a, b] = [await actor('A'), await actor('B')];
  await lab('SYNC');
  expect(await a.set('my:lock', 'one', 'PX', 30_000, 'NX')).toBe('OK');
  expect(await b.set('my:lock', 'two', 'PX', 30_000, 'NX')).toBeNull();
  const waits = b.blpop('queue', 20);
  await until(async () => String(await a.client('LIST')).includes('cmd=blpop'), {
    what: 'the blocked client',
  });
  expect(await lab('ADVANCE', 30_000)).toBe('OK');
  expect(await waits).toBeNull();
  expect(await b.set('my:lock', 'two', 'PX', 30_000, 'NX')).toBe('OK');
  expect(await lab('OVERLAPS')).toEqual([]);
  expect((await records('HOLDERS', 'my:lock')).map(({ client, believes }) => [client, believes])).toEqual([
    ['B', 1],
  ]);
  // The link has not become silent meanwhile, and no node is ahead of another.
  expect(await lab('ADVANCE', 10 * 60_000)).toBe('OK');
  expect(await lab('SYNC')).toBe('OK');
  expect(await a.info('stats')).toContain('sync_partial_ok:0');
  expect(await lab('CLOCK', 'redis-1')).toBe(0);
  expect(((await lab('TRACE', 'STORY')) as string[]).join('\n')).toContain('30 s pass at once.');
  await expect(lab('ADVANCE', -1)).rejects.toThrow('whole number of milliseconds');
});

test('ADVANCE delivers messages that are delayed', async () => {
  const a = await actor('A');
  await a.ping();
  await lab('DELAY', 'redis-1', 'A', 100_000);
  const late = a.set('k', '1');
  const b = open(running.url);
  await until(async () => (await b.get('k')) === '1', { what: 'the write' });
  await lab('ADVANCE', 100_000);
  expect(await late).toBe('OK');
});

test('ENTER and LEAVE say who is inside: a client that believes is not inside, and one whose lease is over can be', async () => {
  const [a, b] = [await actor('A'), await actor('B')];
  await a.set('my:lock', 'one', 'PX', 30_000, 'NX');
  await lab('ENTER', 'A', 'my:lock', 'FENCE', 1);
  expect(
    (await records('HOLDERS', 'my:lock')).map(({ client, believes, inside }) => [client, believes, inside]),
  ).toEqual([['A', 1, 1]]);
  // A stands still while its lease ends.
  await lab('ADVANCE', 30_000);
  await b.set('my:lock', 'two', 'PX', 30_000, 'NX');
  await lab('ENTER', 'B', 'my:lock');
  const [overlap, ...more] = await records('OVERLAPS');
  expect([overlap?.clients, overlap?.inside, more]).toEqual([['A', 'B'], 1, []]);
  await lab('NOTE', 'A', 'wakes up');
  await lab('NOTE', 'the end');
  await lab('LEAVE', 'A', 'my:lock');
  await expect(lab('LEAVE', 'A', 'my:lock')).rejects.toThrow('ERR A is not inside my:lock');
  expect((await records('HOLDERS', 'my:lock')).map(({ client }) => client)).toEqual(['B']);
  const story = ((await lab('TRACE', 'STORY')) as string[]).join('\n');
  expect(story).toMatch(
    /A enters my:lock.*B enters my:lock.*both inside my:lock.*A wakes up.*the end.*A leaves/s,
  );
  await expect(lab('ENTER', 'w:1:A:x', 'my:lock')).rejects.toThrow('the token of a program');
  await expect(lab('ENTER', 'redis-1', 'my:lock')).rejects.toThrow("a client's name");
});

test('a client that has left a resource does not overlap with the next one, although it still believes', async () => {
  const [a, b] = [await actor('A'), await actor('B')];
  await lab('SYNC');
  await lab('HOLD', 'redis-1', 'redis-2');
  await a.set('my:lock', 'one', 'PX', 30_000, 'NX');
  await lab('ENTER', 'A', 'my:lock');
  await lab('LEAVE', 'A', 'my:lock');
  await lab('FAILOVER', 'CRASH');
  await until(async () => (await b.set('my:lock', 'two', 'PX', 30_000, 'NX').catch(() => null)) === 'OK');
  await lab('ENTER', 'B', 'my:lock');
  expect(await lab('OVERLAPS')).toEqual([]);
});

test('readers that share a resource do not overlap', async () => {
  await lab('ENTER', 'A', 'stock', 'SHARED');
  await lab('ENTER', 'B', 'stock', 'SHARED');
  expect(await lab('OVERLAPS')).toEqual([]);
  await lab('ENTER', 'C', 'stock');
  expect((await records('OVERLAPS')).map(({ clients }) => clients)).toEqual([
    ['A', 'C'],
    ['B', 'C'],
  ]);
});

test('NEW begins anew at the same ports: roles, links, clocks, data, actors, rules and the trace', async () => {
  const nodes = (await records('NODES')).map(({ name, port }) => [name, port]);
  const { url } = running;
  const a = await actor('A');
  await a.set('k', 'v');
  await lab('INTERCEPT', 'ADD', 'COMMAND', 'get', 'ERROR', 'ERR rule');
  await lab('ENTER', 'A', 'stock');
  await lab('CLOCK', 'redis-2', 'JUMP', 5000);
  await lab('SYNC');
  await lab('HOLD', 'redis-1', 'redis-2');
  await lab('FAILOVER', 'CRASH');
  expect(await lab('NEW')).toBe('OK');
  expect(running.url).toBe(url);
  const fresh = await records('NODES');
  expect(fresh.map(({ name, port }) => [name, port])).toEqual(nodes);
  expect(fresh.map(({ role, state }) => [role, state])).toEqual([
    ['primary', 'up'],
    ['replica', 'up'],
  ]);
  const client = open(url);
  expect(await client.get('k')).toBeNull();
  await client.set('k', 'w');
  expect(await lab('SYNC')).toBe('OK');
  expect(await lab('CLOCK', 'redis-2')).toBe(0);
  expect([await lab('LOST'), await lab('INTERCEPT', 'LIST'), await lab('OVERLAPS')]).toEqual([[], [], []]);
  expect(((await lab('TRACE', 'STORY')) as string[]).join('\n')).not.toMatch(/crash|held|enters/);
  await expect(lab('HOLD', 'redis-1', 'A')).rejects.toThrow("no party is called 'A'");
});

test('TRACE HTML returns a page, or writes it to a file', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'lostlock-wire-')), 'inner', 'trace.html');
  expect(await lab('TRACE', 'HTML', file)).toBe(file);
  expect(readFileSync(file, 'utf8')).toContain('A run of lostlock --lab');
  expect(String(await lab('TRACE', 'HTML'))).toMatch(/^<!doctype html>/i);
  await expect(lab('TRACE', 'HTML', file, 'more')).rejects.toThrow('ERR syntax error');
});
