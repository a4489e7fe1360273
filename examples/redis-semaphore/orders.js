/** Charges an order while nobody else does. The code under test: replace it by yours. */
const { Mutex } = require('redis-semaphore');

/** @param redis an ioredis client @returns charge(order, pay), which runs pay() under the order's lock */
exports.chargerWith = (redis) => async (order, pay) => {
  const mutex = new Mutex(redis, `order:${order}`, {
    lockTimeout: 1000,
    acquireTimeout: 60_000,
    retryInterval: 50,
  });
  await mutex.acquire(); // Renews the lease until release().
  try {
    return await pay();
  } finally {
    await mutex.release();
  }
};
