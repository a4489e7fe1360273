/** The scripts of the simple lock: one string with a random token. */
import { defineScript } from './define.ts';

/** The suffix of the name of the lock's channel. */
export const SIMPLE_CHANNEL = 'lostlock_channel';

/** The message of a release. */
export const RELEASED = '0';

/**
 * Acquires the lock. An abandoned request may arrive late and take the lock for nobody: the first request is a plain
 * SET, which cannot check that. Its token is therefore listed as abandoned, and the next client that asks takes the
 * lock over. Repeating the request with the same token gives the same lock, with a TTL of at least what was requested.
 *
 * KEYS: 1 the lock · 2 the abandoned tokens, by the time from which they cannot hold anything any more
 * ARGV: 1 token · 2 TTL in milliseconds
 * Reply: null: held by the token · -3: the request was abandoned before it arrived · otherwise the holder's remaining
 * milliseconds, -1 when it has no TTL
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
 * Releases the lock.
 *
 * KEYS: 1 the lock · 2 its channel, if that is not `name:lostlock_channel` or a third key follows · 3 the abandoned
 * tokens, if the token is to be listed
 * ARGV: 1 token · 2 how long to list it, in milliseconds; 0: not at all · 3 the message, if that is not '0'
 * Reply: 1 and the number of connections that received the message: released · 0: not held by the token
 */
export const simpleReleaseScript = defineScript(
  'simple-release',
  `
if ARGV[2] and ARGV[2] ~= '0' then
  local t = redis.call('time')
  local moment = t[1] * 1000 + math.floor(t[2] / 1000)
  redis.call('zremrangebyscore', KEYS[3], '-inf', moment)
  redis.pcall('zadd', KEYS[3], moment + tonumber(ARGV[2]), ARGV[1])
  if redis.call('pttl', KEYS[3]) < tonumber(ARGV[2]) then redis.call('pexpire', KEYS[3], ARGV[2]) end
end
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('del', KEYS[1])
return 1 + redis.call('publish', KEYS[2] or KEYS[1] .. ':${SIMPLE_CHANNEL}', ARGV[3] or '${RELEASED}')
`,
);

/**
 * Hands the lock over to another token of the same process in one step, so that nobody finds it free in between.
 *
 * KEYS: 1 the lock
 * ARGV: 1 the holder's token · 2 the next token · 3 its TTL in milliseconds
 * Reply: 1: the next token holds it now · 0: the holder's token did not hold it
 */
export const simpleHandOverScript = defineScript(
  'simple-hand-over',
  `
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3])
return 1
`,
);
