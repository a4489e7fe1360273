/** Commands and options that came after Redis 7.0: asked here and on the real server of the dialect, and refused where it has none. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { type DialectName, dialectNames } from '../../../server/dialects/index.ts';
import { createNode } from '../../../server/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { TestHost } from '../../support/targets.ts';
import { until } from '../../support/until.ts';
import { Conversation } from '../../transcripts/own.ts';

/** Requests, one a line, for servers of the dialect. */
type Session = readonly [name: string, dialect: DialectName, requests: string];

const STREAM = `
  FLUSHALL
  XADD s 1-1 a 1
  XADD s 2-1 a 1
  XADD s 3-1 a 1
  XADD s 4-1 a 1
  XADD s 5-1 a 1
  XADD s 6-1 a 1
  XGROUP CREATE s g 0
  XGROUP CREATE s h 0
  XREADGROUP GROUP g c COUNT 4 STREAMS s >
  XREADGROUP GROUP h c COUNT 2 STREAMS s >`;

/** Every message that XDELEX and XACKDEL have for bad requests. */
const BAD_REQUESTS = ['XDELEX s', 'XACKDEL s g'].flatMap((command) =>
  [
    '',
    'IDS',
    'IDS 1',
    'IDS 0 1-1',
    'IDS -1 1-1',
    'IDS x 1-1',
    'IDS 2 1-1',
    'IDS 1 1-1 2-2',
    'FOO IDS 1 1-1',
    'KEEPREF DELREF IDS 1 1-1',
    'ACKED ACKED IDS 1 1-1',
    'IDS 2147483648 1-1',
    'IDS 9999999999999999999 1-1',
    'IDS 1 bad',
    'ACKED IDS 2 5-1 bad',
  ].map((rest) => `${command} ${rest}`.trim()),
);

/** The SHA-1 of return(1). */
const SHA = createHash('sha1').update('return(1)').digest('hex');

const SESSIONS: readonly Session[] = [
  [
    'XDELEX',
    'redis-8.2',
    `${STREAM}
    XDELEX s IDS 2 1-1 9-9
    XDELEX s KEEPREF IDS 1 1-1
    XPENDING s g
    XDELEX s DELREF IDS 1 2-1
    XDELEX s DELREF IDS 1 1-1
    XPENDING s g
    XPENDING s h
    XDELEX s ACKED IDS 4 1-1 3-1 6-1 9-9
    XACK s g 3-1
    XDELEX s ACKED IDS 1 3-1
    XGROUP SETID s h 9-9
    XDELEX s ACKED IDS 3 3-1 3-1 4-1
    XDELEX s IDS 1 5-1 IDS 1 6-1 ACKED
    XDELEX s IDS 1 5-1 IDS 1 6-1
    XDELEX nosuch IDS 2 1-1 bad
    XDELEX nosuch FOO 2 1-1 2-2
    SET k v
    XDELEX k IDS 0 bad
    XRANGE s - +`,
  ],
  [
    'XTRIM with ACKED goes on behind an entry that is pending',
    'redis-8.2',
    `${STREAM}
    XGROUP DESTROY s h
    XACK s g 1-1 3-1
    XTRIM s MAXLEN 1 ACKED
    XRANGE s - +
    XTRIM s MAXLEN 1 DELREF
    XPENDING s g
    XRANGE s - +`,
  ],
  [
    'how many entries were added, also after XSETID',
    'redis-8.2',
    `${STREAM}
    XSETID s 9-1 ENTRIESADDED 50 MAXDELETEDID 4-1
    XADD s 10-1 a 1
    XINFO STREAM s`,
  ],
  [
    'XACKDEL',
    'redis-8.2',
    `${STREAM}
    XDELEX s IDS 1 1-1
    XACKDEL s g IDS 2 1-1 9-9
    XACKDEL s g ACKED IDS 3 2-1 2-1 3-1
    XACKDEL s h ACKED IDS 2 1-1 2-1
    XACKDEL s g DELREF IDS 2 4-1 5-1
    XPENDING s g
    XPENDING s h
    XACKDEL s nosuch IDS 2 4-1 bad
    XACKDEL nosuch g IDS 1 4-1
    SET k v
    XACKDEL k g IDS 1 4-1
    XRANGE s - +`,
  ],
  ['bad requests of both', 'redis-8.2', `${STREAM}\n${BAD_REQUESTS.join('\n')}`],
  [
    'the slowest group, which is still thought of when it is destroyed',
    'redis-8.2',
    `${STREAM}
    XACK s g 3-1 4-1
    XDELEX s ACKED IDS 1 3-1
    XGROUP DESTROY s h
    XDELEX s ACKED IDS 1 3-1
    XGROUP CREATE s i 2-1
    XGROUP SETID s i 5-1
    XDELEX s ACKED IDS 2 3-1 5-1
    XGROUP SETID s i 1-1
    XDELEX s ACKED IDS 1 4-1
    COPY s t
    XGROUP DESTROY t i
    XDELEX t ACKED IDS 1 4-1`,
  ],
  [
    'XTRIM and XADD with KEEPREF, DELREF and ACKED',
    'redis-8.2',
    ['1', '2', '100']
      .map(
        (nodes) => `
    CONFIG SET stream-node-max-entries ${nodes}
    ${STREAM}
    XACK s g 1-1 2-1 4-1
    XACK s h 1-1
    XTRIM s MAXLEN 5 ACKED
    XRANGE s - +
    XTRIM s MINID 4 ACKED
    XTRIM s MAXLEN 1 ACKED
    XTRIM s MAXLEN ~ 1 ACKED
    XTRIM s MAXLEN ~ 1 DELREF LIMIT 2
    XRANGE s - +
    XTRIM s DELREF MAXLEN 3
    XPENDING s g
    XPENDING s h
    XTRIM s MINID 100 KEEPREF
    XTRIM s MAXLEN DELREF
    XTRIM s DELREF
    XTRIM s MAXLEN 1 DELREF ACKED
    XTRIM s MAXLEN 1 ACKED ACKED
    XTRIM s MAXLEN 1 DELREF LIMIT 3
    XADD s DELREF MAXLEN 1 7-1 a 1
    XADD s ACKED MAXLEN 1 NOMKSTREAM 8-1 a 1
    XADD s KEEPREF 9-1 a 1
    XADD s ACKED MAXLEN 1 KEEPREF 10-1 a 1
    XADD s DELREF LIMIT 3 17-1 a 1
    XINFO STREAM s
    XRANGE s - +`,
      )
      .join('\n'),
  ],
  [
    'BITOP with DIFF, DIFF1, ANDOR and ONE',
    'redis-8.2',
    ['DIFF', 'DIFF1', 'ANDOR', 'ONE', 'NOT', 'AND', 'FOO']
      .map(
        (name) => `
    FLUSHALL
    MSET a abc b abd c xyz long 0123456789012345678901234567890123456789
    ${['a', 'a b', 'a b c', 'a nosuch', 'nosuch a', 'a long b', 'long a a', 'nosuch', 'nosuch nosuch']
      .map((keys) => `BITOP ${name} d ${keys}\nGET d`)
      .join('\n')}
    BITOP ${name} d
    SADD s a
    BITOP ${name} d s
    BITOP ${name} d a s`,
      )
      .join('\n'),
  ],
  [
    'SCRIPT SHOW, CLIENT IMPORT-SOURCE and CLIENT CAPA',
    'valkey-8.1',
    `
    EVAL return(1) 0
    SCRIPT LOAD #!lua\nreturn(2)
    SCRIPT SHOW ${SHA}
    SCRIPT SHOW ${SHA.toUpperCase()}
    SCRIPT SHOW x
    SCRIPT SHOW
    SCRIPT SHOW a b
    SCRIPT FLUSH
    SCRIPT SHOW ${SHA}
    CLIENT CAPA
    CLIENT CAPA redirect
    CLIENT CAPA other redirect
    CLIENT IMPORT-SOURCE ON
    CLIENT IMPORT-SOURCE off
    CLIENT IMPORT-SOURCE other
    CLIENT IMPORT-SOURCE`,
  ],
  [
    'SET with IFEQ',
    'valkey-8.1',
    `
    SET k v
    SET k w IFEQ v
    SET k w IFEQ v
    SET k x IFEQ w GET
    SET k y IFEQ other GET
    SET k y IFEQ x NX
    SET k y NX IFEQ x
    SET k y IFEQ x XX
    SET k y IFEQ x IFEQ x
    SET k y IFEQ
    SET k y IFEQ x PX 100000
    SET k z KEEPTTL IFEQ y
    SET nosuch y IFEQ x KEEPTTL
    SET nosuch y IFEQ x GET
    SET k y IFNE x
    SADD s a
    SET s y IFEQ x
    SET s y IFEQ x GET
    GET k`,
  ],
];

/** The new commands of each session: what COMMAND INFO says of them is compared too. */
const METADATA: Partial<Record<DialectName, string>> = {
  'redis-8.2': 'XDELEX XACKDEL BITOP',
  'valkey-8.1': 'SCRIPT|SHOW CLIENT|CAPA CLIENT|IMPORT-SOURCE',
};

function linesOf(requests: string): string[][] {
  const lines = requests.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').map((line) => line.split(' '));
}

describe.skipIf(oracleOf('redis-8.2') === undefined || oracleOf('valkey-8.1') === undefined)(
  'beside the real server (needs those servers)',
  () => {
    test.each(SESSIONS)('%s answers as %s', async (_name, dialect, requests) => {
      await using real = await startRedisServer({ program: oracleOf(dialect) ?? '' });
      const theirs = await RawClient.connect({ path: real.path });
      await using server = await startServer({ dialect, strict: true });
      const ours = await RawClient.connect({ port: server.port });
      let compared = 0;
      for (const argv of linesOf(requests)) {
        const [name = '', ...rest] = argv;
        const [mine, other] = [await ours.ask(name, ...rest), await theirs.ask(name, ...rest)];
        expect(mine.raw, argv.join(' ')).toBe(other.raw);
        compared++;
      }
      expect(compared).toBeGreaterThan(3);
      ours.close();
      theirs.close();
    });

    test('CLIENT CAPA redirect: a replica sends the client to its primary, as valkey-8.1', async () => {
      const program = oracleOf('valkey-8.1') ?? '';
      // A primary of 7.0: its dataset is one that both replicas can read.
      await using primary = await startRedisServer({
        program: oracleOf('redis-7.0') ?? program,
        tcp: true,
      });
      await using real = await startRedisServer({ program });
      await using server = await startServer({ dialect: 'valkey-8.1' });
      const clients = await Promise.all([
        RawClient.connect({ port: server.port }),
        RawClient.connect({ path: real.path }),
      ]);
      const asked = [
        'GET k',
        'CLIENT CAPA redirect',
        'GET k',
        'SET k v',
        'PING',
        'KEYS *',
        'READONLY',
        'GET k',
      ]
        .concat(['SET k v', 'READWRITE', 'MULTI', 'GET k', 'EXEC', 'EVAL return(1) 0', 'DBSIZE'])
        .concat(['PUBLISH a b', 'WATCH k', 'FLUSHALL', 'NOSUCH', 'GET', 'RESET', 'GET k']);
      const replies = clients.map(async (client) => {
        await client.ask('REPLICAOF', '127.0.0.1', String(primary.port));
        await until(async () => (await client.ask('ROLE')).raw.includes('connected'));
        const all: string[] = [];
        for (const line of asked) {
          const [name = '', ...rest] = line.split(' ');
          all.push(`${line}: ${(await client.ask(name, ...rest)).raw}`);
        }
        client.close();
        return all;
      });
      const [mine, other] = await Promise.all(replies);
      expect(mine).toEqual(other);
      expect(mine?.[2]).toContain(`-REDIRECT 127.0.0.1:${primary.port}`);
    });

    test.each(Object.entries(METADATA))('COMMAND INFO of %s is the same: %s', async (dialect, names) => {
      await using real = await startRedisServer({ program: oracleOf(dialect) ?? '' });
      const theirs = await RawClient.connect({ path: real.path });
      await using server = await startServer({ dialect: dialect as DialectName, strict: true });
      const ours = await RawClient.connect({ port: server.port });
      for (const name of (names ?? '').split(' ')) {
        const [mine, other] = await Promise.all(
          [ours, theirs].map(async (client) => (await client.ask('COMMAND', 'INFO', name)).raw),
        );
        // Flags and categories are sets: their order is that of each server's table.
        const parts = (raw = ''): string[] => raw.split('\r\n').sort();
        expect(parts(mine), name).toEqual(parts(other));
      }
      ours.close();
      theirs.close();
    });
  },
);

test.each(dialectNames)('%s refuses what its server does not have', (dialect) => {
  const node = new Conversation(createNode(new TestHost(), { dialect, strict: true }));
  const is82 = /^redis-8\.[268]$/.test(dialect);
  node.ask('XADD s 1-1 a 1');
  expect(node.ask('XDELEX s IDS 1 9-9')).toMatch(is82 ? /^\[:-1\]$/ : /^-ERR unknown command/);
  expect(node.ask('XACKDEL s g IDS 1 9-9')).toMatch(is82 ? /^\[:-1\]$/ : /^-ERR unknown command/);
  expect(node.ask('XTRIM s MAXLEN 5 ACKED')).toBe(is82 ? ':0' : '-ERR syntax error');
  expect(node.ask('XADD s ACKED 1-2 a 1')).toMatch(is82 ? /1-2/ : /^-ERR Invalid stream ID/);
  node.ask('SET a x');
  expect(node.ask('BITOP ONE d a')).toBe(is82 ? ':1' : '-ERR syntax error');
  expect(node.ask('BITOP AND d a')).toBe(':1');
  const isValkey = dialect.startsWith('valkey');
  expect(node.ask('SCRIPT SHOW x')).toMatch(isValkey ? /^-NOSCRIPT/ : /^-ERR unknown subcommand/);
  expect(node.ask('CLIENT CAPA x')).toMatch(isValkey ? /^.OK/ : /^-ERR unknown subcommand/);
  expect(node.ask('CLIENT IMPORT-SOURCE OFF')).toMatch(isValkey ? /^.OK/ : /^-ERR unknown subcommand/);
});
