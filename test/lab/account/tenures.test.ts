/** What ended each grant of a lock, whose act it was, and when; and the grants that nobody knows of. */
import { expect, test } from 'vitest';
import { type Pair, startPair } from '../../../index.ts';
import { accountIn, short } from './played.ts';

const take = (pair: Pair, name: string, key = 'k', ms = 30_000): Promise<string | null> =>
  pair.client(name).set(key, name, 'PX', ms, 'NX');

const told = (pair: Pair): string[] => accountIn(pair).tenures.map(short);

test('a release is dated when the server executed it, and names the command', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A');
  await take(pair, 'A');
  const release = a.del('k');
  await release;
  const { tenures, holds } = accountIn(pair);
  expect(tenures.map(short)).toEqual(['A k released (DEL)']);
  // The client stops believing when it sends the DEL. The lock is free when the server has executed it.
  expect(tenures[0]?.end?.at).toBeGreaterThan(holds[0]?.to ?? Infinity);
  expect(tenures[0]?.end?.at).toBe(tenures[0]?.end?.call?.executed);
});

test('a release by a script, and the DEL of a stranger', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await take(pair, 'A');
  await pair
    .client('A')
    .eval(
      'if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0',
      1,
      'k',
      'A',
    );
  await take(pair, 'B');
  await pair.client('A').del('k');
  await take(pair, 'C');
  expect(told(pair)).toEqual(['A k released (a script)', 'B k deleted by A (DEL)', 'C k stands']);
});

test('a lease ends at its instant, also when the node looks at the key later', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await take(pair, 'A', 'k', 500);
  const from = accountIn(pair).tenures[0]?.from ?? 0;
  pair.pause('redis-1');
  await pair.advance(2000);
  pair.resume('redis-1');
  await pair.client('B').get('k');
  await pair.advance(10);
  const [tenure] = accountIn(pair).tenures;
  expect(short(tenure!)).toBe('A k expired (its lease was over)');
  expect(Math.abs((tenure?.end?.at ?? 0) - from - 501_000)).toBeLessThanOrEqual(1000);
});

test('a lease that a jump of the clock ends', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await take(pair, 'A', 'k', 5000);
  await pair.advance(100);
  pair.primary.clock.jump(10_000);
  await pair.advance(100);
  const [tenure] = accountIn(pair).tenures;
  expect(short(tenure!)).toBe('A k expired (the clock of redis-1 jumps by 10000 ms)');
  expect(tenure?.end?.at).toBeLessThan(pair.world.elapsed() - 90_000);
});

test('renewals, and whose they were', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await take(pair, 'A');
  await pair.client('A').pexpire('k', 60_000);
  await pair.client('B').pexpire('k', 90_000);
  const [tenure] = accountIn(pair).tenures;
  expect(tenure?.renewals.map(({ by }) => by)).toEqual(['A', 'B']);
});

test('FLUSHALL and eviction end a tenure', async () => {
  await using pair = await startPair({
    clock: 'virtual',
    seed: 3,
    settings: { 'maxmemory-policy': 'allkeys-lru' },
  });
  await take(pair, 'A');
  await pair.client('C').flushall();
  await take(pair, 'B');
  await pair.client('C').config('SET', 'maxmemory', '1');
  await pair.client('C').get('k');
  expect(told(pair)).toEqual(['A k flushed by C (FLUSHALL)', 'B k evicted (redis-1 evicted it)']);
});

test('a failover that did not have the grant ends it, and one that had it does not', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await take(pair, 'A', 'copied');
  await pair.advance(20);
  pair.link.hold();
  await take(pair, 'A', 'lost');
  await pair.failover({ crash: true });
  await take(pair, 'B', 'lost');
  expect(told(pair)).toEqual([
    'A copied stands',
    'A lost lost (the failover to redis-2, which never received it)',
    'B lost stands',
  ]);
});

test('a release that a failover has lost brings the lock back, and nobody knows of it', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await take(pair, 'A');
  await pair.advance(20);
  pair.link.hold();
  await pair.client('A').del('k');
  await pair.failover({ crash: true });
  expect(await take(pair, 'B')).toBe(null);
  const { tenures, ghosts, refusals } = accountIn(pair);
  expect(tenures.map(short)).toEqual(['A k released (DEL)', 'A k stands']);
  expect(ghosts).toEqual([tenures[1]]);
  expect(tenures[1]?.what).toBe("the failover to redis-2, which never received A's DEL");
  expect(refusals.map(({ client, because }) => [client, because])).toEqual([['B', tenures[1]]]);
});

test('a restart keeps a lock with the data, and ends it without', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await take(pair, 'A');
  pair.primary.crash({ keep: 'everything' });
  pair.restart('redis-1');
  expect(await take(pair, 'B')).toBe(null);
  pair.primary.crash({ keep: 'nothing' });
  pair.restart('redis-1');
  await take(pair, 'B');
  expect(told(pair)).toEqual(['A k lost (the restart of redis-1, which did not keep it)', 'B k stands']);
  expect(accountIn(pair).overlaps).toMatchObject([{ clients: ['A', 'B'] }]);
});

test('the writes of a primary that is demoted are lost with it', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const old = pair.client('A');
  await old.ping();
  pair.network.partition(['redis-1'], ['redis-2']);
  await pair.failover({ to: 'redis-2', demote: false });
  const split = pair.node('redis-1');
  await pair.run(async () => {});
  pair.promote('redis-1');
  await take(pair, 'A');
  pair.promote('redis-2');
  pair.demote('redis-1');
  await pair.advance(10);
  expect(split.name).toBe('redis-1');
  expect(told(pair)).toEqual([
    'A k lost (the demotion of redis-1 to a replica of redis-2, which never received it)',
  ]);
});

test('a grant whose reply was lost is a ghost: its client asks again, and its own lock refuses it', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A', { retryStrategy: () => 10 });
  await a.ping();
  pair.clientLink('A').back.hold();
  const asked = a.set('k', 'A', 'PX', 30_000, 'NX');
  await pair.advance(50);
  pair.clientLink('A').reset();
  pair.clientLink('A').back.release();
  expect(await asked).toBe(null);
  const { tenures, ghosts, holds, refusals } = accountIn(pair);
  expect(tenures.map(short)).toEqual(['A k stands']);
  expect(holds).toEqual([]);
  expect(ghosts).toEqual(tenures);
  expect(refusals).toMatchObject([{ client: 'A', because: { client: 'A' } }]);
});

test.each([
  [
    'a fence, or nil',
    "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', 1000) then return 7 end return false",
  ],
  [
    'nil, or the time left',
    "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', 1000) then return nil end return redis.call('pttl', KEYS[1])",
  ],
  [
    'nil, also for the one that has it',
    "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', 1000) then return nil end if redis.call('get', KEYS[1]) == ARGV[1] then return nil end return 9",
  ],
  [
    '1, also for the one that has it',
    "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', 1000) or redis.call('get', KEYS[1]) == ARGV[1] then return 1 end return 0",
  ],
])('a script that answers %s refuses the other client alone', async (_, script) => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await pair.client('A').eval(script, 1, 'k', 'A');
  if (script.includes("'get'")) await pair.client('A').eval(script, 1, 'k', 'A');
  await pair.client('B').eval(script, 1, 'k', 'B');
  expect(accountIn(pair).refusals.map(({ client }) => client)).toEqual(['B']);
});

test('a grant whose reply is under way is no ghost', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A');
  await a.ping();
  pair.clientLink('A').back.hold();
  const asked = a.set('k', 'A', 'PX', 30_000, 'NX');
  await pair.advance(50);
  expect(accountIn(pair).ghosts).toEqual([]);
  pair.clientLink('A').back.release();
  expect(await asked).toBe('OK');
  expect(accountIn(pair).ghosts).toEqual([]);
});

test("design.md's example, in which nobody releases: both hold, the failover is what freed the lock", async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 7 });
  pair.link.hold();
  await take(pair, 'A', 'my:lock');
  await pair.failover({ crash: true });
  await take(pair, 'B', 'my:lock');
  const { overlaps, holds } = accountIn(pair);
  expect(told(pair)).toEqual([
    'A my:lock lost (the failover to redis-2, which never received it)',
    'B my:lock stands',
  ]);
  expect(holds.map(({ client, to }) => [client, to])).toEqual([
    ['A', null],
    ['B', null],
  ]);
  expect(overlaps).toMatchObject([{ key: 'my:lock', clients: ['A', 'B'] }]);
});

test('WAIT in one packet behind the write has its own answer, and the write its own', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const a = pair.client('A');
  await a.ping();
  pair.link.hold();
  const both = a.pipeline().set('k', 'A', 'PX', 30_000, 'NX').wait(1, 50).exec();
  expect(await both).toEqual([
    [null, 'OK'],
    [null, 0],
  ]);
  const { confirmations, tenures, holds } = accountIn(pair);
  expect(confirmations).toMatchObject([{ client: 'A', copies: 0, wanted: 1 }]);
  expect(tenures[0]?.call?.reply?.text).toBe('OK');
  expect(holds).toHaveLength(1);
});

test('a transaction takes a lock when its EXEC is executed', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  await pair.client('A').multi().set('k', 'A', 'PX', 30_000, 'NX').get('k').exec();
  const [tenure] = accountIn(pair).tenures;
  expect(tenure?.what).toBe('SET NX');
  expect(tenure?.told).not.toBe(null);
});
