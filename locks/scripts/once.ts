/** What scripts begin with whose requests may have their effect once only; see server/request-log.ts. */

/**
 * The last KEY is a sorted set of this client's requests: `<number>:<what it did>` by number, and `heard` with minus the
 * number up to which all answers have been heard. Members of heard requests are forgotten, and their copies refused.
 *
 * ARGV  1 number of the request, 0: it needs no memory · 2 up to which number all have been heard · 3 for how many
 *       milliseconds to remember
 *
 * `earlier()` gives what this request did when it came before, 'heard' when it is an old one's copy, else false.
 * `remember(what)` writes it down and gives it back. It never fails: a server without memory lets locks go all the same.
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
  redis.call('pexpire', requests, ARGV[3])
  return what
end
`;
