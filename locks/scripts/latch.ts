/** The scripts of the count-down latch, on the key and channel of Redisson's RCountDownLatch. */
import { defineScript } from './define.ts';
import { once } from './once.ts';

/**
 * Sets the count.
 *
 * KEYS: 1 the count · 2 the channel
 * ARGV: 1 the count
 * Reply: 1: set · 0: a count was set before
 */
export const latchSetScript = defineScript(
  'latch-set',
  `
if redis.call('exists', KEYS[1]) == 1 then return 0 end
redis.call('set', KEYS[1], ARGV[1])
redis.call('publish', KEYS[2], '1')
return 1
`,
);

/**
 * Counts down by one, and publishes when the latch opens.
 *
 * KEYS: 1 the count · 2 the channel · 3 this client's requests
 * ARGV: 1 to 3 of `once`
 * Reply: the count that remains; 0 if there was none
 */
export const latchCountDownScript = defineScript(
  'latch-count-down',
  `${once}
local did = earlier()
if did then return tonumber(did) or 0 end
if redis.call('exists', KEYS[1]) == 0 then return remember(0) end
local left = redis.call('decr', KEYS[1])
if left <= 0 then
  redis.call('del', KEYS[1])
  redis.call('publish', KEYS[2], '0')
  left = 0
end
return remember(left)
`,
);
