/** Requests about vector sets beside the real servers: replies, errors, replicated effects, events, and what COMMAND says. */
import { expect } from 'vitest';
import { Beside, labelled } from '../../../support/beside/beside.ts';
import { testBeside } from '../../../support/beside/each.ts';
import { startRedisServer } from '../../../support/redis-server.ts';
import { OwnTarget } from '../../../transcripts/own.ts';
import { RECORDABLE, RedisTarget } from '../../../transcripts/redis.ts';
import { parseTranscript, play, written } from '../../../transcripts/transcript.ts';
import { vectorDialects } from './vectors.ts';

/** Compared with their effects, events, and what other clients hear. */
const CONVERSATIONS = parseTranscript(`
## the key
> VADD k VALUES 1 1 a
> VADD k VALUES 1 2 b
> TYPE k
> OBJECT ENCODING k
> OBJECT REFCOUNT k
> SCAN 0 TYPE vectorset
> SCAN 0 TYPE VectorSet
> SCAN 0 TYPE zset
> DEBUG DIGEST-VALUE k
> DEBUG DIGEST
> COPY k k2
> SET s x
> COPY k s REPLACE
> RENAME k k2
> MOVE k2 1
> SELECT 1
> EXPIRE k2 100
> VADD k2 VALUES 1 3 c
> TTL k2
> PERSIST k2
> EXPIRE k2 -1
> EXISTS k2
> SELECT 0
> VADD k VALUES 1 1 a
> VREM k nope
> VREM k a
> EXISTS k
> VREM k a

## watched keys
> VADD k VALUES 1 1 a
b> WATCH k
> VREM k nope
b> MULTI
b> PING
b> EXEC
b> WATCH k
> VADD k VALUES 2 1 2 a
b> MULTI
b> PING
b> EXEC
b> WATCH missing
> VREM missing a
b> MULTI
b> PING
b> EXEC
b> WATCH k
> VADD k VALUES 2 1 a
> VSIM k ELE a NOTHREAD
b> MULTI
b> PING
b> EXEC

## a cached key
@resp 3
b> CLIENT TRACKING ON
> VADD k VALUES 1 1 a
b> VCARD k
> VSETATTR k nope x
b> VCARD k
> VSIM k ELE a NOTHREAD

## transactions and scripts
> MULTI
> VADD k VALUES 2 1 2 a CAS
> VADD k VALUES 2 1 3 b CAS
> VSIM k ELE a WITHSCORES TRUTH
> VADD k
> EXEC
> EVAL "return redis.call('vadd', KEYS[1], 'VALUES', 1, 1, 'a', 'CAS')" 1 m
> EVAL "return redis.call('vsim', KEYS[1], 'ELE', 'a', 'WITHSCORES')" 1 m
> EVAL "redis.setresp(3) return redis.call('vismember', KEYS[1], 'a')" 1 m
> EVAL_RO "return redis.call('vadd', KEYS[1], 'VALUES', 1, 1, 'c')" 1 m
> EVAL_RO "return redis.call('vcard', KEYS[1])" 1 m
`);

/** Of these only the replies are compared. */
const REQUESTS = parseTranscript(String.raw`
## wrong words
> vadd k
> VADD k VALUES 3 1 2 3
> VADD k VALUES 2 1 2
> VADD k FOO 3 1 2 3 a
> VADD k VALUES x 1 2 3 a
> VADD k VALUES 01 1 a
> VADD k VALUES 4294967297 1 a
> VADD k VALUES 3 1 nan 3 a
> VADD k VALUES 3 1 " 2" 3 a
> VADD k VALUES 3 1 1e400 3 a
> VADD k VALUES 3 1 2 3 a EF
> VADD k VALUES 3 1 2 3 a EF 0
> VADD k VALUES 3 1 2 3 a EF 1000001
> VADD k VALUES 3 1 2 3 a M 3
> VADD k VALUES 3 1 2 3 a M 4097
> VADD k VALUES 3 1 2 3 a FOO
> VADD k VALUES 3 1 2 3 a SETATTR
> VADD k FP32 abc a
> VADD k FP32 "" a
> VADD k REDUCE 0 VALUES 3 1 2 3 a
> VADD k REDUCE -1 VALUES 3 1 2 3 a
> VADD k REDUCE x VALUES 3 1 2 3 a
> EXISTS k
> VADD k VALUES 3 1 2 3 a EF 200 M 16 Q8 CAS
> vsim k
> VSIM k ELE
> VSIM missing FOO BAR
> VSIM k FOO BAR
> VSIM k VALUES 3
> VSIM k VALUES 3 1 2
> VSIM k VALUES 4 1 2 3 4
> VSIM k REDUCE 2 VALUES 3 1 2 3
> VSIM k ELE nope
> VSIM k ELE a FOO
> VSIM k ELE a COUNT
> VSIM k ELE a COUNT 0
> VSIM k ELE a COUNT x
> VSIM k ELE a EPSILON 0
> VSIM k ELE a EPSILON nan
> VSIM k ELE a EF 0
> VSIM k ELE a FILTER-EF 0
> VSIM k ELE a FILTER
> VSIM k ELE a FILTER "(1"
> VSIM k ELE a FILTER ".a @ 3"
> VDIM missing
> vdim
> vcard k k
> VREM k
> VEMB k
> VEMB k a FOO
> VLINKS k a FOO
> VLINKS k a WITHSCORES FOO
> VINFO
> VSETATTR k a
> VGETATTR k
> VRANDMEMBER k x
> VRANDMEMBER k 1 2
> vismember k

## vectors
> VADD k VALUES 3 1 2 3 a
> VADD k values 3 3 2 1 b
> VADD k FP32 "\x00\x00\x80?\x00\x00\x80?\x00\x00\x80?" c
> VADD k VALUES 3 0 0 0 zero
> VADD k VALUES 3 0x10 .5 1e2 odd
> VADD k VALUES 3 inf 1 -inf far
> VEMB k a
> VEMB k a RAW
> VEMB k zero raw RAW
> VEMB k odd
> VEMB k far
> VEMB k nope
> VEMB missing a
> VDIM k
> VCARD k
> VCARD missing
> VISMEMBER k a
> VISMEMBER k nope
> VISMEMBER missing a
> VADD k VALUES 3 9 2 1 a
> VEMB k a
> VADD k VALUES 3 1 2 3 a NOQUANT
> VADD k VALUES 3 1 2 3 a M 8
> VADD k VALUES 4 1 2 3 4 d
> VADD k REDUCE 2 VALUES 3 1 2 3 d
> VADD k REDUCE 2 VALUES 4 1 2 3 4 d
> VADD b VALUES 3 1 -2 3 a BIN
> VEMB b a
> VEMB b a RAW
> VADD f VALUES 3 1 -2 3 a NOQUANT
> VEMB f a
> VEMB f a RAW

## projections
> VADD p REDUCE 2 VALUES 4 1 2 3 4 a NOQUANT
> VADD p REDUCE 2 VALUES 4 4 3 2 1 b NOQUANT
> VEMB p a
> VDIM p
> VADD p VALUES 4 1 2 3 4 c NOQUANT
> VADD p VALUES 2 1 2 c NOQUANT
> VADD p REDUCE 3 VALUES 4 1 2 3 4 c NOQUANT
> VADD p REDUCE 2 VALUES 3 1 2 3 c NOQUANT
> VSIM p VALUES 4 1 2 3 4 WITHSCORES
> VSIM p VALUES 2 1 2 WITHSCORES
> VSIM p VALUES 3 1 2 3
> VADD q REDUCE 5 VALUES 3 1 2 3 a
> VEMB q a
> DEBUG DIGEST-VALUE p q

## similar elements
> VADD k VALUES 2 1 0 a NOQUANT SETATTR '{"n":1}'
> VADD k VALUES 2 0 1 b NOQUANT SETATTR '{"n":2}'
> VADD k VALUES 2 -1 0 c NOQUANT
> VADD k VALUES 2 1 1 d NOQUANT
> VSIM k ELE a
> VSIM k ELE a WITHSCORES
> VSIM k ELE a WITHATTRIBS
> VSIM k ELE a WITHATTRIBS WITHSCORES COUNT 3 TRUTH NOTHREAD
> VSIM k ELE a COUNT 2
> VSIM k ELE a EF 1
> VSIM k ELE a EF 1000001 FILTER-EF 99999999
> VSIM k ELE a WITHSCORES EPSILON 0.1
> VSIM k ELE a WITHSCORES EPSILON 0.5
> VSIM k ELE a WITHSCORES EPSILON 0.7
> VSIM k ELE a WITHSCORES EPSILON 1
> VSIM k ELE a FILTER ".n > 1"
> VSIM k ELE a FILTER "1"
> VSIM k ELE a FILTER ".n == null"
> VSIM k ELE a FILTER "'a' in 'abc'"
> VSIM k FP32 "\x00\x00\x80?\x00\x00\x00\x00" WITHSCORES
> VSIM missing ELE a
> VSIM missing ELE a WITHSCORES
@resp 3
> VSIM k ELE a
> VSIM k ELE a WITHSCORES
> VSIM k ELE a WITHATTRIBS
> VSIM k ELE a WITHATTRIBS WITHSCORES
> VSIM k ELE a WITHSCORES FILTER ".n > 9"
> VSIM missing ELE a WITHSCORES

## RESP3
@resp 3
> VADD k VALUES 3 1 2 3 a
> VADD k VALUES 3 1 2 3 a
> VLINKS missing a
> VINFO missing
> VEMB k a
> VEMB k a RAW
> VEMB missing a
> VGETATTR k a
> VRANDMEMBER missing
> VRANDMEMBER missing 2
> VISMEMBER k a
> VSETATTR k a x
> VSETATTR k b x
> VREM k b
> VREM k a
> VREM k a
> MODULE LIST

## attributes
> VADD k VALUES 1 1 a SETATTR x SETATTR y
> VGETATTR k a
> VADD k VALUES 1 2 a
> VGETATTR k a
> VADD k VALUES 1 2 a SETATTR ""
> VGETATTR k a
> VADD k VALUES 1 1 b SETATTR ""
> VGETATTR k b
> VSETATTR k a '{"x":1}'
> VGETATTR k a
> VSETATTR k a ""
> VGETATTR k a
> VSETATTR k nope x
> VSETATTR missing a x
> VGETATTR k nope
> VGETATTR missing a
> DEBUG DIGEST-VALUE k missing

## another type
> SET s x
> VADD s VALUES 1 1 a
> VADD s VALUES 2 1 a
> VSIM s ELE a
> VSIM s FOO a
> VREM s a
> VCARD s
> VSETATTR s a x
> VLINKS s a
> VRANDMEMBER s
> VADD k VALUES 1 1 a
> GET k
> SADD k x
> ZADD k 1 x
> HSET k f v
> LPUSH k x
> XADD k * f v
> SORT k
> SUNION k
> SET k x
> TYPE k

## users
> ACL SETUSER u on nopass ~k +VADD +vsim +@read
> ACL GETUSER u
> ACL DRYRUN u VADD k VALUES 1 1 a
> ACL DRYRUN u vadd q VALUES 1 1 a
> ACL DRYRUN u VCARD k
> ACL SETUSER r on nopass %R~k +@all
> ACL DRYRUN r VSIM k ELE a

## descriptions
> COMMAND INFO VADD vrem VSIM VDIM VCARD VEMB VLINKS VINFO VSETATTR VGETATTR VRANDMEMBER VISMEMBER
> COMMAND DOCS VSIM
> COMMAND GETKEYS VADD k VALUES 1 1 a
> COMMAND GETKEYSANDFLAGS VSIM k ELE a
> MODULE LIST
> INFO modules
`);

testBeside(
  vectorDialects,
  '%s replicates and reports changes of vector sets as its server',
  async (dialect, program) => {
    await using real = await startRedisServer({ ...RECORDABLE, program });
    const theirs = await RedisTarget.open(real.path);
    for (const section of CONVERSATIONS) {
      const ours = await play(section, new OwnTarget({ dialect, strict: true }));
      expect(written(section, ours)).toBe(written(section, await play(section, theirs)));
    }
    theirs.close();
  },
);

testBeside(vectorDialects, '%s answers about vector sets as its server', async (dialect) => {
  await using both = await Beside.start([], dialect);
  for (const { name, steps } of REQUESTS) {
    await both.askWords([['FLUSHALL'], ['HELLO', '2'], ['SELECT', '0']]);
    const requests = steps.map(({ step }) => (step.kind === 'request' ? step.argv : ['HELLO', '3']));
    const { ours, theirs } = await both.askWords(requests);
    const lines = steps.map(({ line }) => `${name}: ${line}`);
    // HELLO has the version and the client's id.
    const shown = (replies: readonly string[]): string[] =>
      labelled(lines, replies).filter((line) => !line.includes(': @resp'));
    expect(shown(ours)).toEqual(shown(theirs));
  }
});

/** A reply with its items sorted. */
function sorted(reply: string): string[] {
  return reply.split('\r\n').sort();
}

testBeside(vectorDialects, '%s lists the commands of the module', async (dialect) => {
  await using both = await Beside.start([], dialect);
  const { ours, theirs } = await both.ask('COMMAND LIST FILTERBY MODULE vectorset', 'HELLO 3');
  expect(sorted(ours[0] ?? '')).toEqual(sorted(theirs[0] ?? ''));
  const modules = (reply = ''): string => reply.slice(reply.indexOf('modules'));
  expect(modules(ours[1])).toBe(modules(theirs[1]));
});
