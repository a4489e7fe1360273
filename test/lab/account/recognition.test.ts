/** Which keys are locks: those that are taken because they are absent, and no cache, heartbeat, session or limiter. */
import { expect, test } from 'vitest';
import { type Pair, startPair } from '../../../index.ts';
import { accountOf } from '../../../lab/account/account.ts';
import { readMessages } from '../../../lab/timeline/connections.ts';
import { recordedWorld } from '../../../lab/timeline/world.ts';
import { createLocks } from '../../../locks/index.ts';
import { accountIn, short } from './played.ts';

/** The names of the locks after two clients did this. */
async function locksAfter(
  play: (pair: Pair, a: ReturnType<Pair['client']>, b: ReturnType<Pair['client']>) => Promise<unknown>,
  locks: readonly string[] = [],
): Promise<{ locks: string[]; others: string[]; told: string[]; overlaps: number; story: string[] }> {
  await using pair = await startPair({ clock: 'virtual', seed: 7 });
  await play(pair, pair.client('A'), pair.client('B'));
  await pair.advance(20);
  const account = accountIn(pair, locks);
  return {
    locks: [...account.locks],
    others: account.others.map(({ key, why }) => `${key} ${why}`),
    told: account.tenures.map(short),
    overlaps: account.overlaps.length,
    story: pair.timelineData().story.map(({ text }) => text),
  };
}

test('a cache that two clients write is no lock', async () => {
  const { locks, overlaps, story } = await locksAfter(async (_, a, b) => {
    await a.set('page:1', 'html', 'EX', 60);
    await b.set('page:1', 'html of B', 'EX', 60);
  });
  expect([locks, overlaps]).toEqual([[], 0]);
  expect(story.join()).not.toMatch(/acquires|hold/);
});

test('a heartbeat is no lock', async () => {
  const { locks } = await locksAfter(async (pair, a, b) => {
    for (let i = 0; i < 3; i++) {
      await a.set('alive', 'A', 'PX', 500);
      await b.set('alive', 'B', 'PX', 500);
      await pair.advance(100);
    }
  });
  expect(locks).toEqual([]);
});

test('a token that goes from hand to hand by GETDEL and SET is no lock', async () => {
  const { locks, others } = await locksAfter(async (_, a, b) => {
    await a.eval(
      "if redis.call('set', KEYS[1], 1, 'NX') then redis.call('set', KEYS[2], 'free') end",
      2,
      'made',
      'token',
    );
    for (const client of [a, b, a]) {
      await client.getdel('token');
      await client.set('token', 'free');
    }
  });
  expect(locks).not.toContain('token');
  expect(others.join()).toContain('token is a token, which clients take with GETDEL and put back with SET');
});

test('a session is no lock: SET, then EXPIRE', async () => {
  const { locks } = await locksAfter(async (_, a, b) => {
    await a.set('session:1', '{"user":1}');
    await a.expire('session:1', 60);
    await b.set('session:1', '{"user":1,"cart":[]}');
    await b.expire('session:1', 60);
    await a.hset('session:2', 'user', '1');
    await a.expire('session:2', 60);
    await b.hset('session:2', 'cart', '2');
  });
  expect(locks).toEqual([]);
});

test('a rate limiter is no lock, with commands or in a script', async () => {
  const script = `local n = redis.call('incr', KEYS[1]) if n == 1 then redis.call('expire', KEYS[1], 60) end return n`;
  const careful = `if redis.call('exists', KEYS[1]) == 0 then redis.call('set', KEYS[1], 1, 'EX', 60) return 1 end return redis.call('incr', KEYS[1])`;
  const { locks, overlaps } = await locksAfter(async (_, a, b) => {
    for (const client of [a, b, a]) {
      if ((await client.incr('rate:1')) === 1) await client.expire('rate:1', 60);
      await client.eval(script, 1, 'rate:2');
      await client.eval(careful, 1, 'rate:3');
    }
    await a.eval(careful, 1, 'rate:4');
  });
  expect([locks, overlaps]).toEqual([[], 0]);
});

test('a count-down latch is no lock, and neither is what a script sets without looking', async () => {
  const { locks } = await locksAfter(async (pair, a, b) => {
    const [one, other] = [createLocks(a), createLocks(b)];
    await one.latch('ready').trySetCount(5000);
    await other.latch('ready').countDown();
    await one.latch('open').trySetCount(1);
    await other.latch('open').countDown();
    await a.eval("redis.call('set', KEYS[1], ARGV[1], 'px', 60000)", 1, 'last-seen', 'by A at noon');
    await pair.run(() => Promise.all([one.close(), other.close()]));
  });
  expect(locks).toEqual([]);
});

test('a key that one client takes because it is absent, and others change while it is there, is no lock, with the reason', async () => {
  const { locks, others } = await locksAfter(async (_, a, b) => {
    await a.set('leader', 'A', 'EX', 60, 'NX');
    await b.set('leader', 'B', 'EX', 60);
  });
  expect(locks).toEqual([]);
  expect(others).toEqual(['leader is also changed while it is there: B sent SET']);
});

test('an idempotency key is no lock: all write the same value, and nobody asks again', async () => {
  const { locks, story } = await locksAfter(async (_, a, b) => {
    await a.set('once:42', '1', 'EX', 86_400, 'NX');
    await b.set('once:42', '1', 'EX', 86_400, 'NX');
    await b.set('once:43', '1', 'EX', 86_400, 'NX');
    await a.setnx('filled', 'the page');
    await b.setnx('filled', 'the page');
  });
  expect(locks).toEqual([]);
  expect(story).toContain('A set once:42, which was absent.');
  expect(story).toContain('B set once:43, which was absent.');
});

for (const [name, use] of [
  ['compares', (b) => b.eval('return redis.call("get", KEYS[1]) == ARGV[1]', 1, 'k', '1')],
  ['deletes', (b) => b.del('k')],
  ['renews', (b) => b.pexpire('k', 90_000)],
  ['asks again', (b) => b.set('k', '1', 'PX', 60_000, 'NX')],
] as const satisfies readonly (readonly [string, (b: ReturnType<Pair['client']>) => Promise<unknown>])[]) {
  test(`a key with one value for all is a lock when somebody ${name}`, async () => {
    const { locks } = await locksAfter(async (_, a, b) => {
      await a.set('k', '1', 'PX', 60_000, 'NX');
      await b.set('k', '1', 'PX', 60_000, 'NX');
      await use(b);
    });
    expect(locks).toEqual(['k']);
  });
}

test('SET NX, SETNX, HSETNX, MSETNX and a script that looks first take locks', async () => {
  const script = `if redis.call('exists', KEYS[1]) == 1 then return 0 end redis.call('set', KEYS[1], ARGV[1]) return 1`;
  const { told, overlaps } = await locksAfter(async (_, a, b) => {
    await a.set('one', 'A', 'PX', 60_000, 'NX');
    await a.setnx('two', 'A');
    await a.hsetnx('jobs', 'job-1', 'A');
    await b.hsetnx('jobs', 'job-2', 'B');
    await b.hsetnx('jobs', 'job-1', 'B');
    await a.msetnx('three', 'A', 'four', 'A');
    await a.eval(script, 1, 'five', 'A');
    await b.eval(script, 1, 'five', 'B');
  });
  expect(told).toEqual(
    ['A one', 'A two', 'A jobs job-1', 'B jobs job-2', 'A three', 'A four', 'A five'].map(
      (each) => `${each} stands`,
    ),
  );
  expect(overlaps).toBe(0);
});

test('the locks of Redisson are locks by their layout, taken by its script', async () => {
  const lock = `if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; return redis.call('pttl', KEYS[1]);`;
  const unlock = `if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then return nil; end; local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1); if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[2]); return 0; else redis.call('del', KEYS[1]); redis.call('publish', KEYS[2], ARGV[1]); return 1; end; return nil;`;
  const [one, other] = ['5e3a1f8c-0c1a-4b7e-9d52-1a2b3c4d5e6f:1', '77777777-0c1a-4b7e-9d52-1a2b3c4d5e6f:1'];
  const { locks, told, overlaps } = await locksAfter(async (_, a, b) => {
    await a.eval(lock, 1, 'order', '30000', one);
    await a.eval(lock, 1, 'order', '30000', one);
    await b.eval(lock, 1, 'order', '30000', other);
    await a.eval(unlock, 2, 'order', 'redisson_lock__channel:{order}', '0', '30000', one);
    await a.eval(unlock, 2, 'order', 'redisson_lock__channel:{order}', '0', '30000', one);
    await b.eval(lock, 1, 'order', '30000', other);
  });
  expect(locks).toEqual(['order']);
  expect(told).toEqual(['A order released (a script)', 'B order stands']);
  expect(overlaps).toBe(0);
});

const SEMAPHORE = `redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[1]) if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end redis.call('zadd', KEYS[1], ARGV[1] + 60000, ARGV[3]) return 1`;

test("a semaphore of one's own is no lock that several hold, unless it is named: then it has permits", async () => {
  const play = async (
    _: Pair,
    a: ReturnType<Pair['client']>,
    b: ReturnType<Pair['client']>,
  ): Promise<void> => {
    const now = 1_767_225_600_000;
    await a.eval(SEMAPHORE, 1, 'sem', now, 2, 'A-1');
    await b.eval(SEMAPHORE, 1, 'sem', now, 2, 'B-1');
    await a.eval(SEMAPHORE, 1, 'sem', now, 2, 'A-2');
    await b.zrem('sem', 'B-1');
  };
  const { locks, overlaps } = await locksAfter(play);
  expect([locks, overlaps]).toEqual([[], 0]);
  const named = await locksAfter(play, ['s?m']);
  expect(named.told).toEqual(['A sem stands', 'B sem released (ZREM)']);
  expect(named.overlaps).toBe(0);
});

test('`locks` adds keys and excludes others', async () => {
  const play = async (
    _: Pair,
    a: ReturnType<Pair['client']>,
    b: ReturnType<Pair['client']>,
  ): Promise<void> => {
    await a.set('stock:1', 'A');
    await b.set('stock:1', 'B');
    await a.set('lock:1', 'A', 'PX', 60_000, 'NX');
    await createLocks(a).simple('lock:2').acquire({ leaseMs: 60_000 });
  };
  const named = await locksAfter(play, ['stock:*', '!lock:*']);
  expect(named.told).toEqual(['A stock:1 overwritten by B (SET)', 'B stock:1 stands']);
  expect(named.others[0]).toContain('lock:1 is excluded');
  expect((await locksAfter(play)).locks).toEqual(['lock:1', 'lock:2']);
});

test('a lock in another database is another lock', async () => {
  const { locks, overlaps } = await locksAfter(async (pair, a) => {
    await a.set('k', 'A', 'PX', 60_000, 'NX');
    await pair.client('C', { db: 1 }).set('k', 'C', 'PX', 60_000, 'NX');
  });
  expect([locks, overlaps]).toEqual([['k', 'k (db 1)'], 0]);
});

test('a lease that is over is not overwritten by the next grant, also where no server records that it has removed the key', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 7 });
  const [a, b] = [pair.client('A'), pair.client('B')];
  await a.set('lock', 'A', 'PX', 100, 'NX');
  await pair.advance(150);
  await b.set('lock', 'B', 'PX', 60_000, 'NX');
  const run = recordedWorld(pair.world, [pair], {});
  const writes = run.writes.filter(({ write }) => write.type !== 'none');
  expect(writes.length).toBeLessThan(run.writes.length);
  const { tenures } = accountOf({ ...run, writes, locks: ['lock'] }, readMessages(run.messages));
  expect(tenures.map(({ client, end }) => [client, end?.how])).toEqual([
    ['A', 'expired'],
    ['B', undefined],
  ]);
});
