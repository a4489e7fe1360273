/** Which server a node answers as: its names and versions, its commands and options, and what a strict node refuses. */
import { describe, expect, test } from 'vitest';
import { startPair, startServer } from '../../../index.ts';
import { type DialectName, dialectNames } from '../../../server/dialects/index.ts';
import { createNode } from '../../../server/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

function nodeOf(dialect: DialectName, strict = false): Conversation {
  return new Conversation(createNode(new TestHost(), { dialect, strict }));
}

/** The fields that name the server. */
function names(info: string): string[] {
  return info
    .split(/\\r\\n|\r\n/)
    .filter((line) => /^(redis|valkey|server)_(version|name|mode|release)/.test(line));
}

describe.each(dialectNames.filter((name) => oracleOf(name) !== undefined))(
  '%s (needs that server)',
  (dialect) => {
    test('INFO, HELLO and LOLWUT name the server as it names itself', async () => {
      await using real = await startRedisServer({ program: oracleOf(dialect) ?? '' });
      const theirs = await RawClient.connect({ path: real.path });
      await using server = await startServer({ dialect });
      const ours = await RawClient.connect({ port: server.port });
      const facts = [];
      for (const client of [ours, theirs]) {
        const info = (await client.ask('INFO', 'server')).raw;
        const hello = (await client.ask('HELLO')).raw;
        const lolwut = (await client.ask('LOLWUT', 'VERSION', '5')).raw;
        facts.push({
          info: names(info),
          hello: /server\r\n.*?version\r\n\$\d+\r\n[^\r]*/s.exec(hello)?.[0],
          lolwut: /(Redis|Valkey) ver\. [\d.]+/.exec(lolwut)?.[0],
        });
        client.close();
      }
      expect(facts[0]).toEqual(facts[1]);
      expect(facts[0]?.info.length).toBeGreaterThan(1);
    });
  },
);

test('an option that the server does not have is a syntax error', () => {
  const older = nodeOf('redis-7.0');
  older.ask('ZADD z 1 a 2 b');
  expect(older.ask('ZRANK z b WITHSCORE')).toBe("-ERR wrong number of arguments for 'zrank' command");
  for (const dialect of ['redis-8.2', 'valkey-8.1'] as const) {
    const newer = nodeOf(dialect);
    newer.ask('ZADD z 1 a 2 b');
    expect(newer.ask('ZRANK z b WITHSCORE')).toBe('[:1 "2"]');
    expect(newer.ask('ZREVRANK z b WITHSCORE')).toBe('[:0 "2"]');
    expect(newer.ask('ZREVRANK z c WITHSCORE')).toBe('nil*');
    expect(newer.ask('ZREVRANK z b SCORE')).toBe('-ERR syntax error');
  }
});

test('lock commands of other servers work in every dialect, unless the node is strict', () => {
  for (const dialect of dialectNames) {
    const [open, strict] = [nodeOf(dialect), nodeOf(dialect, true)];
    for (const node of [open, strict]) node.ask('SET k v');
    expect(open.ask('SET k w IFEQ v'), dialect).toBe('+OK');
    expect(open.ask('DELIFEQ k w'), dialect).toBe(':1');
    const [isValkey9, isLater] = [dialect === 'valkey-9', /^redis-8\.[68]$/.test(dialect)];
    const unknown = /^-ERR unknown command 'DELIFEQ'/;
    expect(strict.ask('DELIFEQ k other'), dialect).toMatch(isValkey9 ? /^:0$/ : unknown);
    const known = isLater || dialect.startsWith('valkey');
    expect(strict.ask('SET k w IFEQ v'), dialect).toBe(known ? '+OK' : '-ERR syntax error');
    expect(strict.ask('SET k x IFNE v'), dialect).toBe(isLater ? '+OK' : '-ERR syntax error');
    expect(strict.ask('COMMAND INFO DELIFEQ') === '[nil$]', dialect).toBe(!isValkey9);
    expect(open.ask('COMMAND INFO DELIFEQ'), dialect).not.toBe('[nil$]');
  }
});

test('a strict node has the subcommands of its server alone', () => {
  expect(nodeOf('redis-7.0', true).ask('CLIENT SETINFO LIB-NAME x')).toMatch(/^-ERR unknown subcommand/);
  expect(nodeOf('redis-7.0').ask('CLIENT SETINFO LIB-NAME x')).toBe('+OK');
  expect(nodeOf('valkey-8.1', true).ask('CLIENT SETINFO LIB-NAME x')).toBe('+OK');
  expect(nodeOf('valkey-8.1', true).ask('HTTL h FIELDS 1 f')).toMatch(/^-ERR unknown command/);
  expect(nodeOf('redis-8.2', true).ask('HTTL h FIELDS 1 f')).toBe('[:-2]');
});

/** Requests, and what redis-server 7.0.15, 8.2.3 and valkey-server 8.1.1 answer. */
const answers: readonly [requests: string[], redis70: string, redis82: string, valkey81: string][] = [
  [['ZADD z 0.1 a', 'ZSCORE z a'], '"0.10000000000000001"', '"0.1"', '"0.1"'],
  [['ZADD z 1e-7 a', 'ZSCORE z a'], '"9.9999999999999995e-08"', '"1e-7"', '"1e-7"'],
  [['ZADD z 1e17 a', 'ZSCORE z a'], '"1e+17"', '"100000000000000000"', '"100000000000000000"'],
  [['ZADD z 1e20 a', 'ZSCORE z a'], '"1e+20"', '"1e+20"', '"1e+20"'],
  [['ZADD z 0.000123 a', 'ZSCORE z a'], '"0.00012300000000000001"', '"0.000123"', '"0.000123"'],
  [['RPUSH l a', 'OBJECT ENCODING l'], '"quicklist"', '"listpack"', '"listpack"'],
  [['SADD s a', 'OBJECT ENCODING s'], '"hashtable"', '"listpack"', '"listpack"'],
  [['EVAL "return redis.call(\'wait\', 1, 0)" 0'], 'ERR', ':0', ':0'],
  [['READONLY'], 'ERR', 'ERR', '+OK'],
  [['BITCOUNT missing 1'], ':0', 'ERR', ':0'],
];

test.each(answers)('%j is answered as each server answers it', (requests, ...expected) => {
  for (const [i, dialect] of (['redis-7.0', 'redis-8.2', 'valkey-8.1'] as const).entries()) {
    const node = nodeOf(dialect, true);
    const last = requests.map((request) => node.ask(request)).at(-1) ?? '';
    const shown = last.startsWith('-ERR') ? 'ERR' : last;
    expect(shown, dialect).toBe(expected[i]);
  }
});

test('a dialect that does not exist is refused', () => {
  const made = () => createNode(new TestHost(), { dialect: 'redis-9.9' as DialectName });
  expect(made).toThrow('dialect redis-9.9: must be one of redis-7.0');
});

test('the nodes of a pair can answer as different servers, and be upgraded one by one', async () => {
  await using pair = await startPair({ dialect: { 'redis-1': 'redis-7.0', 'redis-2': 'redis-8.2' } });
  const version = async (node: string): Promise<string> => {
    const { server } = pair.node(node);
    return new Conversation(server).ask('HELLO');
  };
  expect(await version('redis-1')).toContain('7.0.15');
  expect(await version('redis-2')).toContain('8.2.3');
  pair.node('redis-1').crash({ keep: 'everything' });
  pair.restart('redis-1', { dialect: 'valkey-8.1' });
  expect(await version('redis-1')).toContain('8.1.1');
  expect(() => pair.restart('redis-1', { dialect: 'redis-9' as DialectName })).toThrow(
    "lostlock: option restart.dialect is 'redis-9'; allowed: 'redis-7.0'",
  );
});

test.each([
  [{ dialect: 'redis-9.9' }, "dialect is 'redis-9.9'; allowed: 'redis-7.0'"],
  [
    { dialect: { 'redis-3': 'redis-7.0' } },
    "dialect.redis-3 is 'redis-7.0'; allowed: the options redis-1, redis-2",
  ],
  [{ dialect: { 'redis-2': 'redis' } }, "dialect.redis-2 is 'redis'; allowed: 'redis-7.0'"],
  [{ dialect: 7 }, 'dialect is 7; allowed: a dialect, or an object of nodes and their dialects'],
  [{ strict: 'yes' }, "strict is 'yes'; allowed: true or false"],
])('a pair with %o does not start', async (options, message) => {
  await expect(startPair(options as never)).rejects.toThrow(`lostlock: option ${message}`);
});
