/** The scripts of the re-entrant lock: a hash from owner to hold count, in the layout of Redisson's RLock. */
import { defineScript } from './define.ts';
import { once } from './once.ts';

/**
 * Acquires the lock. The count is set, not incremented: the owner sends how many holds it will have, so that a request
 * that is repeated after a lost reply counts once.
 *
 * KEYS: 1 the lock · 2 the marker of this request if it was abandoned
 * ARGV: 1 TTL in milliseconds · 2 owner · 3 the number of holds the owner will have, if more than one
 * Reply: null: held · -2: the owner's earlier holds are gone · -3: abandoned before it arrived · otherwise the holder's
 * remaining milliseconds, -1 when there is no TTL
 */
export const reentrantAcquireScript = defineScript(
  'reentrant-acquire',
  `
if not ARGV[3] and redis.call('exists', KEYS[1], KEYS[2]) == 0 then
  redis.call('hset', KEYS[1], ARGV[2], '1')
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
local left = redis.call('pttl', KEYS[1])
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hset', KEYS[1], ARGV[2], ARGV[3] or '1')
  if left < tonumber(ARGV[1]) then redis.call('pexpire', KEYS[1], ARGV[1]) end
  return nil
end
if ARGV[3] then return -2 end
return left == -2 and -3 or left
`,
);

/**
 * Reduces the owner's holds, and publishes when none is left.
 *
 * KEYS: 1 the lock · 2 its channel · 3 the marker for requests still under way · 4 this client's requests
 * ARGV: 1 to 3 of `once` · 4 TTL in milliseconds · 5 owner · 6 the holds that remain · 7 how long the marker stays, in
 * milliseconds; 0: no marker
 * Reply: 1 and the number of connections that received the message: free now · 0: still held · -1: not held by the
 * owner
 */
export const reentrantReleaseScript = defineScript(
  'reentrant-release',
  `${once}
local did = earlier()
if did then return tonumber(did) or -1 end
if ARGV[7] ~= '0' then redis.call('set', KEYS[3], '1', 'px', ARGV[7]) end
if redis.call('hexists', KEYS[1], ARGV[5]) == 0 then return remember(-1) end
if ARGV[6] ~= '0' then
  redis.call('hset', KEYS[1], ARGV[5], ARGV[6])
  if redis.call('pttl', KEYS[1]) < tonumber(ARGV[4]) then redis.call('pexpire', KEYS[1], ARGV[4]) end
  return remember(0)
end
redis.call('del', KEYS[1])
return remember(1 + redis.call('publish', KEYS[2], '0'))
`,
);

/**
 * The last release of an owner that will not come back and has no request under way. Most releases are of this kind.
 *
 * KEYS: 1 the lock · 2 its channel
 * ARGV: 1 owner
 * Reply: 1 and the number of connections that received the message: free now · -1: not held by the owner
 */
export const reentrantFreeScript = defineScript(
  'reentrant-free',
  `
if redis.call('hdel', KEYS[1], ARGV[1]) == 0 then return -1 end
return 1 + redis.call('publish', KEYS[2], '0')
`,
);

/**
 * Hands the lock over to another owner of the same process in one step, so that nobody finds it free in between.
 *
 * KEYS: 1 the lock · 2 the marker of the next owner's request if it was abandoned
 * ARGV: 1 the holder, which has one hold · 2 the next owner · 3 its TTL in milliseconds
 * Reply: 1: the next owner holds it now · 0: the holder did not hold it · -1: the next owner has given up
 */
export const reentrantHandOverScript = defineScript(
  'reentrant-hand-over',
  `
if redis.call('exists', KEYS[2]) == 1 then return -1 end
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('hset', KEYS[1], ARGV[2], '1')
redis.call('hdel', KEYS[1], ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[3])
return 1
`,
);
