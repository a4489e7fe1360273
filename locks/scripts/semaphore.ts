/** The scripts of the semaphore, on the key and channel of Redisson's RSemaphore. */
import { defineScript } from '../script.ts';

/**
 * A permit has no name and no lease, so a latch per request keeps what the request did: `held`, or `void` when it was
 * given up or given back and must take nothing any more.
 *
 * KEYS  1 the permits left · 2 latch of this request
 * ARGV  1 permits wanted · 2 for how many milliseconds the latch is kept
 * reply null: taken · -3: given up before it came · else -1: not enough are left
 */
export const semaphoreAcquireScript = defineScript(
  'semaphore-acquire',
  `
local done = redis.call('get', KEYS[2])
if done == 'held' then return nil end
if done then return -3 end
local left = tonumber(redis.call('get', KEYS[1]) or 0)
if left < tonumber(ARGV[1]) then return -1 end
redis.call('decrby', KEYS[1], ARGV[1])
redis.call('set', KEYS[2], 'held', 'px', ARGV[2])
return nil
`,
);

/**
 * Takes back what a request may have taken, once, and bars it from taking anything later.
 *
 * KEYS  1 the permits left · 2 latch of the request · 3 channel
 * ARGV  1 its permits · 2 for how many milliseconds the latch is kept · 3 PUBLISH or SPUBLISH
 * reply 1: it had taken them · 0: it had not
 */
export const semaphoreUndoScript = defineScript(
  'semaphore-undo',
  `
local done = redis.call('get', KEYS[2])
redis.call('set', KEYS[2], 'void', 'px', ARGV[2])
if done ~= 'held' then return 0 end
redis.call('incrby', KEYS[1], ARGV[1])
redis.call(ARGV[3], KEYS[3], ARGV[1])
return 1
`,
);

/**
 * KEYS  1 the permits left · 2 channel · 3 latch of this release · 4 latch of the request that took them
 * ARGV  1 permits · 2 for how many milliseconds latches are kept · 3 PUBLISH or SPUBLISH · 4 1: bar the request that
 *       took them, which may be under way once more
 * reply 1: given back, now or by this same request before
 */
export const semaphoreReleaseScript = defineScript(
  'semaphore-release',
  `
if redis.call('exists', KEYS[3]) == 1 then return 1 end
if ARGV[4] == '1' then redis.call('set', KEYS[4], 'void', 'px', ARGV[2]) end
redis.call('incrby', KEYS[1], ARGV[1])
redis.call(ARGV[3], KEYS[2], ARGV[1])
redis.call('set', KEYS[3], '1', 'px', ARGV[2])
return 1
`,
);

/**
 * KEYS  1 the permits left · 2 channel
 * ARGV  1 permits · 2 PUBLISH or SPUBLISH
 * reply 1: set · 0: it was set before
 */
export const semaphoreSetScript = defineScript(
  'semaphore-set',
  `
if redis.call('exists', KEYS[1]) == 1 then return 0 end
redis.call('set', KEYS[1], ARGV[1])
redis.call(ARGV[2], KEYS[2], ARGV[1])
return 1
`,
);
