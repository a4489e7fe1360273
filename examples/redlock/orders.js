/** Charges an order while nobody else does. The code under test: replace it by yours. */
const { default: Redlock } = require('redlock');

/** @param redis an ioredis client @returns charge(order, pay), which runs pay() under the order's lock */
exports.chargerWith = (redis) => {
  const redlock = new Redlock([redis], { retryCount: 100, retryDelay: 50, retryJitter: 50 });
  return (order, pay) => redlock.using([`lock:order:${order}`], 1000, pay); // Renews the lease while pay() runs.
};
