/** Defects of lock scripts and of a small lock library, one edit each, that an exploration has to find without a hint. */

/** An edit. */
export interface Mutant {
  /** The code that is explored with it. */
  readonly subject: 'simple' | 'reentrant' | 'fenced' | 'readers' | 'lock' | 'semaphore' | 'sharing';
  /** The script, or the habit of the sample library. */
  readonly where: string;
  readonly find: string;
  readonly replace: string;
  /** Why it cannot be found, if it cannot. */
  readonly harmless?: string;
}

function edits(subject: Mutant['subject'], where: string, list: readonly (readonly string[])[]): Mutant[] {
  return list.map(([find = '', replace = '', harmless]) => ({
    ...{ subject, where, find, replace },
    ...(harmless !== undefined && { harmless }),
  }));
}

const LATE = 'the next client waits longer, and gets the lock: no promise says how long a waiter waits';
const TOO_LATE = 'a client whose lease is over neither asks for another nor believes a late reply';
/** Texts that several edits replace. */
const [DEL, GRANTED] = ["redis.call('del', KEYS[1])", "'px', ARGV[2]) then return nil"] as const;
const NEVER_FREED = 'the lock is free again when its lease ends, which is what is promised';

/** Defects of our own scripts. */
export const ownMutants: readonly Mutant[] = [
  ...edits('simple', 'simple-acquire', [
    ["'nx', 'px', ARGV[2]", "'nx'"],
    ["'nx', ", ''],
    ["if not redis.call('zscore', KEYS[2], holder) then return left end", ''],
    ["if redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', ARGV[2]) then return nil end", ''],
    [GRANTED, "'px', math.floor(ARGV[2] / 4)) then return nil"],
    [GRANTED, "'px', ARGV[2] * 10) then return nil", LATE],
    ['if holder == ARGV[1] then', 'if holder then'],
  ]),
  ...edits('simple', 'simple-release', [
    ["if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end", ''],
    ['~= ARGV[1] then return 0 end', '== ARGV[1] then return 0 end'],
    [DEL, "redis.call('persist', KEYS[1])"],
    [DEL, '', NEVER_FREED],
    [DEL, "redis.call('pexpire', KEYS[1], 100000)"],
  ]),
  ...edits('reentrant', 'reentrant-acquire', [
    ["redis.call('exists', KEYS[1], KEYS[2]) == 0", 'true'],
    ["'exists', KEYS[1], KEYS[2]", "'exists', KEYS[2]"],
    ["'1')\n  redis.call('pexpire', KEYS[1], ARGV[1])", "'1')"],
    ["redis.call('hexists', KEYS[1], ARGV[2]) == 1", 'true'],
    [
      "'1')\n  redis.call('pexpire', KEYS[1], ARGV[1])",
      "'1')\n  redis.call('pexpire', KEYS[1], math.floor(ARGV[1] / 4))",
    ],
  ]),
  ...edits('reentrant', 'reentrant-release', [
    ["if redis.call('hexists', KEYS[1], ARGV[5]) == 0 then return remember(-1) end", ''],
    ["if ARGV[6] ~= '0' then", 'if false then'],
  ]),
  ...edits('reentrant', 'reentrant-free', [
    ["if redis.call('hdel', KEYS[1], ARGV[1]) == 0 then return -1 end", "redis.call('del', KEYS[1])"],
  ]),
  ...edits('fenced', 'fenced-acquire', [
    ["redis.call('incr', KEYS[3])", "tonumber(redis.call('get', KEYS[3]) or 0)"],
    ["redis.call('incr', KEYS[3])", "redis.call('decr', KEYS[3])"],
    ["if redis.call('exists', KEYS[1]) == 1 then return {-1, redis.call('pttl', KEYS[1])} end", ''],
    [
      "redis.call('hset', KEYS[1], ARGV[2], '1')\nredis.call('pexpire', KEYS[1], ARGV[1])",
      "redis.call('hset', KEYS[1], ARGV[2], '1')",
    ],
  ]),
  ...edits('readers', 'read-acquire', [
    [
      "if mode == 'write' and redis.call('hexists', KEYS[1], ARGV[4]) == 0 then return redis.call('pttl', KEYS[1]) end",
      '',
    ],
  ]),
];

/** Defects of the sample library. */
export const sampleMutants: readonly Mutant[] = [
  ...edits('lock', 'acquire', [
    ["'NX', ", ''],
    [", 'PX', ARGV[2]", ''],
    ["'PX', ARGV[2]", "'EX', ARGV[2]"],
    ["'PX', ARGV[2]", "'PX', math.floor(ARGV[2] / 2)"],
    ['return false', 'return 1'],
    ["return redis.call('incr', KEYS[2])", 'return 1'],
    ["redis.call('incr', KEYS[2])", "redis.call('decr', KEYS[2])"],
    ["if redis.call('get', KEYS[1]) == ARGV[1]", "if redis.call('get', KEYS[1])"],
    [
      "redis.call('get', KEYS[1]) == ARGV[1]",
      'false',
      'a lost reply costs the lease, after which the lock is free',
    ],
    [
      "redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])",
      "redis.call('setnx', KEYS[1], ARGV[1]) == 1",
    ],
  ]),
  ...edits('lock', 'release', [
    ["redis.call('get', KEYS[1]) == ARGV[1]", 'true'],
    ['== ARGV[1]', '~= ARGV[1]'],
    [DEL, "redis.call('persist', KEYS[1])"],
    [DEL, '0', NEVER_FREED],
  ]),
  ...edits('lock', 'extend', [
    ["redis.call('get', KEYS[1]) == ARGV[1]", 'true', TOO_LATE],
    ["redis.call('pexpire', KEYS[1], ARGV[2])", '1'],
    ["redis.call('pexpire', KEYS[1], ARGV[2])", "redis.call('persist', KEYS[1])"],
    ["redis.call('pexpire', KEYS[1], ARGV[2])", "redis.call('pexpire', KEYS[1], math.floor(ARGV[2] / 3))"],
    ["redis.call('pexpire', KEYS[1], ARGV[2])", "redis.call('pexpire', KEYS[1], ARGV[2] * 9)", LATE],
    ["redis.call('pexpire', KEYS[1], ARGV[2])", "redis.call('expire', KEYS[1], ARGV[2])"],
    ['return 0', 'return 1', TOO_LATE],
  ]),
  ...edits('semaphore', 'enter', [
    ["redis.call('zcard', KEYS[1]) < tonumber(ARGV[3])", "redis.call('zcard', KEYS[1]) <= tonumber(ARGV[3])"],
    ["redis.call('zcard', KEYS[1]) < tonumber(ARGV[3])", 'true'],
    ["redis.call('zremrangebyscore', KEYS[1], '-inf', now)", ''],
    [
      "redis.call('zremrangebyscore', KEYS[1], '-inf', now)",
      "redis.call('zremrangebyscore', KEYS[1], '-inf', '+inf')",
    ],
    ['now + ARGV[2]', 'now + math.floor(ARGV[2] / 3)'],
    ['now + ARGV[2]', 'now'],
    ['now + ARGV[2]', 'now * 2'],
    ["'zadd', KEYS[1], now + ARGV[2], ARGV[1]", "'zadd', KEYS[1], now + ARGV[2], 'permit'"],
    ['return 0', 'return 1'],
    ['t[1] * 1000 + math.floor(t[2] / 1000)', 't[1] * 1000'],
    ['t[1] * 1000 + math.floor(t[2] / 1000)', 't[1] * 1000 * 1000 + t[2]'],
  ]),
  ...edits('sharing', 'read', [
    ["if redis.call('exists', KEYS[2]) == 1 then return 0 end", ''],
    ['+ ARGV[2]', ''],
    ["'zadd', KEYS[1]", "'zadd', KEYS[2] .. ':r'"],
    ['* 1000', '* 100'],
    ['+ ARGV[2]', '+ ARGV[2] * 100'],
  ]),
  ...edits('sharing', 'write', [
    ["if redis.call('zcard', KEYS[1]) > 0 then return 0 end", ''],
    ['> 0 then', '> 1 then'],
    ["'NX', ", ''],
    [", 'PX', ARGV[2]", ''],
    ['== ARGV[1] and 1 or 0', '~= ARGV[1] and 1 or 0'],
    [
      "redis.call('zremrangebyscore', KEYS[1], '-inf', t[1] * 1000 + math.floor(t[2] / 1000))",
      "redis.call('del', KEYS[1])",
    ],
  ]),
  ...edits('lock', 'habits', [
    ['margin', '-600'],
    ['countsFromRequest', ''],
    ['ownToken', ''],
    ['checks', ''],
  ]),
];
