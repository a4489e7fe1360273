/** The scripts of the fair lock: a re-entrant lock with a queue, in the layout of Redisson's fair lock. */
import { defineScript } from './define.ts';
import { once } from './once.ts';

/**
 * Redisson's queue has two parts: a list of waiters, and a sorted set with the time at which each is presumed dead (one
 * patience per place, cumulative). The third key is ours: the time until which each of our waiters keeps its place. All
 * times are the server's.
 */
const head = `
local function now()
  local t = redis.call('time')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local function drop(waiter)
  redis.call('lrem', KEYS[2], 1, waiter)
  redis.call('zrem', KEYS[3], waiter)
  redis.call('zrem', KEYS[4], waiter)
end
-- Drops the waiters at the head that are presumed dead; gives the first live one.
local function first(moment)
  while true do
    local waiter = redis.call('lindex', KEYS[2], 0)
    if not waiter then return nil end
    local score = redis.call('zscore', KEYS[3], waiter)
    local seen = redis.call('zscore', KEYS[4], waiter)
    local dead = not score or tonumber(score) <= moment or (seen and tonumber(seen) <= moment)
    if not dead then return waiter, seen end
    drop(waiter)
  end
end
`;

/**
 * Acquires the lock or joins the queue.
 *
 * KEYS: 1 the lock · 2 the queue · 3 its timeouts · 4 the places of our waiters · 5 the marker of this request if it
 * was abandoned
 * ARGV: 1 TTL in milliseconds · 2 owner · 3 the number of holds the owner will have · 4 the patience per place in
 * milliseconds (Redisson's fairLockWaitTimeout) · 5 how long this waiter keeps its place without asking again, in
 * milliseconds; 0: does not join the queue
 * Reply: null: held · -2: the owner's earlier holds are gone · -3: abandoned before it arrived · otherwise in how many
 * milliseconds something may change without a message, -1: unknown
 */
export const fairAcquireScript = defineScript(
  'fair-acquire',
  `${head}
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hset', KEYS[1], ARGV[2], ARGV[3])
  if redis.call('pttl', KEYS[1]) < tonumber(ARGV[1]) then redis.call('pexpire', KEYS[1], ARGV[1]) end
  return nil
end
if ARGV[3] ~= '1' then return -2 end
if redis.call('exists', KEYS[5]) == 1 then return -3 end
local moment, patience = now(), tonumber(ARGV[4])
local waiter, seen = first(moment)
local free = redis.call('exists', KEYS[1]) == 0
if free and (not waiter or waiter == ARGV[2]) then
  drop(ARGV[2])
  for _, other in ipairs(redis.call('zrange', KEYS[3], 0, -1)) do
    redis.call('zincrby', KEYS[3], -patience, other)
  end
  redis.call('hset', KEYS[1], ARGV[2], '1')
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
local left = free and -1 or redis.call('pttl', KEYS[1])
if ARGV[5] ~= '0' then
  local score = redis.call('zscore', KEYS[3], ARGV[2])
  if score then
    if tonumber(score) < moment + patience then redis.call('zadd', KEYS[3], moment + patience, ARGV[2]) end
  else
    local last = redis.call('lindex', KEYS[2], -1)
    local before = last and tonumber(redis.call('zscore', KEYS[3], last)) or moment + math.max(0, left)
    -- Bounded, so that many short visits cannot carry the times ever further into the future.
    local most = moment + math.max(0, left) + redis.call('llen', KEYS[2]) * patience
    redis.call('zadd', KEYS[3], math.min(before, most) + patience, ARGV[2])
    redis.call('rpush', KEYS[2], ARGV[2])
  end
  redis.call('zadd', KEYS[4], moment + tonumber(ARGV[5]), ARGV[2])
  -- These times last as long as the queue. Without them, a dead waiter would keep its place until it is presumed dead.
  local latest = redis.call('zrange', KEYS[3], -1, -1, 'withscores')[2]
  redis.call('pexpire', KEYS[4], math.ceil(tonumber(latest) - moment))
end
-- Look again when the first waiter's time is over, in case it is dead.
if waiter and waiter ~= ARGV[2] and seen then
  local due = math.max(0, tonumber(seen) - moment)
  if left < 0 or due < left then left = due end
end
return left
`,
);

/**
 * Reduces the owner's holds. When none is left, notifies the first waiter.
 *
 * KEYS: 1 the lock · 2 the queue · 3 its timeouts · 4 the places of our waiters · 5 the marker for requests still under
 * way · 6 the common prefix of the channels · 7 this client's requests
 * ARGV: 1 to 3 of `once` · 4 TTL in milliseconds · 5 owner · 6 the holds that remain · 7 how long the marker stays, in
 * milliseconds; 0: no marker
 * Reply: 1: free now, and the first waiter was notified · 0: still held · -1: not held by the owner
 */
export const fairReleaseScript = defineScript(
  'fair-release',
  `${once}${head}
local did = earlier()
if did then return tonumber(did) or -1 end
if ARGV[7] ~= '0' then redis.call('set', KEYS[5], '1', 'px', ARGV[7]) end
local function tell()
  local waiter = first(now())
  if waiter then redis.call('publish', KEYS[6] .. ':' .. waiter, '0') end
end
if redis.call('hexists', KEYS[1], ARGV[5]) == 0 then
  if redis.call('exists', KEYS[1]) == 0 then tell() end
  return remember(-1)
end
if ARGV[6] ~= '0' then
  redis.call('hset', KEYS[1], ARGV[5], ARGV[6])
  if redis.call('pttl', KEYS[1]) < tonumber(ARGV[4]) then redis.call('pexpire', KEYS[1], ARGV[4]) end
  return remember(0)
end
redis.call('del', KEYS[1])
tell()
return remember(1)
`,
);

/**
 * Leaves the queue; the waiters behind move up. Repeating it changes nothing.
 *
 * KEYS: 1 the lock · 2 the queue · 3 its timeouts · 4 the places of our waiters · 5 the common prefix of the channels
 * ARGV: 1 owner · 2 the patience per place in milliseconds
 * Reply: 1: was in the queue · 0: was not
 */
export const fairLeaveScript = defineScript(
  'fair-leave',
  `${head}
local place = redis.call('lpos', KEYS[2], ARGV[1])
if not place then
  redis.call('zrem', KEYS[3], ARGV[1])
  redis.call('zrem', KEYS[4], ARGV[1])
  return 0
end
for _, other in ipairs(redis.call('lrange', KEYS[2], place + 1, -1)) do
  if redis.call('zscore', KEYS[3], other) then redis.call('zincrby', KEYS[3], -tonumber(ARGV[2]), other) end
end
drop(ARGV[1])
if place == 0 and redis.call('exists', KEYS[1]) == 0 then
  local waiter = first(now())
  if waiter then redis.call('publish', KEYS[5] .. ':' .. waiter, '0') end
end
return 1
`,
);
