/** The scripts of the segmented stock. Units change only under the segment's lock, and once per request. */
import { defineScript } from './define.ts';
import { once } from './once.ts';

/**
 * Takes units from a segment.
 *
 * KEYS: 1 the segment's lock · 2 its stock · 3 this client's requests
 * ARGV: 1 to 3 of `once` · 4 the token of the lock's holder · 5 the maximum number of units
 * Reply: the number of units taken (0 when there are none) · -1: the token does not hold the lock
 */
export const segmentTakeScript = defineScript(
  'segment-take',
  `${once}
local did = earlier()
if did then return tonumber(did) or -1 end
if redis.call('get', KEYS[1]) ~= ARGV[4] then return -1 end
local units = math.min(tonumber(redis.call('get', KEYS[2]) or 0), tonumber(ARGV[5]))
if units > 0 then redis.call('decrby', KEYS[2], units) end
return remember(units)
`,
);

/**
 * Puts units back.
 *
 * KEYS: 1 the segment's stock · 2 this client's requests
 * ARGV: 1 to 3 of `once` · 4 the number of units
 * Reply: the stock
 */
export const segmentPutScript = defineScript(
  'segment-put',
  `${once}
if earlier() then return tonumber(redis.call('get', KEYS[1]) or 0) end
local stock = redis.call('incrby', KEYS[1], ARGV[4])
remember('put')
return stock
`,
);
