/** Charges an order while nobody else does, with a lock written by hand. The code under test: replace it by yours. */
const { randomUUID } = require('node:crypto');

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

/** @param redis an ioredis client @returns charge(order, pay), which runs pay() under the order's lock */
exports.chargerWith = (redis) => async (order, pay) => {
  const [key, token] = [`lock:order:${order}`, randomUUID()];
  while (!(await isTaken(redis, key, token))) await sleep(50);
  try {
    return await pay();
  } finally {
    await redis.eval(RELEASE, 1, key, token); // Only its own lock: a DEL would delete the next holder's.
  }
};

/** A SET whose reply was lost is sent again and refused, although it was this client that took the lock: so ask whose it is. */
async function isTaken(redis, key, token) {
  return (await redis.set(key, token, 'PX', 1000, 'NX')) === 'OK' || (await redis.get(key)) === token;
}
