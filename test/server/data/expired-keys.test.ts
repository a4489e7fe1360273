/** Keys that have expired and are still stored, because active expiry is off: they count as absent. */
import { beforeEach, expect, test } from 'vitest';
import { freshServerForEachTest, host, server } from '../../support/fresh.ts';
import { recordEffects } from '../../support/talk.ts';
import { Conversation } from '../../transcripts/own.ts';

freshServerForEachTest();

let a: Conversation;
let b: Conversation;

beforeEach(() => {
  a = new Conversation(server);
  b = new Conversation(server);
  a.ask('DEBUG SET-ACTIVE-EXPIRE 0');
});

/** Stores keys and lets them expire. */
function expired(...keys: string[]): void {
  for (const key of keys) a.ask(`SET ${key} v PX 1`);
  host.advance(2);
  for (const key of keys) expect(a.ask(`DEBUG OBJECT ${key}`)).toMatch(/^\+Value at:/);
}

/** Runs a transaction that pings. Returns '[+PONG]', or the null array if a watched key had changed. */
function transaction(): string {
  a.ask('MULTI');
  a.ask('PING');
  return a.ask('EXEC');
}

test('FLUSHDB does not fail a transaction that watches an expired key', () => {
  expired('k');
  a.ask('WATCH k');
  a.ask('FLUSHDB');
  expect(transaction()).toBe('[+PONG]');
  a.ask('SET k v');
  a.ask('WATCH k');
  a.ask('FLUSHDB');
  expect(transaction()).toBe('nil*');
});

test('SWAPDB does not fail it where an expired key is replaced by none, by another one, or replaces none', () => {
  expired('k');
  a.ask('WATCH k');
  a.ask('SWAPDB 0 1');
  expect(transaction()).toBe('[+PONG]');
  // The expired key is in database 1 now, and returns to where there was none.
  a.ask('WATCH k');
  a.ask('SWAPDB 0 1');
  expect(transaction()).toBe('[+PONG]');
  a.ask('SELECT 1');
  expired('k');
  a.ask('SELECT 0');
  a.ask('WATCH k');
  a.ask('SWAPDB 0 1');
  expect(transaction()).toBe('[+PONG]');
});

test('SWAPDB fails it where a live key comes or goes', () => {
  expired('k');
  b.ask('SELECT 1');
  b.ask('SET k live');
  a.ask('WATCH k');
  b.ask('SWAPDB 0 1');
  expect(transaction()).toBe('nil*');
  a.ask('WATCH k');
  b.ask('SWAPDB 0 1');
  expect(transaction()).toBe('nil*');
});

test('an expired key that came by SWAPDB may be removed, but not set', () => {
  expired('k');
  a.ask('SELECT 1');
  a.ask('WATCH k');
  a.ask('SWAPDB 0 1');
  b.ask('SELECT 1');
  expect(b.ask('EXISTS k')).toBe(':0');
  expect(transaction()).toBe('[+PONG]');
  a.ask('WATCH k');
  b.ask('SET k v');
  expect(transaction()).toBe('nil*');
});

test.each(['SCAN 0', 'RANDOMKEY'])(
  '%s replicates each removal by itself, other commands in MULTI',
  (line) => {
    const effects = recordEffects(server);
    server.effects.feeding = true;
    expired('k', 'l');
    effects.length = 0;
    a.ask(line);
    expect(effects.sort()).toEqual(['DEL k', 'DEL l']);
    expired('k', 'l');
    effects.length = 0;
    a.ask('MGET k l');
    expect(effects).toEqual(['MULTI', 'DEL k', 'DEL l', 'EXEC']);
  },
);

test('DEBUG OBJECT describes an expired key, and a script removes it', () => {
  expired('k');
  expect(a.ask('DEBUG OBJECT k')).toMatch(/^\+Value at:/);
  expect(a.ask("EVAL \"return redis.call('EXISTS', 'k')\" 0")).toBe(':0');
  expect(a.ask('DEBUG OBJECT k')).toBe('-ERR no such key');
});

test('keys that expire during a pause are removed when it ends, without any request', () => {
  a.ask('DEBUG SET-ACTIVE-EXPIRE 1');
  a.ask('SET k v PX 100');
  a.ask('CLIENT PAUSE 500');
  host.advance(600);
  expect(server.db(0).size).toBe(0);
});

test('a command that stores an empty result deletes an expired key and does not say that it has expired', () => {
  const stores = [
    'SUNIONSTORE k nosuch',
    'ZUNIONSTORE k 1 nosuch',
    'SORT nosuch STORE k',
    'BITOP AND k nosuch',
  ];
  a.ask('CONFIG SET notify-keyspace-events KEA');
  b.ask('SUBSCRIBE __keyspace@0__:k');
  for (const store of stores) {
    expired('k');
    b.ask('PING');
    const effects = recordEffects(server);
    expect(a.ask(store)).toBe(':0');
    expect(effects).toEqual([store]);
    expect(b.ask('PING')).toBe('["message" "__keyspace@0__:k" "del"] ["pong" ""]');
  }
});
