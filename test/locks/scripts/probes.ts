/** One probe for each script of exclusive locks; it fails as soon as the script does anything wrong. */
import { expect } from 'vitest';
import { near, type ScriptBench } from './bench.ts';

export type Probe = (bench: ScriptBench) => Promise<void>;

async function simple(b: ScriptBench): Promise<void> {
  const take = (token: string, ttl = 60_000): Promise<unknown> =>
    b.run('simple-acquire', ['L', 'gone'], [token, ttl]);
  const give = (token: string): Promise<unknown> => b.run('simple-release', ['L', 'chan'], [token]);
  const giveUp = (token: string, ms: number): Promise<unknown> =>
    b.run('simple-release', ['L', 'chan', 'gone'], [token, ms]);
  const handOver = (token: string, next: string): Promise<unknown> =>
    b.run('simple-hand-over', ['L'], [token, next, 30_000]);
  expect(await take('a')).toBeNull();
  near(await b.redis.pttl('L'), 60_000);
  near(await take('b'), 60_000);
  expect(await b.redis.get('L')).toBe('a');
  expect(await take('a', 90_000)).toBeNull();
  near(await b.redis.pttl('L'), 90_000);
  expect(await take('a', 1000)).toBeNull();
  near(await b.redis.pttl('L'), 90_000);
  expect(await give('b')).toBe(0);
  expect(await b.heard()).toEqual([]);
  expect(await give('a')).toBe(2); // Released, and one subscriber got the message.
  expect(await b.heard()).toEqual(['chan=0']);
  expect(await b.redis.exists('L')).toBe(0);
  await take('b');
  expect(await b.run('simple-release', ['L'], ['b'])).toBe(2); // On servers without slots for channels.
  expect(await b.heard()).toEqual(['L:lostlock_channel=0']);
  expect(await take('a')).toBeNull();
  expect(await handOver('b', 'c')).toBe(0);
  expect(await handOver('a', 'c')).toBe(1);
  near(await b.redis.pttl('L'), 30_000);
  expect(await b.redis.get('L')).toBe('c');
  expect(await b.heard()).toEqual([]);
  await givenUp(b, take, giveUp);
  await b.redis.set('L', 'x');
  expect(await take('d')).toBe(-1);
}

async function givenUp(
  b: ScriptBench,
  take: (token: string) => Promise<unknown>,
  giveUp: (token: string, ms: number) => Promise<unknown>,
): Promise<void> {
  await b.redis.zadd('gone', 1, 'old');
  expect(await giveUp('b', 90_000)).toBe(0);
  expect(await b.redis.get('L')).toBe('c');
  expect(await giveUp('c', 30_000)).toBe(2);
  expect(await b.heard()).toEqual(['chan=0']);
  expect(await b.redis.exists('L')).toBe(0);
  near(await b.redis.pttl('gone'), 90_000);
  near(Number(await b.redis.zscore('gone', 'c')) - Date.now(), 30_000 + 1000);
  expect(await b.redis.zrange('gone', '0', '-1')).toEqual(['c', 'b']);
  expect(await take('c')).toBe(-3);
  expect(await b.redis.exists('L')).toBe(0);
  await b.redis.set('L', 'c'); // A plain SET that arrived late: the next acquisition has the lock.
  expect(await take('d')).toBeNull();
  expect(await b.redis.get('L')).toBe('d');
  near(await b.redis.pttl('L'), 60_000);
}

async function reentrant(b: ScriptBench): Promise<void> {
  const take = (owner: string, holds: number, ttl = 60_000): Promise<unknown> =>
    b.run('reentrant-acquire', ['L', `gone:${owner}`], holds > 1 ? [ttl, owner, holds] : [ttl, owner]);
  const give = (owner: string, left: number, request: string, marker = 0, ttl = 60_000): Promise<unknown> =>
    b.run(
      'reentrant-release',
      ['L', 'chan', `gone:${owner}`, 'requests'],
      [request, 0, 20_000, ttl, owner, left, marker],
    );
  expect(await take('a', 2)).toBe(-2);
  expect(await take('a', 1)).toBeNull();
  near(await b.redis.pttl('L'), 60_000);
  expect(await take('a', 1)).toBeNull();
  expect(await take('a', 2, 1000)).toBeNull();
  near(await b.redis.pttl('L'), 60_000);
  expect(await b.redis.hgetall('L')).toEqual({ a: '2' });
  near(await take('b', 1), 60_000);
  expect(await give('b', 0, '1')).toBe(-1);
  expect(await give('a', 1, '2', 0, 90_000)).toBe(0);
  near(await b.redis.pttl('requests'), 20_000);
  near(await b.redis.pttl('L'), 90_000);
  expect(await give('a', 0, '2')).toBe(0); // The answer of request 2, again.
  expect(await b.redis.hgetall('L')).toEqual({ a: '1' });
  expect(await give('a', 1, '3', 0, 1000)).toBe(0);
  near(await b.redis.pttl('L'), 90_000);
  expect(await b.heard()).toEqual([]);
  expect(await give('a', 0, '4', 30_000)).toBe(2); // Free, and one subscriber got the message.
  expect(await b.heard()).toEqual(['chan=0']);
  expect(await b.redis.exists('L')).toBe(0);
  near(await b.redis.pttl('requests'), 20_000);
  near(await b.redis.pttl('gone:a'), 30_000);
  expect(await give('a', 0, '4')).toBe(2);
  expect(await b.heard()).toEqual([]);
  expect(await take('a', 1)).toBe(-3);
  expect(await b.redis.exists('L')).toBe(0);
  // A copy of the first release of an owner that holds the lock again.
  expect(await take('c', 1)).toBeNull();
  expect(await give('c', 0, '1')).toBe(-1);
  await b.redis.zadd('requests', -5, 'heard');
  expect(await give('c', 0, '0')).toBe(2); // Numbered 0 it is not remembered.
  expect(await take('c', 1)).toBeNull();
  expect(await give('c', 0, '0')).toBe(2);
  expect(await b.redis.zscore('requests', '0:2')).toBeNull();
  await reentrantOnce(b, take);
}

/** The release of an owner that does not return. */
async function reentrantOnce(
  b: ScriptBench,
  take: (owner: string, holds: number) => Promise<unknown>,
): Promise<void> {
  const free = (owner: string): Promise<unknown> => b.run('reentrant-free', ['L', 'chan'], [owner]);
  const handOver = (owner: string, next: string): Promise<unknown> =>
    b.run('reentrant-hand-over', ['L', `gone:${next}`], [owner, next, 90_000]);
  await b.heard();
  expect(await take('d', 1)).toBeNull();
  expect(await free('e')).toBe(-1);
  expect(await handOver('e', 'f')).toBe(0);
  expect(await b.redis.hgetall('L')).toEqual({ d: '1' });
  expect(await handOver('d', 'a')).toBe(-1); // Given up above.
  expect(await b.redis.hgetall('L')).toEqual({ d: '1' });
  expect(await handOver('d', 'e')).toBe(1);
  expect(await b.redis.hgetall('L')).toEqual({ e: '1' });
  near(await b.redis.pttl('L'), 90_000);
  expect(await b.heard()).toEqual([]);
  expect(await free('e')).toBe(2);
  expect(await b.redis.exists('L')).toBe(0);
  expect(await b.heard()).toEqual(['chan=0']);
}

async function fenced(b: ScriptBench): Promise<void> {
  const take = (owner: string, holds: number, mode = 'counter', ttl = 60_000): Promise<unknown> =>
    b.run('fenced-acquire', ['L', `gone:${owner}`, 'F'], [ttl, owner, holds, mode]);
  expect(await take('a', 2)).toEqual([-1, -2]);
  expect(await take('a', 1)).toEqual([1, -1]);
  expect(await take('a', 2, 'counter', 90_000)).toEqual([1, -1]);
  near(await b.redis.pttl('L'), 90_000);
  expect(await take('a', 2, 'counter', 10)).toEqual([1, -1]);
  near(await b.redis.pttl('L'), 90_000);
  expect(await b.redis.hgetall('L')).toEqual({ a: '2' });
  const [none, left] = (await take('b', 1)) as number[];
  expect(none).toBe(-1);
  near(left, 90_000);
  await b.redis.del('L');
  await b.redis.set('gone:b', '1');
  expect(await take('b', 1)).toEqual([-1, -3]);
  expect(await take('c', 1)).toEqual([2, -1]);
  near(await b.redis.pttl('L'), 60_000);
  await b.redis.del('L');
  const before = await b.now();
  const [fence] = (await take('d', 1, 'clock')) as number[];
  expect(fence).toBeGreaterThanOrEqual(before * 1000);
  expect(fence).toBeLessThan((before + 5000) * 1000);
  await b.redis.del('L');
  expect(await take('e', 1)).toEqual([fence! + 1, -1]);
  await b.redis.del('L');
  await b.redis.set('F', String(2 ** 52));
  expect(await take('f', 1, 'clock')).toEqual([2 ** 52 + 1, -1]);
}

async function fair(b: ScriptBench): Promise<void> {
  const line = ['Q', 'T', 'S'];
  const take = (owner: string, holds = 1, place = 50_000, ttl = 60_000): Promise<unknown> =>
    b.run('fair-acquire', ['L', ...line, `gone:${owner}`], [ttl, owner, holds, 300_000, place]);
  const give = (owner: string, left: number, request: string, marker = 0): Promise<unknown> =>
    b.run(
      'fair-release',
      ['L', ...line, `gone:${owner}`, 'chan', 'requests'],
      [request, 0, 20_000, 60_000, owner, left, marker],
    );
  const leave = (owner: string): Promise<unknown> =>
    b.run('fair-leave', ['L', ...line, 'chan'], [owner, 300_000]);
  const score = async (owner: string): Promise<number> => Number(await b.redis.zscore('T', owner));

  expect(await take('a', 2)).toBe(-2);
  expect(await take('a')).toBeNull();
  near(await b.redis.pttl('L'), 60_000);
  expect(await take('a', 2, 0, 90_000)).toBeNull();
  near(await b.redis.pttl('L'), 90_000);
  expect(await take('a', 1, 0, 1000)).toBeNull();
  near(await b.redis.pttl('L'), 90_000);
  near(await take('x', 1, 0), 90_000);
  expect(await b.redis.exists(...line)).toBe(0);
  near(await take('b'), 90_000);
  near(await take('c'), 50_000); // The time within which b has to show up.
  near(await take('d'), 50_000);
  const now = await b.now();
  near(await score('b'), now + 390_000);
  near(await score('c'), now + 690_000);
  near(await b.redis.zscore('S', 'c'), now + 50_000);
  const before = await score('c');
  await take('c');
  expect(await score('c')).toBe(before); // Showing up again does not move anybody.
  expect(await b.redis.lrange('Q', 0, -1)).toEqual(['b', 'c', 'd']);
  expect(await b.heard()).toEqual([]);
  expect(await give('a', 1, '1')).toBe(0);
  expect(await give('a', 0, '1')).toBe(0);
  expect(await give('x', 0, '2')).toBe(-1);
  expect(await b.redis.hgetall('L')).toEqual({ a: '1' });
  expect(await b.heard()).toEqual([]);
  expect(await give('a', 0, '3', 30_000)).toBe(1);
  expect(await b.heard()).toEqual(['chan:b=0']);
  near(await b.redis.pttl('gone:a'), 30_000);
  near(await b.redis.pttl('requests'), 20_000);
  expect(await give('a', 0, '3')).toBe(1);
  expect(await b.heard()).toEqual([]);
  expect(Number(await take('c'))).toBeGreaterThan(0); // Free, but b is first.
  expect(await b.redis.exists('L')).toBe(0);
  expect(await take('a')).toBe(-3);
  const cBefore = await score('c');
  expect(await take('b')).toBeNull();
  expect(await b.redis.lrange('Q', 0, -1)).toEqual(['c', 'd']);
  expect(await score('c')).toBe(cBefore - 300_000);
  expect(await b.redis.zscore('S', 'b')).toBeNull();
  const dBefore = await score('d');
  expect(await leave('c')).toBe(1);
  expect(await leave('c')).toBe(0);
  expect(await score('d')).toBe(dBefore - 300_000);
  expect(await b.redis.zscore('S', 'c')).toBeNull();
  expect(await b.heard()).toEqual([]);
  await b.redis.del('L');
  await take('e');
  await take('g');
  const eBefore = await score('e');
  expect(await leave('g')).toBe(1); // The waiters before it are not affected.
  expect(await score('e')).toBe(eBefore);
  expect(await b.heard()).toEqual([]);
  expect(await leave('d')).toBe(1); // The first waiter of a free lock left: the next one is notified.
  expect(await b.heard()).toEqual(['chan:e=0']);
  expect(await give('nobody', 0, '5')).toBe(-1); // A release that arrives too late does so too.
  expect(await b.heard()).toEqual(['chan:e=0']);
  await fairDead(b, take);
}

/** A waiter that did not show up, is presumed dead or has lost its score is skipped. */
async function fairDead(
  b: ScriptBench,
  take: (owner: string, holds?: number, place?: number) => Promise<unknown>,
) {
  for (const [key, value] of [
    ['S', 1],
    ['T', 1],
  ] as const) {
    await b.redis.flushall();
    await take('holder');
    await take('dead');
    await take('next');
    await b.redis.zadd(key, value, 'dead');
    await b.redis.del('L');
    expect(await take('next')).toBeNull();
    expect(await b.redis.exists('Q', 'T', 'S')).toBe(0);
  }
  await b.redis.rpush('Q', 'scoreless');
  await b.redis.del('L');
  expect(await take('next')).toBeNull();
  expect(await b.redis.exists('Q')).toBe(0);
  await b.redis.del('L');
  await b.redis.rpush('Q', 'redisson');
  await b.redis.zadd('T', (await b.now()) + 100_000, 'redisson');
  expect(await take('next', 1, 0)).toBe(-1); // A live waiter that only its own time can drop.
  await b.redis.zadd('T', 1e15, 'far'); // A client's clock was wrong.
  await b.redis.rpush('Q', 'far');
  await take('last');
  const left = Number(await b.redis.zscore('T', 'last')) - (await b.now());
  expect(left).toBeLessThan(1_000_000);
  await b.redis.zadd('T', (await b.now()) + 1000, 'last');
  await take('last'); // A waiter that shows up is not presumed dead, however long it has waited.
  near(await b.redis.zscore('T', 'last'), (await b.now()) + 300_000);
}

async function queue(b: ScriptBench): Promise<void> {
  const visit = (id: string, place = 50_000, lease = 60_000): Promise<unknown> =>
    b.run('queue-visit', ['Q', 'S', 'N', `gone:${id}`], [id, lease, place]);
  const leave = (id: string, marker = 0): Promise<unknown> =>
    b.run('queue-leave', ['Q', 'S', `gone:${id}`, 'chan'], [id, marker]);
  const waits = async (reply: Promise<unknown>, ms: number): Promise<void> => {
    const [none, left] = (await reply) as number[];
    expect(none).toBe(-1);
    near(left, ms);
  };
  expect(await visit('a', 0)).toEqual([1, -1]);
  expect(await visit('a')).toEqual([1, -1]);
  await waits(visit('x', 0), 60_000);
  expect(await b.redis.zrange('Q', '0', '-1')).toEqual(['a']);
  await waits(visit('b'), 60_000);
  await waits(visit('c'), 50_000);
  await waits(visit('b'), 60_000);
  expect(await b.redis.zrange('Q', '0', '-1', 'WITHSCORES')).toEqual(['a', '1', 'b', '2', 'c', '3']);
  near(await b.redis.zscore('S', 'c'), (await b.now()) + 50_000);
  expect(await leave('x')).toBe(0);
  expect(await leave('b', 30_000)).toBe(1);
  expect(await b.heard()).toEqual(['chan:c=0']);
  near(await b.redis.pttl('gone:b'), 30_000);
  expect(await visit('b')).toEqual([-1, -3]);
  await waits(visit('c'), 60_000);
  expect(await leave('a')).toBe(1);
  expect(await b.heard()).toEqual(['chan:c=0']);
  expect(await b.redis.exists('gone:a')).toBe(0);
  expect(await visit('c')).toEqual([3, -1]);
  near(await b.redis.zscore('S', 'c'), (await b.now()) + 60_000);
  await b.redis.zadd('S', 1, 'c'); // Its lease is over.
  expect(await leave('c')).toBe(0);
  expect(await b.heard()).toEqual([]);
  expect(await b.redis.exists('Q', 'S')).toBe(0);
  await visit('d');
  await visit('e');
  await visit('f');
  await b.redis.zadd('S', 1, 'e');
  await waits(visit('f'), 60_000);
  expect(await b.redis.zrange('Q', '0', '-1')).toEqual(['d', 'f']);
  expect(await b.redis.zscore('S', 'e')).toBeNull();
  await b.redis.zadd('S', 1, 'd');
  expect(await visit('f')).toEqual([6, -1]);
}

async function session(b: ScriptBench): Promise<void> {
  const [one, two] = ['lostlock_session:1', 'lostlock_session:2'] as const;
  const take = (own: string, token: string, prefix = ''): Promise<unknown> =>
    b.run('session-acquire', [`${prefix}L`, prefix + own, 'gone'], [`${own} ${token}`]);
  await b.redis.set(one, 'x', 'PX', 60_000);
  await b.redis.set(two, 'x', 'PX', 90_000);
  expect(await take('lostlock_session:none', 'a')).toBe(-2);
  expect(await take(one, 'a')).toBeNull();
  expect(await take(one, 'a')).toBeNull();
  expect(await b.redis.get('L')).toBe(`${one} a`);
  near(await take(one, 'b'), 60_000);
  near(await take(two, 'c'), 60_000);
  await b.redis.del(one);
  await b.redis.zadd('gone', 1, `${two} c`);
  expect(await take(two, 'c')).toBe(-3);
  expect(await take(two, 'd')).toBeNull();
  expect(await b.redis.pttl('L')).toBe(-1);
  for (const other of ['token', 'some data', `${one}: a note`]) {
    await b.redis.set('L', other, 'PX', 30_000);
    near(await take(two, 'g'), 30_000);
    expect(await b.redis.get('L')).toBe(other);
  }
  await b.redis.set('L', `${two} d`);
  for (const session of [one, two]) await b.redis.set(`p:${session}`, 'x', 'PX', 40_000);
  expect(await take(one, 'h', 'p:')).toBeNull();
  near(await take(two, 'i', 'p:'), 40_000);
  const declared = async (value: string, lock: string): Promise<unknown> => {
    await b.redis.set(one, value, 'PX', 60_000);
    await b.redis.set('N', `${one} ${lock}`);
    return await b.run('session-acquire', ['N', two, 'gone'], [`${two} 9.j`]);
  };
  for (const lock of ['13.k', '3.k', '25.k', 'k', '5k'])
    near(await declared(`${one} 24 ,3,13,`, lock), 60_000);
  near(await declared(`${one} 24`, '5.k'), 60_000);
  for (const lock of ['1.k', '24.k', '5.k']) expect(await declared(`${one} 24 ,3,13,`, lock)).toBeNull();
  expect(await declared(`${one} 24 ,`, '3.k')).toBeNull();
  expect(await b.redis.get('N')).toBe(`${two} 9.j`);
  await b.redis.set('M', `${two} e`);
  await b.redis.set('O', 'other f');
  const close = (): Promise<unknown> =>
    b.run('session-close', [two, 'L', 'cl', 'M', 'cm', 'O', 'co'], [`${two} d`, `${two} e`, `${two} f`]);
  expect(await close()).toBe(1);
  expect(await b.heard()).toEqual(['cl=0', 'cm=0']);
  expect(await b.redis.exists(two, 'L', 'M')).toBe(0);
  expect(await b.redis.get('O')).toBe('other f');
  expect(await close()).toBe(0);
}

export const exclusiveProbes: Record<string, Probe> = { simple, reentrant, fenced, fair, queue, session };
