/** The client of `lostlock/ioredis-mock`: its constructor, what clients share, time, and what is a cluster. */
import { install } from '@sinonjs/fake-timers';
import * as ioredis from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import Redis, * as mock from '../../../adapters/ioredis-mock.ts';

const clients: { disconnect(): void }[] = [];
const kept = <T extends { disconnect(): void }>(client: T): T => {
  clients.push(client);
  return client;
};
afterEach(async () => {
  await Promise.all([6379, 6380].map((port) => kept(new Redis(port)).flushall()));
  for (const client of clients.splice(0)) client.disconnect();
});

describe('a client', () => {
  test('takes every form of arguments, which say where its server is', async () => {
    const forms = [
      new Redis(),
      new Redis(6379),
      new Redis(6379, 'localhost'),
      new Redis(6379, '127.0.0.1', { db: 0 }),
      new Redis({ port: 6379 }),
      new Redis('redis://localhost:6379'),
      new Redis('redis://user:secret@localhost:6379/0', { lazyConnect: true }),
      new Redis(6379, { keyPrefix: '' }),
    ].map(kept);
    await forms[0]?.set('k', 'v');
    for (const [i, each] of forms.entries()) expect([i, await each.get('k')]).toEqual([i, 'v']);
    for (const other of [
      new Redis(6380),
      new Redis({ host: 'elsewhere' }),
      new Redis('/tmp/redis.sock'),
      new Redis({ db: 1 }),
    ])
      expect(await kept(other).get('k')).toBeNull();
  });

  test('is ioredis itself, by every name under which ioredis exports it', () => {
    const redis = kept(new Redis());
    expect(redis).toBeInstanceOf(mock.Redis);
    expect(mock.Redis).toBe(Redis);
    for (const name of Object.keys(ioredis).filter((each) => !['Promise', 'module.exports'].includes(each)))
      expect([name, typeof (mock as Record<string, unknown>)[name]]).toEqual([
        name,
        typeof (ioredis as Record<string, unknown>)[name],
      ]);
    expect(redis.duplicate()).toBeInstanceOf(Redis);
  });

  test('is connected from the beginning, unless it is lazy', async () => {
    const redis = kept(new Redis());
    expect(redis.connected).toBe(true);
    const lazy = kept(new Redis({ lazyConnect: true }));
    expect(lazy.connected).toBe(false);
    await lazy.connect();
    expect(lazy.status).toBe('ready');
    await expect(lazy.connect()).rejects.toThrow('already connecting/connected');
    const ended = new Promise((resolve) => lazy.once('end', resolve));
    lazy.disconnect();
    expect(lazy.connected).toBe(false);
    await ended;
    await lazy.connect();
    expect(await lazy.ping()).toBe('PONG');
  });

  test('has duplicates of its server', async () => {
    const redis = kept(new Redis({ port: 6380, keyPrefix: 'p:', data: { k: 'v' } }));
    const same = kept(redis.duplicate());
    await same.set('k', 'w');
    expect(await redis.get('k')).toBe('w');
    const connected = kept(redis.createConnectedClient({ keyPrefix: 'q:' }));
    expect(connected.connected).toBe(true);
    expect(await connected.get('k')).toBeNull();
  });

  test('lets a password in that no server asks for', async () => {
    expect(await kept(new Redis({ password: 'x', username: 'y' })).ping()).toBe('PONG');
    expect(await kept(new Redis({ password: 'x' })).ping()).toBe('PONG');
  });

  test('answers as Redis does where ioredis-mock did not', async () => {
    const redis = kept(new Redis());
    await redis.set('lock', 'a', 'PX', 30_000, 'NX');
    expect(await redis.call('set', 'lock', 'b', 'px', '30000', 'nx')).toBeNull();
    expect(await redis.eval('return 3.7', 0)).toBe(3);
    expect(await redis.eval('return true', 0)).toBe(1);
    await expect(redis.incr('lock')).rejects.toThrow('not an integer');
    const sha = (await redis.script('LOAD', 'return ARGV[1]')) as string;
    expect(await redis.evalsha(sha, 0, 'x')).toBe('x');
  });
});

describe('data', () => {
  test('has values of every kind', async () => {
    const redis = kept(
      new Redis({
        data: {
          text: 'a',
          number: 5,
          bytes: Buffer.from([255]),
          list: ['a', 1],
          set: new Set(['m']),
          hash: { f: 'v', n: 2 },
          zset: new Map([['m', { score: 1.5, value: 'm' }]]),
          stream: [['1-0', ['f', 'v']]],
          empty: [],
        },
      }),
    );
    expect(await redis.mget('text', 'number')).toEqual(['a', '5']);
    expect(await redis.getBuffer('bytes')).toEqual(Buffer.from([255]));
    expect(await redis.lrange('list', 0, -1)).toEqual(['a', '1']);
    expect(await redis.smembers('set')).toEqual(['m']);
    expect(await redis.hgetall('hash')).toEqual({ f: 'v', n: '2' });
    expect(await redis.zrangebyscore('zset', 0, 9, 'WITHSCORES')).toEqual(['m', '1.5']);
    expect(await redis.xrange('stream', '-', '+')).toEqual([['1-0', ['f', 'v']]]);
    expect(await redis.exists('empty')).toBe(0);
  });

  test('is stored in the database and under the prefix of its client', async () => {
    kept(new Redis({ db: 2, keyPrefix: 'p:', data: { k: 'v' } }));
    expect(await kept(new Redis({ db: 2 })).get('p:k')).toBe('v');
    expect(await kept(new Redis()).get('p:k')).toBeNull();
  });

  test('is refused by the name of a key that Redis cannot hold', () => {
    expect(() => new Redis({ data: { k: { a: { b: 1 } } } })).toThrow('option data["k"] is');
    expect(() => new Redis({ data: 5 as never })).toThrow('option data is 5');
  });

  test('may send events', async () => {
    const redis = kept(new Redis({ port: 6380, notifyKeyspaceEvents: 'KEA' }));
    const heard = new Promise((resolve) => redis.on('message', (_, text) => resolve(text)));
    await redis.subscribe('__keyspace@0__:k');
    await kept(new Redis(6380)).set('k', 'v');
    expect(await heard).toBe('set');
  });
});

describe('fake timers', () => {
  test('all of them: clients answer, connect and quit, and keys expire when time is advanced', async () => {
    const clock = install();
    try {
      const redis = kept(new Redis({ data: { n: 1 } }));
      expect(await redis.incr('n')).toBe(2);
      await redis.set('k', 'v', 'EX', 10);
      clock.tick(10_001);
      expect(await redis.get('k')).toBeNull();
      expect(await redis.dbsize()).toBe(1);
      const lazy = kept(new Redis({ lazyConnect: true }));
      await lazy.connect();
      expect(await lazy.multi().incr('n').incr('n').exec()).toEqual([
        [null, 3],
        [null, 4],
      ]);
      expect(await lazy.quit()).toBe('OK');
    } finally {
      clock.uninstall();
    }
  });

  test('an expiry that began before them follows them', async () => {
    const redis = kept(new Redis());
    await redis.set('k', 'v', 'EX', 10);
    const clock = install({ now: Date.now() });
    try {
      clock.tick(10_001);
      expect(await redis.get('k')).toBeNull();
    } finally {
      clock.uninstall();
    }
  });
});

describe('a cluster', () => {
  test('has its startup nodes as primaries, in memory', async () => {
    const nodes = ['redis://localhost:7001', { host: '127.0.0.1', port: 7002 }, 7003];
    const cluster = kept(new Redis.Cluster(nodes, { data: { a: '1', b: '2', c: '3', d: '4' } }));
    expect(cluster.nodes()).toHaveLength(3);
    for (const [key, value] of Object.entries({ a: '1', b: '2', c: '3', d: '4' }))
      expect(await cluster.get(key)).toBe(value);
    expect(await cluster.set('{x}1', 'v')).toBe('OK');
    expect(await cluster.mget('{x}1', '{x}2')).toEqual(['v', null]);
    await expect(cluster.mget('a', 'b')).rejects.toThrow();
    expect(cluster.nodes('master')).toHaveLength(3);
    expect(cluster.nodes('slave')).toHaveLength(0);
    await Promise.all(cluster.nodes('master').map((node) => node.flushall()));
    expect(await cluster.get('a')).toBeNull();
  });

  test('is the same for clients that name one of its nodes, and apart from the server at that address', async () => {
    const one = kept(new mock.Cluster([{ host: 'localhost', port: 7101 }]));
    const two = kept(new mock.Cluster(['redis://127.0.0.1:7101'], { redisOptions: { password: 'x' } }));
    await one.set('k', 'v');
    expect(await two.get('k')).toBe('v');
    expect(await kept(new Redis(7101)).get('k')).toBeNull();
  });

  test('has duplicates, which do not store the data again', async () => {
    const data = { k: 'v' };
    for (const [at, options] of [{ data }, { redisOptions: { data } }].entries()) {
      const cluster = kept(new mock.Cluster([7301 + at], options));
      await cluster.set('k', 'w');
      const same = kept(cluster.duplicate());
      expect(await same.get('k')).toBe('w');
    }
  });

  test('publishes', async () => {
    const cluster = kept(new mock.Cluster([7201, 7202]));
    const listener = kept(new mock.Cluster([7201, 7202]));
    const heard = new Promise((resolve) => listener.on('message', (...all) => resolve(all)));
    await listener.subscribe('news');
    await cluster.publish('news', 'x');
    expect(await heard).toEqual(['news', 'x']);
  });
});
