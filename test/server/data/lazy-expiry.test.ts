/** What commands remove because it has expired, while active expiry is off. The real servers gave these answers. */
import { expect, test } from 'vitest';
import type { DialectName } from '../../../server/dialects/index.ts';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

/** A node whose expired keys stay until a command removes them. */
function lazyNode(dialect: DialectName) {
  const host = new TestHost();
  const client = new Conversation(createNode(host, { dialect, strict: false }));
  client.ask('DEBUG SET-ACTIVE-EXPIRE 0');
  return { host, client };
}

/** How many keys are left after SCAN has met an expired string and an expired hash. */
const LEFT: readonly (readonly [DialectName, match: number, type: number])[] = [
  ['redis-7.0', 2, 0],
  ['redis-8.0', 2, 0],
  ['redis-8.2', 0, 0],
  ['redis-8.6', 2, 0],
  ['valkey-8.1', 2, 1],
  ['valkey-9', 2, 1],
];

test.each(LEFT)(
  '%s: SCAN removes expired keys that its filters let through, or others too',
  (dialect, match, type) => {
    const { host, client } = lazyNode(dialect);
    for (const line of ['SET s v PX 1', 'HSET h f v', 'PEXPIRE h 1']) client.ask(line);
    host.advance(5);
    expect(client.ask('SCAN 0 MATCH x*')).toBe('["0" []]');
    expect(client.ask('DBSIZE')).toBe(`:${match}`);
    for (const line of ['SET s v PX 1', 'DEL h', 'HSET h f v', 'PEXPIRE h 1']) client.ask(line);
    host.advance(5);
    expect(client.ask('SCAN 0 TYPE string')).toBe('["0" []]');
    expect(client.ask('DBSIZE')).toBe(`:${type}`);
    client.ask('SCAN 0');
    expect(client.ask('DBSIZE')).toBe(':0');
  },
);

test.each([
  'HGET h f',
  'HMGET h f',
  'HEXISTS h f',
  'HSTRLEN h f',
  'HGETDEL h FIELDS 1 f',
  'HGETEX h PX 1 FIELDS 1 f',
])('%s removes the expired field that it names, and no other', (line) => {
  const { host, client } = lazyNode('redis-8.2');
  client.ask('HSETEX h PX 1 FIELDS 2 f 1 g 2');
  host.advance(5);
  const sizes = (): string =>
    /db0_distrib_hashes_items:[\d=,]*/.exec(client.ask('INFO keysizes'))?.[0] ?? 'none';
  expect(sizes()).toBe('db0_distrib_hashes_items:2=1');
  client.ask(line);
  expect(sizes()).toBe('db0_distrib_hashes_items:1=1');
  client.ask(line.replaceAll('f', 'g'));
  expect(sizes()).toBe('none');
});

test('a field that is written over an expired one leaves the other expired fields alone, and they stay invisible', () => {
  const { host, client } = lazyNode('redis-8.2');
  client.ask('HSETEX h PX 1 FIELDS 3 f 1 g 2 i 3');
  host.advance(5);
  expect(client.ask('HSETNX h f 5')).toBe(':1');
  expect(client.ask('HINCRBY h g 7')).toBe(':7');
  expect(client.ask('HGETALL h')).toBe('["f" "5" "g" "7"]');
  expect(client.ask('INFO keysizes')).toContain('db0_distrib_hashes_items:2=1');
});
