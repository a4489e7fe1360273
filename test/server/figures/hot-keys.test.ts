/** What HOTKEYS counts: the bytes are those that redis-server 8.6.2 counts for the same requests. */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

test('HOTKEYS counts requests and replies, shares them between keys, and leaves out what scripts call', () => {
  const redis = new Conversation(createNode(new TestHost(), { dialect: 'redis-8.6', strict: true }));
  for (const line of [
    'HOTKEYS START METRICS 2 NET CPU COUNT 20',
    'SET a b',
    'SET a b',
    'GET a',
    'MSET a 1 b 2',
    `EVAL "return redis.call('get', KEYS[1])" 1 a`,
    `EVAL "return redis.call('get','inner')" 0`,
    'MULTI',
    'SET c d',
    'GET a',
    'EXEC',
    'PING',
    'LPUSH lst x',
    'GET lst',
    'SPUBLISH channel x',
    'WATCH wk',
  ])
    redis.ask(line);
  const reply = redis.ask('HOTKEYS GET');
  expect(reply).toContain('"net-bytes-all-commands-all-slots" :419');
  expect(reply).toContain('"total-net-bytes" :418');
  expect(reply).toContain('"by-net-bytes" ["a" :219 "lst" :125 "wk" :28 "b" :23 "c" :23]');
});

test('HOTKEYS stops by itself when its time is over, and keeps what it has found', () => {
  const host = new TestHost();
  const redis = new Conversation(createNode(host, { dialect: 'redis-8.6', strict: true }));
  redis.ask('HOTKEYS START METRICS 1 NET DURATION 2');
  redis.ask('SET a b');
  host.advance(3000);
  redis.ask('SET a b');
  const reply = redis.ask('HOTKEYS GET');
  expect(reply).toContain('"tracking-active" :0');
  expect(reply).toContain('"collection-duration-ms" :2000');
  expect(reply).toContain('"by-net-bytes" ["a" :32]');
  expect(redis.ask('HOTKEYS STOP')).toBe('nil$');
  expect(redis.ask('HOTKEYS RESET')).toBe('+OK');
});
