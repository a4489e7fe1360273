/** The script of the fenced lock: a re-entrant lock with a fencing token that grows with every grant. */
import { defineScript } from './define.ts';

/**
 * Acquires the lock.
 *
 * KEYS: 1 the lock · 2 the marker of this request if it was abandoned · 3 the counter
 * ARGV: 1 TTL in milliseconds · 2 owner · 3 the number of holds the owner will have · 4 `clock`: the token is at least
 * the server's time in microseconds, so that a counter that a failover reset does not repeat itself; anything else:
 * plain counting
 * Reply: {fence, -1}: held with that fence · {-1, n}: n as for the re-entrant lock (-1 without TTL, -2, -3,
 * milliseconds)
 */
export const fencedAcquireScript = defineScript(
  'fenced-acquire',
  `
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hset', KEYS[1], ARGV[2], ARGV[3])
  if redis.call('pttl', KEYS[1]) < tonumber(ARGV[1]) then redis.call('pexpire', KEYS[1], ARGV[1]) end
  return {tonumber(redis.call('get', KEYS[3]) or 0), -1}
end
if ARGV[3] ~= '1' then return {-1, -2} end
if redis.call('exists', KEYS[1]) == 1 then return {-1, redis.call('pttl', KEYS[1])} end
if redis.call('exists', KEYS[2]) == 1 then return {-1, -3} end
local fence = redis.call('incr', KEYS[3])
if ARGV[4] == 'clock' then
  local t = redis.call('time')
  local floor = t[1] * 1000000 + t[2]
  if fence < floor then
    fence = floor
    redis.call('set', KEYS[3], string.format('%.0f', fence))
  end
end
redis.call('hset', KEYS[1], ARGV[2], '1')
redis.call('pexpire', KEYS[1], ARGV[1])
return {fence, -1}
`,
);
