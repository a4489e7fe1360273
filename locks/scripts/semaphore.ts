/** The scripts of the semaphore, on the key and channel of Redisson's RSemaphore. */
import { defineScript } from './define.ts';
import { once } from './once.ts';

/**
 * Acquires permits. A permit has neither a name nor a lease, so the server remembers what each request did: `held`, or
 * `void` when there were too few permits or the request was abandoned, so that it must not take any later.
 *
 * KEYS: 1 the free permits · 2 this client's requests
 * ARGV: 1 to 3 of `once` · 4 the number of permits
 * Reply: null: acquired · -1: too few are free · -3: an earlier copy took nothing · -4: the number of permits was never
 * set
 */
export const semaphoreAcquireScript = defineScript(
  'semaphore-acquire',
  `${once}
local did = earlier()
if did == 'held' then return nil end
if did then return -3 end
local left = redis.call('get', KEYS[1])
if tonumber(left or 0) < tonumber(ARGV[4]) then
  remember('void')
  return left and -1 or -4
end
redis.call('decrby', KEYS[1], ARGV[4])
remember('held')
return nil
`,
);

/**
 * Returns what a request may have taken, exactly once, and bars it from taking anything later.
 *
 * KEYS: 1 the free permits · 2 the channel · 3 this client's requests
 * ARGV: 1 to 3 of `once`, with the number of the request to undo · 4 its number of permits
 * Reply: 1: it had taken them · 0: it had not
 */
export const semaphoreUndoScript = defineScript(
  'semaphore-undo',
  `${once}
local did = earlier()
redis.call('zremrangebyscore', requests, number, number)
remember('void')
if did ~= 'held' then return 0 end
redis.call('incrby', KEYS[1], ARGV[4])
redis.call('publish', KEYS[2], ARGV[4])
return 1
`,
);

/**
 * Releases permits.
 *
 * KEYS: 1 the free permits · 2 the channel · 3 this client's requests
 * ARGV: 1 to 3 of `once` · 4 the number of permits
 * Reply: 1: released, now or by an earlier copy of this request
 */
export const semaphoreReleaseScript = defineScript(
  'semaphore-release',
  `${once}
if earlier() then return 1 end
redis.call('incrby', KEYS[1], ARGV[4])
redis.call('publish', KEYS[2], ARGV[4])
remember('given')
return 1
`,
);

/**
 * Sets the number of permits.
 *
 * KEYS: 1 the free permits · 2 the channel
 * ARGV: 1 the number of permits
 * Reply: 1: set · 0: it was set before
 */
export const semaphoreSetScript = defineScript(
  'semaphore-set',
  `
if redis.call('exists', KEYS[1]) == 1 then return 0 end
redis.call('set', KEYS[1], ARGV[1])
redis.call('publish', KEYS[2], ARGV[1])
return 1
`,
);
