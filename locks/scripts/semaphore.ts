/** The scripts of the semaphore, on the key and channel of Redisson's RSemaphore. */
import { defineScript } from './define.ts';
import { once } from './once.ts';

/**
 * A permit has no name and no lease, so what a request did is remembered: `held`, or `void` when it found too few or was
 * given up, and must take nothing any more.
 *
 * KEYS  1 the permits left · 2 this client's requests
 * ARGV  1 to 3 of `once` · 4 permits wanted
 * reply null: taken · -1: not enough are left · -3: it came before, and took nothing · -4: nobody has set the permits
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
 * Takes back what a request may have taken, once, and bars it from taking anything later.
 *
 * KEYS  1 the permits left · 2 channel · 3 this client's requests
 * ARGV  1 to 3 of `once`, with the number of the request to undo · 4 its permits
 * reply 1: it had taken them · 0: it had not
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
 * KEYS  1 the permits left · 2 channel · 3 this client's requests
 * ARGV  1 to 3 of `once` · 4 permits
 * reply 1: given back, now or by this same request before
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
 * KEYS  1 the permits left · 2 channel
 * ARGV  1 permits
 * reply 1: set · 0: it was set before
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
