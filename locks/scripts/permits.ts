/** The scripts of expirable permits, laid out as Redisson's RPermitExpirableSemaphore. */
import { defineScript } from './define.ts';

/**
 * A string counts the permits left, a sorted set keeps the permits given out with the time at which they return. That
 * time is the server's. Every script begins by taking expired permits back, and only who is in the set can come out of
 * it: a permit returns exactly once.
 */
const reclaim = `
local t = redis.call('time')
local moment = t[1] * 1000 + math.floor(t[2] / 1000)
local function give(count)
  redis.call('incrby', KEYS[1], count)
  redis.call('publish', KEYS[3], count)
end
local expired = redis.call('zrangebyscore', KEYS[2], 0, moment, 'limit', 0, 1000)
if #expired > 0 then
  redis.call('zrem', KEYS[2], unpack(expired))
  give(#expired)
end
`;

/**
 * KEYS  1 permits left · 2 `{name}:timeout` · 3 channel · 4 marker of this request when it was given up
 * ARGV  1 permit id · 2 lease in milliseconds · 3 permits to begin with where none were ever
 *       set, 0: wait until somebody sets them
 * reply null: taken · -3: given up before it came · else in how many milliseconds the next permit expires, -1: unknown
 *       -4: nobody has set the permits
 *       -4: nobody has set the permits
 */
export const permitAcquireScript = defineScript(
  'permit-acquire',
  `${reclaim}
local until_ = moment + tonumber(ARGV[2])
local own = redis.call('zscore', KEYS[2], ARGV[1])
if own then
  if tonumber(own) < until_ then redis.call('zadd', KEYS[2], until_, ARGV[1]) end
  return nil
end
if redis.call('exists', KEYS[4]) == 1 then return -3 end
local known = redis.call('get', KEYS[1])
local left = tonumber(known or ARGV[3])
if not known and left > 0 then redis.call('set', KEYS[1], left) end
if left >= 1 then
  redis.call('decr', KEYS[1])
  redis.call('zadd', KEYS[2], until_, ARGV[1])
  return nil
end
local next_ = redis.call('zrange', KEYS[2], 0, 0, 'withscores')
if not next_[1] then return known and -1 or -4 end
if tonumber(next_[2]) >= 922337203685477 then return -1 end
return tonumber(next_[2]) - moment
`,
);

/**
 * KEYS  1 permits left · 2 `{name}:timeout` · 3 channel · 4 marker for requests still under way
 * ARGV  1 permit id · 2 for how many milliseconds to leave the marker, 0: none
 * reply 1: given back · 0: it was not out any more
 */
export const permitReleaseScript = defineScript(
  'permit-release',
  `${reclaim}
if ARGV[2] ~= '0' then redis.call('set', KEYS[4], '1', 'px', ARGV[2]) end
if redis.call('zrem', KEYS[2], ARGV[1]) == 0 then return 0 end
give(1)
return 1
`,
);

/**
 * KEYS  1 permits left · 2 `{name}:timeout` · 3 channel
 * reply the permits left, expired ones taken back
 */
export const permitCountScript = defineScript(
  'permit-count',
  `${reclaim}
return tonumber(redis.call('get', KEYS[1]) or 0)
`,
);
