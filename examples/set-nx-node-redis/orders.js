/** Charges an order while nobody else does, with a lock written by hand over node-redis. The code under test: replace it by yours. */
const { randomUUID } = require('node:crypto');
const { createClient } = require('redis');

const RELEASE = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

/** @param url of the Redis @returns charge(order, pay), which runs pay() under the order's lock */
exports.chargerWith = async (url) => {
  // Without its information on the client: node-redis 5.9 waits for ever when the connection breaks while it is sent.
  const redis = createClient({ url, disableClientInfo: true });
  redis.on('error', () => {}); // It connects again by itself.
  await redis.connect();
  return async (order, pay) => {
    const [key, token] = [`lock:order:${order}`, randomUUID()];
    while (!(await isTaken(redis, key, token))) await sleep(50);
    try {
      return await pay();
    } finally {
      await trying(() => redis.eval(RELEASE, { keys: [key], arguments: [token] }));
    }
  };
};

/** A SET whose reply was lost may have taken the lock: so ask whose it is. */
function isTaken(redis, key, token) {
  return trying(async () => {
    const set = await redis.set(key, token, { NX: true, PX: 1000 });
    return set === 'OK' || (await redis.get(key)) === token;
  });
}

/** Calls again when the connection broke. Both commands may be sent twice. */
async function trying(call) {
  for (;;) {
    try {
      return await call();
    } catch {
      await sleep(20);
    }
  }
}
