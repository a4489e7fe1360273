/** CONFIG SET and GET of every parameter that redis-server has too, with good and bad values; and the effects of some. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AppendOnlyFile } from '../../../server/aof/append-only-file.ts';
import { type DialectName, dialectNamed, dialectNames } from '../../../server/dialects/index.ts';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { nodeHost } from '../../../server/host/node.ts';
import { Listener } from '../../../server/host/tcp.ts';
import { createNode } from '../../../server/index.ts';
import { refusals } from '../../../server/settings/refusals.ts';
import { parameters, type Settings } from '../../../server/settings/settings.ts';
import { tuning } from '../../../server/settings/tuning.ts';
import { hasParameter, isHidden } from '../../../server/settings/variants.ts';
import { isLongRun } from '../../support/long.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { type RawReply, request } from '../../support/reply-text.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

/** Parameters that depend on the machine, are fixed only here, or are listed as different (docs/differences.md). */
const APART = new Set([
  // A server that was built without TLS crashes.
  'tls-port',
  'tls-replication',
  'tls-cluster',
  'oom-score-adj',
  // A server may have been built without what it needs.
  'activedefrag',
  'rdma-bind',
  'proc-title-template',
  'port',
  'bind',
  'dir',
  'unixsocket',
  'save',
  'maxclients',
  'appendonly',
  'repl-backlog-size',
  'repl-diskless-sync-delay',
]);

const VALUES = [
  ...['', '0', '1', '-1', '3', '101', '-6', '1.5', '+1', ' 1', '1 ', '0x10', '007', '10 20', 'abc'],
  ...['1k', '1kb', '1MB', '1G', '1tb', '1b', '5%', '101%', '1048576', '99999999999'],
  ...['9223372036854775807', '9223372036854775808', '99999999999999999999999'],
  ...[
    'yes',
    'NO',
    'noeviction',
    'KEA',
    'gxE',
    'local',
    'disabled',
    '50 99.90',
    'normal 1mb 2 3',
    'pubsub  1 2 3',
    'nothing',
    'relaxed',
    'flush-before-load',
    'KEo',
    'ocAg',
    'M',
    '1 -2 +03',
    '1 2 2001',
    '1 2 x',
  ],
];

async function talk(client: RawClient, ...words: string[]): Promise<string> {
  await client.send(request(...words));
  return (await client.read()).raw;
}

async function settings(client: RawClient, dialect: DialectName): Promise<string[]> {
  const lines: string[] = [];
  const names = (Object.keys(parameters) as (keyof Settings)[]).filter(
    (name) => !APART.has(name) && !isHidden(name, dialectNamed(dialect)),
  );
  for (const [index, name] of names.entries()) {
    if (!hasParameter(name, dialectNamed(dialect))) continue;
    const before = (await talk(client, 'CONFIG', 'GET', name)).split('\r\n')[4] ?? '';
    // A memory limit that is too small would evict the asking client itself.
    const safe = VALUES.filter((value) => name !== 'maxmemory-clients' || !/^922|^99/.test(value));
    const values = isLongRun ? safe : safe.filter((_, at) => (at + index) % 8 === 0);
    const requests = values.map((value) => [
      request('CONFIG', 'SET', name, value),
      request('CONFIG', 'GET', name),
      request('CONFIG', 'SET', name, before),
      request('AUTH', name === 'requirepass' ? value : ''),
    ]);
    await client.send(requests.flat().join(''));
    for (const value of values) {
      const replies = [];
      for (let i = 0; i < 4; i++) replies.push((await client.read()).raw);
      lines.push(`${name} ${value}: ${replies[0]}${replies[1]}`);
    }
  }
  return lines;
}

const compared = dialectNames.filter((name) => oracleOf(name) !== undefined);

test.each(compared)(
  'CONFIG of %s accepts and refuses the same values as its server (needs that server)',
  async (dialect) => {
    const program = oracleOf(dialect) ?? '';
    await using redis = await startRedisServer({ program, args: ['--enable-debug-command', 'yes'] });
    const real = await RawClient.connect({ path: redis.path });
    const server = createNode(nodeHost(), { dialect });
    const client = new RawClient(connectInMemory(server.connections));
    const [theirs, ours] = [await settings(real, dialect), await settings(client, dialect)];
    for (const each of [real, client]) each.close();
    server.stop();
    // A sum of bytes beyond 2^53 is rounded (docs/differences.md).
    const big = /^(maxmemory|cluster-link-sendbuf-limit) (9{5}|9223372036854775808)/;
    // Values that lostlock refuses with a reason of its own.
    const refused = ours.filter((line) => line.includes(' - lostlock ')).map((line) => line.split(': ')[0]);
    const comparable = (line: string): boolean =>
      !big.test(line) && !refused.includes(line.split(': ')[0] as string);
    expect(ours.filter(comparable)).toEqual(theirs.filter(comparable));
    expect(refused.length).toBeLessThan(100);
  },
);

test.each(compared)(
  'CONFIG GET * of %s lists the parameters of its server (needs that server)',
  async (dialect) => {
    await using redis = await startRedisServer({ program: oracleOf(dialect) ?? '' });
    const real = await RawClient.connect({ path: redis.path });
    const server = createNode(new TestHost(), { dialect });
    const client = new RawClient(connectInMemory(server.connections));
    const lists = [];
    for (const each of [client, real]) {
      const pairs = (await each.ask('CONFIG', 'GET', '*')).value[1] as RawReply[];
      const values = pairs.flatMap(([, name], i): [string, unknown][] =>
        i % 2 === 0 ? [[String(name), pairs[i + 1]?.[1]]] : [],
      );
      lists.push(values.sort());
      each.close();
    }
    server.stop();
    const [ours = [], theirs = []] = lists;
    expect(ours.map(([name]) => name)).toEqual(theirs.map(([name]) => name));
    const differ = ours.filter(([, value], i) => value !== theirs[i]?.[1]).map(([name]) => name);
    expect(differ).toEqual(['dir', 'enable-debug-command', 'port', 'repl-diskless-sync-delay', 'unixsocket']);
  },
);

test('appendonly is refused without a log of the stream, and accepted in the lab, which keeps one', () => {
  const redis = new Conversation(createNode(new TestHost()));
  expect(redis.ask('CONFIG SET appendonly yes')).toBe(
    "-ERR CONFIG SET failed (possibly related to argument 'appendonly') - lostlock keeps an append-only file only where dir, appenddirname or appendfilename names a place for it",
  );
  expect(redis.ask('CONFIG SET maxmemory 1mb appendonly yes')).toContain("argument 'appendonly'");
  expect(redis.ask('CONFIG GET appendonly')).toBe('["appendonly" "no"]');
  expect(redis.ask('CONFIG GET maxmemory')).toBe('["maxmemory" "0"]');
  expect(redis.ask('CONFIG SET appendonly no')).toBe('+OK');
  expect(redis.ask('CONFIG SET appendonly maybe')).toContain("argument must be 'yes' or 'no'");
  const journalled = createNode(new TestHost());
  new AppendOnlyFile(journalled).open();
  const lab = new Conversation(journalled);
  expect(lab.ask('CONFIG SET appendonly yes')).toBe('+OK');
});

/** The text of every source that can read a setting. */
const SOURCES = ['server', 'lab', 'start', 'scripting', 'cli']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file)),
  )
  .filter(
    (file) =>
      !/(settings|refusals|variants|tuning|configuration|configuration-lines)\.ts$|^server\/dialects\/|^lab\/real-servers\//.test(
        file,
      ),
  )
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

/** True when a source reads the setting: as a property, or by its name in quotes. */
function isRead(name: string): boolean {
  const word = name.replaceAll('-', '\\-');
  return new RegExp(`\\bsettings\\??(\\.${word}\\b|\\['${word}'\\])|'${word}'|\\b${word}[,}: ]`).test(
    SOURCES,
  );
}

test('a parameter that no source file reads is refused, or listed as one without effect on replies', () => {
  const names = Object.keys(parameters);
  const unread = names.filter((name) => !isRead(name)).sort();
  // Refused as in Redis, and read by the command line.
  const others = ['activedefrag', 'logfile'];
  const excused = (name: string) =>
    Object.hasOwn(tuning, name) || refusals.has(name) || others.includes(name);
  expect(unread.filter((name) => !excused(name))).toEqual([]);
  expect(Object.keys(tuning).filter((name) => isRead(name))).toEqual([]);
});

test('CONFIG SET accepts every tuning parameter with its default, as tools and test suites send them', () => {
  for (const dialect of dialectNames) {
    const redis = new Conversation(createNode(new TestHost(), { dialect }));
    for (const [name, parameter] of Object.entries(tuning)) {
      if (parameter.fixed !== false || !hasParameter(name as keyof Settings, dialectNamed(dialect))) continue;
      const [, value = ''] = /^\["[^"]+" "(.*)"\]$/.exec(redis.ask(`CONFIG GET ${name}`)) ?? [];
      expect([name, redis.ask(`CONFIG SET ${name} "${value}"`)]).toEqual([name, '+OK']);
    }
  }
});

test('CONFIG GET returns an exact name in the letter case of the request', () => {
  const redis = new Conversation(createNode(new TestHost()));
  expect(redis.ask('CONFIG GET TimeOut')).toBe('["TimeOut" "0"]');
  expect(redis.ask('CONFIG GET [t]imeout')).toBe('["timeout" "0"]');
});

test('maxmemory-clients evicts the clients that use most memory, except those with NO-EVICT', async () => {
  const server = createNode(nodeHost());
  const listener = new Listener(server.connections);
  const { port } = await listener.listen({ host: '127.0.0.1', port: 0 });
  const [a, b, c] = [
    await RawClient.connect({ port }),
    await RawClient.connect({ port }),
    await RawClient.connect({ port }),
  ];
  await talk(a, 'CONFIG', 'SET', 'maxmemory-clients', '300kb');
  await talk(b, 'CLIENT', 'NO-EVICT', 'ON');
  for (const each of [b, c]) {
    await each.send(`*2\r\n$4\r\nECHO\r\n$400000\r\n${'x'.repeat(200_000)}`);
  }
  await expect(c.read()).rejects.toThrow();
  expect(await talk(a, 'INFO', 'stats')).toContain('evicted_clients:1');
  await b.send(`${'x'.repeat(200_000)}\r\n`);
  expect((await b.read()).raw).toHaveLength(400_011);
  for (const each of [a, b]) each.close();
  server.stop();
  await listener.close();
});

test('CLIENT KILL closes a connection cleanly, without a reset', async () => {
  const server = createNode(nodeHost());
  const listener = new Listener(server.connections);
  const { port } = await listener.listen({ host: '127.0.0.1', port: 0 });
  const [a, b] = [await RawClient.connect({ port }), await RawClient.connect({ port })];
  await talk(b, 'PING');
  expect(await talk(a, 'CLIENT', 'KILL', 'TYPE', 'normal')).toBe(':1\r\n');
  await expect(b.read()).rejects.toThrow();
  expect(b.ending).toBe('end');
  a.close();
  server.stop();
  await listener.close();
});
