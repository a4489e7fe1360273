/** The scripts of the read-write lock, in the layout of Redisson's RReadWriteLock. */
import { defineScript } from './define.ts';
import { once } from './once.ts';

/**
 * The lock is a hash. `mode` is read or write. A reader's field is its owner, a writer's is its owner followed by
 * `:write`; the values are hold counts. Each read hold has a string of its own with the hold's lease as TTL:
 * `{name}:<owner>:rwlock_timeout:<n>`. The hash lives as long as the longest of them.
 */
const raise = `
local function raise(key, lease)
  if redis.call('pttl', key) < tonumber(lease) then redis.call('pexpire', key, lease) end
end
`;

/**
 * KEYS[4] is the common prefix of all timeout keys. `longestRead()` returns how many milliseconds the longest read hold
 * of any owner has left; 0 or less when there is none.
 */
const longestRead = `
local function longestRead()
  local longest = 0
  for _, field in ipairs(redis.call('hkeys', KEYS[1])) do
    local count = tonumber(redis.call('hget', KEYS[1], field))
    if count then
      for n = count, 1, -1 do
        longest = math.max(longest, redis.call('pttl', KEYS[4] .. ':' .. field .. ':rwlock_timeout:' .. n))
      end
    end
  end
  return longest
end
`;

/**
 * Acquires a read hold.
 *
 * KEYS: 1 the lock · 2 the marker of this request if it was abandoned · 3 the timeout key of this hold
 * ARGV: 1 TTL in milliseconds · 2 owner · 3 the number of this hold, the greatest of the owner's · 4 the owner as a
 * writer
 * Reply: as for the re-entrant lock: null, -2, -3 or milliseconds
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
 * Releases a read hold.
 *
 * KEYS: 1 the lock · 2 its channel · 3 the marker for requests still under way · 4 the common prefix of all timeout
 * keys · 5 the timeout key of the hold that ends · 6 this client's requests
 * ARGV: 1 to 3 of `once` · 4 owner · 5 the greatest number of a hold that remains; 0: none · 6 how long the marker
 * stays, in milliseconds; 0: no marker
 * Reply: 1: free now · 0: still held · -1: not held by the owner
 */
export const readReleaseScript = defineScript(
  'read-release',
  `${once}${longestRead}
local did = earlier()
if did then return tonumber(did) or -1 end
if ARGV[6] ~= '0' then redis.call('set', KEYS[3], '1', 'px', ARGV[6]) end
if redis.call('hexists', KEYS[1], ARGV[4]) == 0 then return remember(-1) end
if ARGV[5] == '0' then redis.call('hdel', KEYS[1], ARGV[4]) else redis.call('hset', KEYS[1], ARGV[4], ARGV[5]) end
redis.call('del', KEYS[5])
if redis.call('hget', KEYS[1], 'mode') == 'write' then return remember(0) end
-- The lock lives as long as the longest of the holds that remain.
local longest = longestRead()
if longest > 0 then
  redis.call('pexpire', KEYS[1], longest)
  return remember(0)
end
redis.call('del', KEYS[1])
redis.call('publish', KEYS[2], '0')
return remember(1)
`,
);

/**
 * Acquires the write lock.
 *
 * KEYS: 1 the lock · 2 the marker of this request if it was abandoned
 * ARGV: 1 TTL in milliseconds · 2 the owner as a writer · 3 the number of holds the owner will have
 * Reply: as for the re-entrant lock: null, -2, -3 or milliseconds
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
 * Releases the write lock.
 *
 * KEYS: 1 the lock · 2 its channel · 3 the marker for requests still under way · 4 the common prefix of all timeout
 * keys · 5 this client's requests
 * ARGV: 1 to 3 of `once` · 4 TTL in milliseconds · 5 the owner as a writer · 6 the holds that remain · 7 how long the
 * marker stays, in milliseconds; 0: no marker
 * Reply: 1: there is no writer now, and the waiters were notified · 0: still held · -1: not held by the owner
 */
export const writeReleaseScript = defineScript(
  'write-release',
  `${once}${raise}${longestRead}
local did = earlier()
if did then return tonumber(did) or -1 end
if ARGV[7] ~= '0' then redis.call('set', KEYS[3], '1', 'px', ARGV[7]) end
if redis.call('hexists', KEYS[1], ARGV[5]) == 0 then return remember(-1) end
if ARGV[6] ~= '0' then
  redis.call('hset', KEYS[1], ARGV[5], ARGV[6])
  raise(KEYS[1], ARGV[4])
  return remember(0)
end
redis.call('hdel', KEYS[1], ARGV[5])
-- What may remain are the writer's own reads, and those may have ended.
local longest = longestRead()
if longest > 0 then
  redis.call('hset', KEYS[1], 'mode', 'read')
  redis.call('pexpire', KEYS[1], longest)
else
  redis.call('del', KEYS[1])
end
redis.call('publish', KEYS[2], '1')
return remember(1)
`,
);
