/** A small service as teams write it on ioredis: sessions, a cache, limits, flags and user records. */
const Redis = require('ioredis');

class Cache {
  constructor(redis, { ttl = 60, prefix = 'cache:' } = {}) {
    Object.assign(this, { redis, ttl, prefix });
  }

  async get(key) {
    const text = await this.redis.get(this.prefix + key);
    return text === null ? undefined : JSON.parse(text);
  }

  async set(key, value, ttl = this.ttl) {
    await this.redis.set(this.prefix + key, JSON.stringify(value), 'EX', ttl);
  }

  async wrap(key, load, ttl) {
    const known = await this.get(key);
    if (known !== undefined) return known;
    const value = await load();
    await this.set(key, value, ttl);
    return value;
  }

  async invalidate(...keys) {
    return keys.length === 0 ? 0 : this.redis.del(...keys.map((key) => this.prefix + key));
  }

  async many(keys) {
    const texts = await this.redis.mget(keys.map((key) => this.prefix + key));
    return texts.map((text) => (text === null ? undefined : JSON.parse(text)));
  }

  async clear() {
    let cursor = '0';
    let removed = 0;
    do {
      const [next, keys] = await this.redis.scan(cursor, 'MATCH', `${this.prefix}*`, 'COUNT', 100);
      cursor = next;
      if (keys.length > 0) removed += await this.redis.del(...keys);
    } while (cursor !== '0');
    return removed;
  }
}

class Sessions {
  constructor(redis, { ttl = 1800 } = {}) {
    Object.assign(this, { redis, ttl, made: 0 });
  }

  async create(user, data = {}) {
    const id = `s${++this.made}-${user}`;
    await this.redis
      .multi()
      .hset(`session:${id}`, { user, ...data })
      .expire(`session:${id}`, this.ttl)
      .sadd(`sessions-of:${user}`, id)
      .exec();
    return id;
  }

  async read(id) {
    const fields = await this.redis.hgetall(`session:${id}`);
    return Object.keys(fields).length === 0 ? null : fields;
  }

  async touch(id) {
    return (await this.redis.expire(`session:${id}`, this.ttl)) === 1;
  }

  async set(id, field, value) {
    if ((await this.redis.exists(`session:${id}`)) === 0) throw new Error(`no session ${id}`);
    return this.redis.hset(`session:${id}`, field, value);
  }

  async end(id) {
    const user = await this.redis.hget(`session:${id}`, 'user');
    if (user === null) return false;
    await this.redis.multi().del(`session:${id}`).srem(`sessions-of:${user}`, id).exec();
    return true;
  }

  async endAll(user) {
    const ids = await this.redis.smembers(`sessions-of:${user}`);
    for (const id of ids) await this.end(id);
    return ids.length;
  }

  async left(id) {
    return this.redis.ttl(`session:${id}`);
  }
}

class Limiter {
  constructor(redis, { limit = 5, window = 60 } = {}) {
    Object.assign(this, { redis, limit, window });
  }

  async hit(who) {
    const key = `limit:${who}`;
    const count = await this.redis.incr(key);
    if (count === 1) await this.redis.expire(key, this.window);
    return { allowed: count <= this.limit, left: Math.max(0, this.limit - count) };
  }

  async reset(who) {
    await this.redis.del(`limit:${who}`);
  }
}

class SlidingLimiter {
  constructor(redis, { limit = 3, window = 10_000, now = () => Date.now() } = {}) {
    Object.assign(this, { redis, limit, window, now, hits: 0 });
  }

  async hit(who) {
    const key = `sliding:${who}`;
    const now = this.now();
    await this.redis.zremrangebyscore(key, 0, now - this.window);
    if ((await this.redis.zcard(key)) >= this.limit) return false;
    await this.redis.zadd(key, now, `${now}:${++this.hits}`);
    await this.redis.pexpire(key, this.window);
    return true;
  }
}

class Flags {
  constructor(redis) {
    this.redis = redis;
  }

  async enable(flag, ...users) {
    if (users.length === 0) await this.redis.sadd('flags', flag);
    else await this.redis.sadd(`flag:${flag}`, ...users);
  }

  async disable(flag) {
    await this.redis.srem('flags', flag);
    await this.redis.del(`flag:${flag}`);
  }

  async isOn(flag, user) {
    if ((await this.redis.sismember('flags', flag)) === 1) return true;
    return user !== undefined && (await this.redis.sismember(`flag:${flag}`, user)) === 1;
  }

  async all() {
    return (await this.redis.smembers('flags')).sort();
  }
}

class Users {
  constructor(redis) {
    this.redis = redis;
  }

  async create({ name, email }) {
    if ((await this.redis.hexists('emails', email)) === 1) throw new Error(`${email} is taken`);
    const id = String(await this.redis.incr('user_next'));
    await this.redis.hmset(
      `user:${id}`,
      new Map([
        ['id', id],
        ['name', name],
        ['email', email],
      ]),
    );
    await this.redis.hset('emails', email, id);
    return id;
  }

  async find(id) {
    const user = await this.redis.hgetall(`user:${id}`);
    return user.id === undefined ? undefined : user;
  }

  async byEmail(email) {
    const id = await this.redis.hget('emails', email);
    return id === null ? undefined : this.find(id);
  }

  async rename(id, name) {
    await this.redis.hset(`user:${id}`, 'name', name);
  }

  async remove(id) {
    const email = await this.redis.hget(`user:${id}`, 'email');
    const [[, removed]] = await this.redis
      .pipeline()
      .del(`user:${id}`)
      .hdel('emails', email ?? '')
      .exec();
    return removed === 1;
  }

  async login(id) {
    await this.redis.lpush(`logins:${id}`, 'in');
    await this.redis.ltrim(`logins:${id}`, 0, 2);
    return this.redis.hincrby(`user:${id}`, 'logins', 1);
  }

  async names(...ids) {
    const pipeline = this.redis.pipeline();
    for (const id of ids) pipeline.hget(`user:${id}`, 'name');
    return (await pipeline.exec()).map(([, name]) => name);
  }
}

function connect(options) {
  return new Redis(options);
}

module.exports = { Cache, Sessions, Limiter, SlidingLimiter, Flags, Users, connect };
