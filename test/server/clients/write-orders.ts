/** The order of writes to connections within one event: situations recorded from redis-server and replayed on ours. */

/** A situation: the data, the blocked clients, and what the caller sends in one chunk. */
export interface WriteOrderCase {
  readonly name: string;
  readonly setup: readonly string[];
  /** What each named connection sends beforehand, in order. */
  readonly before: readonly (readonly [who: string, line: string])[];
  readonly act: readonly string[];
}

const EVENTS: WriteOrderCase['before'] = [['listener', 'PSUBSCRIBE *']];
const TRACKED: WriteOrderCase['before'] = [
  ['reader', 'HELLO 3'],
  ['reader', 'CLIENT TRACKING ON'],
  ['reader', 'GET k'],
  ['reader', 'LRANGE l 0 -1'],
];
const REPLICA: WriteOrderCase['before'] = [['replica', 'PSYNC ? -1']];
const WAITS: WriteOrderCase['before'] = [['blocked', 'BLPOP l 0']];

function situation(
  name: string,
  act: readonly string[],
  before: WriteOrderCase['before'] = [],
  setup: readonly string[] = [],
): WriteOrderCase {
  return { name, setup, before, act };
}

const SUBSCRIBED: WriteOrderCase['before'] = [
  ['first', 'SUBSCRIBE ch'],
  ['second', 'SUBSCRIBE ch'],
];
const WRITES_K = "EVAL \"return redis.call('set','k','x')\" 0";

/** Each write command that causes a keyspace event: the data before it, then the command. */
const WRITES = `
SET k v | SET k v EX 100 | SETNX k v | SETEX k 10 v | SET k a ; GETSET k v | SET k a ; SET k v GET | SET k a ; GETDEL k
SET k a ; GETEX k EX 10 | SET k a EX 10 ; GETEX k PERSIST | APPEND k v | SETRANGE k 1 a | SETBIT k 1 1 | INCR k | INCRBYFLOAT k 1.5
DECR k | MSET a 1 b 2 | MSETNX a 1 b 2 | SET k a ; DEL k | SET k a ; UNLINK k | SET k a ; EXPIRE k 10 | SET k a EX 10 ; PERSIST k
SET k a ; EXPIRE k 0 | SET k a ; PEXPIREAT k 1 | SET k a ; RENAME k j | SET k a ; RENAMENX k j | SET k a ; MOVE k 1
SET k a ; COPY k j | SET k a ; BITOP AND d k | BITFIELD k SET u8 0 1 | PFADD k a | PFADD k a ; PFMERGE d k
LPUSH l a | RPUSH l a | RPUSH l b ; LPUSHX l a | RPUSH l a ; LINSERT l BEFORE a b | RPUSH l a ; LSET l 0 z | RPUSH l a b ; LPOP l
RPUSH l a ; LPOP l | RPUSH l a b ; LPOP l 1 | RPUSH l a b ; LREM l 1 a | RPUSH l a b ; LTRIM l 1 1 | RPUSH l a b ; RPOPLPUSH l m
RPUSH l a b ; LMOVE l m LEFT LEFT | RPUSH l a b ; LMPOP 1 l LEFT | RPUSH l a b ; BLPOP l 0 | RPUSH l a b ; BRPOP l 0
RPUSH l a b ; BLMPOP 0 1 l LEFT | RPUSH l a b ; BLMOVE l m LEFT LEFT 0 | RPUSH l a b ; BRPOPLPUSH l m 0
RPUSH l b a ; SORT l ALPHA STORE m | SADD s a | SADD s a b ; SREM s a | SADD s a b ; SMOVE s t a | SADD s a b ; SPOP s
SADD s a b ; SPOP s 1 | SADD s a b ; SINTERSTORE d s | SADD s a ; SINTERSTORE s none | SADD s a b ; SUNIONSTORE d s
SADD s a ; SUNIONSTORE s none | SADD s a b ; SDIFFSTORE d s | HSET h f v | HSETNX h f v | HMSET h f v | HINCRBY h f 1
HINCRBYFLOAT h f 1.5 | HSET h f v g w ; HDEL h f | ZADD z 1 a | ZADD z INCR 1 a | ZINCRBY z 1 a | ZADD z 1 a 2 b ; ZREM z a
ZADD z 1 a 2 b ; ZREMRANGEBYSCORE z 1 1 | ZADD z 1 a 2 b ; ZREMRANGEBYRANK z 0 0 | ZADD z 1 a 2 b ; ZPOPMIN z
ZADD z 1 a 2 b ; ZPOPMAX z 1 | ZADD z 1 a 2 b ; ZMPOP 1 z MIN | ZADD z 1 a 2 b ; BZPOPMIN z 0 | ZADD z 1 a 2 b ; BZPOPMAX z 0
ZADD z 1 a 2 b ; BZMPOP 0 1 z MIN | ZADD z 1 a ; ZUNIONSTORE d 1 z | ZADD z 1 a ; ZINTERSTORE d 1 z | ZADD z 1 a ; ZDIFFSTORE d 1 z
ZADD z 1 a ; ZUNIONSTORE z 1 none | ZADD z 1 a ; ZRANGESTORE d z 0 -1 | ZADD z 1 a ; ZRANGESTORE z none 0 -1 | GEOADD g 1 1 a
GEOADD g 1 1 a ; GEOSEARCHSTORE d g FROMLONLAT 1 1 BYRADIUS 10 km | GEOADD g 1 1 a ; GEORADIUS g 1 1 10 km STORE d
XADD x 1-1 a b | XADD x 1-1 a b ; XDEL x 1-1 | XADD x 1-1 a b ; XTRIM x MAXLEN 0 | XGROUP CREATE x g $ MKSTREAM
XGROUP CREATE x g $ MKSTREAM ; XGROUP DESTROY x g | XGROUP CREATE x g $ MKSTREAM ; XGROUP SETID x g 0
XGROUP CREATE x g $ MKSTREAM ; XGROUP CREATECONSUMER x g c | XADD x 1-1 a b ; XSETID x 9-9
XADD x 1-1 a b ; XGROUP CREATE x g 0 ; XREADGROUP GROUP g c STREAMS x >
XADD x 1-1 a b ; XGROUP CREATE x g 0 ; XREADGROUP GROUP g c STREAMS x > ; XCLAIM x g d 0 1-1
XADD x 1-1 a b ; XGROUP CREATE x g 0 ; XREADGROUP GROUP g c STREAMS x > ; XAUTOCLAIM x g d 0 0`;

function writes(): WriteOrderCase[] {
  const rows = WRITES.trim().split(/\s*[|\n]\s*/);
  return rows.map((row) => {
    const lines = row.split(' ; ');
    return situation(`event: ${row}`, lines.slice(-1), EVENTS, lines.slice(0, -1));
  });
}

export const WRITE_ORDER_CASES: readonly WriteOrderCase[] = [
  situation('publish', ['PUBLISH ch x'], SUBSCRIBED),
  situation('publish twice in one chunk', ['PUBLISH ch x', 'PUBLISH ch y'], SUBSCRIBED),
  situation('something else before', ['PING', 'PUBLISH ch x'], SUBSCRIBED),
  situation('publish in a transaction', ['MULTI', 'PUBLISH ch x', 'EXEC'], SUBSCRIBED),
  situation(
    'publish in EXEC alone',
    ['EXEC'],
    [...SUBSCRIBED, ['caller', 'MULTI'], ['caller', 'PUBLISH ch x']],
  ),
  situation('publish in a script', ["EVAL \"return redis.call('publish','ch','x')\" 0"], SUBSCRIBED),
  situation('LPUSH serves BLPOP', ['LPUSH l a'], WAITS),
  situation('LPUSH serves two', ['LPUSH l a b'], [...WAITS, ['second', 'BLPOP l 0']]),
  situation('LPUSH serves, then PING', ['LPUSH l a', 'PING'], WAITS),
  situation('PING, then LPUSH serves', ['PING', 'LPUSH l a'], WAITS),
  situation('two LPUSH serve two', ['LPUSH l a', 'LPUSH m a'], [...WAITS, ['second', 'BLPOP m 0']]),
  situation(
    'XADD serves two',
    ['XADD x 1-1 a b'],
    [
      ['first', 'XREAD BLOCK 0 STREAMS x $'],
      ['second', 'XREAD BLOCK 0 STREAMS x $'],
    ],
  ),
  situation(
    'one that is served serves another',
    ['LPUSH l a'],
    [
      ['first', 'BLMOVE l m LEFT LEFT 0'],
      ['second', 'BLPOP m 0'],
    ],
  ),
  ...writes(),
  situation('event: two SETs in one chunk', ['SET k 1', 'SET j 1'], EVENTS),
  situation('event: SET in a script', [WRITES_K], EVENTS),
  situation('event: LPUSH in a script', ["EVAL \"return redis.call('lpush','k','x')\" 0"], EVENTS),
  situation('event: EXEC alone, with SET', ['EXEC'], [...EVENTS, ['caller', 'MULTI'], ['caller', 'SET k v']]),
  situation('event: LPUSH serves BLPOP', ['LPUSH l a'], [...WAITS, ...EVENTS]),
  ...['PING', 'SET k v', 'LPUSH l a', 'BLPOP l 0', WRITES_K].map((line) =>
    situation(`monitor: ${line}`, [line], [['monitor', 'MONITOR']]),
  ),
  situation('monitor: LPUSH serves BLPOP', ['LPUSH l a'], [...WAITS, ['monitor', 'MONITOR']]),
  ...['SET k v', 'DEL k', 'LPUSH l a', 'INCR k', 'EXPIRE k 10', 'FLUSHALL', WRITES_K].map((line) =>
    situation(`tracking: ${line}`, [line], TRACKED, ['SET k 1', 'RPUSH l x']),
  ),
  ...['SET k v', 'LPUSH l a'].map((line) =>
    situation(
      `broadcast: ${line}`,
      [line],
      [
        ['reader', 'HELLO 3'],
        ['reader', 'CLIENT TRACKING ON BCAST'],
      ],
    ),
  ),
  ...['GET k', 'SET k v', 'LPUSH l a', WRITES_K].map((line) =>
    situation(`replica: ${line}`, [line], REPLICA),
  ),
  situation('replica and event: SET k v', ['SET k v'], [...REPLICA, ...EVENTS]),
  situation('replica: LPUSH serves BLPOP', ['LPUSH l a'], [...WAITS, ...REPLICA]),
  situation(
    'everybody: SET k v',
    ['SET k v'],
    [...REPLICA, ...EVENTS, ['monitor', 'MONITOR'], ...TRACKED],
    ['SET k 1'],
  ),
];
