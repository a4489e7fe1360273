/**
 * Keyspace events that name the fields of a hash, as Redis 8.8 documents them
 * (https://redis.io/docs/latest/develop/pubsub/subkeyspace-notifications/, read on 2026-11-22).
 */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation, TestClient } from '../../transcripts/own.ts';

/** A node of 8.8 whose events a client receives, without the messages about its subscriptions. */
function listening(letters: string) {
  const host = new TestHost();
  const server = createNode(host, { dialect: 'redis-8.8', strict: true });
  const redis = new Conversation(server);
  const listener = new TestClient(server);
  redis.ask(`CONFIG SET notify-keyspace-events ${letters}`);
  listener.send(['PSUBSCRIBE', '*']);
  listener.received();
  const heard = (): string[] =>
    listener.received().map(([, parts]) => {
      const [, , channel, text] = (parts ?? []) as readonly (readonly [string, string])[];
      return `${channel?.[1]} ${text?.[1]}`;
    });
  return { host, redis, heard };
}

test('each of the four kinds of channels has its own form', () => {
  const { redis, heard } = listening('STIVh');
  redis.ask('HSET h f1 v f22 w');
  expect(heard()).toEqual([
    '__subkeyspace@0__:h hset|2:f1,3:f22',
    '__subkeyevent@0__:hset 1:h|2:f1,3:f22',
    '__subkeyspaceitem@0__:h\nf1 hset',
    '__subkeyspaceitem@0__:h\nf22 hset',
    '__subkeyspaceevent@0__:hset|h 2:f1,3:f22',
  ]);
  redis.ask('HSET "a\\nb" f v');
  expect(heard().some((line) => line.startsWith('__subkeyspaceitem'))).toBe(false);
});

test('every command on hashes names the fields that it changed', () => {
  const { host, redis, heard } = listening('Sh');
  const events = (line: string): string => {
    redis.ask(line);
    return heard()
      .map((each) => each.replace('__subkeyspace@0__:h ', ''))
      .join(' ');
  };
  expect(events('HSET h a 1 b 2 a 3')).toBe('hset|1:a,1:b,1:a');
  expect(events('HMSET h c 1')).toBe('hset|1:c');
  expect(events('HSETNX h a 1')).toBe('');
  expect(events('HSETNX h d 1')).toBe('hset|1:d');
  expect(events('HINCRBY h a 1')).toBe('hincrby|1:a');
  expect(events('HINCRBYFLOAT h a 1')).toBe('hincrbyfloat|1:a');
  expect(events('HDEL h d nosuch')).toBe('hdel|1:d');
  expect(events('HDEL h nosuch')).toBe('');
  expect(events('HEXPIRE h 100 FIELDS 3 a b nosuch')).toBe('hexpire|1:a,1:b');
  expect(events('HPERSIST h FIELDS 2 a c')).toBe('hpersist|1:a');
  expect(events('HGETEX h PX 5 FIELDS 1 a')).toBe('hexpire|1:a');
  expect(events('HSETEX h EX 100 FIELDS 2 x 1 y 2')).toBe('hset|1:x,1:y hexpire|1:x,1:y');
  expect(events('HGETDEL h FIELDS 2 x nosuch')).toBe('hdel|1:x');
  host.advance(6);
  expect(heard()).toEqual(['__subkeyspace@0__:h hexpired|1:a']);
});

test('the letters are those of Redis 8.8 alone, and need the class h', () => {
  const { redis, heard } = listening('KEASTIV');
  expect(redis.ask('CONFIG GET notify-keyspace-events')).toBe('["notify-keyspace-events" "AKESTIV"]');
  redis.ask('CONFIG SET notify-keyspace-events STIVg');
  redis.ask('HSET h f v');
  redis.ask('SET s v');
  expect(heard()).toEqual([]);
  for (const dialect of ['redis-7.0', 'redis-8.6', 'valkey-9'] as const) {
    const other = new Conversation(createNode(new TestHost(), { dialect }));
    expect(other.ask('CONFIG SET notify-keyspace-events KES'), dialect).toMatch(
      /Invalid event class character/,
    );
    expect(other.ask('CONFIG SET notify-keyspace-events KEA'), dialect).toBe('+OK');
  }
});
