/** What Valkey 9 added for strings and hashes: the replies of valkey-server 9.1, and what else follows from them. */
import { expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { createNode } from '../../../server/index.ts';
import { RawClient } from '../../support/raw-client.ts';
import { recordEffects } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';
import { testSessions } from './sessions.ts';
import { SESSIONS } from './valkey-9-sessions.ts';

testSessions('valkey-9', SESSIONS);

test('replicas of Valkey 9 receive absolute times, deletions, and requests without conditions', () => {
  const server = createNode(new TestHost(), { dialect: 'valkey-9', strict: true });
  const effects = recordEffects(server);
  const valkey = new Conversation(server);
  for (const line of [
    'HSETEX h FNX PX 5000 FIELDS 1 a 1',
    'HEXPIRE h 10 FIELDS 2 a nosuch',
    'HGETEX h PERSIST FIELDS 1 a',
    'HGETEX h EX 7 FIELDS 2 a nosuch',
    'HPERSIST h FIELDS 1 a',
    'HSET h b 1',
    'HEXPIRE h 0 FIELDS 1 b',
    'HSETEX h EXAT 1 FIELDS 1 a 1',
  ]) {
    valkey.ask(line);
  }
  const now = 1_700_000_000_000;
  expect(effects).toEqual([
    `HSETEX h PXAT ${now + 5000} FIELDS 1 a 1`,
    `HPEXPIREAT h ${now + 10_000} FIELDS 2 a nosuch`,
    'HPERSIST h FIELDS 1 a',
    `HPEXPIREAT h ${now + 7000} FIELDS 1 a`,
    'HPERSIST h FIELDS 1 a',
    'HSET h b 1',
    'HDEL h b',
    'HDEL h a',
  ]);
});

test('commands about the own connection are served while a script is busy, and CLIENT REPLY is refused in MULTI', () => {
  const flagsOf = (dialect: 'valkey-8.1' | 'valkey-9', name: string): string[] =>
    [
      ...new Conversation(createNode(new TestHost(), { dialect }))
        .ask(`COMMAND INFO ${name}`)
        .matchAll(/\+([a-z_]+)/g),
    ]
      .map(([, flag = '']) => flag)
      .filter((flag) => ['allow_busy', 'stale', 'no_multi'].includes(flag))
      .sort();
  for (const name of [
    'select',
    'client|id',
    'client|setname',
    'client|no-evict',
    'client|caching',
    'client|getredir',
  ]) {
    expect([name, flagsOf('valkey-8.1', name)]).toEqual([name, ['stale']]);
    expect([name, flagsOf('valkey-9', name)]).toEqual([name, ['allow_busy', 'stale']]);
  }
  expect(flagsOf('valkey-9', 'client|reply')).toEqual(['allow_busy', 'no_multi', 'stale']);
  expect([flagsOf('valkey-8.1', 'script|exists'), flagsOf('valkey-9', 'script|exists')]).toEqual([
    [],
    ['stale'],
  ]);
});

test('a polygon whose middle is nearer to a pole than any cell contains what is inside', async () => {
  await using server = await startServer({ dialect: 'valkey-9' });
  const client = await RawClient.connect(server);
  for (const place of ['-5 50 a', '85 20 b', '145 0 c', '-5 60 outside'])
    await client.ask('GEOADD', 'g', ...place.split(' '));
  const { raw } = await client.ask(
    'GEOSEARCH',
    'g',
    'BYPOLYGON',
    '3',
    ...'-28 53.7 170.7 -8.9 22 58.2'.split(' '),
    'ASC',
  );
  expect(raw).toBe('*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n');
  client.close();
});

test('a polygon may have more corners than a function takes arguments', async () => {
  await using server = await startServer({ dialect: 'valkey-9' });
  const client = await RawClient.connect(server);
  await client.ask('GEOADD', 'g', '1', '1', 'a');
  const head = '*300004\r\n$9\r\nGEOSEARCH\r\n$1\r\ng\r\n$9\r\nBYPOLYGON\r\n$6\r\n150000\r\n';
  await client.send(head + '$1\r\n1\r\n'.repeat(300_000));
  expect((await client.read()).raw).toBe('*0\r\n');
  client.close();
});

test('SCRIPT FLUSH and FUNCTION FLUSH ask for a parameter, as the interpreters of valkey-server 9.1.2 do', () => {
  const asked = (dialect: 'valkey-8.1' | 'valkey-9', requests: readonly string[]): string[] => {
    const client = new Conversation(createNode(new TestHost(), { dialect }));
    client.ask('CONFIG SET slowlog-log-slower-than 0');
    client.ask('CONFIG RESETSTAT');
    client.ask('SLOWLOG RESET');
    for (const each of requests) client.ask(each);
    const stats = /config\|get:calls=\d+/.exec(client.ask('INFO commandstats'))?.[0] ?? 'none';
    const commands = /tot-cmds=\d+/.exec(client.ask('CLIENT INFO'))?.[0] ?? '';
    return [stats, commands, ...client.ask('SLOWLOG GET').matchAll(/CONFIG|FLUSH/g)].map(String);
  };
  expect(asked('valkey-9', ['SCRIPT FLUSH', 'FUNCTION FLUSH ASYNC'])).toEqual([
    'config|get:calls=2',
    'tot-cmds=8',
    ...['FLUSH', 'CONFIG', 'FLUSH', 'CONFIG'],
  ]);
  expect(asked('valkey-9', ['MULTI', 'SCRIPT FLUSH SYNC', 'EXEC', 'SCRIPT FLUSH nosuch'])).toEqual([
    'config|get:calls=1',
    'tot-cmds=9',
    ...['FLUSH', 'FLUSH', 'CONFIG'],
  ]);
  expect(asked('valkey-9', ['DEBUG RELOAD', 'DEBUG RELOAD NOFLUSH MERGE', 'DEBUG LOADAOF'])).toEqual([
    'config|get:calls=2',
    'tot-cmds=9',
    ...['CONFIG', 'FLUSH', 'CONFIG'],
  ]);
  expect(asked('valkey-8.1', ['SCRIPT FLUSH'])).toEqual(['none', 'tot-cmds=5', 'FLUSH']);
});

test('scripts of Redis and of Valkey take turns in one process, each with the order of its own tables', () => {
  const host = new TestHost();
  const [redis, valkey] = (['redis-8.6', 'valkey-9'] as const).map(
    (dialect) => new Conversation(createNode(host, { dialect, strict: true })),
  );
  const keys =
    'local r = {a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1} for k in pairs(r) do t[#t + 1] = k end return table.concat(t)';
  // The second script overflows JavaScript's stack on the way, so that it is run again in the form that can pause.
  const deep = 'local function f(n) if n > 0 then return 1 + f(n - 1) end return 0 end f(9000)';
  for (const script of [`local t = {} ${keys}`, `${deep} local t = {} ${keys}`]) {
    for (let turn = 0; turn < 2; turn++) {
      expect(redis?.ask(`EVAL "${script}" 0`)).toBe('"ahcbedgf"');
      expect(valkey?.ask(`EVAL "${script}" 0`)).toBe('"aehcdfgb"');
    }
  }
});
