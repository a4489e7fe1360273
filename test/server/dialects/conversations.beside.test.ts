/** Short conversations in each dialect, beside its real server: replies, replicated effects and events are the same. */
import { expect } from 'vitest';
import { dialectNames } from '../../../server/dialects/index.ts';
import { testBeside } from '../../support/beside/each.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { OwnTarget } from '../../transcripts/own.ts';
import { RECORDABLE, RedisTarget } from '../../transcripts/redis.ts';
import { parseTranscript, play, written } from '../../transcripts/transcript.ts';

/** What the servers do differently, and what each member of `Dialect` decides. */
const SECTIONS = parseTranscript(String.raw`
## doubles
> ZADD z 0.1 a 1e-7 b 1e17 c 3e20 d
> ZRANGE z 0 -1 WITHSCORES
> GEOADD g 13.361389 38.115556 p
> GEOPOS g p
> EVAL "return redis.call('set', 'k', 0.1)" 0
> GET k
> ZRANGEBYSCORE z " 0" 1
> ZRANGEBYSCORE z 0x0 1

## hashes
> HSET h f 1
> HINCRBYFLOAT h f 1.5
> HSCAN missing x
> HSCAN missing 1x

## sets and lists
> SADD s a b
> OBJECT ENCODING s
> RPUSH l a
> OBJECT ENCODING l
> SCAN 0 TYPE nothing
sorted> SPOP s 2

## dumps
> SADD one a
> DUMP one
> SADD numbers 1
> DUMP numbers
> RPUSH list a b
> DUMP list
> ZADD scores 1 a
> DUMP scores

> SET k v
> CONFIG SET lazyfree-lazy-server-del yes
> RESTORE k 8 "\x00\x05hello\x0a\x00cr\xdfve4 \x0a" ABSTTL REPLACE
> CONFIG SET lazyfree-lazy-server-del no
> SET k v
> RESTORE k 8 "\x00\x05hello\x0a\x00cr\xdfve4 \x0a" ABSTTL REPLACE

## bits
> SET b foobar
> BITCOUNT b 1
> BITCOUNT missing 1
> BITCOUNT missing x y
> BITPOS missing 1 x

## counts of elements
> PFADD h a b
> PFDEBUG SIMD OFF
> PFDEBUG simd on
> PFCOUNT h

## deadlines in the past
> SET k v
> EXPIRE k -1
> SET k v
> PEXPIREAT k 1
> SET k v
> GETEX k EXAT 1

## Valkey: a string with a deadline in the past
> SET k v PXAT 1
> SET k v
> SET k w GET PXAT 1
> GET k

## scripts
> EVALSHA ffffffffffffffffffffffffffffffffffffffff 0
> EVAL "return redis.pcall('nothing')" 0
> EVAL "return redis.pcall('get')" 0

## users
> ACL SETUSER u on nopass +get ~k
> ACL GETUSER u
> ACL DRYRUN u SET k v
> ACL DRYRUN u GET other
> ACL LOAD
> READONLY

## streams
> XREAD STREAMS a b 0
> XADD x 1-1 f v
> XGROUP CREATE x g 0
> XREADGROUP GROUP g c COUNT 1 STREAMS x >
> XREADGROUP GROUP g idle COUNT 1 STREAMS x >

## far timeouts
> BLPOP a 9223372036854775807
> WAIT 0 9223372036854775807
> XREAD BLOCK 9223372036854775807 STREAMS a 0

## names with a NUL
> CLIENT SETINFO LIB-VER "a\x00 b"
> CLIENT SETNAME "a\x00 b"
> CLIENT GETNAME
> CLIENT SETINFO LIB-VER "a b"

## sets of many arguments
> CONFIG SET set-max-intset-entries 2
> SADD a 1 2
> OBJECT ENCODING a
> SADD a 1 2 1
> OBJECT ENCODING a
> SADD b 1 1 1
> OBJECT ENCODING b
> CONFIG SET set-max-intset-entries 0
> SADD c 1
> OBJECT ENCODING c
> SMOVE c d 1
> OBJECT ENCODING d
> CONFIG SET set-max-intset-entries 512

## the last entry
> XREAD STREAMS x +
> XADD x 1-1 f v
> XADD x 1-2 f v
> XREAD COUNT 2 STREAMS x +
> XDEL x 1-2
> XREAD STREAMS x +
> XGROUP CREATE x g 0
> XREADGROUP GROUP g c STREAMS x +
b> XREAD BLOCK 0 STREAMS y +
> XADD y 1-1 f v

b> XREAD STREAMS z +
> XGROUP CREATE z g 0 MKSTREAM
> XREAD STREAMS z +

## an id below a deleted one
> XADD x 5-0 f v
> XDEL x 5-0
> XSETID x 4
> XSETID x 5

## the slowest group
> XADD x 9-9 f v
> XGROUP CREATE x h 5-0
> XDELEX x ACKED IDS 1 8-8
> XGROUP CREATE x g 7-0
> XGROUP SETID x g 1-0
> XGROUP DESTROY x g
> XDELEX x ACKED IDS 3 1-5 4-5 5-5

## an approximate trim that removes nothing
> XADD x 1-1 f v
> XADD x 1-2 f v
> XDEL x 1-1
> XADD x MINID ~ 1-2 1-3 f v

## what a group has read
> XGROUP CREATE x g 0 MKSTREAM ENTRIESREAD 9
> XGROUP CREATE x h 0 ENTRIESREAD 9
> XINFO GROUPS x
> XADD x 1-1 f v
> XGROUP SETID x g 0 ENTRIESREAD 3
> XINFO GROUPS x
> XADD x 2-1 f v
> XADD x 2-2 f v
> XADD x 2-3 f v
> XDEL x 1-1
> XINFO GROUPS x
> XGROUP SETID x g 1-1 ENTRIESREAD 0
> XDEL x 2-2
> XINFO GROUPS x
> XDEL x 2-1
> XGROUP SETID x g 2-1 ENTRIESREAD 2
> XINFO GROUPS x
> XREADGROUP GROUP g c STREAMS x >
> XINFO GROUPS x
> XTRIM x MAXLEN 0
> XINFO GROUPS x

## when a consumer was active
> XGROUP CREATE x g 0 MKSTREAM
> XADD x 1-1 f v
> XREADGROUP GROUP g c NOACK STREAMS x >
> XINFO STREAM x FULL

## script errors
> EVAL "#!other\nreturn 1" 0
> EVAL "#!LUA\nreturn 1" 0
> EVAL "#!other foo\nreturn 1" 0
> EVAL "return redis.call()" 0
> EVAL "return redis.call({})" 0
> EVAL "return redis.log(9, 'x')" 0
> EVAL "return redis.set_repl()" 0
> EVAL "return redis.setresp()" 0
> EVAL "return redis.acl_check_cmd('nothing')" 0
> FUNCTION LOAD "#!lua name=a\nlocal r = redis.register_function r('f', function() end) r('f', function() end) r('a b', function() end)"
> FUNCTION LOAD "#!lua name=a\nredis.register_function('a b', function() end) local x = y"
> FUNCTION LOAD "#!lua name=a\nredis.register_function('a b', function() end)"
> FUNCTION LOAD "#!lua name=a\nredis.register_function('f')"

## acknowledging what is missing
b> PSUBSCRIBE __keyevent@0__:keymiss
> CONFIG SET notify-keyspace-events AKEm
> XACKDEL x g FOO 1 1-1
> XDELEX x FOO 1 1-1
> CONFIG SET notify-keyspace-events AKE

## short strings
> SET a ${'v'.repeat(44)}
> OBJECT ENCODING a
> SET a ${'v'.repeat(40)}
> OBJECT ENCODING a
> EXPIRE a 1000
> OBJECT ENCODING a
> PERSIST a
> OBJECT ENCODING a
> SET a ${'v'.repeat(32)} EX 1000
> OBJECT ENCODING a
> SET a ${'v'.repeat(40)}
> OBJECT ENCODING a
> SET ${'k'.repeat(39)} v
> OBJECT ENCODING ${'k'.repeat(39)}
> RENAME ${'k'.repeat(39)} ${'k'.repeat(41)}
> OBJECT ENCODING ${'k'.repeat(41)}
> RENAME ${'k'.repeat(41)} b
> OBJECT ENCODING b
> INCRBYFLOAT ${'k'.repeat(41)} 1
> OBJECT ENCODING ${'k'.repeat(41)}
> SET ${'k'.repeat(32)} 12345678
> EXPIRE ${'k'.repeat(32)} 1000
> OBJECT ENCODING ${'k'.repeat(32)}
> SET ${'k'.repeat(32)} vvvvvvvv
> EXPIRE ${'k'.repeat(32)} 1000
> OBJECT ENCODING ${'k'.repeat(32)}

## what a script has read
@resp 3
b> CLIENT TRACKING ON
b> EVAL "return redis.call('get', 'k')" 1 other
> SET other v
> SET k v

## a move that waited
b> BLMOVE from to LEFT RIGHT 0
> RPUSH from a
`);

testBeside(dialectNames, '%s answers as its server', async (dialect, program) => {
  await using real = await startRedisServer({ ...RECORDABLE, program });
  const theirs = await RedisTarget.open(real.path);
  for (const section of SECTIONS) {
    // Where the others store what has expired, they remove it at any time.
    if (section.name.startsWith('Valkey: ') && !dialect.startsWith('valkey')) continue;
    const ours = await play(section, new OwnTarget({ dialect, strict: true }));
    expect(written(section, ours)).toBe(written(section, await play(section, theirs)));
  }
  theirs.close();
});
