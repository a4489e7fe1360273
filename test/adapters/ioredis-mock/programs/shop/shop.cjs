/** A shop's data as teams write it on ioredis: stock with scripts, carts, orders with WATCH, tags, coupons and a catalogue to scan. */
const Redis = require('ioredis');

const RESERVE = `
local left = tonumber(redis.call('get', KEYS[1]) or '0')
local wanted = tonumber(ARGV[1])
if left < wanted then return -1 end
return redis.call('decrby', KEYS[1], wanted)`;

const CAPPED = `
local count = redis.call('incr', KEYS[1])
if count > tonumber(ARGV[1]) then
  redis.call('decr', KEYS[1])
  return 0
end
return count`;

class Stock {
  constructor(redis) {
    this.redis = redis;
    redis.defineCommand('reserve', { numberOfKeys: 1, lua: RESERVE });
    redis.defineCommand('capped', { numberOfKeys: 1, lua: CAPPED });
  }

  async fill(item, count) {
    await this.redis.set(`stock:${item}`, count);
  }

  async left(item) {
    return Number((await this.redis.get(`stock:${item}`)) ?? 0);
  }

  async reserve(item, count = 1) {
    const left = await this.redis.reserve(`stock:${item}`, count);
    if (left < 0) throw new Error(`${item} is sold out`);
    return left;
  }

  async release(item, count = 1) {
    return this.redis.incrby(`stock:${item}`, count);
  }

  async ticket(event, most) {
    return (await this.redis.capped(`tickets:${event}`, most)) > 0;
  }
}

class Cart {
  constructor(redis, id, ttl = 3600) {
    Object.assign(this, { redis, key: `cart:${id}`, ttl });
  }

  async add(item, count = 1) {
    const now = await this.redis.hincrby(this.key, item, count);
    if (now <= 0) await this.redis.hdel(this.key, item);
    await this.redis.expire(this.key, this.ttl);
    return Math.max(0, now);
  }

  async items() {
    const fields = await this.redis.hgetall(this.key);
    return Object.fromEntries(Object.entries(fields).map(([item, count]) => [item, Number(count)]));
  }

  async total(prices) {
    const items = await this.items();
    return Object.entries(items).reduce((sum, [item, count]) => sum + count * prices[item], 0);
  }

  async merge(other) {
    for (const [item, count] of Object.entries(await other.items())) await this.add(item, count);
    await other.clear();
  }

  clear() {
    return this.redis.del(this.key);
  }
}

class Orders {
  constructor(redis) {
    this.redis = redis;
  }

  async place(user, items) {
    const id = `o${await this.redis.incr('orders:next')}`;
    await this.redis
      .multi()
      .hset(`order:${id}`, { user, items: JSON.stringify(items), state: 'placed' })
      .lpush(`orders-of:${user}`, id)
      .zadd('orders:open', Object.keys(items).length, id)
      .exec();
    return id;
  }

  async read(id) {
    const [user, items, state] = await this.redis.hmget(`order:${id}`, 'user', 'items', 'state');
    return user === null ? undefined : { id, user, items: JSON.parse(items), state };
  }

  async ship(id) {
    const replies = await this.redis
      .multi()
      .hset(`order:${id}`, 'state', 'shipped')
      .zrem('orders:open', id)
      .exec();
    return replies[1][1] === 1;
  }

  async latest(user, count = 10) {
    return this.redis.lrange(`orders-of:${user}`, 0, count - 1);
  }

  open() {
    return this.redis.zcard('orders:open');
  }

  /** Moves money if nobody else has changed the balance meanwhile. */
  async pay(redis, from, to, amount, between = async () => {}) {
    await redis.watch(from);
    const balance = Number((await redis.get(from)) ?? 0);
    if (balance < amount) {
      await redis.unwatch();
      return 'too little';
    }
    await between();
    const replies = await redis.multi().decrby(from, amount).incrby(to, amount).exec();
    return replies === null ? 'again' : 'paid';
  }
}

class Catalogue {
  constructor(redis) {
    this.redis = redis;
  }

  async add(item, tags) {
    const pipeline = this.redis.pipeline();
    pipeline.set(`item:${item}`, JSON.stringify({ item, tags }));
    for (const tag of tags) pipeline.sadd(`tag:${tag}`, item);
    await pipeline.exec();
  }

  async with(...tags) {
    return (await this.redis.sinter(...tags.map((tag) => `tag:${tag}`))).sort();
  }

  async without(tag, other) {
    return (await this.redis.sdiff(`tag:${tag}`, `tag:${other}`)).sort();
  }

  async any(...tags) {
    return (await this.redis.sunion(...tags.map((tag) => `tag:${tag}`))).sort();
  }

  all() {
    return new Promise((resolve, reject) => {
      const found = [];
      const stream = this.redis.scanStream({ match: 'item:*' });
      stream.on('data', (keys) => found.push(...keys));
      stream.on('end', () => resolve([...new Set(found)].sort()));
      stream.on('error', reject);
    });
  }

  async view(item) {
    return this.redis.zincrby('views', 1, item);
  }

  async popular(count) {
    return this.redis.zrevrange('views', 0, count - 1);
  }
}

class Coupons {
  constructor(redis) {
    this.redis = redis;
  }

  async issue(code, percent, seconds) {
    return (await this.redis.set(`coupon:${code}`, percent, 'EX', seconds, 'NX')) === 'OK';
  }

  async redeem(code, user) {
    const percent = await this.redis.get(`coupon:${code}`);
    if (percent === null) return 0;
    if ((await this.redis.sadd(`coupon:${code}:used`, user)) === 0) return 0;
    return Number(percent);
  }
}

const connect = (options) => new Redis(options);

module.exports = { Stock, Cart, Orders, Catalogue, Coupons, connect };
