/**
 * What Redis 8.8 added, as its documentation and its release notes say (redis.io, read on 2026-11-22). There is no
 * redis-server 8.8 to compare with: the conversations are written by hand.
 */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { dumpValue, restoreValue } from '../../../keyspace/rdb/dump.ts';
import { REDIS_8_6 } from '../../../keyspace/rdb/formats.ts';
import { formatId } from '../../../keyspace/stream/id.ts';
import type { StreamValue } from '../../../keyspace/stream/stream.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { recordEffects } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

let host: TestHost;
let server: Server;
let redis: Conversation;
let effects: string[];

beforeEach(() => {
  host = new TestHost();
  server = createNode(host, { dialect: 'redis-8.8', strict: true });
  redis = new Conversation(server);
  effects = recordEffects(server);
});

/** Plays lines of `request → reply`. */
function play(lines: string): void {
  let asked = 0;
  for (const line of lines.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    const [request = '', reply = ''] = line.split(' → ');
    expect(redis.ask(request), request).toBe(reply);
    asked++;
  }
  expect(asked).toBeGreaterThan(1);
}

describe('INCREX', () => {
  test('adds to a number, by 1 unless told otherwise, and answers the new value and what was added', () => {
    play(`
      INCREX n → [:1 :1]
      INCREX n BYINT 5 → [:6 :5]
      INCREX n BYINT -10 → [:-4 :-10]
      INCREX n BYINT 0 → [:-4 :0]
      INCREX n BYFLOAT 0.25 → ["-3.75" "0.25"]
      INCREX n BYFLOAT 1e3 → ["996.25" "1000"]
      OBJECT ENCODING n → "embstr"
      SET n 1 → +OK
      INCREX n → [:2 :1]
      OBJECT ENCODING n → "int"
    `);
    redis.ask('HELLO 3');
    expect(redis.ask('INCREX n BYFLOAT 0.5')).toBe('[,2.5 ,0.5]');
  });

  test('changes nothing when the result is out of bounds, and goes to the bound with SATURATE', () => {
    play(`
      SET n 10 EX 100 → +OK
      INCREX n BYINT 10 UBOUND 15 EX 500 → [:10 :0]
      TTL n → :100
      INCREX n BYINT 10 UBOUND 15 SATURATE EX 500 → [:15 :5]
      TTL n → :500
      INCREX n UBOUND 15 → [:15 :0]
      INCREX n BYINT -100 LBOUND 0 SATURATE → [:0 :-15]
      SET n 50 → +OK
      INCREX n BYINT 5 UBOUND 30 → [:50 :0]
      INCREX n BYINT -25 UBOUND 30 → [:25 :-25]
      SET n 50 → +OK
      INCREX n BYINT 5 UBOUND 30 SATURATE → [:30 :-20]
      INCREX missing BYINT 5 LBOUND 10 → [:0 :0]
      EXISTS missing → :0
      INCREX missing BYFLOAT 15.5 UBOUND 10 → ["0" "0"]
      EXISTS missing → :0
      INCREX missing BYFLOAT 15.5 UBOUND 10.5 SATURATE → ["10.5" "10.5"]
      SET n 9223372036854775800 → +OK
      INCREX n BYINT 9223372036854775800 → [:9223372036854775800 :0]
      INCREX n BYINT 9223372036854775800 SATURATE → [:9223372036854775807 :7]
      INCREX n BYINT 1 SATURATE UBOUND -9223372036854775808 → -ERR applied increment would overflow
      GET n → "9223372036854775807"
    `);
  });

  test('refuses bad options in the words of the documentation', () => {
    play(`
      SET n 5 → +OK
      INCREX → -ERR wrong number of arguments for 'increx' command
      INCREX n FOO → -ERR syntax error
      INCREX n BYINT → -ERR syntax error
      INCREX n BYINT 1 BYINT 2 → -ERR syntax error
      INCREX n BYINT 1 BYFLOAT 2 → -ERR syntax error
      INCREX n SATURATE SATURATE → -ERR syntax error
      INCREX n EX 10 PX 10 → -ERR syntax error
      INCREX n PERSIST EX 10 → -ERR syntax error
      INCREX n PERSIST ENX → -ERR syntax error
      INCREX n ENX → -ERR ENX flag requires an expiration
      INCREX n BYINT 1.5 → -ERR Increment is not an integer or out of range
      INCREX n BYFLOAT abc → -ERR Increment is not a valid float
      INCREX n BYFLOAT inf → -ERR BYFLOAT increment cannot be Infinity
      INCREX n UBOUND 1.5 → -ERR UBOUND is not an integer or out of range
      INCREX n BYFLOAT 1 LBOUND abc → -ERR LBOUND is not a valid float
      INCREX n LBOUND 10 UBOUND 5 → -ERR LBOUND can't be greater than UBOUND
      INCREX n EX 0 → -ERR invalid expire time in 'increx' command
      INCREX n EX abc → -ERR value is not an integer or out of range
      GET n → "5"
      SET n inf → +OK
      INCREX n BYFLOAT 1 → -ERR value cannot be Infinity
      SET n hello → +OK
      INCREX n → -ERR value is not an integer or out of range
      INCREX n BYFLOAT 1 → -ERR value is not a valid float
      RPUSH l a → :1
      INCREX l → -WRONGTYPE Operation against a key holding the wrong kind of value
    `);
  });

  test('sets, keeps or removes the expiry, and replicates the result as SET', () => {
    play(`
      SET n 10 → +OK
      INCREX n BYINT 5 → [:15 :5]
      INCREX n BYFLOAT 0.5 → ["15.5" "0.5"]
      INCREX n BYFLOAT 0.5 EX 100 → ["16" "0.5"]
      INCREX n EX 10 ENX → [:17 :1]
      TTL n → :100
      INCREX n PERSIST → [:18 :1]
      TTL n → :-1
      INCREX n PX 5000 ENX → [:19 :1]
      PTTL n → :5000
      INCREX n EXAT 1 ENX → [:20 :1]
      INCREX n EXAT 1 → [:21 :1]
      EXISTS n → :0
      INCREX n UBOUND 0 → [:0 :0]
    `);
    const at = host.clock.now();
    expect(effects).toEqual([
      'SET n 10',
      'SET n 15 KEEPTTL',
      'SET n 15.5 KEEPTTL',
      `SET n 16 PXAT ${at + 100_000}`,
      'SET n 17 KEEPTTL',
      'SET n 18',
      `SET n 19 PXAT ${at + 5000}`,
      'SET n 20 KEEPTTL',
      'DEL n',
    ]);
  });

  test('never leaves the bounds, and what it says it added is the difference', () => {
    const option = fc.record({
      by: fc.integer({ min: -20, max: 20 }),
      low: fc.integer({ min: -30, max: 0 }),
      high: fc.integer({ min: 0, max: 30 }),
      saturate: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(option, { maxLength: 30 }), (calls) => {
        redis.ask('DEL n');
        for (const { by, low, high, saturate } of calls) {
          const before = Number(JSON.parse(redis.ask('GET n').replace('nil$', '"0"')));
          const reply = redis.ask(
            `INCREX n BYINT ${by} LBOUND ${low} UBOUND ${high} ${saturate ? 'SATURATE' : ''}`,
          );
          const [value = NaN, applied = NaN] = [...reply.matchAll(/:(-?\d+)/g)].map(([, digits]) =>
            Number(digits),
          );
          const after = Number(JSON.parse(redis.ask('GET n').replace('nil$', '"0"')));
          expect(after).toBe(value);
          expect(after - before).toBe(applied);
          const wanted = before + by;
          if (wanted >= low && wanted <= high) expect(value).toBe(wanted);
          else expect(value).toBe(saturate ? Math.min(high, Math.max(low, wanted)) : before);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('XNACK', () => {
  test('releases entries for everyone to claim, and sets the number of deliveries by its mode', () => {
    play(`
      XADD s 1-1 f v → "1-1"
      XADD s 2-1 f v → "2-1"
      XADD s 3-1 f v → "3-1"
      XGROUP CREATE s g 0 → +OK
      XREADGROUP GROUP g a COUNT 2 STREAMS s > → [["s" [["1-1" ["f" "v"]] ["2-1" ["f" "v"]]]]]
      XNACK s g FAIL IDS 2 2-1 9-9 → :1
      XPENDING s g - + 10 → [["1-1" "a" :0 :1] ["2-1" "" :-1 :1]]
      XPENDING s g → [:2 "1-1" "2-1" [["a" "1"]]]
      XNACK s g SILENT IDS 1 1-1 → :1
      XNACK s g SILENT IDS 1 1-1 → :1
      XPENDING s g - + 10 → [["1-1" "" :-1 :0] ["2-1" "" :-1 :1]]
      XPENDING s g → [:2 "1-1" "2-1" []]
      XNACK s g FATAL IDS 1 2-1 → :1
      XAUTOCLAIM s g b 1000000 0 COUNT 1 JUSTID → ["2-1" ["1-1"] []]
      XPENDING s g - + 10 → [["1-1" "b" :0 :0] ["2-1" "" :-1 :9223372036854775807]]
      XNACK s g FAIL IDS 1 3-1 → :0
      XNACK s g FAIL IDS 1 3-1 FORCE → :1
      XNACK s g FAIL RETRYCOUNT 7 IDS 1 1-1 → :1
      XPENDING s g - + 10 → [["1-1" "" :-1 :7] ["2-1" "" :-1 :9223372036854775807] ["3-1" "" :-1 :0]]
      XACK s g 1-1 2-1 3-1 → :3
      XPENDING s g → [:0 nil$ nil$ nil*]
    `);
    expect(effects.filter((line) => line.startsWith('XNACK'))).toEqual([
      'XNACK s g FAIL IDS 1 2-1 RETRYCOUNT 1 FORCE',
      'XNACK s g FAIL IDS 1 1-1 RETRYCOUNT 0 FORCE',
      'XNACK s g FAIL IDS 1 1-1 RETRYCOUNT 0 FORCE',
      'XNACK s g FAIL IDS 1 2-1 RETRYCOUNT 9223372036854775807 FORCE',
      'XNACK s g FAIL IDS 1 3-1 RETRYCOUNT 0 FORCE',
      'XNACK s g FAIL IDS 1 1-1 RETRYCOUNT 7 FORCE',
    ]);
  });

  test('XREADGROUP with CLAIM delivers released entries first, in the order of their release', () => {
    for (const id of ['1-1', '2-1', '3-1', '4-1']) redis.ask(`XADD s ${id} f v`);
    redis.ask('XGROUP CREATE s g 0');
    redis.ask('XREADGROUP GROUP g a COUNT 3 STREAMS s >');
    host.advance(5000);
    redis.ask('XNACK s g FAIL IDS 2 3-1 2-1');
    const payload = redis.ask('COPY s t');
    expect(payload).toBe(':1');
    for (const key of ['s', 't']) {
      const reply = redis.ask(`XREADGROUP GROUP g b CLAIM 1000 STREAMS ${key} >`);
      expect([...reply.matchAll(/"(\d-1)"/g)].map(([, id]) => id)).toEqual(
        key === 's' ? ['3-1', '2-1', '1-1', '4-1'] : ['2-1', '3-1', '1-1', '4-1'],
      );
    }
    expect(redis.ask('XPENDING s g')).toBe('[:4 "1-1" "4-1" [["b" "4"]]]');
  });

  test('a released entry wakes a consumer that waits with CLAIM', () => {
    redis.ask('XADD s 1-1 f v');
    redis.ask('XGROUP CREATE s g 0');
    redis.ask('XREADGROUP GROUP g a STREAMS s >');
    const waiting = new Conversation(server);
    expect(waiting.ask('XREADGROUP GROUP g b BLOCK 0 CLAIM 100000 STREAMS s >')).toBe('');
    redis.ask('XNACK s g FAIL IDS 1 1-1');
    expect(waiting.ask('PING')).toContain('"1-1"');
    expect(redis.ask('XPENDING s g')).toBe('[:1 "1-1" "1-1" [["b" "1"]]]');
  });

  test('refuses bad requests in the words of the documentation', () => {
    redis.ask('SET string v');
    play(`
      XNACK s g FAIL IDS 1 1-1 → -NOGROUP No such key 's' or consumer group 'g'
      XGROUP CREATE s g 0 MKSTREAM → +OK
      XNACK s h FAIL IDS 1 1-1 → -NOGROUP No such key 's' or consumer group 'h'
      XNACK s g FAIL IDS 1 → -ERR wrong number of arguments for 'xnack' command
      XNACK s g MAYBE IDS 1 1-1 → -ERR mode must be SILENT, FAIL, or FATAL
      XNACK s g FAIL IDS 0 1-1 → -ERR numids must be a positive integer
      XNACK s g FAIL IDS x 1-1 → -ERR numids must be a positive integer
      XNACK s g FAIL IDS 3 1-1 → -ERR number of IDs doesn't match numids
      XNACK s g FAIL IDS 1 1-1 RETRYCOUNT -1 → -ERR Invalid RETRYCOUNT value, must be >= 0
      XNACK s g FAIL IDS 1 1-1 BOGUS → -ERR Unrecognized XNACK option 'BOGUS'
      XNACK s g FAIL FORCE RETRYCOUNT 1 → -ERR syntax error, expected IDS keyword
      XNACK s g FAIL IDS 1 notanid → -ERR Invalid stream ID specified as stream command argument
      XNACK string g FAIL IDS 1 1-1 → -WRONGTYPE Operation against a key holding the wrong kind of value
    `);
  });

  test('released entries survive a dump, and an older server does without them', () => {
    for (const id of ['1-1', '2-1', '3-1']) redis.ask(`XADD s ${id} f v`);
    redis.ask('XGROUP CREATE s g 0');
    redis.ask('XREADGROUP GROUP g a STREAMS s >');
    redis.ask('XNACK s g FAIL IDS 2 3-1 1-1 RETRYCOUNT 4');
    const stream = server.db(0).entries.get('s')?.held as StreamValue;
    const older = restoreValue(dumpValue(stream, REDIS_8_6), undefined, REDIS_8_6) as StreamValue;
    expect(older.groups.get('g')?.pending.keysArray().map(formatId)).toEqual(['2-1']);
    redis.ask('DEBUG RELOAD');
    expect(redis.ask('XPENDING s g - + 10')).toBe('[["1-1" "" :-1 :4] ["2-1" "a" :0 :1] ["3-1" "" :-1 :4]]');
    const reply = redis.ask('XREADGROUP GROUP g b COUNT 2 CLAIM 1000 STREAMS s >');
    expect([...reply.matchAll(/"(\d-1)"/g)].map(([, id]) => id)).toEqual(['3-1', '1-1']);
    expect(redis.ask('XINFO STREAM s FULL')).toContain('"nacked-count" :0');
  });
});

test('AGGREGATE COUNT adds up the weights of the sets that have the member', () => {
  play(`
    ZADD a 10 x 20 y → :2
    ZADD b 30 y 40 z → :2
    SADD c y z → :2
    ZUNION 3 a b c AGGREGATE COUNT WITHSCORES → ["x" "1" "z" "2" "y" "3"]
    ZINTER 2 a b AGGREGATE COUNT WITHSCORES → ["y" "2"]
    ZUNION 2 a b WEIGHTS 2 5 AGGREGATE COUNT WITHSCORES → ["x" "2" "z" "5" "y" "7"]
    ZUNIONSTORE d 2 a b WEIGHTS inf 1 AGGREGATE COUNT → :3
    ZRANGE d 0 -1 WITHSCORES → ["z" "1" "x" "inf" "y" "inf"]
    ZINTERSTORE d 3 a b c AGGREGATE count → :1
    ZSCORE d y → "3"
    ZDIFF 2 a b AGGREGATE COUNT → -ERR syntax error
  `);
});

test('an earlier server has none of this', () => {
  const older = new Conversation(createNode(new TestHost(), { dialect: 'redis-8.6', strict: true }));
  expect(older.ask('INCREX n')).toMatch(/^-ERR unknown command/);
  expect(older.ask('XNACK s g FAIL IDS 1 1-1')).toMatch(/^-ERR unknown command/);
  older.ask('ZADD a 1 x');
  expect(older.ask('ZUNION 1 a AGGREGATE COUNT')).toBe('-ERR syntax error');
});
