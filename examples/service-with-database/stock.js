/** A service that sells a stock which is kept in a database. The code under test: replace it by yours. */
const { randomUUID } = require('node:crypto');

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

/** Gets its database by a constructor argument, so that a test can stand in for it. */
exports.StockService = class StockService {
  /** @param redis an ioredis client @param database has open(), which returns a transaction: read(), and write(left) */
  constructor(redis, database) {
    this.redis = redis;
    this.database = database;
  }

  /** Sells one. Returns false when it came too late, because another machine has sold since. */
  async sell() {
    const token = randomUUID();
    while (!(await this.#isTaken(token))) await sleep(50);
    try {
      // The database counts the fences, so they grow whatever happens to Redis: a counter in Redis repeats after a failover.
      const transaction = await this.database.open();
      return await transaction.write((await transaction.read()) - 1);
    } finally {
      await this.redis.eval(RELEASE, 1, 'lock:stock', token);
    }
  }

  /** A SET whose reply was lost is sent again and refused, although it was this client that took the lock: so ask whose it is. */
  async #isTaken(token) {
    const set = await this.redis.set('lock:stock', token, 'PX', 1000, 'NX');
    return set === 'OK' || (await this.redis.get('lock:stock')) === token;
  }
};
