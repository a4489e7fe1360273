/** The scripts of sessions, whose locks live as long as the session and have no TTL of their own. */
import { defineScript } from './define.ts';

/**
 * Acquires a lock in a session. A session is one string with a TTL. A lock is a string without one: its value is the
 * session's key, a space, the number of the acquisition within the session, a dot, and a token. It is held while the
 * session exists and has not declared that the number is over. The declaration is the session's value: its key, a number,
 * and the smaller or equal numbers that are not over, as `,3,5,`. Every renewal repeats it, because a failover can lose
 * the release of a lock, which has no lease that would end it. A number that was declared over stays over, so a late
 * request declares nothing wrong.
 *
 * The key of another session is read from the lock's value, and gets the same prefix as our own session's key, in case
 * the client adds a prefix to its keys. Any other value is a lock of another kind, or data.
 *
 * KEYS: 1 the lock · 2 our session · 3 the abandoned tokens
 * ARGV: 1 the lock's value when it is acquired
 * Reply: null: held · -2: our session is over · -3: abandoned before it arrived · otherwise the remaining milliseconds
 * of the holder's session, or of a value that belongs to no session; -1 when it has no TTL
 */
export const sessionAcquireScript = defineScript(
  'session-acquire',
  `
local function isOver(lock, session)
  local number = string.match(lock, '^%S+ (%d+)%.')
  local upTo, open = string.match(session, '^%S+ (%d+) (%S+)$')
  if not number or not upTo or tonumber(number) > tonumber(upTo) then return false end
  return not string.find(open, ',' .. number .. ',', 1, true)
end
if redis.call('exists', KEYS[2]) == 0 then return -2 end
local holder = redis.call('get', KEYS[1])
if holder == ARGV[1] then return nil end
if holder then
  local session = string.match(holder, '^(lostlock_session:%S+) %S+$')
  if not session then return redis.call('pttl', KEYS[1]) end
  local prefix = string.sub(KEYS[2], 1, -#string.match(ARGV[1], '^%S+') - 1)
  local alive = redis.call('get', prefix .. session)
  if alive and not isOver(holder, alive) then return redis.call('pttl', prefix .. session) end
end
if redis.call('zscore', KEYS[3], ARGV[1]) then return -3 end
redis.call('set', KEYS[1], ARGV[1])
return nil
`,
);

/**
 * Ends a session together with all of its known locks.
 *
 * KEYS: 1 the session, then two for each lock: the lock and its channel
 * ARGV: the value of each lock
 * Reply: 1: the session was alive · 0: it had ended
 */
export const sessionCloseScript = defineScript(
  'session-close',
  `
local alive = redis.call('del', KEYS[1])
for k = 2, #KEYS, 2 do
  if redis.call('get', KEYS[k]) == ARGV[k / 2] then
    redis.call('del', KEYS[k])
    redis.call('publish', KEYS[k + 1], '0')
  end
end
return alive
`,
);
