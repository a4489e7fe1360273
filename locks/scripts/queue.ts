/** The scripts of the queue lock: ordered waiters, each of which is notified by its predecessor only. */
import { defineScript } from './define.ts';

/**
 * Every client that wants the lock draws a number, and the smallest number holds it. `seen` stores until when each
 * client keeps its place: a waiter by asking again, the holder by its lease. All times are the server's.
 */
const head = `
local t = redis.call('time')
local moment = t[1] * 1000 + math.floor(t[2] / 1000)
local function behind(place)
  return redis.call('zrange', KEYS[1], place, place)[1]
end
`;

/**
 * Joins the queue or renews the place in it, and acquires the lock when it is first.
 *
 * KEYS: 1 the queue · 2 `seen` · 3 the last number · 4 the marker of this request if it was abandoned
 * ARGV: 1 id · 2 lease in milliseconds · 3 how long a waiter keeps its place without asking again, in milliseconds; 0:
 * does not wait
 * Reply: {number}: held, with this number · {-1, n}: in how many milliseconds the predecessor loses its place · {-1,
 * -3}: abandoned before it arrived
 */
export const queueVisitScript = defineScript(
  'queue-visit',
  `${head}
local place = redis.call('zrank', KEYS[1], ARGV[1])
if not place then
  if redis.call('exists', KEYS[4]) == 1 then return {-1, -3} end
  place = redis.call('zcard', KEYS[1])
end
-- Whoever stands right before and has not shown up is dropped; the others before it are not our business.
local before = place
while before > 0 do
  local id = behind(before - 1)
  local due = tonumber(redis.call('zscore', KEYS[2], id) or 0)
  if due > moment then
    if ARGV[3] ~= '0' then
      if not redis.call('zscore', KEYS[1], ARGV[1]) then
        redis.call('zadd', KEYS[1], redis.call('incr', KEYS[3]), ARGV[1])
      end
      redis.call('zadd', KEYS[2], moment + tonumber(ARGV[3]), ARGV[1])
    end
    return {-1, due - moment}
  end
  redis.call('zrem', KEYS[1], id)
  redis.call('zrem', KEYS[2], id)
  before = before - 1
end
local number = redis.call('zscore', KEYS[1], ARGV[1])
if not number then
  number = redis.call('incr', KEYS[3])
  redis.call('zadd', KEYS[1], number, ARGV[1])
end
redis.call('zadd', KEYS[2], moment + tonumber(ARGV[2]), ARGV[1])
return {tonumber(number), -1}
`,
);

/**
 * Releases the lock, or leaves the queue.
 *
 * KEYS: 1 the queue · 2 `seen` · 3 the marker for requests still under way · 4 the common prefix of the channels
 * ARGV: 1 id · 2 how long the marker stays, in milliseconds; 0: no marker
 * Reply: 1: was in the queue or held the lock, and the next waiter was notified · 0: was not
 */
export const queueLeaveScript = defineScript(
  'queue-leave',
  `${head}
if ARGV[2] ~= '0' then redis.call('set', KEYS[3], '1', 'px', ARGV[2]) end
local place = redis.call('zrank', KEYS[1], ARGV[1])
if not place then return 0 end
local due = tonumber(redis.call('zscore', KEYS[2], ARGV[1]) or 0)
redis.call('zrem', KEYS[1], ARGV[1])
redis.call('zrem', KEYS[2], ARGV[1])
local next_ = behind(place)
if next_ then redis.call('publish', KEYS[4] .. ':' .. next_, '0') end
return due > moment and 1 or 0
`,
);
