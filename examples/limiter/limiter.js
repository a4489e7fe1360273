/** At most so many calls in each minute. The code under test: replace it by yours. */

/** Counts and sets the end of the window in one step: a client that dies between INCR and PEXPIRE would lock its user out for ever. */
const COUNT = `
local calls = redis.call('INCR', KEYS[1])
if calls == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return calls`;

/** @param redis an ioredis client @returns isAllowed(user) */
exports.limiterWith =
  (redis, limit = 3, window = 60_000) =>
  async (user) =>
    (await redis.eval(COUNT, 1, `calls:${user}`, window)) <= limit;
