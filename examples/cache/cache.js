/** A cache that one client fills while the others wait for it. The code under test: replace it by yours. */
const { randomUUID } = require('node:crypto');

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

/** @param redis an ioredis client @returns get(key, load), where load() asks the slow source */
exports.cacheWith =
  (redis, ttl = 10_000) =>
  async (key, load) => {
    const token = randomUUID();
    for (;;) {
      const value = await redis.get(key);
      if (value !== null) return value;
      const set = await redis.set(`${key}:loading`, token, 'PX', 2000, 'NX');
      if (set === 'OK' || (await redis.get(`${key}:loading`)) === token) break;
      await sleep(50);
    }
    try {
      const found = await redis.get(key); // Another client may have filled it before this one got the lock.
      if (found !== null) return found;
      const value = await load();
      await redis.set(key, value, 'PX', ttl);
      return value;
    } finally {
      await redis.eval(RELEASE, 1, `${key}:loading`, token);
    }
  };
