/** Mutants of the scripts: one edit each, that the probe of the script must find. */

export interface Mutant {
  readonly script: string;
  readonly probe: string;
  readonly find: string;
  readonly replace: string;
}

const edits = (probe: string, script: string, list: readonly (readonly [string, string])[]): Mutant[] =>
  list.map(([find, replace]) => ({ script, probe, find, replace }));

const drop = (text: string): readonly [string, string] => [text, ''];

export const mutants: readonly Mutant[] = [
  ...edits('simple', 'simple-acquire', [
    ['if holder == ARGV[1]', 'if holder'],
    ["pttl', KEYS[1]) < tonumber", "pttl', KEYS[1]) > tonumber"],
    ["'set', KEYS[1], ARGV[1], 'px', ARGV[2]", "'set', KEYS[1], ARGV[1]"],
    ["if redis.call('exists', KEYS[2]) == 1 then return -3 end", ''],
    ["if holder then return redis.call('pttl', KEYS[1]) end", ''],
  ]),
  ...edits('simple', 'simple-release', [
    ["if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end", ''],
    drop("redis.call(ARGV[2], KEYS[2], '0')"),
    drop("redis.call('del', KEYS[1])"),
    ["if ARGV[3] ~= '0'", "if ARGV[3] == '0'"],
  ]),
  ...edits('reentrant', 'reentrant-acquire', [
    ["redis.call('hset', KEYS[1], ARGV[2], ARGV[3])", "redis.call('hincrby', KEYS[1], ARGV[2], 1)"],
    ["pttl', KEYS[1]) < tonumber", "pttl', KEYS[1]) > tonumber"],
    drop("if ARGV[3] ~= '1' then return -2 end"),
    drop("if redis.call('exists', KEYS[1]) == 1 then return redis.call('pttl', KEYS[1]) end"),
    drop("if redis.call('exists', KEYS[2]) == 1 then return -3 end"),
    ["'1')\nredis.call('pexpire', KEYS[1], ARGV[1])", "'1')"],
  ]),
  ...edits('reentrant', 'reentrant-release', [
    drop('if did then return tonumber(did) or -1 end'),
    drop("if redis.call('hexists', KEYS[1], ARGV[5]) == 0 then return remember(-1) end"),
    ['== 0 then return remember(-1) end', '== 0 then return -1 end'],
    ["if ARGV[6] ~= '0'", "if ARGV[6] == 'never'"],
    ['return remember(0)', 'return 0'],
    ['return remember(1)', 'return 1'],
    drop("redis.call(ARGV[7], KEYS[2], '0')"),
    ["pttl', KEYS[1]) < tonumber", "pttl', KEYS[1]) > tonumber"],
    ["if ARGV[8] ~= '0'", "if ARGV[8] == '0'"],
    drop("if number == '0' then return what end"),
    drop("if number == '0' then return false end"),
  ]),
  ...edits('fenced', 'fenced-acquire', [
    ["{tonumber(redis.call('get', KEYS[3]) or 0), -1}", "{redis.call('incr', KEYS[3]), -1}"],
    ["redis.call('incr', KEYS[3])", "tonumber(redis.call('get', KEYS[3]) or 0)"],
    ['if fence < floor then', 'if true then'],
    ["redis.call('set', KEYS[3], string.format('%.0f', fence))", ''],
    ["if ARGV[4] == 'clock' then", 'if true then'],
    drop("if redis.call('exists', KEYS[2]) == 1 then return {-1, -3} end"),
  ]),
  ...edits('fair', 'fair-acquire', [
    ['tonumber(score) <= moment', 'false'],
    ['tonumber(seen) <= moment', 'false'],
    ['not score or ', 'score and '],
    ['if free and (not waiter or waiter == ARGV[2])', 'if free'],
    ["redis.call('zincrby', KEYS[3], -patience, other)", ''],
    ["if ARGV[5] ~= '0' then", 'if true then'],
    ['math.min(before, most)', 'before'],
    ['math.min(before, most) + patience', 'math.min(before, most)'],
    ["redis.call('zadd', KEYS[4], moment + tonumber(ARGV[5]), ARGV[2])", ''],
    ['if left < 0 or due < left then left = due end', ''],
    ["redis.call('zadd', KEYS[3], moment + patience, ARGV[2])", ''],
    ["redis.call('rpush', KEYS[2], ARGV[2])", "redis.call('lpush', KEYS[2], ARGV[2])"],
    ['  drop(ARGV[2])\n', ''],
  ]),
  ...edits('fair', 'fair-release', [
    ["redis.call('del', KEYS[1])\ntell()", "redis.call('del', KEYS[1])"],
    ["if redis.call('exists', KEYS[1]) == 0 then tell() end", ''],
    ["KEYS[6] .. ':' .. waiter", 'KEYS[6]'],
    drop('if did then return tonumber(did) or -1 end'),
    ["if ARGV[6] ~= '0'", "if ARGV[6] == 'never'"],
  ]),
  ...edits('fair', 'fair-leave', [
    ['place + 1, -1', '0, -1'],
    ['if place == 0 and', 'if'],
    ["and redis.call('exists', KEYS[1]) == 0 then", 'then'],
    ['-tonumber(ARGV[2])', '0'],
    ['drop(ARGV[1])', ''],
  ]),
  ...edits('queue', 'queue-visit', [
    ["if redis.call('exists', KEYS[4]) == 1 then return {-1, -3} end", ''],
    ['if due > moment then', 'if due > 0 then'],
    ["if ARGV[3] ~= '0' then", 'if true then'],
    ["redis.call('zadd', KEYS[2], moment + tonumber(ARGV[2]), ARGV[1])", ''],
    ["redis.call('zrem', KEYS[2], id)", ''],
    ['behind(before - 1)', 'behind(0)'],
  ]),
  ...edits('queue', 'queue-leave', [
    ['behind(place)', 'behind(0)'],
    ["redis.call('zrem', KEYS[2], ARGV[1])", ''],
    ['return due > moment and 1 or 0', 'return 1'],
    ["if ARGV[3] ~= '0'", "if ARGV[3] == '0'"],
  ]),
  ...edits('session', 'session-acquire', [
    drop("if redis.call('exists', KEYS[2]) == 0 then return -2 end"),
    ['if left ~= -2 then return left end', ''],
    ['^(.*) [^ ]*$', '^(.-) .*$'],
    drop("if redis.call('exists', KEYS[3]) == 1 then return -3 end"),
  ]),
  ...edits('session', 'session-close', [
    ["if redis.call('get', KEYS[k]) == ARGV[k / 2 + 1]", 'if true'],
    drop("redis.call('del', KEYS[k])"),
    ["redis.call(ARGV[1], KEYS[k + 1], '0')", ''],
  ]),
  ...edits('readWrite', 'read-acquire', [
    ["mode == 'write' and", 'mode and'],
    ["and redis.call('hexists', KEYS[1], ARGV[4]) == 0 then", 'then'],
    ["if not mode and redis.call('exists', KEYS[1]) == 1 then return redis.call('pttl', KEYS[1]) end", ''],
    ['raise(KEYS[1], ARGV[1])', "redis.call('pexpire', KEYS[1], ARGV[1])"],
    ["redis.call('set', KEYS[3], '1', 'px', ARGV[1])", "redis.call('set', KEYS[3], '1')"],
    ["if ARGV[3] ~= '1' and not own then return -2 end", ''],
  ]),
  ...edits('readWrite', 'read-release', [
    ["if redis.call('hget', KEYS[1], 'mode') == 'write' then return remember(0) end", ''],
    ["for k = 5, #KEYS - 1 do redis.call('del', KEYS[k]) end", ''],
    ["redis.call('pexpire', KEYS[1], longest)", ''],
    ['if longest > 0 then', 'if true then'],
    ["redis.call(ARGV[6], KEYS[2], '0')", ''],
    drop('if did then return tonumber(did) or -1 end'),
    drop("if redis.call('hexists', KEYS[1], ARGV[4]) == 0 then return remember(-1) end"),
    ['for n = count, 1, -1 do', 'for n = 1, 0 do'],
  ]),
  ...edits('readWrite', 'write-acquire', [
    ["if redis.call('exists', KEYS[1]) == 1 then return redis.call('pttl', KEYS[1]) end", ''],
    ["if ARGV[3] ~= '1' then return -2 end", ''],
    ["'mode', 'write'", "'mode', 'read'"],
    ["'1')\nredis.call('pexpire', KEYS[1], ARGV[1])", "'1')"],
  ]),
  ...edits('readWrite', 'write-release', [
    ["redis.call('hset', KEYS[1], 'mode', 'read')", ''],
    ["if redis.call('hlen', KEYS[1]) > 1 then", 'if true then'],
    ["redis.call(ARGV[7], KEYS[2], '1')", ''],
    ["if redis.call('hexists', KEYS[1], ARGV[5]) == 0 then return remember(-1) end", ''],
    drop('if did then return tonumber(did) or -1 end'),
  ]),
  ...edits('semaphore', 'semaphore-acquire', [
    ["if did == 'held' then return nil end", ''],
    ['if did then return -3 end', ''],
    ['< tonumber(ARGV[4])', '< 0'],
    ["  remember('void')\n", ''],
    ["remember('held')\nreturn nil", 'return nil'],
    ["and 'heard'", 'and false'],
    ['heard = math.max(heard, tonumber(ARGV[2]))', 'heard = tonumber(ARGV[2])'],
    ["redis.call('zremrangebyscore', requests, 1, heard)", ''],
    ["redis.call('pexpire', requests, ARGV[3])", ''],
    ["-heard, 'heard', number", 'number'],
  ]),
  ...edits('semaphore', 'semaphore-undo', [
    ["if did ~= 'held' then return 0 end", ''],
    ["remember('void')\n", ''],
    ["redis.call('zremrangebyscore', requests, number, number)", ''],
    ["redis.call('incrby', KEYS[1], ARGV[4])", ''],
    ['redis.call(ARGV[5], KEYS[2], ARGV[4])', ''],
  ]),
  ...edits('semaphore', 'semaphore-release', [
    ['if earlier() then return 1 end', ''],
    ["remember('given')", ''],
    ["redis.call('incrby', KEYS[1], ARGV[4])", ''],
    ['redis.call(ARGV[5], KEYS[2], ARGV[4])', ''],
  ]),
  ...edits('semaphore', 'semaphore-set', [
    ["if redis.call('exists', KEYS[1]) == 1 then return 0 end", ''],
    ['redis.call(ARGV[2], KEYS[2], ARGV[1])', ''],
  ]),
  ...edits('permits', 'permit-acquire', [
    ['if tonumber(own) < until_ then', 'if true then'],
    ['if own then', 'if false then'],
    ["if redis.call('exists', KEYS[4]) == 1 then return -3 end", ''],
    ['if left >= 1 then', 'if left >= 0 then'],
    ["redis.call('decr', KEYS[1])", ''],
    ['or tonumber(next_[2]) >= 922337203685477', ''],
    ["if left > 0 then redis.call('set', KEYS[1], left) end", ''],
  ]),
  ...edits('permits', 'permit-release', [
    ["if redis.call('zrem', KEYS[2], ARGV[2]) == 0 then return 0 end", ''],
    ['give(1)\nreturn 1', 'return 1'],
    ['give(#expired)', ''],
    ["if ARGV[3] ~= '0'", "if ARGV[3] == '0'"],
  ]),
  ...edits('permits', 'permit-count', [
    ["redis.call('zrem', KEYS[2], unpack(expired))", ''],
    ['give(#expired)', 'give(1)'],
    ['redis.call(ARGV[1], KEYS[3], count)', ''],
  ]),
  ...edits('latch', 'latch-set', [
    ["if redis.call('exists', KEYS[1]) == 1 then return 0 end", ''],
    ["redis.call(ARGV[2], KEYS[2], '1')", ''],
  ]),
  ...edits('latch', 'latch-count-down', [
    ['if did then return tonumber(did) or 0 end', ''],
    ["if redis.call('exists', KEYS[1]) == 0 then return remember(0) end", ''],
    ['return remember(0)', 'return 0'],
    ['if left <= 0 then', 'if left <= 1 then'],
    ['if left <= 0 then', 'if left == 0 then'],
    ["redis.call(ARGV[4], KEYS[2], '0')", ''],
    ['return remember(left)', 'return left'],
  ]),
  ...edits('segmented', 'segment-take', [
    ["if redis.call('get', KEYS[1]) ~= ARGV[4] then return -1 end", ''],
    ['if did then return tonumber(did) or -1 end', ''],
    ['math.min(tonumber', 'math.max(tonumber'],
    ['return remember(units)', 'return units'],
  ]),
  ...edits('segmented', 'segment-put', [
    ["if earlier() then return tonumber(redis.call('get', KEYS[1]) or 0) end", ''],
    ["remember('put')", ''],
  ]),
  ...edits('renew', 'renew', [
    ["if redis.call('pttl', key) < lease then", 'if true then'],
    [
      "redis.pcall('get', key) == token\n  elseif kind == 'hash'",
      "redis.pcall('get', key)\n  elseif kind == 'hash'",
    ],
    [
      "redis.pcall('hexists', key, token) == 1\n  elseif kind == 'session'",
      "true\n  elseif kind == 'session'",
    ],
    ["held and redis.call('exists', KEYS[k]) == 1", 'held'],
    ['for k = first + 1, first + count - 1 do raise(KEYS[k], lease) end', ''],
    ['and tonumber(score) > moment', ''],
    ['if held and tonumber(score) < moment + lease', 'if held'],
    ["kind ~= 'permit' and kind ~= 'place'", 'true'],
    ['first = first + count', 'first = first + 1'],
    ["redis.pcall('get', key)", "redis.call('get', key)"],
    ["type(score) == 'string'", 'score'],
  ]),
];
