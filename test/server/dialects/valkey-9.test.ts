/** What Valkey 9 added for strings and hashes, asked here and on valkey-server 9.1. */
import { describe, expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { createNode } from '../../../server/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { recordEffects } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

const FAR = '4102444800';

const SESSIONS: readonly (readonly [name: string, requests: string])[] = [
  [
    'GEOSEARCH BYPOLYGON',
    `
    GEOADD g 13.361389 38.115556 palermo 15.087269 37.502669 catania 12.758489 38.788135 edge 14.0154 37.4902 enna 2.35 48.85 paris
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 ASC WITHDIST WITHCOORD WITHHASH
    GEOSEARCH g BYPOLYGON 4 12 36 12 40 16 40 16 36 DESC WITHDIST
    GEOSEARCH g bypolygon 4 12 36 12 40 16 40 16 36 ASC COUNT 2
    GEOSEARCH g BYPOLYGON 4 12 36 12 40 16 40 16 36 COUNT 1 ANY
    GEOSEARCH g BYPOLYGON 5 -10 30 20 30 20 60 -10 60 14 38 ASC WITHDIST
    GEOSEARCH g BYPOLYGON 4 -179 -80 179 -80 179 80 -179 80 ASC WITHDIST
    GEOSEARCH g BYPOLYGON 3 13 37 13 37 13 37
    GEOSEARCH g BYPOLYGON 3 0 0 1 1 2 2 BYPOLYGON 4 12 36 12 40 16 40 16 36 ASC
    GEOSEARCH nosuch BYPOLYGON 3 13 37 16 37 14.5 39.5
    GEOSEARCHSTORE kept g BYPOLYGON 4 12 36 12 40 16 40 16 36
    ZRANGE kept 0 -1 WITHSCORES
    GEOSEARCHSTORE kept g BYPOLYGON 4 12 36 12 40 16 40 16 36 STOREDIST
    ZRANGE kept 0 -1
    GEOSEARCHSTORE kept nosuch BYPOLYGON 4 12 36 12 40 16 40 16 36
    EXISTS kept
    GEOSEARCH g BYPOLYGON 2 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 4 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON x 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 4294967299 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 x
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 89
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 FROMLONLAT 1 2
    GEOSEARCH g FROMLONLAT 1 2 BYPOLYGON 3 13 37 16 37 14.5 39.5
    GEOSEARCH g FROMMEMBER enna BYPOLYGON 3 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 FROMMEMBER enna
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 BYRADIUS 1 km
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 BYBOX 1 1 km
    GEOSEARCH g FROMLONLAT 1 2 ASC COUNT 3 WITHDIST
    GEOSEARCH g ASC COUNT 3 WITHDIST WITHHASH WITHCOORD
    GEORADIUS g 1 2 3 km BYPOLYGON 3 13 37 16 37 14.5 39.5`,
  ],
  [
    'fields with a TTL',
    `
    HSET h a 1 b 2 c 3
    HEXPIREAT h ${FAR} FIELDS 2 a nosuch
    HEXPIREAT h ${FAR} NX FIELDS 1 a
    HEXPIREAT h ${FAR} XX FIELDS 2 a b
    HEXPIREAT h ${FAR}0 GT FIELDS 2 a b
    HEXPIREAT h ${FAR} LT FIELDS 2 a b
    HEXPIREAT h ${FAR} NX XX FIELDS 1 a
    HEXPIREAT h ${FAR} GT LT FIELDS 1 a
    HEXPIREAT h ${FAR} FOO FIELDS 1 a
    HEXPIREAT h ${FAR} FIELDS 2 a
    HEXPIREAT h ${FAR} FIELDS 0 a
    HEXPIREAT h ${FAR} FIELDS x a
    HEXPIREAT h ${FAR} FIELD 1 a
    HEXPIREAT h -1 FIELDS 1 a
    HEXPIREAT h x FIELDS 1 a
    HEXPIREAT h 99999999999999999 FIELDS 1 a
    HEXPIREAT nosuch ${FAR} FIELDS 1 a
    OBJECT ENCODING h
    HEXPIRETIME h FIELDS 3 a c nosuch
    HPEXPIRETIME h FIELDS 1 a
    HEXPIRETIME h FIELDS 2 a
    HEXPIRETIME h FIELD 1 a
    HTTL h FIELDS 1 c
    HPTTL nosuch FIELDS 1 c
    HPERSIST h FIELDS 3 a c nosuch
    HPERSIST h FIELDS 2 a
    HEXPIRE h 0 FIELDS 1 a
    HEXPIREAT h 1 FIELDS 2 b c
    EXISTS h`,
  ],
  [
    'HSETEX, HGETEX and HGETDEL',
    `
    HSETEX h FIELDS 2 a 1 b 2
    HSETEX h EXAT ${FAR} FIELDS 1 a 3
    HEXPIRETIME h FIELDS 2 a b
    HSETEX h KEEPTTL FIELDS 1 a 4
    HEXPIRETIME h FIELDS 1 a
    HSETEX h FNX FIELDS 2 a 5 c 6
    HSETEX h FXX FIELDS 2 a 5 c 6
    HSETEX h FXX PXAT ${FAR}000 FIELDS 2 a 5 b 6
    HSETEX h NX FIELDS 1 a 5
    HSETEX nosuch XX FIELDS 1 a 5
    HSETEX h NX XX FIELDS 1 a 5
    HSETEX h EX 10 PX 10 FIELDS 1 a 5
    HSETEX h FIELDS 2 a 5
    HSETEX h FIELDS 0 a 5
    HSETEX h FOO FIELDS 1 a 5
    HSETEX h EX -1 FIELDS 1 a 5
    HSETEX h EXAT 1 FIELDS 1 b 5
    HSETEX gone EXAT 1 FIELDS 1 b 5
    EXISTS gone
    HGETALL h
    HGETEX h FIELDS 2 a nosuch
    HGETEX h EXAT ${FAR} FIELDS 1 a
    HGETEX h PERSIST FIELDS 1 a
    HEXPIRETIME h FIELDS 1 a
    HGETEX h PERSIST EX 5 FIELDS 1 a
    HGETEX h NX FIELDS 1 a
    HGETEX h FIELDS 3 a
    HGETEX nosuch FIELDS 1 a
    HGETEX h EXAT 1 FIELDS 1 a
    HSET h x 1 y 2
    HGETDEL h FIELDS 2 x nosuch
    HGETDEL h FIELDS 3 x
    HGETDEL h FIELD 1 x
    HGETDEL h FIELDS 1 y
    EXISTS h`,
  ],
  [
    'DELIFEQ and MSETEX',
    `
    SET k v
    DELIFEQ k w
    DELIFEQ k v
    DELIFEQ k v
    SADD s a
    DELIFEQ s a
    MSETEX 2 a 1 b 2 NX
    MSETEX 2 a 1 c 2 NX
    MSETEX 2 a 1 b 2 XX EXAT ${FAR}
    EXPIRETIME a
    MSETEX 1 a 1 KEEPTTL
    EXPIRETIME a`,
  ],
];

describe.skipIf(oracleOf('valkey-9') === undefined)('beside valkey-server 9.1 (needs it)', () => {
  test.each(SESSIONS)('%s: the replies are the same', async (_name, requests) => {
    await using real = await startRedisServer({ program: oracleOf('valkey-9') ?? '' });
    await using server = await startServer({ dialect: 'valkey-9', strict: true });
    const clients = [
      await RawClient.connect({ path: real.path }),
      await RawClient.connect({ port: server.port }),
    ];
    const [theirs, ours] = await Promise.all(
      clients.map(async (client) => {
        const out: string[] = [];
        for (const line of requests.split('\n').map((each) => each.trim())) {
          const [name = '', ...rest] = line.split(' ');
          if (name !== '') out.push(`${line}: ${(await client.ask(name, ...rest)).raw}`);
        }
        client.close();
        return out;
      }),
    );
    expect(ours).toEqual(theirs);
    expect(ours?.length).toBeGreaterThan(10);
  });
});

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
