/** Key commands that transcripts cannot show: SCAN's guarantees, randomness, and effects of settings. */
import { beforeEach, expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

let host: TestHost;
let redis: Conversation;

beforeEach(() => {
  host = new TestHost();
  redis = new Conversation(createNode(host));
});

/** One SCAN: its cursor and keys. */
function scan(cursor: string, rest = ''): { cursor: string; keys: string[] } {
  const words = [...redis.ask(`SCAN ${cursor} ${rest}`).matchAll(/"([^"]*)"/g)].map(([, word = '']) => word);
  return { cursor: words[0] ?? '', keys: words.slice(1) };
}

function scanAll(rest = '', between: (round: number) => void = () => {}): string[] {
  const found: string[] = [];
  let cursor = '0';
  for (let round = 0; round === 0 || cursor !== '0'; round++) {
    const step = scan(cursor, rest);
    found.push(...step.keys);
    cursor = step.cursor;
    between(round);
  }
  return found.sort();
}

const numbers = Array.from({ length: 100 }, (_, i) => `k${i}`);

test('SCAN returns every key once, COUNT at a time', () => {
  for (const key of numbers) redis.ask(`SET ${key} v`);
  expect(scan('0').keys).toHaveLength(10);
  expect(scan('0', 'COUNT 33').keys).toHaveLength(33);
  for (const count of [1, 7, 100, 1000]) expect(scanAll(`COUNT ${count}`)).toEqual([...numbers].sort());
  expect(scanAll('MATCH k1? COUNT 3')).toEqual(numbers.slice(10, 20));
});

test('SCAN returns every key that stays while others are added, removed and renamed', () => {
  const staying = numbers.filter((_, i) => i % 3 === 0);
  for (const key of numbers) redis.ask(`SET ${key} v`);
  const found = scanAll('COUNT 2', (round) => {
    const going = numbers[3 * round + 1];
    if (going !== undefined) redis.ask(`DEL ${going}`);
    for (let i = 0; i < 20; i++) redis.ask(`SET new${round}-${i} v`);
    const old = numbers[3 * round + 2];
    if (old !== undefined) redis.ask(`RENAME ${old} renamed${round}`);
    for (const key of staying) redis.ask(`SET ${key} again`);
  });
  expect(staying.filter((key) => !found.includes(key))).toEqual([]);
  expect(found.filter((key) => key.startsWith('new'))).toEqual([]);
  expect(new Set(found).size).toBe(found.length);
});

test('a scan ends when its database is emptied meanwhile', () => {
  for (const key of numbers) redis.ask(`SET ${key} v`);
  const { cursor } = scan('0');
  redis.ask('FLUSHALL');
  redis.ask('SET other v');
  expect(scan(cursor)).toEqual({ cursor: '0', keys: [] });
  expect(scan('0')).toEqual({ cursor: '0', keys: ['other'] });
});

test('SCAN skips expired keys, even on a node that may not remove them', () => {
  redis.ask('SET a v PX 10');
  redis.ask('SET b v');
  host.advance(11);
  expect(scanAll()).toEqual(['b']);
});

test('RANDOMKEY returns every existing key in time, and no others', () => {
  for (const key of numbers.slice(0, 10)) redis.ask(`SET ${key} v`);
  redis.ask('RANDOMKEY');
  for (const key of numbers.slice(0, 5)) redis.ask(`DEL ${key}`);
  const seen = new Set(Array.from({ length: 200 }, () => redis.ask('RANDOMKEY')));
  expect([...seen].sort()).toEqual(numbers.slice(5, 10).map((key) => `"${key}"`));
});

test('OBJECT IDLETIME counts from the last use; TOUCH counts as a use, EXISTS and TTL do not', () => {
  redis.ask('SET k v');
  host.advance(5000);
  redis.ask('EXISTS k');
  redis.ask('TTL k');
  expect(redis.ask('OBJECT IDLETIME k')).toBe(':5');
  redis.ask('TOUCH k');
  expect(redis.ask('OBJECT IDLETIME k')).toBe(':0');
});

test('OBJECT FREQ works under an LFU policy only, and IDLETIME under all others', () => {
  redis.ask('SET k v');
  redis.ask('CONFIG SET maxmemory-policy allkeys-lfu');
  expect(redis.ask('OBJECT FREQ k')).toMatch(/^:\d+$/);
  expect(redis.ask('OBJECT IDLETIME k')).toMatch(/^-ERR An LFU maxmemory policy is selected/);
  expect(redis.ask('OBJECT HELP')).toContain('ENCODING <key>');
});

test('SCAN and RANDOMKEY stay correct when nearly all keys are deleted, with and without new keys', () => {
  const many = Array.from({ length: 3000 }, (_, i) => `k${i}`);
  redis.ask(`MSET ${many.map((key) => `${key} v`).join(' ')}`);
  const { cursor } = scan('0', 'COUNT 2000');
  redis.ask(`DEL ${many.slice(5).join(' ')}`);
  expect(scan(cursor, 'COUNT 100').keys.sort()).toEqual(many.slice(0, 5));
  for (let i = 0; i < 3000; i++) {
    redis.ask(`SET passing${i} v`);
    redis.ask(`DEL passing${i}`);
  }
  expect(scan(cursor, 'COUNT 100').keys.sort()).toEqual(many.slice(0, 5));
  expect(many.slice(0, 5).map((key) => `"${key}"`)).toContain(redis.ask('RANDOMKEY'));
});
