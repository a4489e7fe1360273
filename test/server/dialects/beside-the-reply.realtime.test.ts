/** What a request does beside its reply, in each dialect: effects for replicas, messages, figures of INFO. */
import { describe, expect, test } from 'vitest';
import type { DialectName } from '../../../server/dialects/index.ts';
import { dialectNames } from '../../../server/dialects/index.ts';
import { createNode } from '../../../server/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { recordEffects } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation, OwnTarget } from '../../transcripts/own.ts';
import { RECORDABLE, RedisTarget } from '../../transcripts/redis.ts';
import { parseTranscript, play } from '../../transcripts/transcript.ts';

const VALUE = String.raw`"\x00\x01\x76\x0a\x00\x91\x08\xce\xb2\x19\x38\x8a\xce"`;

const SECTIONS = parseTranscript(`
## SET with PXAT
> SET k v pxat 99999999999999
> SET k v PXAT 99999999999999 xx GET
> SET k v EXAT 99999999999 XX
> SET k v PXAT 99999999999999 NX

## RESTORE with a deadline in the past
> SET k v
> CONFIG SET lazyfree-lazy-server-del yes
> RESTORE k 1 ${VALUE} REPLACE ABSTTL
> SET k v
> CONFIG SET lazyfree-lazy-server-del no
> RESTORE k 1 ${VALUE} REPLACE ABSTTL

## the last ids of a stream
> XADD x 1-18446744073709551615 f v
> XADD x 1-* f v
> XDEL x 1-18446744073709551615
> XSETID x 1-1
> XSETID x 1-1 ENTRIESADDED 5 MAXDELETEDID 1-1
> XSETID x 2-1

## what scripts have
> EVAL "return type(os.clock())" 0
> EVAL "return os.execute()" 0
> EVAL "local names = {} for name in pairs(os) do names[#names + 1] = name end return names" 0
> EVAL "return tostring(server == redis)" 0
> EVAL "return server.sha1hex('x')" 0

## a message to oneself
@resp 3
> SUBSCRIBE c
> PUBLISH c x
> PING
> EVAL "redis.call('PUBLISH', 'c', 'z') return 1" 0

## sizes of keys
> SET empty ""
> SET a 12345678
> SET b 12345
> SET c ${'x'.repeat(5000)}
> RPUSH l a b c
> SADD s a
> ZADD z 1 a 2 b
> HSET h a b
> XADD x 1 f v
> SELECT 3
> SADD s a b c d
> INFO keysizes
`);

const known = dialectNames.filter((name) => oracleOf(name) !== undefined);

test.each(known)('%s does what its server does (needs that server)', async (dialect) => {
  await using real = await startRedisServer({ ...RECORDABLE, program: oracleOf(dialect) ?? '' });
  const theirs = await RedisTarget.open(real.path);
  for (const section of SECTIONS) {
    const ours = await play(section, new OwnTarget({ dialect, strict: true }));
    expect(ours).toEqual(await play(section, theirs));
  }
  theirs.close();
  await using fresh = await startRedisServer({ ...RECORDABLE, program: oracleOf(dialect) ?? '' });
  const client = await RawClient.connect({ path: fresh.path });
  const fieldsOf = (text: string): string[] => text.match(/[a-z][\w-]*\.[\w.-]+/gi) ?? [];
  await client.ask('SET', 'a', '1');
  const { server, a } = node(dialect);
  a.ask('SET a 1');
  expect(fieldsOf(a.ask('MEMORY STATS'))).toEqual(fieldsOf((await client.ask('MEMORY', 'STATS')).raw));
  client.close();
  server.stop();
});

/** A node and a conversation with it. */
function node(dialect: DialectName) {
  const server = createNode(new TestHost(), { dialect });
  const a = new Conversation(server);
  /** A field of INFO. */
  const figure = (name: string) => new RegExp(`${name}:(\\w+)`).exec(a.ask('INFO'))?.[1];
  return { server, a, figure };
}

describe.each(['redis-7.0', 'redis-8.0', 'valkey-8.1'] as const)('%s', (dialect) => {
  test('selects the database of a transaction at its place in the stream', () => {
    const { server, a } = node(dialect);
    let stream = '';
    // A replica that asks for the dataset opens the backlog.
    new Conversation(server).ask('PSYNC ? -1');
    server.replication.observe({ bytes: (bytes) => void (stream += bytes) });
    for (const line of ['SELECT 5', 'MULTI', 'SET a 1', 'SET b 2', 'EXEC']) a.ask(line);
    const words = stream.match(/^[A-Z]+(?=\r)/gm);
    const first = dialect === 'redis-7.0' ? ['SELECT', 'MULTI'] : ['MULTI', 'SELECT'];
    expect(words).toEqual([...first, 'SET', 'SET', 'EXEC']);
    server.stop();
  });

  test('replicates the members that SPOP removed, together since Redis 7.2', () => {
    const { server, a } = node(dialect);
    const effects = recordEffects(server);
    a.ask('SADD s a b c');
    a.ask('SPOP s 2');
    const removals = effects.filter((effect) => effect.startsWith('SREM'));
    expect(removals).toHaveLength(dialect === 'redis-7.0' ? 2 : 1);
    expect(removals.flatMap((effect) => effect.split(' ').slice(2))).toHaveLength(2);
    server.stop();
  });

  test('counts a consumer that reads its own entries again as a change, except in Redis 8', () => {
    const { server, a } = node(dialect);
    for (const line of ['XGROUP CREATE x g 0 MKSTREAM', 'XADD x 1-1 f v']) a.ask(line);
    a.ask('XREADGROUP GROUP g c STREAMS x >');
    const before = server.world.dirty;
    a.ask('XREADGROUP GROUP g c STREAMS x 0');
    expect(server.world.dirty - before).toBe(dialect === 'redis-8.0' ? 0 : 1);
    server.stop();
  });

  test('counts a key that gets a deadline in the past as expired, if that is its event', () => {
    const { server, a, figure } = node(dialect);
    a.ask('SET k v');
    a.ask('EXPIRE k -1');
    expect(figure('expired_keys')).toBe(dialect === 'valkey-8.1' ? '1' : '0');
    server.stop();
  });

  test('adds up latencies, if LATENCY LATEST shows their sum', () => {
    const { server, a } = node(dialect);
    a.ask('CONFIG SET latency-monitor-threshold 10');
    for (const millis of [10, 30, 20]) server.observer.spike('command', millis);
    const [latest = ''] = /:30 :30.*$/.exec(a.ask('LATENCY LATEST')) ?? [];
    expect(latest).toBe(dialect === 'valkey-8.1' ? ':30 :30 :60 :3]]' : ':30 :30]]');
    server.stop();
  });

  test('counts the values that are freed in another thread', () => {
    const { server, a, figure } = node(dialect);
    for (let i = 0; i < 65; i++)
      a.ask(`ZADD large ${i} member-with-a-name-that-is-too-long-for-a-listpack-of-this-server-${i}`);
    a.ask('ZADD small 1 a');
    a.ask('UNLINK large small');
    expect(figure('lazyfreed_objects')).toBe('1');
    a.ask('MSET a 1 b 2');
    a.ask('FLUSHALL ASYNC');
    expect(figure('lazyfreed_objects')).toBe('3');
    a.ask('MSET a 1 b 2');
    a.ask('FLUSHALL SYNC');
    expect(figure('lazyfreed_objects')).toBe(dialect === 'redis-8.0' ? '5' : '3');
    server.stop();
  });
});
