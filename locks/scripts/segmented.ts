/** The scripts of the segmented stock: units change only under the segment's lock, once per request. */
import { defineScript } from '../script.ts';

/**
 * KEYS  1 the segment's lock · 2 its stock · 3 latch of this request
 * ARGV  1 token of the lock's holder · 2 units wanted at most · 3 for how many milliseconds the latch is kept
 * reply the units taken (0 when there are none) · -1: the token does not hold the lock
 */
export const segmentTakeScript = defineScript(
  'segment-take',
  `
local answered = redis.call('get', KEYS[3])
if answered then return tonumber(answered) end
if redis.call('get', KEYS[1]) ~= ARGV[1] then return -1 end
local units = math.min(tonumber(redis.call('get', KEYS[2]) or 0), tonumber(ARGV[2]))
if units > 0 then redis.call('decrby', KEYS[2], units) end
redis.call('set', KEYS[3], units, 'px', ARGV[3])
return units
`,
);

/**
 * KEYS  1 the segment's stock · 2 latch of this request
 * ARGV  1 units · 2 for how many milliseconds the latch is kept
 * reply the stock
 */
export const segmentPutScript = defineScript(
  'segment-put',
  `
if redis.call('set', KEYS[2], '1', 'px', ARGV[2], 'nx') then return redis.call('incrby', KEYS[1], ARGV[1]) end
return tonumber(redis.call('get', KEYS[1]) or 0)
`,
);
