/** COMMAND DOCS of every command of every dialect, compared with its real server, and the notation that it is made from. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSentinel } from '../../../sentinel/index.ts';
import { defineCommands, defineContainer } from '../../../server/commands/define.ts';
import { allCommands, commandsOf } from '../../../server/commands/index.ts';
import { namesWithSyntax } from '../../../server/commands/syntax/index.ts';
import { type DialectName, dialectNamed, dialectNames } from '../../../server/dialects/index.ts';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { createNode } from '../../../server/index.ts';
import { parseSyntax } from '../../../server/table/syntax.ts';
import { INSTALLED, oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRealSentinel } from '../../support/redis-sentinel.ts';
import { type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import type { RawReply } from '../../support/reply-text.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';
import { lackSyntax } from './lacking-syntax.ts';

const everyCommand = allCommands.flatMap((command) => [command, ...(command.subcommands?.values() ?? [])]);
/** The names of all commands of a strict node. */
function namesIn(dialect: DialectName): string[] {
  return commandsOf(dialectNamed(dialect), true)
    .flatMap((command) => [command, ...(command.subcommands?.values() ?? [])])
    .map(({ fullName }) => fullName);
}

/** The fields of a map reply, in their order. */
function fields(reply: RawReply | undefined): [string, RawReply][] {
  const values = reply?.[1] as RawReply[];
  return Array.from({ length: values.length / 2 }, (_, i) => [
    values[2 * i]?.[1] as string,
    values[2 * i + 1] as RawReply,
  ]);
}

/** The words in backticks: commands, options and fields. */
function quoted(text: unknown): string[] {
  return [...String(text).matchAll(/`!?([^`]+)`/g)].map((match) => match[1] as string).sort();
}

/** Arguments without the summaries that some have. */
function withoutSummaries([mark, value]: RawReply): RawReply {
  if (!Array.isArray(value)) return [mark, value];
  const kept = value.flatMap((each, i) => {
    const told = mark === '%' && (i % 2 === 0 ? each : value[i - 1])?.[1] === 'summary';
    return told ? [] : [withoutSummaries(each)];
  });
  return [mark, kept];
}

/** A bare bound: `O(1)`, `O(log(N))`. */
const BOUND = /^O\([^ ]*\)$/;

/** An entry without its prose: summaries, histories and complexities are in our own words. */
function facts(entry: RawReply | undefined): unknown {
  return fields(entry).map(([field, value]) => {
    if (field === 'summary' || field === 'complexity') return [field];
    if (field === 'replaced_by') return [field, quoted(value[1])];
    if (field === 'history') {
      const versions = (value[1] as RawReply[]).map((change) => String((change[1] as RawReply[])[0]?.[1]));
      return [field, value[0], versions.sort()];
    }
    if (field === 'arguments') return [field, withoutSummaries(value)];
    if (field === 'subcommands') {
      return [
        field,
        value[0],
        fields(value)
          .map(([sub]) => sub)
          .sort(),
      ];
    }
    return [field, value];
  });
}

/** A command's entry from two servers. */
async function entries(clients: readonly RawClient[], name: string) {
  const found = [];
  for (const client of clients) {
    const [entry] = fields((await client.ask('COMMAND', 'DOCS', name)).value);
    expect(entry?.[0]).toBe(name);
    found.push(entry?.[1]);
  }
  return [found[0], found[1]] as const;
}

const real = dialectNames.filter((name) => oracleOf(name) !== undefined);

describe.each(real)('COMMAND DOCS of %s (needs that server)', (dialect) => {
  const shared = namesIn(dialect);
  const server = createNode(new TestHost(), { dialect, strict: true });
  const ours = new RawClient(connectInMemory(server.connections));
  let redis: RealRedis;
  let theirs: RawClient;
  beforeAll(async () => {
    redis = await startRedisServer({ program: oracleOf(dialect) ?? '' });
    theirs = await RawClient.connect({ path: redis.path });
    for (const client of [ours, theirs]) await client.ask('HELLO', '3');
  });
  afterAll(async () => {
    theirs.close();
    server.stop();
    await redis.stop();
  });

  const both = (name: string) => entries([ours, theirs], name);

  test('documents every command of the server, except those of its modules', async () => {
    const { value } = await theirs.ask('COMMAND', 'DOCS');
    const missing = fields(value).filter(([name]) => !shared.includes(name.toLowerCase()));
    const group = (entry: RawReply) => fields(entry).find(([field]) => field === 'group')?.[1][1];
    expect(missing.filter(([, entry]) => group(entry) !== 'module').map(([name]) => name)).toEqual([]);
  });

  test('documents them as the server does', async () => {
    const told = await Promise.all(shared.map(both));
    expect(told.map(([mine], i) => [shared[i], facts(mine)])).toEqual(
      told.map(([, real], i) => [shared[i], facts(real)]),
    );
  });

  test("documents a Sentinel's commands as its Sentinel does", async () => {
    const node = createSentinel(new TestHost(), { dialect, strict: true });
    const sentinel = await startRealSentinel(oracleOf(dialect) ?? '', []);
    const clients = [
      new RawClient(connectInMemory(node.connections)),
      await RawClient.connect({ port: sentinel.port }),
    ];
    for (const client of clients) await client.ask('HELLO', '3');
    const [, container] = await entries(clients, 'sentinel');
    const names = fields(container).find(([field]) => field === 'subcommands')?.[1];
    for (const [fullName] of fields(names)) {
      const [mine, real] = await entries(clients, fullName);
      expect([fullName, facts(mine)]).toEqual([fullName, facts(real)]);
    }
    for (const client of clients) client.close();
    node.stop();
    await sentinel.stop();
  });

  test('gives them the same bounds as the server', async () => {
    for (const name of shared) {
      const [mine, real] = (await both(name)).map(
        (entry) => fields(entry).find(([field]) => field === 'complexity')?.[1][1] as string | undefined,
      );
      const differs = real !== undefined && BOUND.test(real) && !mine?.startsWith(real);
      expect(differs ? `${name}: ${mine}, ${real}` : '').toBe('');
    }
  });
});

test('a RESP2 client gets the same entries as arrays', async () => {
  const server = createNode(new TestHost(), { dialect: INSTALLED });
  const client = new RawClient(connectInMemory(server.connections));
  const { raw } = await client.ask('COMMAND', 'DOCS', 'HSTRLEN');
  expect(raw).toMatch(/^\*2\r\n\$7\r\nhstrlen\r\n\*10\r\n/);
  expect(raw).toContain(
    '$9\r\narguments\r\n*2\r\n*6\r\n$4\r\nname\r\n$3\r\nkey\r\n$4\r\ntype\r\n$3\r\nkey\r\n$14\r\nkey_spec_index\r\n:0\r\n',
  );
  client.close();
  server.stop();
});

test('every syntax line belongs to a command, and every command that takes arguments has one', () => {
  const names = new Set(everyCommand.map(({ fullName }) => fullName));
  expect(namesWithSyntax().filter((name) => !names.has(name))).toEqual([]);
  expect(new Set(namesWithSyntax()).size).toBe(namesWithSyntax().length);
  expect(lackSyntax(allCommands)).toEqual([]);
});

test('an added command has the syntax of its own entry, as it is in the dialect', async () => {
  const syntax = {
    words: 'key#0 [NX]',
    changes: [{ since: '7.2.0', words: 'key#0 [when:(NX | XX)]', history: ['7.2.0 Takes XX.'] }],
  };
  const about = { summary: 'Has a syntax.', since: '1.0.0', flags: [], run: () => null } as const;
  const commands = [
    ...defineCommands('string', { ours: { ...about, arity: -2, syntax } }),
    defineContainer(
      'server',
      'box',
      { summary: 'A container.', since: '1.0.0', flags: [] },
      { open: { ...about, arity: -2, syntax: '[side:(LEFT=inches | RIGHT)]' } },
    ),
  ];
  for (const [dialect, history] of [
    ['redis-7.0', undefined],
    ['redis-8.2', ['7.2.0', 'Takes XX.']],
  ] as const) {
    const server = createNode(new TestHost(), { dialect, commands });
    const conversation = new Conversation(server);
    const docs = conversation.ask('COMMAND DOCS OURS');
    expect(docs).toContain('"key_spec_index" :0');
    expect(docs.includes('Takes XX.')).toBe(history !== undefined);
    expect(conversation.ask('BOX HELP')).toContain('+OPEN [LEFT <inches>|RIGHT] +');
    server.stop();
  }
});

test('a syntax line that breaks the notation is refused with the position of the mistake', () => {
  expect(() => parseSyntax('key#0 [NX')).toThrow("'key#0 [NX': expected ']', not ''");
  expect(() => parseSyntax('count:number')).toThrow("there is no type 'number'");
  expect(() => parseSyntax('a:(B | C')).toThrow("expected ')', not ''");
  expect(() => parseSyntax('a ? b')).toThrow('nothing can be read at 1');
  expect(() => parseSyntax('EX=')).toThrow('ends too early');
  expect(() => parseSyntax('a:{b')).toThrow('ends too early');
});
