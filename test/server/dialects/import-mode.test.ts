/** Valkey's import mode, and dumps of versions that it does not know yet. The answers are those of valkey-server 8.1.1. */
import { expect, test } from 'vitest';
import { readRdb, writeRdb } from '../../../keyspace/rdb/file.ts';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

function setUp() {
  const host = new TestHost();
  const server = createNode(host, { dialect: 'valkey-8.1', strict: true });
  return { host, server, source: new Conversation(server), other: new Conversation(server) };
}

/** Asks line by line: each line is a request and its reply. */
function talk(conversation: Conversation, lines: Record<string, string>): void {
  for (const [line, reply] of Object.entries(lines))
    expect(`${line}: ${conversation.ask(line)}`).toBe(`${line}: ${reply}`);
}

const RESTORE = 'RESTORE k 0 "\\x00\\x03\\x62\\x61\\x72\\xde\\x00\\x0fYUza\\xd3\\xec\\xe0" REPLACE';
const WRONG = '-ERR DUMP payload version or checksum are wrong';

test('in import mode, expired keys stay, and only a connection that imports sees them', () => {
  const { host, server, source, other } = setUp();
  talk(source, {
    'CLIENT IMPORT-SOURCE ON': '-ERR Server is not in import mode',
    'CLIENT IMPORT-SOURCE x': '-ERR Server is not in import mode',
    'CONFIG SET import-mode yes': '+OK',
    'client import-source x': '-ERR syntax error',
    'client import-source on': '+OK',
    'MSET a 1 b 1': '+OK',
    'PEXPIRE a 1': ':1',
    'PEXPIRE b 1': ':1',
  });
  host.advance(100);
  talk(other, { 'GET a': 'nil$', 'TTL a': ':-2', 'EXISTS a': ':0', 'KEYS *': '[]', DBSIZE: ':2' });
  expect(source.ask('CLIENT INFO')).toContain(' flags=I ');
  // RESET does not end it.
  talk(source, { 'INCR a': ':2', 'TTL a': ':0', RESET: '+RESET', 'GET a': '"2"' });
  talk(other, { 'INCR b': ':1', 'TTL b': ':-1', 'CONFIG SET import-mode no': '+OK' });
  host.advance(1);
  talk(other, { DBSIZE: ':1' });
  talk(source, { 'GET a': 'nil$', 'CLIENT IMPORT-SOURCE OFF': '+OK' });
  expect(source.ask('CLIENT INFO')).toContain(' flags=N ');
  server.stop();
});

test('in import mode, nothing is evicted', () => {
  const { server, source } = setUp();
  talk(source, {
    'CONFIG SET maxmemory-policy allkeys-lru import-mode yes': '+OK',
    'SET a b': '+OK',
    'CONFIG SET maxmemory 100': '+OK',
    'SET c d': "-OOM command not allowed when used memory > 'maxmemory'.",
    DBSIZE: ':1',
    'CONFIG SET import-mode no': '+OK',
  });
  expect(source.ask('DBSIZE')).toBe(':0');
  server.stop();
});

test('RESTORE and dump files take later versions if rdb-version-check is relaxed', () => {
  const { server, source } = setUp();
  expect(source.ask(RESTORE)).toBe(WRONG);
  talk(source, { 'CONFIG SET rdb-version-check relaxed': '+OK' });
  expect(source.ask(RESTORE)).toBe('+OK');
  talk(source, { 'GET k': '"bar"' });
  const file = writeRdb([]).replace('0010', '0099').slice(0, -8) + '\0'.repeat(8);
  expect(() => [...readRdb(file)]).toThrow('RDB version 99');
  expect([...readRdb(file, server.encoding, true)]).toEqual([]);
  server.stop();
});

test('a payload whose checksum is zero is refused', () => {
  const { server, source } = setUp();
  const zeros = '\\x00'.repeat(8);
  expect(source.ask(`RESTORE k 0 "\\x00\\x01a\\x06\\x00${zeros}"`)).toBe(WRONG);
  expect(source.ask(`FUNCTION RESTORE "\\xf5\\x01a\\x06\\x00${zeros}"`)).toBe(WRONG);
  server.stop();
});
