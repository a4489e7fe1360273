/** The tests of a shop's data, in Jest with a file in `__mocks__`, as a project writes them whose tests mock ioredis. */
const { Stock, Cart, Orders, Catalogue, Coupons, connect } = require('./shop.cjs');

let redis;

beforeEach(() => {
  redis = connect();
});

afterEach(async () => {
  await redis.flushall();
  redis.disconnect();
});

describe('stock', () => {
  let stock;

  beforeEach(async () => {
    stock = new Stock(redis);
    await stock.fill('cup', 3);
  });

  test('is filled', async () => {
    expect(await stock.left('cup')).toBe(3);
    expect(await stock.left('plate')).toBe(0);
  });

  test('is reserved', async () => {
    expect(await stock.reserve('cup')).toBe(2);
    expect(await stock.reserve('cup', 2)).toBe(0);
    expect(await stock.left('cup')).toBe(0);
  });

  test('is never below zero', async () => {
    await expect(stock.reserve('cup', 4)).rejects.toThrow('cup is sold out');
    expect(await stock.left('cup')).toBe(3);
  });

  test('is sold out', async () => {
    await stock.reserve('cup', 3);
    await expect(stock.reserve('cup')).rejects.toThrow('sold out');
    await expect(stock.reserve('unknown')).rejects.toThrow('unknown is sold out');
  });

  test('comes back', async () => {
    await stock.reserve('cup', 3);
    expect(await stock.release('cup', 2)).toBe(2);
    expect(await stock.reserve('cup', 2)).toBe(0);
  });

  test('is sold to as many as it is for', async () => {
    const sold = await Promise.allSettled(Array.from({ length: 10 }, () => stock.reserve('cup')));
    expect(sold.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await stock.left('cup')).toBe(0);
  });

  test('has tickets', async () => {
    const got = [];
    for (let i = 0; i < 4; i++) got.push(await stock.ticket('concert', 2));
    expect(got).toEqual([true, true, false, false]);
    expect(await redis.get('tickets:concert')).toBe('2');
  });

  test('has tickets for each event', async () => {
    expect(await stock.ticket('one', 1)).toBe(true);
    expect(await stock.ticket('two', 1)).toBe(true);
    expect(await stock.ticket('one', 1)).toBe(false);
  });

  test('is in initial data', async () => {
    const other = connect({ port: 6600, data: { 'stock:pen': '1' } });
    const pens = new Stock(other);
    expect(await pens.reserve('pen')).toBe(0);
    await expect(pens.reserve('pen')).rejects.toThrow('sold out');
    await other.flushall();
    other.disconnect();
  });
});

describe('scripts', () => {
  test('multiply', async () => {
    await redis.set('k1', '5');
    redis.defineCommand('multiply', { numberOfKeys: 1, lua: 'return redis.call("GET", KEYS[1]) * ARGV[1]' });
    expect(await redis.multiply('k1', 10)).toBe(50);
  });

  test('are evaluated', async () => {
    expect(await redis.eval('return ARGV[1]', 0, 'hello')).toBe('hello');
    expect(await redis.eval('return {KEYS[1], ARGV[1]}', 1, 'k', 'a')).toEqual(['k', 'a']);
    expect(await redis.eval('return 7', 0)).toBe(7);
  });

  test('read and write', async () => {
    await redis.eval("redis.call('set', KEYS[1], ARGV[1])", 1, 'k', 'v');
    expect(await redis.get('k')).toBe('v');
  });

  test('compare and delete', async () => {
    const script =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    await redis.set('lock', 'me');
    expect(await redis.eval(script, 1, 'lock', 'you')).toBe(0);
    expect(await redis.eval(script, 1, 'lock', 'me')).toBe(1);
  });

  test('loop', async () => {
    const script = 'local sum = 0; for i = 1, tonumber(ARGV[1]) do sum = sum + i end; return sum';
    expect(await redis.eval(script, 0, 10)).toBe(55);
  });

  test('use hashes', async () => {
    await redis.hset('h', 'a', '1');
    expect(await redis.eval("return redis.call('hget', KEYS[1], 'a')", 1, 'h')).toBe('1');
  });

  test('use several keys', async () => {
    await redis.mset('a', '1', 'b', '2');
    const script = "return redis.call('get', KEYS[1]) + redis.call('get', KEYS[2])";
    expect(await redis.eval(script, 2, 'a', 'b')).toBe(3);
  });
});

describe('a cart', () => {
  let cart;

  beforeEach(() => {
    cart = new Cart(redis, 'ann');
  });

  test('is empty', async () => {
    expect(await cart.items()).toEqual({});
    expect(await cart.total({})).toBe(0);
  });

  test('has items', async () => {
    await cart.add('cup', 2);
    await cart.add('plate');
    expect(await cart.items()).toEqual({ cup: 2, plate: 1 });
  });

  test('adds up', async () => {
    await cart.add('cup');
    expect(await cart.add('cup', 2)).toBe(3);
  });

  test('takes away', async () => {
    await cart.add('cup', 2);
    expect(await cart.add('cup', -1)).toBe(1);
    expect(await cart.add('cup', -1)).toBe(0);
    expect(await cart.items()).toEqual({});
  });

  test('has a total', async () => {
    await cart.add('cup', 2);
    await cart.add('plate', 1);
    expect(await cart.total({ cup: 3, plate: 5 })).toBe(11);
  });

  test('has a time to live', async () => {
    await cart.add('cup');
    expect(await redis.ttl('cart:ann')).toBe(3600);
  });

  test('is cleared', async () => {
    await cart.add('cup');
    expect(await cart.clear()).toBe(1);
    expect(await cart.clear()).toBe(0);
  });

  test('takes over another cart', async () => {
    const guest = new Cart(redis, 'guest');
    await guest.add('cup');
    await guest.add('pen', 3);
    await cart.add('cup');
    await cart.merge(guest);
    expect(await cart.items()).toEqual({ cup: 2, pen: 3 });
    expect(await guest.items()).toEqual({});
  });

  test('is apart from other carts', async () => {
    await cart.add('cup');
    expect(await new Cart(redis, 'bob').items()).toEqual({});
  });

  test('ends when nobody comes back', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      await cart.add('cup');
      jest.advanceTimersByTime(3_599_000);
      expect(await cart.items()).toEqual({ cup: 1 });
      jest.advanceTimersByTime(2_000);
      expect(await cart.items()).toEqual({});
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('orders', () => {
  let orders;

  beforeEach(() => {
    orders = new Orders(redis);
  });

  test('get numbers', async () => {
    expect(await orders.place('ann', { cup: 1 })).toBe('o1');
    expect(await orders.place('ann', { cup: 1 })).toBe('o2');
  });

  test('are read', async () => {
    const id = await orders.place('ann', { cup: 1 });
    expect(await orders.read(id)).toEqual({ id, user: 'ann', items: { cup: 1 }, state: 'placed' });
  });

  test('are unknown', async () => {
    expect(await orders.read('x')).toBeUndefined();
  });

  test('are open', async () => {
    await orders.place('ann', { cup: 1 });
    await orders.place('bob', { cup: 1 });
    expect(await orders.open()).toBe(2);
  });

  test('are shipped', async () => {
    const id = await orders.place('ann', { cup: 1 });
    expect(await orders.ship(id)).toBe(true);
    expect(await orders.ship(id)).toBe(false);
    expect(await orders.open()).toBe(0);
    expect((await orders.read(id)).state).toBe('shipped');
  });

  test('are listed, the latest first', async () => {
    for (let i = 0; i < 4; i++) await orders.place('ann', { cup: i });
    expect(await orders.latest('ann', 2)).toEqual(['o4', 'o3']);
    expect(await orders.latest('bob')).toEqual([]);
  });

  test('belong to one user each', async () => {
    await orders.place('ann', { cup: 1 });
    await orders.place('bob', { cup: 1 });
    expect(await orders.latest('bob')).toEqual(['o2']);
  });
});

describe('payments', () => {
  let orders;

  beforeEach(async () => {
    orders = new Orders(redis);
    await redis.mset('money:ann', '100', 'money:bob', '0');
  });

  test('move money', async () => {
    expect(await orders.pay(redis, 'money:ann', 'money:bob', 30)).toBe('paid');
    expect(await redis.mget('money:ann', 'money:bob')).toEqual(['70', '30']);
  });

  test('need money', async () => {
    expect(await orders.pay(redis, 'money:bob', 'money:ann', 1)).toBe('too little');
    expect(await redis.mget('money:ann', 'money:bob')).toEqual(['100', '0']);
  });

  test('move nothing when somebody else was faster', async () => {
    const other = redis.duplicate();
    const paid = orders.pay(redis, 'money:ann', 'money:bob', 30, async () => {
      await other.set('money:ann', '10');
    });
    expect(await paid).toBe('again');
    expect(await redis.mget('money:ann', 'money:bob')).toEqual(['10', '0']);
    other.disconnect();
  });

  test('do not mind other keys', async () => {
    const other = redis.duplicate();
    const paid = orders.pay(redis, 'money:ann', 'money:bob', 30, async () => {
      await other.set('weather', 'rain');
    });
    expect(await paid).toBe('paid');
    other.disconnect();
  });

  test('work again after a failure', async () => {
    const other = redis.duplicate();
    await orders.pay(redis, 'money:ann', 'money:bob', 30, async () => {
      await other.set('money:ann', '50');
    });
    expect(await orders.pay(redis, 'money:ann', 'money:bob', 30)).toBe('paid');
    expect(await redis.get('money:ann')).toBe('20');
    other.disconnect();
  });
});

describe('the catalogue', () => {
  let catalogue;

  beforeEach(async () => {
    catalogue = new Catalogue(redis);
    await catalogue.add('cup', ['blue', 'kitchen']);
    await catalogue.add('plate', ['white', 'kitchen']);
    await catalogue.add('pen', ['blue', 'office']);
  });

  test('finds by a tag', async () => {
    expect(await catalogue.with('blue')).toEqual(['cup', 'pen']);
    expect(await catalogue.with('none')).toEqual([]);
  });

  test('finds by several tags', async () => {
    expect(await catalogue.with('blue', 'kitchen')).toEqual(['cup']);
    expect(await catalogue.with('white', 'office')).toEqual([]);
  });

  test('finds what has one tag and not another', async () => {
    expect(await catalogue.without('kitchen', 'blue')).toEqual(['plate']);
  });

  test('finds what has any tag', async () => {
    expect(await catalogue.any('white', 'office')).toEqual(['pen', 'plate']);
  });

  test('lists everything', async () => {
    expect(await catalogue.all()).toEqual(['item:cup', 'item:pen', 'item:plate']);
  });

  test('lists much', async () => {
    for (let i = 0; i < 120; i++) await catalogue.add(`x${i}`, []);
    expect(await catalogue.all()).toHaveLength(123);
  });

  test('counts views', async () => {
    expect(Number(await catalogue.view('cup'))).toBe(1);
    expect(Number(await catalogue.view('cup'))).toBe(2);
  });

  test('knows what is popular', async () => {
    for (const item of ['cup', 'pen', 'cup', 'plate', 'cup', 'pen']) await catalogue.view(item);
    expect(await catalogue.popular(2)).toEqual(['cup', 'pen']);
    expect(await catalogue.popular(10)).toEqual(['cup', 'pen', 'plate']);
  });

  test('keeps what it was given', async () => {
    expect(JSON.parse(await redis.get('item:cup'))).toEqual({ item: 'cup', tags: ['blue', 'kitchen'] });
  });

  test('counts tags', async () => {
    expect(await redis.scard('tag:kitchen')).toBe(2);
    expect(await redis.sismember('tag:kitchen', 'cup')).toBe(1);
  });
});

describe('coupons', () => {
  let coupons;

  beforeEach(() => {
    coupons = new Coupons(redis);
  });

  test('are issued once', async () => {
    expect(await coupons.issue('SPRING', 10, 60)).toBe(true);
    expect(await coupons.issue('SPRING', 20, 60)).toBe(false);
    expect(await redis.get('coupon:SPRING')).toBe('10');
  });

  test('are redeemed once by each user', async () => {
    await coupons.issue('SPRING', 10, 60);
    expect(await coupons.redeem('SPRING', 'ann')).toBe(10);
    expect(await coupons.redeem('SPRING', 'ann')).toBe(0);
    expect(await coupons.redeem('SPRING', 'bob')).toBe(10);
  });

  test('are unknown', async () => {
    expect(await coupons.redeem('WINTER', 'ann')).toBe(0);
  });

  test('end', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      await coupons.issue('SPRING', 10, 60);
      jest.advanceTimersByTime(61_000);
      expect(await coupons.redeem('SPRING', 'ann')).toBe(0);
      expect(await coupons.issue('SPRING', 20, 60)).toBe(true);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('news', () => {
  test('are heard by another client', async () => {
    const listener = redis.duplicate();
    const heard = new Promise((resolve) =>
      listener.on('message', (channel, text) => resolve([channel, text])),
    );
    await listener.subscribe('news');
    await redis.publish('news', 'sale');
    expect(await heard).toEqual(['news', 'sale']);
    listener.disconnect();
  });

  test('are heard by patterns', async () => {
    const listener = redis.duplicate();
    const heard = new Promise((resolve) => listener.on('pmessage', (...all) => resolve(all)));
    await listener.psubscribe('news:*');
    await redis.publish('news:uk', 'sale');
    expect(await heard).toEqual(['news:*', 'news:uk', 'sale']);
    listener.disconnect();
  });
});

describe('the client', () => {
  test('has a prefix', async () => {
    const prefixed = connect({ keyPrefix: 'shop:' });
    const stock = new Stock(prefixed);
    await stock.fill('cup', 1);
    expect(await redis.get('shop:stock:cup')).toBe('1');
    expect(await stock.reserve('cup')).toBe(0);
    prefixed.disconnect();
  });

  test('seeds with its prefix', async () => {
    const prefixed = connect({ keyPrefix: 'shop:', data: { 'stock:pen': '4' } });
    expect(await prefixed.get('stock:pen')).toBe('4');
    expect(await redis.get('shop:stock:pen')).toBe('4');
    prefixed.disconnect();
  });

  test('is lazy', async () => {
    const lazy = connect({ lazyConnect: true });
    expect(lazy.connected).toBe(false);
    await lazy.connect();
    expect(lazy.connected).toBe(true);
    expect(await lazy.set('k', 'v')).toBe('OK');
    lazy.disconnect();
  });

  test('is a cluster too', async () => {
    const { Cluster } = require('ioredis');
    const cluster = new Cluster(['redis://localhost:7001']);
    expect(cluster.nodes()).toHaveLength(1);
    expect(await cluster.set('k', 'v')).toBe('OK');
    expect(await cluster.get('k')).toBe('v');
    cluster.disconnect();
  });

  test('tells when it ends', async () => {
    const other = connect();
    await other.ping();
    const ended = new Promise((resolve) => other.once('end', resolve));
    other.disconnect();
    await ended;
    expect(other.connected).toBe(false);
  });

  test('pops and pushes', async () => {
    await redis.rpush('l', 'a', 'b', 'c');
    expect(await redis.rpoplpush('l', 'm')).toBe('c');
    expect(await redis.lrange('m', 0, -1)).toEqual(['c']);
    expect(await redis.lrem('l', 0, 'a')).toBe(1);
    expect(await redis.llen('l')).toBe(1);
  });

  test('counts bits', async () => {
    expect(await redis.setbit('bits', 7, 1)).toBe(0);
    expect(await redis.getbit('bits', 7)).toBe(1);
    expect(await redis.bitcount('bits')).toBe(1);
  });

  test('finds keys', async () => {
    await redis.mset('user:1', 'a', 'user:2', 'b', 'order:1', 'c');
    expect((await redis.keys('user:*')).sort()).toEqual(['user:1', 'user:2']);
    expect((await redis.keys('user:?')).sort()).toEqual(['user:1', 'user:2']);
    expect(await redis.keys('none*')).toEqual([]);
  });

  test('trims a list', async () => {
    await redis.rpush('l', 'a', 'b', 'c', 'd');
    expect(await redis.ltrim('l', 0, 1)).toBe('OK');
    expect(await redis.lrange('l', 0, -1)).toEqual(['a', 'b']);
    expect(await redis.linsert('l', 'BEFORE', 'b', 'x')).toBe(3);
  });

  test('counts what is different', async () => {
    await redis.sadd('visitors', 'ann', 'bob', 'ann');
    expect(await redis.scard('visitors')).toBe(2);
    expect(await redis.spop('visitors')).toMatch(/ann|bob/);
    expect(await redis.scard('visitors')).toBe(1);
  });

  test('stores unions', async () => {
    await redis.sadd('a', '1', '2');
    await redis.sadd('b', '2', '3');
    expect(await redis.sunionstore('c', 'a', 'b')).toBe(3);
    expect(await redis.sinterstore('d', 'a', 'b')).toBe(1);
    expect(await redis.smembers('d')).toEqual(['2']);
  });

  test('ends many keys at once', async () => {
    await redis.mset('a', '1', 'b', '2');
    expect(await redis.unlink('a', 'b')).toBe(2);
    expect(await redis.dbsize()).toBe(0);
  });
});
