/** COMMAND DOCS of every command, compared with redis-server, and the notation that it is made from. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allCommands, commandsOf } from '../../../server/commands/index.ts';
import { namesWithSyntax, syntaxOf } from '../../../server/commands/syntax/index.ts';
import { DEFAULT_DIALECT, dialectNamed } from '../../../server/dialects/index.ts';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { createNode } from '../../../server/index.ts';
import { parseSyntax } from '../../../server/table/syntax.ts';
import { added } from '../../differential/compare/known.ts';
import { RawClient } from '../../support/raw-client.ts';
import { hasRedisServer, type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import type { RawReply } from '../../support/reply-text.ts';
import { TestHost } from '../../support/targets.ts';

const everyCommand = allCommands.flatMap((command) => [command, ...(command.subcommands?.values() ?? [])]);
const shared = commandsOf(dialectNamed('redis-7.0'), true)
  .flatMap((command) => [command, ...(command.subcommands?.values() ?? [])])
  .map(({ fullName }) => fullName);

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

/** A bare bound: `O(1)`, `O(log(N))`. */
const BOUND = /^O\([^ ]*\)$/;

/** An entry without its prose: summaries, histories and complexities are in our own words. */
function facts(entry: RawReply | undefined): unknown {
  return fields(entry).map(([field, value]) => {
    if (field === 'summary' || field === 'complexity') return [field];
    if (field === 'replaced_by') return [field, quoted(value[1])];
    if (field === 'history') {
      return [field, value[0], (value[1] as RawReply[]).map((change) => (change[1] as RawReply[])[0]?.[1])];
    }
    if (field === 'subcommands') {
      const known = fields(value).filter(([sub]) => added[sub] === undefined);
      return [field, value[0], known.map(([sub]) => sub).sort()];
    }
    return [field, value];
  });
}

describe.skipIf(!hasRedisServer)('COMMAND DOCS (needs redis-server)', () => {
  const server = createNode(new TestHost(), { dialect: 'redis-7.0' });
  const ours = new RawClient(connectInMemory(server.connections));
  let redis: RealRedis;
  let theirs: RawClient;
  beforeAll(async () => {
    redis = await startRedisServer();
    theirs = await RawClient.connect({ path: redis.path });
    for (const client of [ours, theirs]) await client.ask('HELLO', '3');
  });
  afterAll(async () => {
    theirs.close();
    server.stop();
    await redis.stop();
  });

  async function both(name: string): Promise<[RawReply | undefined, RawReply | undefined]> {
    const entries = [];
    for (const client of [ours, theirs]) {
      const [found] = fields((await client.ask('COMMAND', 'DOCS', name)).value);
      expect(found?.[0]).toBe(name);
      entries.push(found?.[1]);
    }
    return [entries[0], entries[1]];
  }

  test('documents every command of redis-server', async () => {
    const { value } = await theirs.ask('COMMAND', 'LIST');
    const names = (value[1] as RawReply[]).map(([, name]) => name as string);
    expect(names.filter((name) => !shared.includes(name))).toEqual([]);
  });

  test.each(shared)('documents %s as redis-server does', async (name) => {
    const [mine, real] = await both(name);
    expect(facts(mine)).toEqual(facts(real));
  });

  test.each(shared)('gives %s the same bound as redis-server', async (name) => {
    const [mine, real] = (await both(name)).map(
      (entry) => fields(entry).find(([field]) => field === 'complexity')?.[1][1] as string | undefined,
    );
    if (real !== undefined && BOUND.test(real)) expect(mine?.startsWith(real), `${mine}, ${real}`).toBe(true);
  });
});

test('a RESP2 client gets the same entries as arrays', async () => {
  const server = createNode(new TestHost());
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
  const fixed = everyCommand.filter(
    ({ arity, fullName, subcommands }) => subcommands === undefined && arity > fullName.split('|').length,
  );
  expect(
    fixed
      .filter(({ fullName }) => syntaxOf(fullName, dialectNamed(DEFAULT_DIALECT)).words === undefined)
      .map((c) => c.fullName),
  ).toEqual([]);
});

test('a syntax line that breaks the notation is refused with the position of the mistake', () => {
  expect(() => parseSyntax('key#0 [NX')).toThrow("'key#0 [NX': expected ']', not ''");
  expect(() => parseSyntax('count:number')).toThrow("there is no type 'number'");
  expect(() => parseSyntax('a:(B | C')).toThrow("expected ')', not ''");
  expect(() => parseSyntax('a ? b')).toThrow('nothing can be read at 1');
  expect(() => parseSyntax('EX=')).toThrow('ends too early');
  expect(() => parseSyntax('a:{b')).toThrow('ends too early');
});
