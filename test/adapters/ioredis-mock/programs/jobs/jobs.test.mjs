/** The tests of a worker's queues, notifications, ranks and logs, in Vitest, as a project writes them whose tests mock ioredis. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { connect, Delayed, Lock, Log, Notifier, Queue, Ranks } from './jobs.mjs';

vi.mock('ioredis', async () => ({ default: (await import('ioredis-mock')).default }));

let redis;

beforeEach(() => {
  redis = connect();
});

afterEach(async () => {
  vi.useRealTimers();
  await redis.flushall();
  redis.disconnect();
});

describe('a queue', () => {
  let queue;

  beforeEach(() => {
    queue = new Queue(redis, 'mail');
  });

  test('numbers its jobs', async () => {
    expect(await queue.add({ to: 'a' })).toBe('1');
    expect(await queue.add({ to: 'b' })).toBe('2');
  });

  test('has jobs that wait', async () => {
    await queue.add({ to: 'a' });
    expect(await queue.counts()).toEqual({ waiting: 1, active: 0, failed: 0, done: 0 });
    expect(await queue.state('1')).toBe('waiting');
  });

  test('gives the oldest job first', async () => {
    await queue.add('first');
    await queue.add('second');
    expect((await queue.take()).data).toBe('first');
    expect((await queue.take()).data).toBe('second');
  });

  test('gives nothing when it is empty', async () => {
    expect(await queue.take()).toBeUndefined();
    expect(await queue.work(async () => {})).toBe(false);
  });

  test('keeps what a job needs', async () => {
    await queue.add({ deep: { list: [1, 2, 3] } });
    expect(await queue.take()).toEqual({ id: '1', data: { deep: { list: [1, 2, 3] } }, attempt: 1 });
  });

  test('knows what is active', async () => {
    const id = await queue.add('x');
    await queue.take();
    expect(await queue.counts()).toMatchObject({ waiting: 0, active: 1 });
    expect(await queue.state(id)).toBe('active');
  });

  test('finishes a job', async () => {
    const id = await queue.add('x');
    await queue.take();
    await queue.finish(id);
    expect(await queue.counts()).toEqual({ waiting: 0, active: 0, failed: 0, done: 1 });
    expect(await queue.state(id)).toBe('done');
  });

  test('works', async () => {
    const seen = [];
    for (const each of ['a', 'b', 'c']) await queue.add(each);
    while (await queue.work(async ({ data }) => void seen.push(data)));
    expect(seen).toEqual(['a', 'b', 'c']);
    expect((await queue.counts()).done).toBe(3);
  });

  test('tries a failed job again', async () => {
    await queue.add('x');
    await queue.work(async () => {
      throw new Error('no mail server');
    });
    expect(await queue.counts()).toEqual({ waiting: 1, active: 0, failed: 0, done: 0 });
    expect((await queue.take()).attempt).toBe(2);
  });

  test('gives a job up after three attempts', async () => {
    const id = await queue.add('x');
    const handler = vi.fn(async () => {
      throw new Error('no mail server');
    });
    while (await queue.work(handler));
    expect(handler).toHaveBeenCalledTimes(3);
    expect(await queue.state(id)).toBe('failed');
    expect(await redis.hget('mail:job:1', 'error')).toBe('no mail server');
    expect(await redis.smembers('mail:failed')).toEqual(['1']);
  });

  test('gives each worker another job', async () => {
    for (let i = 0; i < 4; i++) await queue.add(i);
    const jobs = await Promise.all([queue.take(), queue.take(), queue.take(), queue.take()]);
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(4);
  });

  test('is apart from another queue', async () => {
    const other = new Queue(redis, 'reports');
    await queue.add('x');
    expect(await other.take()).toBeUndefined();
    expect(await other.counts()).toMatchObject({ waiting: 0 });
  });

  test('is seen by other clients', async () => {
    const other = connect();
    await queue.add('x');
    expect(await new Queue(other, 'mail').take()).toMatchObject({ data: 'x' });
    other.disconnect();
  });
});

describe('delayed jobs', () => {
  let now;
  let delayed;

  beforeEach(() => {
    now = 1000;
    delayed = new Delayed(redis, 'delayed', () => now);
  });

  test('are not due at once', async () => {
    expect(await delayed.add('a', 100)).toBe(1);
    expect(await delayed.due()).toEqual([]);
  });

  test('are due in time', async () => {
    await delayed.add('a', 100);
    now = 1100;
    expect(await delayed.due()).toEqual(['a']);
  });

  test('are due once', async () => {
    await delayed.add('a', 0);
    expect(await delayed.due()).toEqual(['a']);
    expect(await delayed.due()).toEqual([]);
  });

  test('are due in order', async () => {
    await delayed.add('late', 300);
    await delayed.add('early', 100);
    await delayed.add('middle', 200);
    now = 2000;
    expect(await delayed.due()).toEqual(['early', 'middle', 'late']);
  });

  test('move when they are added again', async () => {
    await delayed.add('a', 100);
    expect(await delayed.add('a', 500)).toBe(0);
    now = 1200;
    expect(await delayed.due()).toEqual([]);
  });

  test('have a next one', async () => {
    expect(await delayed.next()).toBeUndefined();
    await delayed.add('a', 100);
    await delayed.add('b', 50);
    expect(await delayed.next()).toBe(1050);
  });

  test('follow fake timers', async () => {
    vi.useFakeTimers();
    vi.setSystemTime(50_000);
    const real = new Delayed(redis, 'on-the-clock');
    await real.add('a', 1000);
    expect(await real.due()).toEqual([]);
    vi.advanceTimersByTime(1500);
    expect(await real.due()).toEqual(['a']);
  });
});

describe('notifications', () => {
  let subscriber;
  let notifier;

  beforeEach(() => {
    subscriber = connect();
    notifier = new Notifier(redis, subscriber);
  });

  afterEach(() => {
    subscriber.disconnect();
  });

  test('arrive', async () => {
    const heard = new Promise(
      (resolve) => void notifier.on('orders', resolve).then(() => notifier.send('orders', { id: 1 })),
    );
    expect(await heard).toEqual({ id: 1 });
  });

  test('arrive at all handlers', async () => {
    const one = vi.fn();
    const two = vi.fn();
    await notifier.on('orders', one);
    await notifier.on('orders', two);
    await notifier.send('orders', 'x');
    await vi.waitFor(() => expect(two).toHaveBeenCalledWith('x'));
    expect(one).toHaveBeenCalledWith('x');
  });

  test('arrive on their channel alone', async () => {
    const orders = vi.fn();
    const users = vi.fn();
    await notifier.on('orders', orders);
    await notifier.on('users', users);
    await notifier.send('users', 'x');
    await vi.waitFor(() => expect(users).toHaveBeenCalledTimes(1));
    expect(orders).not.toHaveBeenCalled();
  });

  test('arrive in order', async () => {
    const heard = [];
    await notifier.on('orders', (message) => heard.push(message));
    for (let i = 0; i < 10; i++) await notifier.send('orders', i);
    await vi.waitFor(() => expect(heard).toHaveLength(10));
    expect(heard).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('end', async () => {
    const heard = vi.fn();
    await notifier.on('orders', heard);
    await notifier.off('orders');
    await notifier.send('orders', 'x');
    expect(heard).not.toHaveBeenCalled();
  });

  test('arrive by patterns', async () => {
    const heard = new Promise((resolve) => {
      subscriber.on('pmessage', (pattern, channel, message) => resolve([pattern, channel, message]));
    });
    await subscriber.psubscribe('orders:*');
    await redis.publish('orders:eu', 'x');
    expect(await heard).toEqual(['orders:*', 'orders:eu', 'x']);
  });

  test('count subscriptions', async () => {
    expect(await subscriber.subscribe('a')).toBe(1);
    expect(await subscriber.subscribe('b')).toBe(2);
    expect(await subscriber.unsubscribe('a')).toBe(1);
  });

  test('do not cross ports', async () => {
    const other = connect(6399);
    const heard = vi.fn();
    await notifier.on('orders', heard);
    expect(await other.publish('orders', '"x"')).toBe(0);
    other.disconnect();
  });
});

describe('ranks', () => {
  let ranks;

  beforeEach(async () => {
    ranks = new Ranks(redis, 'ranks');
    await ranks.score('ann', 30);
    await ranks.score('bob', 10);
    await ranks.score('eve', 20);
  });

  test('have a top', async () => {
    expect(await ranks.top(2)).toEqual([
      ['ann', 30],
      ['eve', 20],
    ]);
  });

  test('have a place for each', async () => {
    expect([await ranks.rank('ann'), await ranks.rank('eve'), await ranks.rank('bob')]).toEqual([1, 2, 3]);
    expect(await ranks.rank('nobody')).toBeUndefined();
  });

  test('change', async () => {
    expect(await ranks.score('bob', 25)).toBe(35);
    expect(await ranks.rank('bob')).toBe(1);
  });

  test('take points away', async () => {
    expect(await ranks.score('ann', -25)).toBe(5);
    expect(await ranks.rank('ann')).toBe(3);
  });

  test('are counted', async () => {
    expect(await ranks.size()).toBe(3);
  });

  test('are found by points', async () => {
    expect(await ranks.between(15, 30)).toEqual(['eve', 'ann']);
    expect(await ranks.between('(20', '+inf')).toEqual(['ann']);
  });

  test('are removed', async () => {
    expect(await ranks.remove('ann', 'nobody')).toBe(1);
    expect(await ranks.size()).toBe(2);
  });

  test('are cut', async () => {
    expect(await redis.zremrangebyrank('ranks', 0, 0)).toBe(1);
    expect(await ranks.rank('bob')).toBeUndefined();
  });

  test('have scores', async () => {
    expect(await redis.zscore('ranks', 'ann')).toBe('30');
    expect(await redis.zscore('ranks', 'nobody')).toBeNull();
    expect(await redis.zcount('ranks', 10, 20)).toBe(2);
  });

  test('are removed by points', async () => {
    expect(await redis.zremrangebyscore('ranks', 0, 20)).toBe(2);
    expect(await ranks.top(5)).toEqual([['ann', 30]]);
  });
});

describe('a log', () => {
  let log;

  beforeEach(() => {
    log = new Log(redis, 'log');
  });

  test('is empty', async () => {
    expect(await log.read()).toEqual([]);
    expect(await log.length()).toBe(0);
  });

  test('has what was written', async () => {
    await log.write('start', { at: 1 });
    await log.write('stop');
    expect((await log.read()).map(({ event }) => event)).toEqual(['start', 'stop']);
    expect((await log.read())[0].data).toEqual({ at: 1 });
    expect(await log.length()).toBe(2);
  });

  test('gives ids', async () => {
    const id = await log.write('start');
    expect(id).toMatch(/^\d+-\d+$/);
    expect((await log.read())[0].id).toBe(id);
  });
});

describe('a lock', () => {
  test('is taken once', async () => {
    const lock = new Lock(redis, 'lock');
    expect(await lock.take('ann')).toBe(true);
    expect(await lock.take('bob')).toBe(false);
  });

  test('is given back by its owner', async () => {
    const lock = new Lock(redis, 'lock');
    await lock.take('ann');
    expect(await lock.give('bob')).toBe(false);
    expect(await lock.give('ann')).toBe(true);
    expect(await lock.take('bob')).toBe(true);
  });

  test('ends by itself', async () => {
    vi.useFakeTimers();
    const lock = new Lock(redis, 'lock', 1000);
    await lock.take('ann');
    vi.advanceTimersByTime(1100);
    expect(await lock.take('bob')).toBe(true);
    expect(await lock.give('ann')).toBe(false);
  });

  test('has a time to live', async () => {
    await new Lock(redis, 'lock', 5000).take('ann');
    const left = await redis.pttl('lock');
    expect(left).toBeGreaterThan(4000);
    expect(left).toBeLessThanOrEqual(5000);
  });
});

describe('the client', () => {
  test('has initial data', async () => {
    const other = connect({ port: 6500, data: { counter: '7', list: ['a'] } });
    expect(await other.incr('counter')).toBe(8);
    expect(await other.rpush('list', 'b')).toBe(2);
    await other.flushall();
    other.disconnect();
  });

  test('has pipelines', async () => {
    const replies = await redis.pipeline().set('a', '1').incr('a').get('a').exec();
    expect(replies).toEqual([
      [null, 'OK'],
      [null, 2],
      [null, '2'],
    ]);
  });

  test('has pipelines of arrays', async () => {
    const replies = await redis
      .pipeline([
        ['set', 'a', '1'],
        ['get', 'a'],
      ])
      .exec();
    expect(replies.map(([, reply]) => reply)).toEqual(['OK', '1']);
  });

  test('has transactions', async () => {
    const replies = await redis.multi().incr('n').incr('n').exec();
    expect(replies).toEqual([
      [null, 1],
      [null, 2],
    ]);
  });

  test('has buffers', async () => {
    await redis.set('k', Buffer.from('bytes'));
    expect(await redis.getBuffer('k')).toEqual(Buffer.from('bytes'));
    expect(await redis.get('k')).toBe('bytes');
  });

  test('has ranges of lists', async () => {
    await redis.rpush('l', 'a', 'b', 'c', 'd');
    expect(await redis.lrange('l', 1, 2)).toEqual(['b', 'c']);
    expect(await redis.lrange('l', -2, -1)).toEqual(['c', 'd']);
    expect(await redis.lindex('l', 0)).toBe('a');
    expect(await redis.lset('l', 0, 'z')).toBe('OK');
    expect(await redis.lpop('l')).toBe('z');
    expect(await redis.rpop('l')).toBe('d');
  });

  test('has keys of every kind', async () => {
    await redis.set('s', 'x');
    await redis.hset('h', 'f', 'v');
    await redis.sadd('set', 'm');
    await redis.zadd('z', 1, 'm');
    await redis.lpush('l', 'e');
    const types = [];
    for (const key of ['s', 'h', 'set', 'z', 'l', 'none']) types.push(await redis.type(key));
    expect(types).toEqual(['string', 'hash', 'set', 'zset', 'list', 'none']);
  });

  test('has hashes', async () => {
    expect(await redis.hset('h', 'a', '1')).toBe(1);
    expect(await redis.hset('h', { b: '2', c: '3' })).toBe(2);
    expect(await redis.hmget('h', 'a', 'x', 'c')).toEqual(['1', null, '3']);
    expect(await redis.hkeys('h')).toEqual(['a', 'b', 'c']);
    expect(await redis.hvals('h')).toEqual(['1', '2', '3']);
    expect(await redis.hlen('h')).toBe(3);
    expect(await redis.hsetnx('h', 'a', 'x')).toBe(0);
    expect(await redis.hdel('h', 'a', 'b')).toBe(2);
    expect(await redis.hincrbyfloat('h', 'c', 0.5)).toBe('3.5');
  });

  test('has sets', async () => {
    expect(await redis.sadd('one', 'a', 'b', 'c')).toBe(3);
    expect(await redis.sadd('two', 'b', 'c', 'd')).toBe(3);
    expect((await redis.sinter('one', 'two')).sort()).toEqual(['b', 'c']);
    expect((await redis.sunion('one', 'two')).sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(await redis.sdiff('one', 'two')).toEqual(['a']);
    expect(await redis.smove('one', 'two', 'a')).toBe(1);
    expect(await redis.srem('two', 'a', 'x')).toBe(1);
    expect(await redis.sismember('two', 'a')).toBe(0);
  });

  test('has counters', async () => {
    expect(await redis.incrby('n', 5)).toBe(5);
    expect(await redis.decr('n')).toBe(4);
    expect(await redis.decrby('n', 2)).toBe(2);
    expect(await redis.incrbyfloat('n', 0.5)).toBe('2.5');
  });

  test('has text that grows', async () => {
    expect(await redis.append('t', 'Hello')).toBe(5);
    expect(await redis.append('t', ' World')).toBe(11);
    expect(await redis.strlen('t')).toBe(11);
    expect(await redis.getset('t', 'new')).toBe('Hello World');
    expect(await redis.setnx('t', 'x')).toBe(0);
  });

  test('has many keys at once', async () => {
    expect(await redis.mset('a', '1', 'b', '2')).toBe('OK');
    expect(await redis.mget('a', 'b', 'c')).toEqual(['1', '2', null]);
    expect(await redis.exists('a', 'b', 'c')).toBe(2);
    expect(await redis.del('a', 'b', 'c')).toBe(2);
  });

  test('renames keys', async () => {
    await redis.set('old', 'v');
    expect(await redis.rename('old', 'new')).toBe('OK');
    expect(await redis.get('new')).toBe('v');
    expect(await redis.exists('old')).toBe(0);
  });

  test('ends keys at a time', async () => {
    await redis.set('k', 'v');
    expect(await redis.expireat('k', Math.floor(Date.now() / 1000) + 100)).toBe(1);
    expect(await redis.ttl('k')).toBeGreaterThan(90);
    expect(await redis.persist('k')).toBe(1);
    expect(await redis.ttl('k')).toBe(-1);
  });

  test('sets with a time to live', async () => {
    expect(await redis.setex('k', 10, 'v')).toBe('OK');
    expect(await redis.psetex('l', 10_000, 'v')).toBe('OK');
    expect([await redis.ttl('k'), await redis.ttl('l')]).toEqual([10, 10]);
  });
});
