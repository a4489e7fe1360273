/** A worker's side of a system, as teams write it on ioredis: queues, delayed jobs, notifications, ranks, logs and locks. */
import Redis from 'ioredis';

export class Queue {
  constructor(redis, name, { attempts = 3 } = {}) {
    Object.assign(this, { redis, name, attempts });
  }

  async add(data) {
    const id = String(await this.redis.incr(`${this.name}:id`));
    await this.redis
      .pipeline()
      .hset(`${this.name}:job:${id}`, { id, data: JSON.stringify(data), attempts: 0, state: 'waiting' })
      .lpush(`${this.name}:waiting`, id)
      .exec();
    return id;
  }

  async take() {
    const id = await this.redis.rpoplpush(`${this.name}:waiting`, `${this.name}:active`);
    if (id === null) return undefined;
    await this.redis.hset(`${this.name}:job:${id}`, 'state', 'active');
    const attempt = await this.redis.hincrby(`${this.name}:job:${id}`, 'attempts', 1);
    const data = JSON.parse(await this.redis.hget(`${this.name}:job:${id}`, 'data'));
    return { id, data, attempt };
  }

  async finish(id) {
    await this.redis
      .multi()
      .lrem(`${this.name}:active`, 1, id)
      .hset(`${this.name}:job:${id}`, 'state', 'done')
      .incr(`${this.name}:done`)
      .exec();
  }

  async fail(id, error) {
    const attempts = Number(await this.redis.hget(`${this.name}:job:${id}`, 'attempts'));
    const isLast = attempts >= this.attempts;
    await this.redis
      .multi()
      .lrem(`${this.name}:active`, 1, id)
      .hset(`${this.name}:job:${id}`, { state: isLast ? 'failed' : 'waiting', error: error.message })
      [isLast ? 'sadd' : 'lpush'](isLast ? `${this.name}:failed` : `${this.name}:waiting`, id)
      .exec();
    return isLast;
  }

  async work(handler) {
    const job = await this.take();
    if (job === undefined) return false;
    try {
      await handler(job);
      await this.finish(job.id);
    } catch (error) {
      await this.fail(job.id, error);
    }
    return true;
  }

  async counts() {
    const [waiting, active, failed, done] = await Promise.all([
      this.redis.llen(`${this.name}:waiting`),
      this.redis.llen(`${this.name}:active`),
      this.redis.scard(`${this.name}:failed`),
      this.redis.get(`${this.name}:done`),
    ]);
    return { waiting, active, failed, done: Number(done ?? 0) };
  }

  async state(id) {
    return this.redis.hget(`${this.name}:job:${id}`, 'state');
  }
}

export class Delayed {
  constructor(redis, name, now = () => Date.now()) {
    Object.assign(this, { redis, name, now });
  }

  add(id, delay) {
    return this.redis.zadd(this.name, this.now() + delay, id);
  }

  async due() {
    const ids = await this.redis.zrangebyscore(this.name, '-inf', this.now());
    const taken = [];
    for (const id of ids) if ((await this.redis.zrem(this.name, id)) === 1) taken.push(id);
    return taken;
  }

  async next() {
    const [, score] = await this.redis.zrange(this.name, 0, 0, 'WITHSCORES');
    return score === undefined ? undefined : Number(score);
  }
}

export class Notifier {
  constructor(publisher, subscriber) {
    Object.assign(this, { publisher, subscriber, handlers: new Map() });
    subscriber.on('message', (channel, message) => {
      for (const handler of this.handlers.get(channel) ?? []) handler(JSON.parse(message));
    });
  }

  async on(channel, handler) {
    const known = this.handlers.get(channel) ?? [];
    this.handlers.set(channel, [...known, handler]);
    if (known.length === 0) await this.subscriber.subscribe(channel);
  }

  async off(channel) {
    this.handlers.delete(channel);
    await this.subscriber.unsubscribe(channel);
  }

  send(channel, message) {
    return this.publisher.publish(channel, JSON.stringify(message));
  }
}

export class Ranks {
  constructor(redis, key) {
    Object.assign(this, { redis, key });
  }

  async score(player, points) {
    return Number(await this.redis.zincrby(this.key, points, player));
  }

  async top(count) {
    const flat = await this.redis.zrevrange(this.key, 0, count - 1, 'WITHSCORES');
    return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], Number(flat[2 * i + 1])]);
  }

  async rank(player) {
    const rank = await this.redis.zrevrank(this.key, player);
    return rank === null ? undefined : rank + 1;
  }

  size() {
    return this.redis.zcard(this.key);
  }

  between(low, high) {
    return this.redis.zrangebyscore(this.key, low, high);
  }

  remove(...players) {
    return this.redis.zrem(this.key, ...players);
  }
}

export class Log {
  constructor(redis, key) {
    Object.assign(this, { redis, key });
  }

  write(event, data = {}) {
    return this.redis.xadd(this.key, '*', 'event', event, 'data', JSON.stringify(data));
  }

  async read(from = '-', to = '+') {
    const entries = await this.redis.xrange(this.key, from, to);
    return entries.map(([id, fields]) => ({ id, event: fields[1], data: JSON.parse(fields[3]) }));
  }

  length() {
    return this.redis.xlen(this.key);
  }
}

export class Lock {
  constructor(redis, key, ttl = 1000) {
    Object.assign(this, { redis, key, ttl });
  }

  async take(owner) {
    return (await this.redis.set(this.key, owner, 'PX', this.ttl, 'NX')) === 'OK';
  }

  async give(owner) {
    const script =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    return (await this.redis.eval(script, 1, this.key, owner)) === 1;
  }
}

export const connect = (...args) => new Redis(...args);
