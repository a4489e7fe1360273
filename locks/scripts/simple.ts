/** The scripts of the simple lock: one string with a random token. */
import { defineScript } from '../script.ts';

/**
 * KEYS  1 the lock · 2 the marker of this request when it was given up
 * ARGV  1 token · 2 TTL in milliseconds
 * reply null: held by the token · -3: the request was given up before it came · else the holder's remaining
 *       milliseconds, -1 when it has no TTL
 *
 * Asking again with the same token gives the same lock with a TTL not smaller than asked for.
 */
export const simpleAcquireScript = defineScript(
  'simple-acquire',
  `
if redis.call('exists', KEYS[2]) == 1 then return -3 end
if redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', ARGV[2]) then return nil end
local left = redis.call('pttl', KEYS[1])
if redis.call('get', KEYS[1]) ~= ARGV[1] then return left end
if left < tonumber(ARGV[2]) then redis.call('pexpire', KEYS[1], ARGV[2]) end
return nil
`,
);

/**
 * KEYS  1 the lock · 2 its channel · 3 the marker for requests that may still be under way, where one is to be left
 * ARGV  1 token · 2 PUBLISH or SPUBLISH · 3 for how many milliseconds to leave the marker, 0 for not at all
 * reply 1 and the number of those who heard it: released · 0: not the token's
 */
export const simpleReleaseScript = defineScript(
  'simple-release',
  `
if ARGV[3] ~= '0' then redis.call('set', KEYS[3], '1', 'px', ARGV[3]) end
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('del', KEYS[1])
return 1 + redis.call(ARGV[2], KEYS[2], '0')
`,
);
