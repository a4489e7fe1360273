/** The scripts of expirable permits, in the layout of Redisson's RPermitExpirableSemaphore. */
import { defineScript } from './define.ts';

/**
 * A string counts the free permits. A sorted set holds the acquired permits, with the server's time at which each
 * expires. Every script first takes expired permits back. A permit is freed only by removing it from the set, so it is
 * freed exactly once.
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
 * Acquires a permit.
 *
 * KEYS: 1 the free permits · 2 `{name}:timeout` · 3 the channel · 4 the marker of this request if it was abandoned
 * ARGV: 1 permit id · 2 lease in milliseconds · 3 the initial number of permits if none was ever set; 0: wait until it
 * is set
 * Reply: null: acquired · -3: abandoned before it arrived · -4: the number of permits was never set · otherwise in how
 * many milliseconds the next permit expires, -1: unknown
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
 * Releases a permit.
 *
 * KEYS: 1 the free permits · 2 `{name}:timeout` · 3 the channel · 4 the marker for requests still under way
 * ARGV: 1 permit id · 2 how long the marker stays, in milliseconds; 0: no marker
 * Reply: 1: released · 0: the permit was not acquired any more
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
 * Counts the free permits, including expired ones.
 *
 * KEYS: 1 the free permits · 2 `{name}:timeout` · 3 the channel
 * Reply: the number of free permits
 */
export const permitCountScript = defineScript(
  'permit-count',
  `${reclaim}
return tonumber(redis.call('get', KEYS[1]) or 0)
`,
);
