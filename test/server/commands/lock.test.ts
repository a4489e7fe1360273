/** Lock commands of other servers, which redis-server 7.0 does not have: as redis.io, valkey.io and Tair's manual document them. */
import { beforeEach, expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { recordEffects } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

let host: TestHost;
let redis: Conversation;
let effects: string[];

beforeEach(() => {
  host = new TestHost();
  const server = createNode(host);
  redis = new Conversation(server);
  effects = recordEffects(server);
});

const HELLO = '9555e8555c62dcfd';
const DIGEST_LENGTH = '-ERR must be exactly 16 hexadecimal characters';
const WRONGTYPE = '-WRONGTYPE Operation against a key holding the wrong kind of value';

test('DIGEST answers 16 hexadecimal digits of XXH3', () => {
  redis.ask('SET k hello');
  expect(redis.ask('DIGEST k')).toBe(`"${HELLO}"`);
  redis.ask('SET k ""');
  expect(redis.ask('DIGEST k')).toBe('"2d06800538d394c2"');
  redis.ask('SET k v8');
  expect(redis.ask('DIGEST k')).toBe('"0cc76dbb41381419"');
  expect(redis.ask('DIGEST missing')).toBe('nil$');
  redis.ask('HSET h f v');
  expect(redis.ask('DIGEST h')).toBe(WRONGTYPE);
});

test('SET IFEQ and IFDEQ replace an equal value only, and never create the key', () => {
  for (const [option, equal, other] of [
    ['IFEQ', 'hello', 'world'],
    ['IFDEQ', HELLO, '0000000000000000'],
  ]) {
    redis.ask('DEL k');
    expect(redis.ask(`SET k x ${option} ${equal}`)).toBe('nil$');
    expect(redis.ask('EXISTS k')).toBe(':0');
    redis.ask('SET k hello');
    expect(redis.ask(`SET k x ${option} ${other}`)).toBe('nil$');
    expect(redis.ask(`SET k x ${option} ${other} GET`)).toBe('"hello"');
    expect(redis.ask('GET k')).toBe('"hello"');
    expect(redis.ask(`SET k x ${option} ${equal} GET PX 1000`)).toBe('"hello"');
    expect(redis.ask('PTTL k')).toBe(':1000');
    redis.ask('SET k hello');
    expect(redis.ask(`SET k y ${option} ${equal}`)).toBe('+OK');
    expect(redis.ask('GET k')).toBe('"y"');
  }
});

test('SET IFNE and IFDNE replace a different value, and create the key', () => {
  for (const [option, equal, other] of [
    ['IFNE', 'hello', 'world'],
    ['IFDNE', HELLO, '0000000000000000'],
  ]) {
    redis.ask('SET k hello');
    expect(redis.ask(`SET k x ${option} ${equal}`)).toBe('nil$');
    expect(redis.ask(`SET k x ${option} ${other}`)).toBe('+OK');
    redis.ask('DEL k');
    expect(redis.ask(`SET k x ${option} ${equal}`)).toBe('+OK');
    expect(redis.ask('GET k')).toBe('"x"');
  }
});

test('SET refuses two conditions, another type, and a digest of the wrong length', () => {
  redis.ask('SET k hello');
  expect(redis.ask('SET k x IFEQ a NX')).toBe('-ERR syntax error');
  expect(redis.ask('SET k x XX IFEQ a')).toBe('-ERR syntax error');
  expect(redis.ask('SET k x IFEQ a IFNE b')).toBe('-ERR syntax error');
  expect(redis.ask('SET k x IFEQ')).toBe('-ERR syntax error');
  expect(redis.ask('SET k x IFDEQ abc')).toBe(DIGEST_LENGTH);
  expect(redis.ask(`SET k x IFDNE ${HELLO}0`)).toBe(DIGEST_LENGTH);
  redis.ask('HSET h f v');
  expect(redis.ask('SET h x IFEQ a')).toBe(WRONGTYPE);
  expect(redis.ask('SET h x IFDNE a')).toBe(WRONGTYPE);
  expect(redis.ask('SET missing x IFDEQ 12')).toBe('nil$');
  expect(redis.ask('SET missing x IFDNE 12')).toBe('+OK');
});

test('a comparing SET is replicated as a plain one, so that an older replica follows', () => {
  redis.ask('SET k a');
  redis.ask('SET k b IFEQ a');
  redis.ask('SET k c IFEQ nothing');
  redis.ask('SET k c IFNE a KEEPTTL GET');
  redis.ask('SET k d IFEQ c PX 500');
  redis.ask('DELEX k IFEQ d');
  expect(effects).toEqual([
    'SET k a',
    'SET k b',
    'SET k c KEEPTTL',
    `SET k d PXAT ${host.clock.now() + 500}`,
    'DEL k',
  ]);
});

test('DELEX removes by condition', () => {
  const setAndRemove = (rest: string): string => {
    redis.ask('SET k hello');
    return `${redis.ask(`DELEX k ${rest}`)} ${redis.ask('EXISTS k')}`;
  };
  expect(setAndRemove('')).toBe(':1 :0');
  expect(setAndRemove('IFEQ hello')).toBe(':1 :0');
  expect(setAndRemove('IFEQ world')).toBe(':0 :1');
  expect(setAndRemove('ifne world')).toBe(':1 :0');
  expect(setAndRemove('IfNe hello')).toBe(':0 :1');
  expect(setAndRemove(`IFDEQ ${HELLO}`)).toBe(':1 :0');
  expect(setAndRemove('IFDEQ 9555E8555C62DCFD')).toBe(':1 :0');
  expect(setAndRemove('IFDEQ zzzzzzzzzzzzzzzz')).toBe(':0 :1');
  expect(setAndRemove(`IFDNE ${HELLO}`)).toBe(':0 :1');
  expect(setAndRemove('IFDEQ 9555')).toBe(`${DIGEST_LENGTH} :1`);
  expect(setAndRemove('FOO hello')).toBe('-ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE :1');
  expect(setAndRemove('IFEQ')).toBe("-ERR wrong number of arguments for 'delex' command :1");
  expect(setAndRemove('IFEQ a b')).toBe("-ERR wrong number of arguments for 'delex' command :1");
});

test('DELEX on a missing key is 0 whatever the condition; on another type only DELEX alone works', () => {
  expect(redis.ask('DELEX k FOO x')).toBe(':0');
  expect(redis.ask('DELEX k')).toBe(':0');
  redis.ask('HSET h f v');
  expect(redis.ask('DELEX h FOO v')).toBe('-ERR Key should be of string type if conditions are specified');
  expect(redis.ask('DELEX h')).toBe(':1');
});

test('DELIFEQ removes an equal value: 1, else 0', () => {
  redis.ask('SET k v');
  expect(redis.ask('DELIFEQ k w')).toBe(':0');
  expect(redis.ask('DELIFEQ missing v')).toBe(':0');
  expect(redis.ask('DELIFEQ k v')).toBe(':1');
  expect(redis.ask('EXISTS k')).toBe(':0');
  redis.ask('HSET h f v');
  expect(redis.ask('DELIFEQ h v')).toBe(WRONGTYPE);
  expect(effects.filter((line) => line.includes('k'))).toEqual(['SET k v', 'DEL k']);
});

test('CAS replaces an equal value (1, 0, or -1 without the key) and removes the TTL unless one is given', () => {
  expect(redis.ask('CAS k a b')).toBe(':-1');
  redis.ask('SET k a EX 100');
  expect(redis.ask('CAS k x b')).toBe(':0');
  expect(redis.ask('CAS k a b')).toBe(':1');
  expect(redis.ask('TTL k')).toBe(':-1');
  expect(redis.ask('CAS k b c EX 10')).toBe(':1');
  expect(redis.ask('TTL k')).toBe(':10');
  expect(redis.ask('CAS k c d px 500')).toBe(':1');
  expect(redis.ask('PTTL k')).toBe(':500');
  expect(redis.ask('CAS k d e NX')).toBe('-ERR syntax error');
  redis.ask('HSET h f v');
  expect(redis.ask('CAS h a b')).toBe(WRONGTYPE);
  expect(effects.slice(1, 3)).toEqual(['SET k b', `SET k c PXAT ${host.clock.now() + 10_000}`]);
});

test.each([
  ...['EX 0', 'EX -1', 'PX 0', 'PXAT -5', 'EXAT 0', 'EX ten', 'EX 1.5', 'EX +1', 'EX ""', 'EX', 'PXAT'],
  ...['EX 1 PX 1', 'EX 1 EX 1', 'EX 1 KEEPTTL', 'KEEPTTL PX 1', 'GET', 'XX', 'IFEQ d', 'PERSIST'],
])('CAS … %s is a syntax error, as in TairString, with and without the key', (options) => {
  const refusal = '-ERR syntax error';
  expect(redis.ask(`CAS k d e ${options}`)).toBe(refusal);
  redis.ask('SET k d PX 5000');
  redis.ask('HSET h f v');
  expect(redis.ask(`CAS k d e ${options}`)).toBe(refusal);
  expect(redis.ask(`CAS h d e ${options}`)).toBe(refusal);
  expect(redis.ask('GET k')).toBe('"d"');
  expect(redis.ask('PTTL k')).toBe(':5000');
});

test('CAS takes absolute deadlines, keeps the TTL with KEEPTTL, and is replicated', () => {
  const now = host.clock.now();
  redis.ask('SET k a PX 5000');
  expect(redis.ask('CAS k a b KEEPTTL')).toBe(':1');
  expect(redis.ask('PTTL k')).toBe(':5000');
  expect(redis.ask(`CAS k b c PXAT ${now + 700}`)).toBe(':1');
  expect(redis.ask('PTTL k')).toBe(':700');
  expect(redis.ask(`CAS k c d EXAT ${now / 1000 + 3}`)).toBe(':1');
  expect(redis.ask('PTTL k')).toBe(':3000');
  expect(redis.ask('CAS k d e PXAT 1')).toBe(':1');
  expect(redis.ask('PTTL k')).toBe(':0');
  host.advance(1);
  expect(redis.ask('CAS k e f')).toBe(':-1');
  expect(effects).toEqual([
    `SET k a PXAT ${now + 5000}`,
    'SET k b KEEPTTL',
    `SET k c PXAT ${now + 700}`,
    `SET k d PXAT ${now + 3000}`,
    `SET k e PXAT ${now}`,
    'DEL k',
  ]);
});

test('CAD removes an equal value: 1, 0, or -1 without the key', () => {
  expect(redis.ask('CAD k v')).toBe(':-1');
  redis.ask('SET k v');
  expect(redis.ask('CAD k w')).toBe(':0');
  expect(redis.ask('CAD k v')).toBe(':1');
  expect(redis.ask('EXISTS k')).toBe(':0');
});

test('MSETEX stores all keys or none, with one expiry', () => {
  expect(redis.ask('MSETEX 2 a 1 b 2 PX 1000 NX')).toBe(':1');
  expect(redis.ask('MGET a b')).toBe('["1" "2"]');
  expect(redis.ask('PTTL b')).toBe(':1000');
  expect(redis.ask('MSETEX 2 b 3 c 3 NX')).toBe(':0');
  expect(redis.ask('MSETEX 2 b 3 c 3 XX EX 5')).toBe(':0');
  expect(redis.ask('MSETEX 2 a 5 b 5 XX KEEPTTL')).toBe(':1');
  expect(redis.ask('PTTL a')).toBe(':1000');
  expect(redis.ask('MSETEX 1 a 6')).toBe(':1');
  expect(redis.ask('PTTL a')).toBe(':-1');
  expect(redis.ask('GET c')).toBe('nil$');
  expect(effects.filter((effect) => effect !== 'MULTI' && effect !== 'EXEC')).toEqual([
    'SET a 1 PXAT 1700000001000',
    'SET b 2 PXAT 1700000001000',
    'SET a 5 KEEPTTL',
    'SET b 5 KEEPTTL',
    'SET a 6',
  ]);
  expect(redis.ask('COMMAND GETKEYS MSETEX 2 a 1 b 2 NX')).toBe('["a" "b"]');
  for (const [request, answer] of [
    ['MSETEX key1 val1 ex 10', 'invalid numkeys value'],
    ['MSETEX 0 a 1', 'invalid numkeys value'],
    ['MSETEX 2147483648 a 1', 'invalid numkeys value'],
    ['MSETEX 2147483647 a 1', 'wrong number of key-value pairs'],
    ['MSETEX 2 a 1 b', 'wrong number of key-value pairs'],
    ['MSETEX 1 a 1 invalid', 'syntax error'],
    ['MSETEX 1 a 1 NX XX', 'syntax error'],
    ['MSETEX 1 a 1 EX 1 KEEPTTL', 'syntax error'],
    ['MSETEX 1 a 1 EX 0', "invalid expire time in 'msetex' command"],
    ['MSETEX 1 a', "wrong number of arguments for 'msetex' command"],
  ]) {
    expect(redis.ask(request!), request).toBe(`-ERR ${answer}`);
  }
});
