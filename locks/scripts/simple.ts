/** The scripts of the simple lock: one string with a random token. */
import { defineScript } from './define.ts';

/** What its channel's name ends with. */
export const SIMPLE_CHANNEL = 'lostlock_channel';

/**
 * A request that was given up may come late and take the lock for nobody: the first look is a plain SET, which cannot
 * know. Its token is listed, and the next one who asks takes the lock over.
 *
 * KEYS  1 the lock · 2 the tokens that were given up, by the moment from which they can hold nothing any more
 * ARGV  1 token · 2 TTL in milliseconds
 * reply null: held by the token · -3: the request was given up before it came · else the holder's remaining
 *       milliseconds, -1 when it has no TTL
 *
 * Asking again with the same token gives the same lock with a TTL not smaller than asked for.
 */
export const simpleAcquireScript = defineScript(
  'simple-acquire',
  `
if redis.call('zscore', KEYS[2], ARGV[1]) then return -3 end
if redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', ARGV[2]) then return nil end
local holder, left = redis.call('get', KEYS[1]), redis.call('pttl', KEYS[1])
if holder == ARGV[1] then
  if left < tonumber(ARGV[2]) then redis.call('pexpire', KEYS[1], ARGV[2]) end
  return nil
end
if not redis.call('zscore', KEYS[2], holder) then return left end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return nil
`,
);

/**
 * KEYS  1 the lock · 2 its channel, where that is not `name:lostlock_channel` or more keys follow · where the token is
 *       to be listed: 3 the tokens that were given up
 * ARGV  1 token · 2 for how many milliseconds to list it
 * reply 1 and the number of those who heard it: released · 0: not the token's
 */
export const simpleReleaseScript = defineScript(
  'simple-release',
  `
if ARGV[2] then
  local t = redis.call('time')
  local moment = t[1] * 1000 + math.floor(t[2] / 1000)
  redis.call('zremrangebyscore', KEYS[3], '-inf', moment)
  redis.pcall('zadd', KEYS[3], moment + tonumber(ARGV[2]), ARGV[1])
  if redis.call('pttl', KEYS[3]) < tonumber(ARGV[2]) then redis.call('pexpire', KEYS[3], ARGV[2]) end
end
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('del', KEYS[1])
return 1 + redis.call('publish', KEYS[2] or KEYS[1] .. ':${SIMPLE_CHANNEL}', '0')
`,
);

/**
 * Hands the lock over to another token of the same process, in one step: nobody finds it free in between.
 *
 * KEYS  1 the lock
 * ARGV  1 the holder's token · 2 the next one's · 3 its TTL in milliseconds
 * reply 1: it is the next one's now · 0: it was not the holder's
 */
export const simpleHandOverScript = defineScript(
  'simple-hand-over',
  `
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3])
return 1
`,
);
