/** The beginning of scripts whose requests must have their effect only once; see server/request-log.ts. */

/**
 * The last key is a sorted set of this client's requests: members `<number>:<what it did>` with the number as score,
 * and `heard` with minus the number up to which all replies have been received. Requests up to that number are
 * forgotten, and their copies are refused.
 *
 * ARGV: 1 the number of the request; 0: nothing is remembered · 2 the number up to which all replies have been received
 * · 3 how long to remember, in milliseconds
 *
 * `earlier()` returns what this request did when it came before, 'heard' for a copy of an old request, and otherwise
 * false. `remember(what)` records the outcome and returns it. It never fails, so that locks can be released even on a
 * server that is out of memory.
 */
export const once = `
local requests, number, heard = KEYS[#KEYS], ARGV[1], 0
local function earlier()
  if number == '0' then return false end
  heard = -tonumber(redis.call('zscore', requests, 'heard') or 0)
  local known = redis.call('zrangebyscore', requests, number, number)[1]
  if known then return string.match(known, ':(.*)$') end
  return tonumber(number) <= heard and 'heard'
end
local function remember(what)
  if number == '0' then return what end
  heard = math.max(heard, tonumber(ARGV[2]))
  redis.call('zremrangebyscore', requests, 1, heard)
  redis.pcall('zadd', requests, -heard, 'heard', number, number .. ':' .. what)
  if redis.call('pttl', requests) < tonumber(ARGV[3]) then redis.call('pexpire', requests, ARGV[3]) end
  return what
end
`;
