/** Probes of the scripts of shared locks, of counters, and of the renewal of all. */
import { expect } from 'vitest';
import { near, type ScriptBench } from './bench.ts';
import type { Probe } from './probes.ts';

const slot = (owner: string, hold: number): string => `{L}:${owner}:rwlock_timeout:${hold}`;

async function readWrite(b: ScriptBench): Promise<void> {
  const read = (owner: string, holds = 1, ttl = 60_000): Promise<unknown> =>
    b.run('read-acquire', ['L', `gone:${owner}`, slot(owner, holds)], [ttl, owner, holds, `${owner}:write`]);
  const unread = (
    owner: string,
    left: number,
    request: string,
    marker = 0,
    ending = left + 1,
  ): Promise<unknown> =>
    b.run(
      'read-release',
      ['L', 'chan', `gone:${owner}`, '{L}', slot(owner, ending), 'requests'],
      [request, 0, 20_000, owner, left, marker],
    );
  const write = (owner: string, holds = 1, ttl = 60_000): Promise<unknown> =>
    b.run('write-acquire', ['L', `gone:${owner}:w`], [ttl, `${owner}:write`, holds]);
  const unwrite = (
    owner: string,
    left: number,
    request: string,
    marker = 0,
    ttl = 60_000,
  ): Promise<unknown> =>
    b.run(
      'write-release',
      ['L', 'chan', `gone:${owner}:w`, '{L}', 'requests'],
      [request, 0, 20_000, ttl, `${owner}:write`, left, marker],
    );

  expect(await read('a', 2)).toBe(-2);
  expect(await read('a')).toBeNull();
  expect(await read('b', 1, 90_000)).toBeNull();
  expect(await read('b', 2, 10_000)).toBeNull();
  expect(await b.redis.hgetall('L')).toEqual({ mode: 'read', a: '1', b: '2' });
  near(await b.redis.pttl('L'), 90_000);
  near(await b.redis.pttl(slot('a', 1)), 60_000);
  near(await b.redis.pttl(slot('b', 2)), 10_000);
  near(await write('c'), 90_000);
  near(await write('a'), 90_000); // A reader may not start to write.
  expect(await unread('x', 0, '1')).toBe(-1);
  expect(await unread('b', 1, '2')).toBe(0);
  expect(await b.redis.exists(slot('b', 2))).toBe(0);
  expect(await unread('b', 0, '2')).toBe(0); // The answer of request 2, again.
  expect(await b.redis.hget('L', 'b')).toBe('1');
  expect(await unread('b', 0, '3')).toBe(0);
  near(await b.redis.pttl('L'), 60_000); // As long as the longest hold that remains.
  expect(await b.redis.hgetall('L')).toEqual({ mode: 'read', a: '1' });
  expect(await b.heard()).toEqual([]);
  await read('dead');
  await b.redis.del(slot('dead', 1)); // Its lease is over: it no longer keeps others out.
  expect(await unread('a', 0, '4', 30_000)).toBe(1);
  expect(await b.heard()).toEqual(['chan=0']);
  expect(await b.redis.exists('L')).toBe(0);
  near(await b.redis.pttl('requests'), 20_000);
  near(await b.redis.pttl('gone:a'), 30_000);
  expect(await unread('a', 0, '4')).toBe(1);
  expect(await read('a')).toBe(-3);

  expect(await write('c', 2)).toBe(-2);
  expect(await write('c')).toBeNull();
  near(await b.redis.pttl('L'), 60_000);
  near(await write('d'), 60_000);
  near(await read('d'), 60_000);
  expect(await write('c', 2, 90_000)).toBeNull();
  expect(await read('c', 1, 120_000)).toBeNull(); // The writer may read.
  expect(await b.redis.hgetall('L')).toEqual({ mode: 'write', 'c:write': '2', c: '1' });
  near(await b.redis.pttl('L'), 120_000);
  expect(await unwrite('c', 1, '5', 0, 150_000)).toBe(0);
  near(await b.redis.pttl('L'), 150_000);
  expect(await unwrite('c', 0, '5')).toBe(0);
  expect(await unwrite('d', 0, '6')).toBe(-1);
  expect(await b.heard()).toEqual([]);
  await read('c', 2);
  expect(await unread('c', 1, '7')).toBe(0); // Reads of the writer end without ending the writing.
  near(await b.redis.pttl('L'), 150_000);
  expect(await unwrite('c', 0, '8', 30_000)).toBe(1);
  expect(await b.heard()).toEqual(['chan=1']);
  near(await b.redis.pttl('gone:c:w'), 30_000);
  near(await b.redis.pttl('requests'), 20_000);
  expect(await b.redis.hgetall('L')).toEqual({ mode: 'read', c: '1' });
  near(await b.redis.pttl('L'), 120_000); // The remaining read hold of the writer.
  expect(await read('e')).toBeNull();
  await b.redis.del('L');
  expect(await write('c')).toBe(-3);
  expect(await write('f')).toBeNull();
  expect(await unwrite('f', 0, '9')).toBe(1);
  expect(await b.redis.exists('L')).toBe(0);
  await b.redis.hset('L', 'owner', '1');
  await b.redis.pexpire('L', 60_000);
  near(await read('g'), 60_000); // A re-entrant lock has this name.
  expect(await b.redis.hget('L', 'mode')).toBeNull();
  await b.redis.del('L');
  await b.heard();
  // The first of two holds ends first: the other keeps its number and its lease.
  expect(await read('h', 1, 10_000)).toBeNull();
  expect(await read('h', 2, 60_000)).toBeNull();
  expect(await read('i', 1, 90_000)).toBeNull();
  expect(await unread('h', 2, '10', 0, 1)).toBe(0);
  expect(await b.redis.exists(slot('h', 1))).toBe(0);
  expect(await b.redis.hgetall('L')).toEqual({ mode: 'read', h: '2', i: '1' });
  near(await b.redis.pttl('L'), 90_000);
  expect(await unread('i', 0, '11')).toBe(0);
  near(await b.redis.pttl('L'), 60_000);
  expect(await read('h', 3, 30_000)).toBeNull();
  expect(await read('j')).toBeNull();
  expect(await unread('j', 0, '15')).toBe(0);
  near(await b.redis.pttl('L'), 60_000); // The lease of the second of three.
  expect(await unread('h', 2, '12')).toBe(0);
  near(await b.redis.pttl('L'), 60_000);
  expect(await unread('h', 0, '13', 0, 2)).toBe(1);
  expect(await b.heard()).toEqual(['chan=0']);
  expect(await b.redis.exists('L', slot('h', 2))).toBe(0);
  // Ended read holds do not keep the lock when their writer leaves.
  expect(await write('k')).toBeNull();
  expect(await read('k', 1, 10)).toBeNull();
  await b.redis.del(slot('k', 1));
  expect(await unwrite('k', 0, '14')).toBe(1);
  expect(await b.redis.exists('L')).toBe(0);
}

async function semaphore(b: ScriptBench): Promise<void> {
  const take = (permits: number, request: number, heard = 0): Promise<unknown> =>
    b.run('semaphore-acquire', ['L', 'requests'], [request, heard, 20_000, permits]);
  const undo = (permits: number, request: number, heard = 0): Promise<unknown> =>
    b.run('semaphore-undo', ['L', 'chan', 'requests'], [request, heard, 20_000, permits]);
  const give = (permits: number, request: number, heard = 0): Promise<unknown> =>
    b.run('semaphore-release', ['L', 'chan', 'requests'], [request, heard, 20_000, permits]);
  expect(await take(1, 1)).toBe(-4);
  expect(await b.run('semaphore-set', ['L', 'chan'], [3])).toBe(1);
  expect(await b.heard()).toEqual(['chan=3']);
  expect(await b.run('semaphore-set', ['L', 'chan'], [9])).toBe(0);
  expect(await take(1, 1)).toBe(-3); // It was refused, and stays so.
  expect(await take(2, 2)).toBeNull();
  near(await b.redis.pttl('requests'), 20_000);
  await b.redis.pexpire('requests', 50_000);
  expect(await take(2, 2)).toBeNull();
  expect(await b.redis.get('L')).toBe('1');
  expect(await take(2, 3)).toBe(-1);
  expect(await take(1, 4)).toBeNull();
  near(await b.redis.pttl('requests'), 50_000); // It is never shortened.
  expect(await b.heard()).toEqual([]);
  expect(await give(1, 5)).toBe(1);
  expect(await give(1, 5)).toBe(1);
  expect(await b.redis.get('L')).toBe('1');
  expect(await b.heard()).toEqual(['chan=1']);
  expect(await undo(2, 2)).toBe(1);
  expect(await undo(2, 2)).toBe(0);
  expect(await take(2, 2)).toBe(-3);
  expect(await b.redis.get('L')).toBe('3');
  expect(await b.heard()).toEqual(['chan=2']);
  expect(await undo(1, 6)).toBe(0);
  expect(await take(1, 6)).toBe(-3);
  // Confirmed requests are forgotten, and copies of them change nothing; open requests are remembered.
  expect(await take(1, 9)).toBeNull();
  expect(await take(1, 12, 8)).toBeNull();
  expect(await b.redis.zrange('requests', '0', '-1')).toEqual(['heard', '9:held', '12:held']);
  expect(await take(1, 9)).toBeNull();
  expect(await take(1, 8)).toBe(-3);
  expect(await take(1, 7, 2)).toBe(-3);
  expect(await take(1, 13, 2)).toBeNull(); // It was sent long ago, and does not reset what was confirmed since.
  expect(await give(1, 3)).toBe(1);
  expect(await undo(1, 8)).toBe(0);
  expect(await b.redis.get('L')).toBe('0');
  expect(await give(3, 14, 13)).toBe(1);
  expect(await b.redis.get('L')).toBe('3');
}

async function permits(b: ScriptBench): Promise<void> {
  const keys = ['L', 'T', 'chan'];
  const take = (id: string, lease = 60_000, initial = 0): Promise<unknown> =>
    b.run('permit-acquire', [...keys, `gone:${id}`], [id, lease, initial]);
  const give = (id: string, marker = 0): Promise<unknown> =>
    b.run('permit-release', [...keys, `gone:${id}`], [id, marker]);
  const count = (): Promise<unknown> => b.run('permit-count', keys, []);
  expect(await count()).toBe(0);
  expect(await take('a')).toBe(-4);
  await b.redis.set('L', 0);
  expect(await take('a')).toBe(-1);
  await b.redis.set('L', 2);
  expect(await take('a')).toBeNull();
  expect(await take('a')).toBeNull();
  expect(await b.redis.get('L')).toBe('1');
  near(await b.redis.zscore('T', 'a'), (await b.now()) + 60_000);
  expect(await take('a', 90_000)).toBeNull();
  near(await b.redis.zscore('T', 'a'), (await b.now()) + 90_000);
  expect(await take('a', 10_000)).toBeNull();
  near(await b.redis.zscore('T', 'a'), (await b.now()) + 90_000);
  expect(await take('b', 30_000)).toBeNull();
  near(await take('c'), 30_000);
  expect(await b.redis.zcard('T')).toBe(2);
  expect(await b.heard()).toEqual([]);
  await b.redis.zadd('T', 1, 'a', 1, 'b');
  expect(await count()).toBe(2);
  expect(await b.heard()).toEqual(['chan=2']);
  expect(await give('a')).toBe(0);
  expect(await b.redis.get('L')).toBe('2');
  expect(await take('d')).toBeNull();
  expect(await give('d', 30_000)).toBe(1);
  expect(await b.heard()).toEqual(['chan=1']);
  near(await b.redis.pttl('gone:d'), 30_000);
  expect(await give('d')).toBe(0);
  expect(await b.redis.get('L')).toBe('2');
  expect(await take('d')).toBe(-3);
  expect(await take('e')).toBeNull();
  await b.redis.zadd('T', 1, 'e');
  expect(await give('f')).toBe(0);
  expect(await b.redis.get('L')).toBe('2');
  await b.redis.flushall();
  expect(await take('g', 60_000, 1)).toBeNull();
  near(await take('h', 60_000, 1), 60_000);
  await b.redis.zadd('T', '922337203685477', 'g');
  expect(await take('h', 60_000, 1)).toBe(-1);
  expect(await b.redis.get('L')).toBe('0');
}

async function latch(b: ScriptBench): Promise<void> {
  const down = (request: string): Promise<unknown> =>
    b.run('latch-count-down', ['L', 'chan', 'requests'], [request, 0, 20_000]);
  expect(await down('9')).toBe(0);
  expect(await b.redis.exists('L')).toBe(0);
  expect(await b.run('latch-set', ['L', 'chan'], [3])).toBe(1);
  expect(await b.run('latch-set', ['L', 'chan'], [9])).toBe(0);
  expect(await b.heard()).toEqual(['chan=1']);
  expect(await down('1')).toBe(2);
  expect(await down('1')).toBe(2);
  near(await b.redis.pttl('requests'), 20_000);
  expect(await down('2')).toBe(1);
  expect(await b.heard()).toEqual([]);
  expect(await down('3')).toBe(0);
  expect(await b.heard()).toEqual(['chan=0']);
  expect(await b.redis.exists('L')).toBe(0);
  await b.run('latch-set', ['L', 'chan'], [5]);
  expect(await down('3')).toBe(0); // The answer of request 3, again.
  expect(await down('9')).toBe(0);
  expect(await b.redis.get('L')).toBe('5');
  await b.redis.set('L', '-1');
  expect(await down('4')).toBe(0);
  expect(await b.redis.exists('L')).toBe(0);
}

async function segmented(b: ScriptBench): Promise<void> {
  const take = (token: string, units: number, request: string): Promise<unknown> =>
    b.run('segment-take', ['L', 'stock', 'requests'], [request, 0, 20_000, token, units]);
  const put = (units: number, request: string): Promise<unknown> =>
    b.run('segment-put', ['stock', 'requests'], [request, 0, 20_000, units]);
  await b.redis.mset('L', 'a', 'stock', 10);
  expect(await take('b', 3, '9')).toBe(-1);
  expect(await take('a', 3, '1')).toBe(3);
  expect(await take('a', 3, '1')).toBe(3);
  near(await b.redis.pttl('requests'), 20_000);
  expect(await b.redis.get('stock')).toBe('7');
  expect(await take('a', 9, '2')).toBe(7);
  expect(await take('a', 1, '3')).toBe(0);
  expect(await b.redis.get('stock')).toBe('0');
  expect(await put(4, '4')).toBe(4);
  expect(await put(4, '4')).toBe(4);
  near(await b.redis.pttl('requests'), 20_000);
  await b.redis.del('stock');
  expect(await take('a', 1, '5')).toBe(0);
  expect(await put(4, '4')).toBe(0);
}

async function renew(b: ScriptBench): Promise<void> {
  const now = await b.now();
  await b.redis.set('s', 'tok', 'PX', 10_000);
  await b.redis.hset('h', 'tok', '1');
  await b.redis.pexpire('h', 10_000);
  await b.redis.hset('r', 'mode', 'read', 'tok', '2');
  await b.redis.pexpire('r', 10_000);
  await b.redis.mset('r1', '1', 'r2', '1');
  await b.redis.pexpire('r1', 10_000);
  await b.redis.pexpire('r2', 90_000);
  await b.redis.zadd('p', now + 10_000, 'tok', now - 1, 'late', now + 90_000, 'long');
  await b.redis.rpush('wrong', 'x');
  const all: [string, string[], string][] = [
    ['string', ['wrong'], 'tok'],
    ['hash', ['wrong'], 'tok'],
    ['permit', ['wrong', 'n'], 'tok'],
    ['string', ['s'], 'tok'],
    ['session', ['s'], 'tok'],
    ['hash', ['h'], 'tok'],
    ['read', ['r', 'r1', 'r2'], 'tok'],
    ['permit', ['p', 'n'], 'tok'],
    ['place', ['p'], 'late'],
    ['permit', ['p', 'n'], 'long'],
    ['string', ['s'], 'not'],
    ['hash', ['h'], 'not'],
    ['read', ['r', 'r1', 'none'], 'tok'],
    ['read', ['r', 'r1', 'r2'], 'not'],
    ['place', ['p'], 'not'],
    ['string', ['none'], 'tok'],
  ];
  const keys = all.flatMap(([, each]) => each);
  const args = all.flatMap(([kind, each, token]) => [kind, each.length, token, 60_000]);
  expect(await b.run('renew', keys, args)).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
  for (const key of ['s', 'h', 'r', 'r1']) near(await b.redis.pttl(key), 60_000);
  near(await b.redis.pttl('r2'), 90_000);
  near(await b.redis.zscore('p', 'tok'), (await b.now()) + 60_000);
  expect(await b.redis.zscore('p', 'long')).toBe(String(now + 90_000));
  expect(await b.redis.pttl('p')).toBe(-1);
  expect(await b.run('renew', ['s'], ['string', 1, 'tok', 1000])).toEqual([1]);
  near(await b.redis.pttl('s'), 60_000); // Never shortened.
  await b.redis.set('session', 'session', 'PX', 90_000);
  const declare = (value: string, lease = 60_000): Promise<unknown> =>
    b.run(
      'renew',
      ['wrong', 'session', 's'],
      ['session', 1, value, 1, 'session', 1, value, lease, 'string', 1, 'tok', 1],
    );
  expect(await declare('session 4 ,2,')).toEqual([0, 1, 1]);
  expect(await b.redis.get('session')).toBe('session 4 ,2,');
  near(await b.redis.pttl('session'), 90_000);
  expect(await declare('session 5 ,', 120_000)).toEqual([0, 1, 1]);
  near(await b.redis.pttl('session'), 120_000);
  expect(await declare('session 5 ,', 130_000)).toEqual([0, 1, 1]);
  near(await b.redis.pttl('session'), 130_000);
  expect(await declare('sessions 5 ,')).toEqual([0, 0, 1]);
  expect(await b.redis.get('session')).toBe('session 5 ,');
  await b.run(
    'renew',
    ['none', 's', 'h'],
    ['string', 1, 'x', 1, 'string', 1, 'tok', 90_000, 'hash', 1, 'tok', 1],
  );
  near(await b.redis.pttl('s'), 90_000);
  expect(await b.redis.exists('none', 'n')).toBe(0);
}

export const sharedProbes: Record<string, Probe> = { readWrite, semaphore, permits, latch, segmented, renew };
