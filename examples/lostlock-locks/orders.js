/** Charges an order while nobody else does, with the locks of lostlock. The code under test: replace it by yours. */
const { createLocks } = require('lostlock/locks');

/**
 * A lock counts as taken when a replica has it (`replicas: 1`), so a failover to that replica keeps it. What the lock protects gets
 * the fence, and refuses fences smaller than one that it has seen.
 * @param redis an ioredis client
 * @returns charge(order, pay), which runs pay(fence) under the order's lock
 */
exports.chargerWith = (redis) => {
  const locks = createLocks(redis, { leaseMs: 1000, replicas: 1 });
  return (order, pay) => locks.fenced(`order:${order}`).using((held) => pay(held.fence));
};
