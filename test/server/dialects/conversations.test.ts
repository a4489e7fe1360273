/** Short conversations in each dialect, beside its real server: replies, replicated effects and events are the same. */
import { expect, test } from 'vitest';
import { dialectNames } from '../../../server/dialects/index.ts';
import { oracleOf } from '../../support/oracles.ts';
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

## bits
> SET b foobar
> BITCOUNT b 1
> BITCOUNT missing 1
> BITCOUNT missing x y
> BITPOS missing 1 x

## deadlines in the past
> SET k v
> EXPIRE k -1
> SET k v
> PEXPIREAT k 1
> SET k v
> GETEX k EXAT 1

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

## a move that waited
b> BLMOVE from to LEFT RIGHT 0
> RPUSH from a
`);

test.each(dialectNames.filter((name) => oracleOf(name) !== undefined))(
  '%s answers as its server (needs that server)',
  async (dialect) => {
    await using real = await startRedisServer({ ...RECORDABLE, program: oracleOf(dialect) ?? '' });
    const theirs = await RedisTarget.open(real.path);
    for (const section of SECTIONS) {
      const ours = await play(section, new OwnTarget({ dialect, strict: true }));
      expect(written(section, ours)).toBe(written(section, await play(section, theirs)));
    }
    theirs.close();
  },
);
