/** Charges an order while nobody else does, with redlock 4. The code under test: replace it by yours. */
const Redlock = require('redlock');

/** @param redis an ioredis client @returns charge(order, pay), which runs pay() under the order's lock */
exports.chargerWith = (redis) => {
  const redlock = new Redlock([redis], { retryCount: 100, retryDelay: 50, retryJitter: 50 });
  return async (order, pay) => {
    const lock = await redlock.lock(`lock:order:${order}`, 1000); // Nothing renews the lease: pay() must be faster.
    try {
      return await pay();
    } finally {
      await lock.unlock().catch(() => {}); // When it fails, the lease ends the lock.
    }
  };
};
