/** The arguments, history and deprecation of list, set and hash commands, in the notation of server/table/syntax.ts. */
import type { SyntaxTable } from '../../table/syntax.ts';

export const collectionsSyntax: SyntaxTable = {
  blmove: 'source#0 destination#1 wherefrom:(LEFT | RIGHT) whereto:(LEFT | RIGHT) timeout:double',
  blmpop: 'timeout:double numkeys:int key#0... where:(LEFT | RIGHT) [COUNT=count:int]',
  blpop: {
    words: 'key#0... timeout:double',
    history: ['6.0.0 The timeout may have decimals.'],
  },
  brpop: {
    words: 'key#0... timeout:double',
    history: ['6.0.0 The timeout may have decimals.'],
  },
  brpoplpush: {
    words: 'source#0 destination#1 timeout:double',
    history: ['6.0.0 The timeout may have decimals.'],
    deprecated: '6.2.0 `BLMOVE`, `RIGHT`, `LEFT`',
  },
  lindex: 'key#0 index:int',
  linsert: 'key#0 where:(BEFORE | AFTER) pivot element',
  llen: 'key#0',
  lmove: 'source#0 destination#1 wherefrom:(LEFT | RIGHT) whereto:(LEFT | RIGHT)',
  lmpop: 'numkeys:int key#0... where:(LEFT | RIGHT) [COUNT=count:int]',
  lpop: {
    words: 'key#0 [count:int@6.2.0]',
    history: ['6.2.0 Takes a count.'],
  },
  lpos: 'key#0 element [RANK=rank:int] [COUNT=num-matches:int] [MAXLEN=len:int]',
  lpush: {
    words: 'key#0 element...',
    history: ['2.4.0 Takes several elements.'],
  },
  lpushx: {
    words: 'key#0 element...',
    history: ['4.0.0 Takes several elements.'],
  },
  lrange: 'key#0 start:int stop:int',
  lrem: 'key#0 count:int element',
  lset: 'key#0 index:int element',
  ltrim: 'key#0 start:int stop:int',
  rpop: {
    words: 'key#0 [count:int@6.2.0]',
    history: ['6.2.0 Takes a count.'],
  },
  rpoplpush: {
    words: 'source#0 destination#1',
    deprecated: '6.2.0 `LMOVE`, `RIGHT`, `LEFT`',
  },
  rpush: {
    words: 'key#0 element...',
    history: ['2.4.0 Takes several elements.'],
  },
  rpushx: {
    words: 'key#0 element...',
    history: ['4.0.0 Takes several elements.'],
  },
  sadd: {
    words: 'key#0 member...',
    history: ['2.4.0 Takes several members.'],
  },
  scard: 'key#0',
  sdiff: 'key#0...',
  sdiffstore: 'destination#0 key#1...',
  sinter: 'key#0...',
  sintercard: 'numkeys:int key#0... [LIMIT=limit:int]',
  sinterstore: 'destination#0 key#1...',
  sismember: 'key#0 member',
  smembers: 'key#0',
  smismember: 'key#0 member...',
  smove: 'source#0 destination#1 member',
  spop: {
    words: 'key#0 [count:int@3.2.0]',
    history: ['3.2.0 Takes a count.'],
  },
  srandmember: {
    words: 'key#0 [count:int@2.6.0]',
    history: ['2.6.0 Takes a count.'],
  },
  srem: {
    words: 'key#0 member...',
    history: ['2.4.0 Takes several members.'],
  },
  sscan: 'key#0 cursor:int [MATCH=pattern:pattern] [COUNT=count:int]',
  sunion: 'key#0...',
  sunionstore: 'destination#0 key#1...',
  hdel: {
    words: 'key#0 field...',
    history: ['2.4.0 Takes several fields.'],
  },
  hexists: 'key#0 field',
  hexpire: 'key#0 seconds:int [condition:(NX | XX | GT | LT)] FIELDS=fields:{numfields:int field...}',
  hexpireat:
    'key#0 unix-time-seconds:time [condition:(NX | XX | GT | LT)] FIELDS=fields:{numfields:int field...}',
  hexpiretime: 'key#0 FIELDS=fields:{numfields:int field...}',
  hget: 'key#0 field',
  hgetall: 'key#0',
  hgetdel: 'key#0 FIELDS=fields:{numfields:int field...}',
  hgetex:
    'key#0 [expiration:(EX=seconds:int | PX=milliseconds:int | EXAT=unix-time-seconds:time | PXAT=unix-time-milliseconds:time | PERSIST)] FIELDS=fields:{numfields:int field...}',
  hincrby: 'key#0 field increment:int',
  hincrbyfloat: 'key#0 field increment:double',
  hkeys: 'key#0',
  hlen: 'key#0',
  hmget: 'key#0 field...',
  hmset: {
    words: 'key#0 field_value:{field value}...',
    deprecated: '4.0.0 `HSET`',
  },
  hpersist: 'key#0 FIELDS=fields:{numfields:int field...}',
  hpexpire: 'key#0 milliseconds:int [condition:(NX | XX | GT | LT)] FIELDS=fields:{numfields:int field...}',
  hpexpireat:
    'key#0 unix-time-milliseconds:time [condition:(NX | XX | GT | LT)] FIELDS=fields:{numfields:int field...}',
  hpexpiretime: 'key#0 FIELDS=fields:{numfields:int field...}',
  hpttl: 'key#0 FIELDS=fields:{numfields:int field...}',
  hrandfield: 'key#0 [options:{count:int [WITHVALUES]}]',
  hscan: 'key#0 cursor:int [MATCH=pattern:pattern] [COUNT=count:int]',
  hset: {
    words: 'key#0 field_value:{field value}...',
    history: ['4.0.0 Takes several fields with their values.'],
  },
  hsetex:
    'key#0 [condition:(FNX | FXX)] [expiration:(EX=seconds:int | PX=milliseconds:int | EXAT=unix-time-seconds:time | PXAT=unix-time-milliseconds:time | KEEPTTL)] FIELDS=fields:{numfields:int data:{field value}...}',
  hsetnx: 'key#0 field value',
  hstrlen: 'key#0 field',
  httl: 'key#0 FIELDS=fields:{numfields:int field...}',
  hvals: 'key#0',
};
