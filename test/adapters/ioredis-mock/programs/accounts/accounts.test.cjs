/** The tests of a service with sessions and a cache, in Jest, as a project writes them whose tests mock ioredis. */
jest.mock('ioredis', () => require('ioredis-mock'));

const Redis = require('ioredis');
const { Cache, Sessions, Limiter, SlidingLimiter, Flags, Users, connect } = require('./accounts.cjs');

let redis;

beforeEach(() => {
  redis = connect();
});

afterEach(async () => {
  await redis.flushall();
  redis.disconnect();
});

describe('the client', () => {
  test('is made by the service', () => {
    expect(redis).toBeInstanceOf(Redis);
  });

  test('is connected', () => {
    expect(redis.connected).toBe(true);
  });

  test('is not connected before a lazy client connects', async () => {
    const lazy = connect({ lazyConnect: true });
    expect(lazy.connected).toBe(false);
    await lazy.connect();
    expect(lazy.connected).toBe(true);
    lazy.disconnect();
  });

  test('emits connect and ready', async () => {
    const other = connect();
    const seen = [];
    await new Promise((resolve) => {
      other.on('connect', () => seen.push('connect'));
      other.on('ready', () => {
        seen.push('ready');
        resolve();
      });
    });
    expect(seen).toEqual(['connect', 'ready']);
    other.disconnect();
  });

  test('answers PING', async () => {
    expect(await redis.ping()).toBe('PONG');
  });

  test('echoes', async () => {
    expect(await redis.echo('hello')).toBe('hello');
  });

  test('takes callbacks', (done) => {
    redis.set('k', 'v', (error, reply) => {
      expect(error).toBeNull();
      expect(reply).toBe('OK');
      redis.get('k', (another, value) => {
        expect(another).toBeNull();
        expect(value).toBe('v');
        done();
      });
    });
  });

  test('shares its keys with clients of the same host and port', async () => {
    const other = connect();
    await redis.set('shared', '1');
    expect(await other.get('shared')).toBe('1');
    other.disconnect();
  });

  test('does not share them with another port', async () => {
    const other = connect({ port: 6390 });
    await redis.set('shared', '1');
    expect(await other.get('shared')).toBeNull();
    other.disconnect();
  });

  test('takes a port and a host', async () => {
    const one = new Redis(6391, 'example.com');
    const two = new Redis('redis://example.com:6391');
    await one.set('k', 'v');
    expect(await two.get('k')).toBe('v');
    one.disconnect();
    two.disconnect();
  });

  test('has databases', async () => {
    const other = connect({ db: 1 });
    await redis.set('k', 'zero');
    expect(await other.get('k')).toBeNull();
    await other.set('k', 'one');
    expect(await redis.get('k')).toBe('zero');
    await other.flushdb();
    other.disconnect();
  });

  test('is duplicated', async () => {
    const other = redis.duplicate();
    await other.set('k', 'v');
    expect(await redis.get('k')).toBe('v');
    other.disconnect();
  });

  test('has a prefix for its keys', async () => {
    const prefixed = connect({ keyPrefix: 'app:' });
    await prefixed.set('k', 'v');
    expect(await redis.get('app:k')).toBe('v');
    expect(await prefixed.get('k')).toBe('v');
    expect(await prefixed.del('k')).toBe(1);
    prefixed.disconnect();
  });

  test('quits', async () => {
    const other = connect();
    expect(await other.quit()).toBe('OK');
  });
});

describe('initial data', () => {
  let seeded;

  beforeEach(() => {
    seeded = connect({
      port: 6400,
      data: {
        user_next: '3',
        emails: { 'clark@daily.planet': '1', 'bruce@wayne.enterprises': '2' },
        'user:1': { id: '1', name: 'superman', email: 'clark@daily.planet' },
        'user:2': { id: '2', name: 'batman', email: 'bruce@wayne.enterprises' },
        queue: ['a', 'b'],
        tags: new Set(['x', 'y']),
      },
    });
  });

  afterEach(async () => {
    await seeded.flushall();
    seeded.disconnect();
  });

  test('has text', async () => {
    expect(await seeded.get('user_next')).toBe('3');
  });

  test('has hashes', async () => {
    expect(await seeded.hgetall('user:1')).toEqual({
      id: '1',
      name: 'superman',
      email: 'clark@daily.planet',
    });
  });

  test('has lists', async () => {
    expect(await seeded.lrange('queue', 0, -1)).toEqual(['a', 'b']);
  });

  test('has sets', async () => {
    expect((await seeded.smembers('tags')).sort()).toEqual(['x', 'y']);
  });

  test('is what the service works with', async () => {
    const users = new Users(seeded);
    expect(await users.byEmail('bruce@wayne.enterprises')).toMatchObject({ name: 'batman' });
    expect(await users.create({ name: 'wonderwoman', email: 'diana@amazon.gr' })).toBe('4');
  });

  test('lists its keys', async () => {
    expect((await seeded.keys('user:*')).sort()).toEqual(['user:1', 'user:2']);
  });

  test('counts its keys', async () => {
    expect(await seeded.dbsize()).toBe(6);
  });
});

describe('the cache', () => {
  let cache;

  beforeEach(() => {
    cache = new Cache(redis);
  });

  test('is empty at first', async () => {
    expect(await cache.get('a')).toBeUndefined();
  });

  test('keeps a value', async () => {
    await cache.set('a', { deep: [1, 2] });
    expect(await cache.get('a')).toEqual({ deep: [1, 2] });
  });

  test('keeps falsy values', async () => {
    await cache.set('zero', 0);
    await cache.set('no', false);
    await cache.set('nil', null);
    expect(await cache.get('zero')).toBe(0);
    expect(await cache.get('no')).toBe(false);
    expect(await cache.get('nil')).toBeNull();
  });

  test('gives a value its time to live', async () => {
    await cache.set('a', 1);
    expect(await redis.ttl('cache:a')).toBe(60);
    await cache.set('a', 1, 5);
    expect(await redis.ttl('cache:a')).toBe(5);
  });

  test('loads once', async () => {
    const load = jest.fn(async () => 'loaded');
    expect(await cache.wrap('a', load)).toBe('loaded');
    expect(await cache.wrap('a', load)).toBe('loaded');
    expect(load).toHaveBeenCalledTimes(1);
  });

  test('loads again after an invalidation', async () => {
    const load = jest.fn(async () => 'loaded');
    await cache.wrap('a', load);
    expect(await cache.invalidate('a')).toBe(1);
    await cache.wrap('a', load);
    expect(load).toHaveBeenCalledTimes(2);
  });

  test('passes on the error of a load, and keeps nothing', async () => {
    await expect(
      cache.wrap('a', async () => {
        throw new Error('no database');
      }),
    ).rejects.toThrow('no database');
    expect(await cache.get('a')).toBeUndefined();
  });

  test('invalidates several keys, and none', async () => {
    await cache.set('a', 1);
    await cache.set('b', 2);
    expect(await cache.invalidate('a', 'b', 'c')).toBe(2);
    expect(await cache.invalidate()).toBe(0);
  });

  test('reads many keys', async () => {
    await cache.set('a', 1);
    await cache.set('c', 3);
    expect(await cache.many(['a', 'b', 'c'])).toEqual([1, undefined, 3]);
  });

  test('clears what is its own', async () => {
    for (let i = 0; i < 25; i++) await cache.set(`k${i}`, i);
    await redis.set('other', 'stays');
    expect(await cache.clear()).toBe(25);
    expect(await redis.keys('*')).toEqual(['other']);
  });

  test('keeps namespaces apart', async () => {
    const other = new Cache(redis, { prefix: 'other:' });
    await cache.set('a', 1);
    expect(await other.get('a')).toBeUndefined();
  });
});

describe('time', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  test('ends what the cache keeps', async () => {
    const cache = new Cache(redis, { ttl: 30 });
    await cache.set('a', 1);
    jest.advanceTimersByTime(29_000);
    expect(await cache.get('a')).toBe(1);
    jest.advanceTimersByTime(2_000);
    expect(await cache.get('a')).toBeUndefined();
  });

  test('ends a session', async () => {
    const sessions = new Sessions(redis, { ttl: 10 });
    const id = await sessions.create('ann');
    jest.advanceTimersByTime(11_000);
    expect(await sessions.read(id)).toBeNull();
  });

  test('ends a session later that was touched', async () => {
    const sessions = new Sessions(redis, { ttl: 10 });
    const id = await sessions.create('ann');
    jest.advanceTimersByTime(8_000);
    expect(await sessions.touch(id)).toBe(true);
    jest.advanceTimersByTime(8_000);
    expect(await sessions.read(id)).toMatchObject({ user: 'ann' });
  });

  test('opens the window of a limit again', async () => {
    const limiter = new Limiter(redis, { limit: 1, window: 60 });
    expect((await limiter.hit('ann')).allowed).toBe(true);
    expect((await limiter.hit('ann')).allowed).toBe(false);
    jest.advanceTimersByTime(61_000);
    expect((await limiter.hit('ann')).allowed).toBe(true);
  });

  test('slides a window', async () => {
    const limiter = new SlidingLimiter(redis, { limit: 2, window: 1000 });
    expect(await limiter.hit('ann')).toBe(true);
    jest.advanceTimersByTime(600);
    expect(await limiter.hit('ann')).toBe(true);
    expect(await limiter.hit('ann')).toBe(false);
    jest.advanceTimersByTime(600);
    expect(await limiter.hit('ann')).toBe(true);
  });

  test('does not end a key that was persisted', async () => {
    await redis.set('k', 'v', 'EX', 10);
    expect(await redis.persist('k')).toBe(1);
    jest.advanceTimersByTime(60_000);
    expect(await redis.get('k')).toBe('v');
  });
});

describe('all timers faked', () => {
  test('a client that is there answers', async () => {
    await redis.set('k', 'v');
    jest.useFakeTimers();
    try {
      expect(await redis.get('k')).toBe('v');
      expect(await redis.set('l', 'w', 'PX', 500)).toBe('OK');
      jest.advanceTimersByTime(600);
      expect(await redis.get('l')).toBeNull();
    } finally {
      jest.useRealTimers();
    }
  });

  test('a new client answers', async () => {
    jest.useFakeTimers();
    try {
      const other = connect();
      expect(await other.set('k', 'v')).toBe('OK');
      expect(await other.incr('n')).toBe(1);
      other.disconnect();
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('sessions', () => {
  let sessions;

  beforeEach(() => {
    sessions = new Sessions(redis);
  });

  test('are created with their data', async () => {
    const id = await sessions.create('ann', { role: 'admin' });
    expect(await sessions.read(id)).toEqual({ user: 'ann', role: 'admin' });
  });

  test('have a time to live', async () => {
    const id = await sessions.create('ann');
    expect(await sessions.left(id)).toBe(1800);
  });

  test('are unknown when nobody has created them', async () => {
    expect(await sessions.read('x')).toBeNull();
    expect(await sessions.touch('x')).toBe(false);
    expect(await sessions.left('x')).toBe(-2);
    expect(await sessions.end('x')).toBe(false);
  });

  test('change', async () => {
    const id = await sessions.create('ann');
    expect(await sessions.set(id, 'theme', 'dark')).toBe(1);
    expect(await sessions.set(id, 'theme', 'light')).toBe(0);
    expect(await sessions.read(id)).toEqual({ user: 'ann', theme: 'light' });
  });

  test('do not change when they are gone', async () => {
    await expect(sessions.set('x', 'theme', 'dark')).rejects.toThrow('no session x');
  });

  test('end', async () => {
    const id = await sessions.create('ann');
    expect(await sessions.end(id)).toBe(true);
    expect(await sessions.read(id)).toBeNull();
    expect(await redis.exists('sessions-of:ann')).toBe(0);
  });

  test('end all at once', async () => {
    await sessions.create('ann');
    await sessions.create('ann');
    await sessions.create('bob');
    expect(await sessions.endAll('ann')).toBe(2);
    expect(await redis.keys('session:*')).toHaveLength(1);
  });

  test('are listed', async () => {
    const ids = [await sessions.create('ann'), await sessions.create('ann')];
    expect((await redis.smembers('sessions-of:ann')).sort()).toEqual(ids.sort());
    expect(await redis.scard('sessions-of:ann')).toBe(2);
  });
});

describe('the limiter', () => {
  test('counts down', async () => {
    const limiter = new Limiter(redis, { limit: 3 });
    const left = [];
    for (let i = 0; i < 5; i++) left.push((await limiter.hit('ann')).left);
    expect(left).toEqual([2, 1, 0, 0, 0]);
  });

  test('refuses what is too much', async () => {
    const limiter = new Limiter(redis, { limit: 2 });
    await limiter.hit('ann');
    await limiter.hit('ann');
    expect(await limiter.hit('ann')).toEqual({ allowed: false, left: 0 });
  });

  test('counts each user alone', async () => {
    const limiter = new Limiter(redis, { limit: 1 });
    await limiter.hit('ann');
    expect((await limiter.hit('bob')).allowed).toBe(true);
  });

  test('sets the window once', async () => {
    const limiter = new Limiter(redis, { window: 60 });
    await limiter.hit('ann');
    await redis.expire('limit:ann', 10);
    await limiter.hit('ann');
    expect(await redis.ttl('limit:ann')).toBe(10);
  });

  test('is reset', async () => {
    const limiter = new Limiter(redis, { limit: 1 });
    await limiter.hit('ann');
    await limiter.reset('ann');
    expect((await limiter.hit('ann')).allowed).toBe(true);
  });

  test('slides', async () => {
    let now = 1000;
    const limiter = new SlidingLimiter(redis, { limit: 2, window: 100, now: () => now });
    expect([await limiter.hit('a'), await limiter.hit('a'), await limiter.hit('a')]).toEqual([
      true,
      true,
      false,
    ]);
    now = 1101;
    expect(await limiter.hit('a')).toBe(true);
    expect(await redis.zcard('sliding:a')).toBe(1);
  });
});

describe('flags', () => {
  let flags;

  beforeEach(() => {
    flags = new Flags(redis);
  });

  test('are off', async () => {
    expect(await flags.isOn('beta')).toBe(false);
  });

  test('are on for all', async () => {
    await flags.enable('beta');
    expect(await flags.isOn('beta')).toBe(true);
    expect(await flags.isOn('beta', 'ann')).toBe(true);
  });

  test('are on for some', async () => {
    await flags.enable('beta', 'ann', 'bob');
    expect(await flags.isOn('beta', 'ann')).toBe(true);
    expect(await flags.isOn('beta', 'eve')).toBe(false);
    expect(await flags.isOn('beta')).toBe(false);
  });

  test('are switched off', async () => {
    await flags.enable('beta');
    await flags.enable('beta', 'ann');
    await flags.disable('beta');
    expect(await flags.isOn('beta', 'ann')).toBe(false);
  });

  test('are listed', async () => {
    await flags.enable('b');
    await flags.enable('a');
    await flags.enable('b');
    expect(await flags.all()).toEqual(['a', 'b']);
  });
});

describe('users', () => {
  let users;

  beforeEach(() => {
    users = new Users(redis);
  });

  test('get numbers', async () => {
    expect(await users.create({ name: 'Ann', email: 'a@x' })).toBe('1');
    expect(await users.create({ name: 'Bob', email: 'b@x' })).toBe('2');
  });

  test('are found', async () => {
    const id = await users.create({ name: 'Ann', email: 'a@x' });
    expect(await users.find(id)).toEqual({ id, name: 'Ann', email: 'a@x' });
    expect(await users.byEmail('a@x')).toEqual({ id, name: 'Ann', email: 'a@x' });
  });

  test('are not found', async () => {
    expect(await users.find('9')).toBeUndefined();
    expect(await users.byEmail('x@x')).toBeUndefined();
  });

  test('have one email each', async () => {
    await users.create({ name: 'Ann', email: 'a@x' });
    await expect(users.create({ name: 'Eve', email: 'a@x' })).rejects.toThrow('a@x is taken');
  });

  test('are renamed', async () => {
    const id = await users.create({ name: 'Ann', email: 'a@x' });
    await users.rename(id, 'Anna');
    expect(await users.find(id)).toMatchObject({ name: 'Anna' });
  });

  test('are removed', async () => {
    const id = await users.create({ name: 'Ann', email: 'a@x' });
    expect(await users.remove(id)).toBe(true);
    expect(await users.byEmail('a@x')).toBeUndefined();
    expect(await users.remove(id)).toBe(false);
  });

  test('log in', async () => {
    const id = await users.create({ name: 'Ann', email: 'a@x' });
    for (let i = 1; i <= 5; i++) expect(await users.login(id)).toBe(i);
    expect(await redis.llen(`logins:${id}`)).toBe(3);
  });

  test('have names', async () => {
    const ids = [
      await users.create({ name: 'Ann', email: 'a@x' }),
      await users.create({ name: 'Bob', email: 'b@x' }),
    ];
    expect(await users.names(...ids, '9')).toEqual(['Ann', 'Bob', null]);
  });
});

describe('spies', () => {
  test('see the calls of the service', async () => {
    const set = jest.spyOn(redis, 'set');
    await new Cache(redis).set('a', 1);
    expect(set).toHaveBeenCalledWith('cache:a', '1', 'EX', 60);
    set.mockRestore();
  });

  test('make a command fail', async () => {
    const get = jest.spyOn(redis, 'get').mockRejectedValueOnce(new Error('connection lost'));
    await expect(new Cache(redis).get('a')).rejects.toThrow('connection lost');
    expect(await new Cache(redis).get('a')).toBeUndefined();
    get.mockRestore();
  });
});
