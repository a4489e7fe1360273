/** The scripts of the read-write lock, laid out as Redisson's RReadWriteLock. */
import { defineScript } from '../script.ts';

/**
 * The lock is a hash: `mode` is read or write, a reader's field is its owner, a writer's its owner and `:write`, the
 * values are hold counts. Each hold of a reader has a string of its own that carries its lease:
 * `{name}:<owner>:rwlock_timeout:<n>`. The hash lives as long as the longest of them.
 */
const raise = `
local function raise(key, lease)
  if redis.call('pttl', key) < tonumber(lease) then redis.call('pexpire', key, lease) end
end
`;

/**
 * KEYS  1 the lock · 2 marker of this request when it was given up · 3 timeout key of this hold
 * ARGV  1 TTL in milliseconds · 2 owner · 3 holds the owner will have · 4 the owner as a writer
 * reply as of the re-entrant lock: null, -2, -3 or milliseconds
 */
export const readAcquireScript = defineScript(
  'read-acquire',
  `${raise}
local mode = redis.call('hget', KEYS[1], 'mode')
local own = redis.call('hexists', KEYS[1], ARGV[2]) == 1
if ARGV[3] ~= '1' and not own then return -2 end
if not own then
  if redis.call('exists', KEYS[2]) == 1 then return -3 end
  if mode == 'write' and redis.call('hexists', KEYS[1], ARGV[4]) == 0 then return redis.call('pttl', KEYS[1]) end
  -- A re-entrant lock has the name: it ends some time.
  if not mode and redis.call('exists', KEYS[1]) == 1 then return redis.call('pttl', KEYS[1]) end
  if not mode then redis.call('hset', KEYS[1], 'mode', 'read') end
end
redis.call('hset', KEYS[1], ARGV[2], ARGV[3])
redis.call('set', KEYS[3], '1', 'px', ARGV[1])
raise(KEYS[1], ARGV[1])
return nil
`,
);

/**
 * KEYS  1 the lock · 2 its channel · 3 latch of this request · 4 marker for requests still under way
 *       5 the beginning of all timeout keys · 6 … timeout keys of the holds that end
 * ARGV  1 owner · 2 holds that remain · 3 PUBLISH or SPUBLISH · 4 for how many milliseconds the latch keeps the reply
 *       5 the same for the marker, 0: no marker
 * reply 1: free now · 0: still held by somebody · -1: not the owner's
 */
export const readReleaseScript = defineScript(
  'read-release',
  `
local answered = redis.call('get', KEYS[3])
if answered then return tonumber(answered) end
local function done(reply)
  redis.pcall('set', KEYS[3], reply, 'px', ARGV[4])
  return reply
end
if ARGV[5] ~= '0' then redis.call('set', KEYS[4], '1', 'px', ARGV[5]) end
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return -1 end
if ARGV[2] == '0' then redis.call('hdel', KEYS[1], ARGV[1]) else redis.call('hset', KEYS[1], ARGV[1], ARGV[2]) end
for k = 6, #KEYS do redis.call('del', KEYS[k]) end
if redis.call('hget', KEYS[1], 'mode') == 'write' then return done(0) end
-- The lock lives as long as the longest of the holds that remain.
local longest = 0
for _, field in ipairs(redis.call('hkeys', KEYS[1])) do
  local count = tonumber(redis.call('hget', KEYS[1], field))
  if count then
    for n = count, 1, -1 do
      longest = math.max(longest, redis.call('pttl', KEYS[5] .. ':' .. field .. ':rwlock_timeout:' .. n))
    end
  end
end
if longest > 0 then
  redis.call('pexpire', KEYS[1], longest)
  return done(0)
end
redis.call('del', KEYS[1])
redis.call(ARGV[3], KEYS[2], '0')
return done(1)
`,
);

/**
 * KEYS  1 the lock · 2 marker of this request when it was given up
 * ARGV  1 TTL in milliseconds · 2 the owner as a writer · 3 holds the owner will have
 * reply as of the re-entrant lock: null, -2, -3 or milliseconds
 */
export const writeAcquireScript = defineScript(
  'write-acquire',
  `${raise}
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hset', KEYS[1], ARGV[2], ARGV[3])
  raise(KEYS[1], ARGV[1])
  return nil
end
if ARGV[3] ~= '1' then return -2 end
if redis.call('exists', KEYS[1]) == 1 then return redis.call('pttl', KEYS[1]) end
if redis.call('exists', KEYS[2]) == 1 then return -3 end
redis.call('hset', KEYS[1], 'mode', 'write', ARGV[2], '1')
redis.call('pexpire', KEYS[1], ARGV[1])
return nil
`,
);

/**
 * KEYS  1 the lock · 2 its channel · 3 latch of this request · 4 marker for requests still under way
 * ARGV  1 TTL in milliseconds · 2 the owner as a writer · 3 holds that remain · 4 PUBLISH or SPUBLISH
 *       5 for how many milliseconds the latch keeps the reply · 6 the same for the marker, 0: no marker
 * reply 1: nobody writes now, and those who wait were told · 0: still held · -1: not the owner's
 */
export const writeReleaseScript = defineScript(
  'write-release',
  `${raise}
local answered = redis.call('get', KEYS[3])
if answered then return tonumber(answered) end
local function done(reply)
  redis.pcall('set', KEYS[3], reply, 'px', ARGV[5])
  return reply
end
if ARGV[6] ~= '0' then redis.call('set', KEYS[4], '1', 'px', ARGV[6]) end
if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return -1 end
if ARGV[3] ~= '0' then
  redis.call('hset', KEYS[1], ARGV[2], ARGV[3])
  raise(KEYS[1], ARGV[1])
  return done(0)
end
redis.call('hdel', KEYS[1], ARGV[2])
-- What remains besides the mode are the writer's own reads.
if redis.call('hlen', KEYS[1]) > 1 then
  redis.call('hset', KEYS[1], 'mode', 'read')
else
  redis.call('del', KEYS[1])
end
redis.call(ARGV[4], KEYS[2], '1')
return done(1)
`,
);
