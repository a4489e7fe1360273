/** Renews many holds of any kind in one script. */
import { defineScript } from './define.ts';

/**
 * Renews holds. Calls that can fail use pcall, so that a key of the wrong type does not keep the other holds from being
 * renewed.
 *
 * KEYS: the keys of all holds, one after another; of each hold, the key with the lease comes first. A string, hash or
 * session has its name; a read lock its name and one timeout key per hold of the owner; a permit the timeouts zset and
 * the permits string; a place in a queue the timeouts zset.
 * ARGV: four for each hold: kind, number of its keys, token, lease in milliseconds; the token of a session is its new
 * value, of which the first word is its key (see session.ts)
 * Reply: for each hold 1 when the token held it and it has at least that lease now, otherwise 0
 */
export const renewScript = defineScript(
  'renew',
  `
local function raise(key, lease)
  if redis.call('pttl', key) < lease then redis.call('pexpire', key, lease) end
end
local function now()
  local t = redis.call('time')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local results, first = {}, 1
for a = 1, #ARGV, 4 do
  local kind, count, token, lease = ARGV[a], tonumber(ARGV[a + 1]), ARGV[a + 2], tonumber(ARGV[a + 3])
  local key, held = KEYS[first], false
  if kind == 'string' then
    held = redis.pcall('get', key) == token
  elseif kind == 'hash' then
    held = redis.pcall('hexists', key, token) == 1
  elseif kind == 'session' then
    local value = redis.pcall('get', key)
    held = type(value) == 'string' and string.match(value, '^%S+') == string.match(token, '^%S+')
    if held and value ~= token then
      redis.pcall('set', key, token, 'px', math.max(redis.call('pttl', key), lease))
    end
  elseif kind == 'read' then
    held = redis.pcall('hexists', key, token) == 1
    for k = first + 1, first + count - 1 do
      held = held and redis.call('exists', KEYS[k]) == 1
    end
    if held then
      for k = first + 1, first + count - 1 do raise(KEYS[k], lease) end
    end
  else
    local score = redis.pcall('zscore', key, token)
    local moment = now()
    held = type(score) == 'string' and tonumber(score) > moment
    if held and tonumber(score) < moment + lease then redis.call('zadd', key, moment + lease, token) end
  end
  if held and kind ~= 'permit' and kind ~= 'place' then raise(key, lease) end
  results[#results + 1] = held and 1 or 0
  first = first + count
end
return results
`,
);
