/** Hash fields with a TTL, which redis-server 7.0 does not have: as Redis 8.0 has them. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { INSTALLED } from '../../support/oracles.ts';
import { recordEffects } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation, recordEvents } from '../../transcripts/own.ts';

let host: TestHost;
let server: Server;
let redis: Conversation;
let effects: string[];
let events: string[];

beforeEach(() => {
  host = new TestHost();
  server = createNode(host, {
    dialect: INSTALLED,
    strict: false,
    settings: { 'notify-keyspace-events': 'AKE' },
  });
  redis = new Conversation(server);
  effects = recordEffects(server);
  events = recordEvents(server);
  redis.ask('HSET h a 1 b 2 c 3');
  effects.length = 0;
  events.length = 0;
});

/** What was replicated, without the marks that keep the commands of one request together. */
function replicated(): string[] {
  return effects.filter((effect) => effect !== 'MULTI' && effect !== 'EXEC');
}

const WRONGTYPE = '-WRONGTYPE Operation against a key holding the wrong kind of value';
const T0 = 1_700_000_000_000;

describe('HEXPIRE and related commands', () => {
  test('set a TTL on fields, in seconds or milliseconds, relative or absolute', () => {
    expect(redis.ask('HEXPIRE h 10 FIELDS 2 a x')).toBe('[:1 :-2]');
    expect(redis.ask('HTTL h FIELDS 3 a b x')).toBe('[:10 :-1 :-2]');
    expect(redis.ask('HPEXPIRE h 1500 FIELDS 1 a')).toBe('[:1]');
    expect(redis.ask('HPTTL h FIELDS 1 a')).toBe('[:1500]');
    expect(redis.ask('HTTL h FIELDS 1 a')).toBe('[:2]');
    expect(redis.ask(`HEXPIREAT h ${T0 / 1000 + 5} FIELDS 1 a`)).toBe('[:1]');
    expect(redis.ask('HEXPIRETIME h FIELDS 2 a b')).toBe(`[:${T0 / 1000 + 5} :-1]`);
    expect(redis.ask(`HPEXPIREAT h ${T0 + 7} FIELDS 1 a`)).toBe('[:1]');
    expect(redis.ask('HPEXPIRETIME h FIELDS 1 a')).toBe(`[:${T0 + 7}]`);
    expect(redis.ask('HEXPIRETIME h FIELDS 1 a')).toBe(`[:${T0 / 1000 + 1}]`);
    expect(redis.ask('HEXPIRE missing 10 FIELDS 2 a b')).toBe('[:-2 :-2]');
    expect(redis.ask('HTTL missing FIELDS 1 a')).toBe('[:-2]');
    expect(redis.ask('HPERSIST missing FIELDS 1 a')).toBe('[:-2]');
    expect(redis.ask('EXISTS missing')).toBe(':0');
  });

  test('set a TTL on conditions', () => {
    expect(redis.ask('HPEXPIRE h 1000 XX FIELDS 1 a')).toBe('[:0]');
    expect(redis.ask('HPEXPIRE h 1000 GT FIELDS 1 a')).toBe('[:0]');
    expect(redis.ask('HPEXPIRE h 1000 nx FIELDS 1 a')).toBe('[:1]');
    expect(redis.ask('HPEXPIRE h 2000 NX FIELDS 2 a b')).toBe('[:0 :1]');
    expect(redis.ask('HPEXPIRE h 1500 GT FIELDS 2 a b')).toBe('[:1 :0]');
    expect(redis.ask('HPEXPIRE h 1200 LT FIELDS 3 a b c')).toBe('[:1 :1 :1]');
    expect(redis.ask('HPEXPIRE h 1200 LT FIELDS 1 a')).toBe('[:0]');
    expect(redis.ask('HPEXPIRE h 1100 XX FIELDS 1 a')).toBe('[:1]');
  });

  test('delete fields whose deadline has passed', () => {
    expect(redis.ask('HPEXPIRE h 0 FIELDS 1 a')).toBe('[:2]');
    expect(redis.ask('HEXPIREAT h 1 FIELDS 2 b x')).toBe('[:2 :-2]');
    expect(redis.ask('HGETALL h')).toBe('["c" "3"]');
    expect(redis.ask('HEXPIRE h 0 FIELDS 1 c')).toBe('[:2]');
    expect(redis.ask('EXISTS h')).toBe(':0');
    expect(replicated()).toEqual(['HDEL h a', 'HDEL h b', 'HDEL h c']);
    expect(events).toEqual(['h hdel', 'h hdel', 'h hdel', 'h del']);
  });

  test('are replicated with absolute times, and only for the fields that were set', () => {
    redis.ask('HEXPIRE h 10 FIELDS 2 a x');
    redis.ask('HEXPIRE h 20 NX FIELDS 3 a b c');
    redis.ask('HPERSIST h FIELDS 3 a x c');
    redis.ask('HPERSIST h FIELDS 1 a');
    expect(replicated()).toEqual([
      `HPEXPIREAT h ${T0 + 10_000} FIELDS 1 a`,
      `HPEXPIREAT h ${T0 + 20_000} NX FIELDS 2 b c`,
      'HPERSIST h FIELDS 3 a x c',
    ]);
    expect(events).toEqual(['h hexpire', 'h hexpire', 'h hpersist']);
  });

  test('refuse bad requests with a specific error', () => {
    for (const [request, answer] of [
      ['HEXPIRE h -1 FIELDS 1 a', 'invalid expire time, must be >= 0'],
      ['HEXPIRE h x FIELDS 1 a', 'value is not an integer or out of range'],
      ['HEXPIRE h 281474976711 FIELDS 1 a', "invalid expire time in 'hexpire' command"],
      ['HPEXPIRE h 281474976710656 FIELDS 1 a', "invalid expire time in 'hpexpire' command"],
      [`HPEXPIRE h ${2 ** 46 - T0} FIELDS 1 a`, "invalid expire time in 'hpexpire' command"],
      ['HEXPIREAT h 9223372036854775807 FIELDS 1 a', "invalid expire time in 'hexpireat' command"],
      ['HEXPIRE h 1 FIELD 1 a', 'Mandatory argument FIELDS is missing or not at the right position'],
      ['HEXPIRE h 1 NX XX FIELDS 1 a', 'Mandatory argument FIELDS is missing or not at the right position'],
      ['HEXPIRE h 1 FIELDS 0 a', 'Parameter `numFields` should be greater than 0'],
      ['HEXPIRE h 1 FIELDS 2 a', 'The `numfields` parameter must match the number of arguments'],
      ['HTTL h FIELDS 0 a', 'Number of fields must be a positive integer'],
      ['HTTL h FIELDS 1 a b', 'The `numfields` parameter must match the number of arguments'],
      ['HPERSIST h FOO 1 a', 'Mandatory argument FIELDS is missing or not at the right position'],
      ['HEXPIRE h 1 FIELDS 1', "wrong number of arguments for 'hexpire' command"],
      ['HTTL h FIELDS 1', "wrong number of arguments for 'httl' command"],
    ]) {
      expect(redis.ask(request!), request).toBe(`-ERR ${answer}`);
    }
    redis.ask('SET s x');
    for (const request of ['HEXPIRE s 1 FIELDS 1 a', 'HTTL s FIELDS 1 a', 'HPERSIST s FIELDS 1 a']) {
      expect(redis.ask(request)).toBe(WRONGTYPE);
    }
  });
});

describe('a field with a TTL', () => {
  test('expires a millisecond after its deadline, with an event, and is replicated as HDEL', () => {
    redis.ask('HPEXPIRE h 100 FIELDS 2 a b');
    redis.ask('HPEXPIRE h 50 FIELDS 1 c');
    effects.length = 0;
    events.length = 0;
    host.advance(50);
    expect(redis.ask('HGET h c')).toBe('"3"');
    host.advance(1);
    expect(events).toEqual(['h hexpired']);
    expect(redis.ask('HLEN h')).toBe(':2');
    host.advance(49);
    expect(redis.ask('HMGET h a b c')).toBe('["1" "2" nil$]');
    host.advance(1);
    expect(redis.ask('EXISTS h')).toBe(':0');
    expect(replicated()).toEqual(['HDEL h c', 'HDEL h a', 'HDEL h b']);
    expect(events).toEqual(['h hexpired', 'h hexpired', 'h del']);
    expect(host.nextAt).toBeUndefined();
  });

  test('makes a transaction fail that watches the key', () => {
    redis.ask('HPEXPIRE h 10 FIELDS 1 a');
    redis.ask('WATCH h');
    host.advance(11);
    redis.ask('MULTI');
    redis.ask('PING');
    expect(redis.ask('EXEC')).toBe('nil*');
  });

  test('keeps the TTL through HINCRBY and HINCRBYFLOAT, and loses it through HSET, HDEL and HSETNX', () => {
    redis.ask('HEXPIRE h 10 FIELDS 3 a b c');
    redis.ask('HINCRBY h a 5');
    redis.ask('HINCRBYFLOAT h b 1.5');
    redis.ask('HSET h c new');
    expect(redis.ask('HTTL h FIELDS 3 a b c')).toBe('[:10 :10 :-1]');
    // Replicas lose the TTL of b, as in Redis before 8.2.
    expect(replicated().slice(-2)).toEqual(['HSET h b 3.5', 'HSET h c new']);
    redis.ask('HDEL h a');
    redis.ask('HSET h a again');
    expect(redis.ask('HTTL h FIELDS 1 a')).toBe('[:-1]');
    host.advance(20_000);
    expect(redis.ask('HGETALL h')).toBe('["c" "new" "a" "again"]');
  });

  test('keeps its TTL when the hash is moved: RENAME, COPY, MOVE, SWAPDB, DUMP and RESTORE', () => {
    redis.ask('HPEXPIRE h 1000 FIELDS 1 a');
    redis.ask('RENAME h i');
    redis.ask('COPY i j');
    redis.ask('HPERSIST i FIELDS 1 a');
    redis.ask('MOVE j 1');
    redis.ask('SWAPDB 0 1');
    expect(redis.ask('HPTTL j FIELDS 2 a b')).toBe('[:1000 :-1]');
    host.advance(1001);
    expect(redis.ask('HGETALL j')).toBe('["b" "2" "c" "3"]');
    redis.ask('SELECT 1');
    expect(redis.ask('HLEN i')).toBe(':3');
  });

  test('survives a DUMP, whether its hash is small or large', () => {
    const restored = createNode(host);
    restored.encoding.hashMaxEntries = 2;
    for (const [encoding, node] of [
      ['listpackex', server],
      ['hashtable', restored],
    ] as const) {
      const ask = new Conversation(node);
      ask.ask('DEL h');
      ask.ask('HSET h a 1 b 2 c 3');
      ask.ask('HPEXPIRE h 1000 FIELDS 1 b');
      ask.ask('HPEXPIRE h 2000 FIELDS 1 c');
      expect(ask.ask('OBJECT ENCODING h')).toBe(`"${encoding}"`);
      expect(ask.ask("EVAL \"return redis.call('restore', 'k', 0, redis.call('dump', 'h'))\" 0")).toBe('+OK');
      expect(ask.ask('HPTTL k FIELDS 3 a b c')).toBe('[:-1 :1000 :2000]');
      expect(ask.ask('HMGET k a b c')).toBe('["1" "2" "3"]');
    }
  });

  test('turns a listpack into a listpackex, which it stays', () => {
    expect(redis.ask('OBJECT ENCODING h')).toBe('"listpack"');
    redis.ask('HEXPIRE h 10 FIELDS 1 a');
    redis.ask('HPERSIST h FIELDS 1 a');
    expect(redis.ask('OBJECT ENCODING h')).toBe('"listpackex"');
    expect(redis.ask('HSCAN h 0')).toBe('["0" ["b" "2" "c" "3" "a" "1"]]');
  });

  test('expires at the first access when active expiry is off', () => {
    redis.ask('DEBUG SET-ACTIVE-EXPIRE 0');
    redis.ask('HPEXPIRE h 10 FIELDS 2 a b');
    host.advance(20);
    expect(redis.ask('HLEN h')).toBe(':3');
    expect(redis.ask('HGET h a')).toBe('nil$');
    expect(redis.ask('HLEN h')).toBe(':2');
    expect(replicated().slice(1)).toEqual(['HDEL h a']);
    redis.ask('HPEXPIRE h 10 FIELDS 1 c');
    host.advance(20);
    expect(redis.ask('HINCRBY h c 1')).toBe(':1');
    expect(redis.ask('HGETALL h')).toBe('["c" "1"]');
  });

  test('is forgotten by FLUSHALL, DEL and SET', () => {
    redis.ask('HPEXPIRE h 10 FIELDS 1 a');
    redis.ask('COPY h i');
    redis.ask('SET i x');
    redis.ask('FLUSHALL');
    expect(server.world.wheel.size).toBe(0);
  });

  test('is visible to SORT only until it expires', () => {
    redis.ask('RPUSH l h');
    redis.ask('DEBUG SET-ACTIVE-EXPIRE 0');
    redis.ask('HPEXPIRE h 10 FIELDS 1 a');
    expect(redis.ask('SORT l BY nosort GET *->a')).toBe('["1"]');
    host.advance(11);
    expect(redis.ask('SORT l BY nosort GET *->a')).toBe('[nil$]');
  });
});

describe('HGETEX', () => {
  test('returns values and sets, changes or removes TTLs', () => {
    expect(redis.ask('HGETEX h FIELDS 2 a x')).toBe('["1" nil$]');
    expect(redis.ask('HGETEX h EX 10 FIELDS 2 a b')).toBe('["1" "2"]');
    expect(redis.ask('HTTL h FIELDS 3 a b c')).toBe('[:10 :10 :-1]');
    expect(redis.ask('HGETEX h PERSIST FIELDS 2 a c')).toBe('["1" "3"]');
    expect(redis.ask('HTTL h FIELDS 2 a b')).toBe('[:-1 :10]');
    expect(redis.ask(`HGETEX h PXAT ${T0 + 5} FIELDS 1 c`)).toBe('["3"]');
    expect(redis.ask('HGETEX h PXAT 1 FIELDS 1 b')).toBe('["2"]');
    expect(redis.ask('HGETALL h')).toBe('["c" "3" "a" "1"]');
    expect(redis.ask('HGETEX missing EX 1 FIELDS 1 a')).toBe('[nil$]');
    expect(replicated()).toEqual([
      `HPEXPIREAT h ${T0 + 10_000} FIELDS 2 a b`,
      'HPERSIST h FIELDS 2 a c',
      `HPEXPIREAT h ${T0 + 5} FIELDS 1 c`,
      'HDEL h b',
    ]);
    expect(events).toEqual(['h hexpire', 'h hpersist', 'h hexpire', 'h hdel']);
  });

  test('says what is wrong with a request', () => {
    for (const [request, answer] of [
      ['HGETEX h XFIELDX 1 a', 'Mandatory argument FIELDS is missing or not at the right position'],
      ['HGETEX h PXAT 1 1', 'Mandatory argument FIELDS is missing or not at the right position'],
      ['HGETEX h PERSIST 1 FIELDS 1 a', 'Mandatory argument FIELDS is missing or not at the right position'],
      ['HGETEX h FIELDS 2 a', 'The `numfields` parameter must match the number of arguments'],
      ['HGETEX h FIELDS 0 a', 'Number of fields must be a positive integer'],
      ['HGETEX h EX bla FIELDS 1 a', 'value is not an integer or out of range'],
      ['HGETEX h PX -1 FIELDS 1 a', 'invalid expire time, must be >= 0'],
      [`HGETEX h EX ${2 ** 48} FIELDS 1 a`, "invalid expire time in 'hgetex' command"],
      ['HGETEX h FIELDS 1', "wrong number of arguments for 'hgetex' command"],
    ]) {
      expect(redis.ask(request!), request).toBe(`-ERR ${answer}`);
    }
  });
});

describe('HSETEX', () => {
  test('sets fields with a TTL, on conditions', () => {
    expect(redis.ask('HSETEX h EX 10 FIELDS 2 a x d y')).toBe(':1');
    expect(redis.ask('HMGET h a d')).toBe('["x" "y"]');
    expect(redis.ask('HTTL h FIELDS 3 a b d')).toBe('[:10 :-1 :10]');
    expect(redis.ask('HSETEX h KEEPTTL FIELDS 2 a z b z')).toBe(':1');
    expect(redis.ask('HTTL h FIELDS 2 a b')).toBe('[:10 :-1]');
    expect(redis.ask('HSETEX h FIELDS 1 a q')).toBe(':1');
    expect(redis.ask('HTTL h FIELDS 1 a')).toBe('[:-1]');
    expect(redis.ask('HSETEX h FNX FIELDS 2 a 0 e 0')).toBe(':0');
    expect(redis.ask('HSETEX h FXX PX 5 FIELDS 2 a 0 e 0')).toBe(':0');
    expect(redis.ask('HSETEX h PX 5000 FXX FIELDS 2 a 0 b 0')).toBe(':1');
    expect(redis.ask('HSETEX new FXX FIELDS 1 a 0')).toBe(':0');
    expect(redis.ask('HSETEX new FNX FIELDS 1 a 0')).toBe(':1');
    expect(replicated()).toEqual([
      `HSETEX h PXAT ${T0 + 10_000} FIELDS 2 a x d y`,
      'HSETEX h KEEPTTL FIELDS 2 a z b z',
      'HSETEX h FIELDS 1 a q',
      `HSETEX h PXAT ${T0 + 5000} FXX FIELDS 2 a 0 b 0`,
      'HSETEX new FNX FIELDS 1 a 0',
    ]);
  });

  test('deletes fields whose deadline has passed, and leaves no empty hash', () => {
    expect(redis.ask('HSETEX h PXAT 1 FIELDS 3 a x b y z 1')).toBe(':1');
    expect(redis.ask('HGETALL h')).toBe('["c" "3"]');
    expect(redis.ask('HSETEX none EXAT 1 FIELDS 1 a x')).toBe(':1');
    expect(redis.ask('EXISTS none')).toBe(':0');
    expect(replicated()).toEqual(['HDEL h a', 'HDEL h b', 'HDEL h z', 'HDEL none a']);
  });

  test('says what is wrong with a request', () => {
    const arity = "wrong number of arguments for 'hsetex' command";
    for (const [request, answer] of [
      ['HSETEX h FIELDS 2 a b', arity],
      ['HSETEX h FIELDS 2 a b c', arity],
      ['HSETEX h FIELDS 1 a b unknown', arity],
      ['HSETEX h NX FIELDS 1 a b', 'unknown argument: NX'],
      ['HSETEX h 1 FIELDS 1 a b', 'unknown argument: 1'],
      ['HSETEX h FXX FNX FIELDS 1 a b', 'Only one of FXX or FNX arguments can be specified'],
      [
        'HSETEX h EX 1 KEEPTTL FIELDS 1 a b',
        'Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified',
      ],
      ['HSETEX h EX FIELDS 1 a b', 'value is not an integer or out of range'],
      ['HSETEX h EXAT -1 1 a b', 'invalid expire time, must be >= 0'],
      ['HSETEX h FIELDS 0 a b', 'invalid number of fields'],
      ['HSETEX h FIELDS x a b', 'invalid number of fields'],
      ['HSETEX h PX 1 EX 1 FIELDS', 'Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified'],
    ]) {
      expect(redis.ask(request!), request).toBe(`-ERR ${answer}`);
    }
  });
});

test('HGETDEL returns fields and deletes them, and deletes the hash with its last field', () => {
  expect(redis.ask('HGETDEL h FIELDS 2 a x')).toBe('["1" nil$]');
  expect(redis.ask('HGETDEL h FIELDS 2 b c')).toBe('["2" "3"]');
  expect(redis.ask('EXISTS h')).toBe(':0');
  expect(redis.ask('HGETDEL h FIELDS 1 a')).toBe('[nil$]');
  expect(redis.ask('HGETDEL h FIELDS 2 a')).toBe(
    '-ERR The `numfields` parameter must match the number of arguments',
  );
  expect(replicated()).toEqual(['HDEL h a x', 'HDEL h b c']);
  expect(events).toEqual(['h hdel', 'h hdel', 'h del']);
});
