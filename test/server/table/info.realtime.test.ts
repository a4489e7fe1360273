/** COMMAND INFO of every command, compared with redis-server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allCommands, commandsOf } from '../../../server/commands/index.ts';
import { dialectNamed, dialectNames } from '../../../server/dialects/index.ts';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { createNode } from '../../../server/index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import type { RawReply } from '../../support/reply-text.ts';
import { TestHost } from '../../support/targets.ts';

type Plain = string | null | Plain[];

/** A reply's values without their types. */
function plain([, value]: RawReply): Plain {
  return value === null || typeof value === 'string' ? value : value.map(plain);
}

function sorted(list: Plain | undefined): Plain {
  return Array.isArray(list) ? [...list].sort() : null;
}

/** A key specification: its notes are in our own words. */
function specified([field, ...rest]: Plain[]): Plain[] {
  return field === 'notes' ? [field, ...rest.slice(1)] : [field as Plain, ...rest];
}

/** A description by field name, without the order of sets and without subcommands, which have tests of their own. */
function described(reply: RawReply): unknown {
  const [info] = plain(reply) as [Plain[] | null];
  if (!Array.isArray(info)) return info;
  const [name, arity, flags, first, last, step, categories, tips, specs] = info;
  return {
    name,
    arity,
    flags: sorted(flags),
    range: [first, last, step],
    categories: sorted(categories),
    tips: sorted(tips),
    specs: (specs as Plain[][]).map(specified),
  };
}

const title = 'COMMAND INFO in the dialect %s (needs that server)';
describe.each(dialectNames.filter((name) => oracleOf(name) !== undefined))(title, (dialect) => {
  const server = createNode(new TestHost(), { dialect, strict: true });
  const ours = new RawClient(connectInMemory(server.connections));
  let redis: RealRedis;
  let theirs: RawClient;
  beforeAll(async () => {
    redis = await startRedisServer({ program: oracleOf(dialect) ?? '' });
    theirs = await RawClient.connect({ path: redis.path });
  });
  afterAll(async () => {
    theirs.close();
    server.stop();
    await redis.stop();
  });

  const everyName = commandsOf(dialectNamed(dialect), true).flatMap((command) => [
    command.fullName,
    ...[...(command.subcommands?.values() ?? [])].map((sub) => sub.fullName),
  ]);

  test.each(everyName)('%s is described as the real server describes it', async (name) => {
    const mine = await ours.ask('COMMAND', 'INFO', name);
    const real = await theirs.ask('COMMAND', 'INFO', name);
    expect(described(mine.value)).toEqual(described(real.value));
  });

  test('a strict node has the commands of the real server', async () => {
    const [mine, real] = await Promise.all([ours, theirs].map((client) => client.ask('COMMAND', 'LIST')));
    const names = (reply: typeof mine) => (plain(reply!.value) as string[]).map((name) => name.toLowerCase());
    expect(names(mine).sort()).toEqual(names(real).sort());
  });
});

test("the flags of key specifications are in capitals, as the check of a user's permissions expects", () => {
  const all = allCommands.flatMap((command) => [command, ...(command.subcommands?.values() ?? [])]);
  const flags = new Set(all.flatMap(({ spec }) => (spec.keys ?? []).map((key) => key.flags)));
  expect([...flags].filter((text) => !/^(R[WOM]|OW|NOT_KEY)( [A-Z_]+)*$/.test(text))).toEqual([]);
});
