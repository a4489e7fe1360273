/**
 * Mixed sets of real servers and lostlock in several dialects: all nodes have the same data after random commands and cut
 * links. `npm run test:mixed -- --commands 20000 --seed 7` runs every set and prints what happened.
 */
import { describe, expect, test } from 'vitest';
import { FORMATS, type RdbFormat } from '../../keyspace/rdb/formats.ts';
import { asciiLower, asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import { allCommands } from '../../server/commands/index.ts';
import { digestOfAll } from '../../server/data/digest.ts';
import { type DialectName, dialectNames } from '../../server/dialects/index.ts';
import { isLongRun, sampleOf } from '../support/long.ts';
import { cleanUpAfterEachTest, type Node, OwnNode, ours, real } from '../support/nodes.ts';
import { realServers } from '../support/oracles.ts';
import { RawClient } from '../support/raw-client.ts';
import { request as toBytes } from '../support/reply-text.ts';
import { until } from '../support/until.ts';
import { isHuge } from './compare/unspecified.ts';
import { Random } from './random.ts';
import { grammarOf } from './requests.ts';

cleanUpAfterEachTest();

const OURS = 'lostlock';
const servers = new Map(realServers());

/** What `npm run test:mixed` was asked for. */
const { LOSTLOCK_MIXED_COMMANDS, LOSTLOCK_MIXED_SEED } = process.env;

/** How many commands each set gets. */
const COMMANDS = Number(LOSTLOCK_MIXED_COMMANDS ?? sampleOf(20_000, 1500));
const SEED = Number(LOSTLOCK_MIXED_SEED ?? 1);
/** Requests sent at once. */
const BATCH = 50;

/** A node of a set, with the form of RDB that it writes. `kind` is a real server, or `lostlock` with a dialect and `strict`. */
interface Member {
  readonly kind: string;
  readonly node: Node;
  readonly format: RdbFormat;
}

async function startMember(kind: string): Promise<Member> {
  const [name, ...words] = kind.split(' ');
  if (name === OURS) {
    const dialect: DialectName = dialectNames.find((each) => words.includes(each)) ?? 'redis-7.0';
    const node = await ours({}, { dialect, strict: words.includes('strict') });
    return { kind, node, format: node.server.rdbFormat };
  }
  const node = await real({ 'enable-debug-command': 'yes', hz: 100 }, servers.get(kind));
  const payload = String(
    await node.redis
      .set('x', 'y')
      .then(() => node.redis.dumpBuffer('x'))
      .then(latin1),
  );
  await node.ask('FLUSHALL');
  const version = payload.charCodeAt(payload.length - 10);
  return { kind, node, format: FORMATS.find((each) => each.version === version) as RdbFormat };
}

function latin1(data: Buffer | null): string {
  return data?.toString('latin1') ?? '';
}

/** The digest that a member has if it has our data. The digests of different servers differ in scores and field TTLs. */
function digestFor(member: Member, own: OwnNode): string {
  return digestOfAll(own.server.databases, member.format);
}

async function digestOf({ node, format }: Member): Promise<string> {
  if (node instanceof OwnNode) return digestOfAll(node.server.databases, format);
  return String(await node.ask('DEBUG', 'DIGEST'));
}

const grammar = grammarOf();

/** Families whose commands work on keys. */
const DATA = grammar.families.filter(
  (family) =>
    !/^(transactions|messages|scripting|functions|connection|server|caching|cluster|access)$/.test(family),
);

const BLOCKING = new Set(
  allCommands.filter(({ spec }) => spec.flags?.includes('blocking')).map(({ fullName }) => fullName),
);

/** Words of newer servers' options, which older real replicas do not know. */
const NEWER = new Set(['DIFF', 'DIFF1', 'ANDOR', 'ONE', 'KEEPREF', 'DELREF', 'ACKED']);

/**
 * No blocking command, no option of newer servers unless all nodes know it, and no score of -0: a listpack stores it as 0,
 * a skiplist as -0, and servers differ in when a sorted set becomes a skiplist.
 */
function isFit(argv: readonly Bytes[], newer: boolean): boolean {
  if (BLOCKING.has(asciiLower(argv[0] ?? ''))) return false;
  // The newer servers cut LSET's index to 32 bits, and 7.0 refuses it, also from its primary.
  if (asciiUpper(argv[0] ?? '') === 'LSET' && !/^-?\d{1,9}$/.test(argv[2] ?? '')) return false;
  // A string of 512 MiB is longer than any of ours.
  if (isHuge(argv)) return false;
  // Redis 8 refuses a score with a leading space, also from a primary that accepted it.
  if (/^z(rangestore|remrangebyscore)$/i.test(argv[0] ?? '') && argv.some((word) => /^\s/.test(word)))
    return false;
  // Redis 7.0 lets an ID go below the highest deleted one, and the others refuse that, also from their primary.
  if (asciiUpper(argv[0] ?? '') === 'XSETID') return false;
  // Redis 8.2 replicates HINCRBYFLOAT as HSETEX, which older servers skip.
  if (!newer && asciiUpper(argv[0] ?? '') === 'HINCRBYFLOAT') return false;
  return !argv.some((word) => /^-0(\.0*)?$/.test(word) || (!newer && NEWER.has(asciiUpper(word))));
}

/** Random commands on keys, some of them in transactions; with `newer` also those with options of newer servers. */
function* commands(random: Random, count: number, newer = false): Generator<readonly Bytes[]> {
  for (const family of DATA) for (const { argv } of grammar.begin(random, family)) yield argv;
  let open = 0;
  for (let i = 0; i < count; i++) {
    if (open === 0 && random.percent(3)) {
      open = random.between(1, 4);
      yield ['MULTI'];
    }
    const family = random.pick(DATA);
    const { argv } =
      (random.percent(30) ? grammar.filler(random, family) : undefined) ?? grammar.request(random, family);
    if (isFit(argv, newer)) yield argv;
    if (open > 0 && --open === 0) yield ['EXEC'];
  }
}

/**
 * Commands on hashes with field TTLs, which servers before 7.4 do not know. Only some fields expire soon, and HPERSIST leaves
 * those alone: a replica of Redis 8 ignores it if the field's time has passed by then, although its primary did not.
 */
function* fieldCommands(random: Random, count: number): Generator<readonly Bytes[]> {
  for (let i = 0; i < count; i++) {
    const key = `h${random.below(6)}`;
    const soon = random.percent(50);
    const field = random.pick(soon ? ['a', 'b'] : ['c', 'd']);
    const time = String(random.pick(soon ? [1, 20] : [60_000, 10_000_000]));
    const fields = ['FIELDS', '1', field];
    yield random.pick([
      ['HSET', key, field, `${i}`, 'e', 'x'],
      ['HPEXPIRE', key, time, ...fields],
      ['HSETEX', key, 'PX', time, ...fields, `${i}`],
      ['HSETEX', key, 'KEEPTTL', ...fields, '7'],
      ['HGETEX', key, 'PX', time, ...fields],
      ['HGETDEL', key, ...fields],
      ['HINCRBY', key, 'n', '2'],
      ['HPERSIST', key, 'FIELDS', '1', 'c'],
      ['HGETEX', key, 'PERSIST', 'FIELDS', '1', 'd'],
      ['DEL', key],
    ]);
  }
}

async function sendAll(
  port: number,
  all: Iterable<readonly Bytes[]>,
  halfway: () => Promise<void>,
): Promise<{ commands: number; errors: number }> {
  const client = await RawClient.connect({ port });
  const list = [...all];
  let cut = false;
  let errors = 0;
  for (let at = 0; at < list.length; at += BATCH) {
    const batch = list.slice(at, at + BATCH);
    await client.send(batch.map(([name = '', ...words]) => toBytes(name, ...words)).join(''));
    if (!cut && at >= list.length / 2) {
      cut = true;
      await halfway();
    }
    for (const _ of batch) if ((await client.read()).raw.startsWith('-')) errors++;
  }
  client.close();
  return { commands: list.length, errors };
}

/**
 * Starts the members, sends the stream to the first one, and cuts every link halfway. Asserts that all members end with the
 * same data, and that the replicas of every member came back by partial resyncs.
 */
async function converge(
  kinds: readonly string[],
  parents: readonly number[],
  stream: Iterable<readonly Bytes[]>,
): Promise<void> {
  const members = await Promise.all(kinds.map(startMember));
  const links = parents.map((parent, i) => [members[parent]!, members[i + 1]!] as const);
  for (const [primary, replica] of links) {
    // Lostlock writes RDB in the format of the server that follows it.
    if (primary.node instanceof OwnNode) primary.node.server.rdbFormat = replica.format;
    await replica.node.follow(primary.node);
  }
  const sources = [...new Set(links.map(([primary]) => primary))];
  const fullBefore = new Map<Member, number>();
  const sent = await sendAll(members[0]!.node.port, stream, async () => {
    for (const source of sources) {
      fullBefore.set(source, await count(source, 'sync_full'));
      await source.node.ask('CLIENT', 'KILL', 'TYPE', 'replica');
    }
  });
  const own = members.find(({ node }) => node instanceof OwnNode)?.node as OwnNode;
  for (const [, replica] of links) await replica.node.caughtUp(members[0]!.node);
  for (const member of members) {
    await until(async () => (await digestOf(member)) === digestFor(member, own), {
      what: `the data of ${member.kind} in ${kinds.join(', ')}`,
    });
  }
  expect(await own.ask('DBSIZE')).toBeGreaterThan(0);
  const syncs: string[] = [];
  for (const source of sources) {
    const followers = links.filter(([primary]) => primary === source).length;
    const [full, partial] = [await count(source, 'sync_full'), await count(source, 'sync_partial_ok')];
    syncs.push(`${source.kind} ${full} full and ${partial} partial`);
    expect(partial, `partial resyncs of ${source.kind}`).toBeGreaterThanOrEqual(followers);
    expect(full, `full resyncs of ${source.kind} after the cut`).toBe(fullBefore.get(source));
  }
  for (const { node } of members) {
    if (node instanceof OwnNode) expect(node.server.stats.unexpectedErrors).toBe(0);
  }
  if (LOSTLOCK_MIXED_COMMANDS === undefined) return;
  const bytes = await members[0]!.node.field('master_repl_offset');
  const keys = await own.ask('DBSIZE');
  console.log(
    `${kinds.join(', ')}: ${sent.commands} commands (${sent.errors} errors), ${bytes} bytes of stream, ${keys} keys; resyncs: ${syncs.join('; ')}`,
  );
}

/** A figure of a member's INFO stats. */
async function count({ node }: Member, field: string): Promise<number> {
  return Number(await node.field(field, 'stats'));
}

/** The nodes of a set, and which node each of them but the first follows: a real server follows no newer one. */
const SETS: readonly { kinds: string[]; parents: number[] }[] = [
  {
    kinds: ['redis-8.2', `${OURS} redis-8.0 strict`, 'redis-server', 'valkey-8.1', 'redis-8.0'],
    parents: [0, 1, 1, 3],
  },
  { kinds: [OURS, 'redis-8.2', OURS, 'redis-server', 'redis-8.0'], parents: [0, 1, 2, 1] },
  {
    kinds: ['valkey-8.1', `${OURS} valkey-8.1`, 'redis-server', `${OURS} redis-8.2 strict`, 'redis-8.2'],
    parents: [0, 1, 2, 0],
  },
  {
    kinds: ['redis-server', `${OURS} strict`, 'valkey-8.1', 'redis-8.0', `${OURS} redis-8.2`],
    parents: [0, 0, 2, 3],
  },
];
/** Sets of the newest servers, of which each is tested where its server is. */
const NEWEST_SETS: readonly { kinds: string[]; parents: number[] }[] = [
  { kinds: ['redis-8.6', `${OURS} redis-8.6 strict`, OURS, `${OURS} redis-8.6`], parents: [0, 1, 0] },
  { kinds: [`${OURS} redis-8.6 strict`, 'redis-8.6', OURS], parents: [0, 1] },
  { kinds: ['valkey-9', `${OURS} valkey-9 strict`, OURS, `${OURS} valkey-9`], parents: [0, 1, 0] },
  { kinds: [`${OURS} valkey-9 strict`, 'valkey-9', `${OURS} valkey-8.1`], parents: [0, 1] },
];
const CHOSEN = SETS.slice(0, LOSTLOCK_MIXED_COMMANDS !== undefined || isLongRun ? SETS.length : 2);

const missing = SETS.flatMap(({ kinds }) => kinds).filter(
  (kind) => !kind.startsWith(OURS) && !servers.has(kind),
);

describe('sets of our dialects converge', () => {
  const [old, mid, top, fork] = ['redis-7.0 strict', 'redis-8.0', 'redis-8.2', 'valkey-8.1 strict'].map(
    (dialect) => `${OURS} ${dialect}`,
  ) as [string, string, string, string];

  test('behind redis-8.2, with its newest commands', async () => {
    const kinds = [top, old, mid, fork, `${top} strict`];
    expect(kinds).toHaveLength(5);
    const random = new Random(SEED + 10);
    await converge(kinds, [0, 1, 1, 3], commands(random, COMMANDS, true));
  });

  test('hashes whose fields end, behind redis-8.2', async () => {
    const kinds = [top, fork, old, mid];
    expect(kinds).toHaveLength(4);
    await converge(kinds, [0, 1, 0], fieldCommands(new Random(SEED + 11), COMMANDS / 2));
  });
});

describe('mixed sets with the newest servers converge (need redis-8.6, valkey-9)', () => {
  for (const [i, { kinds, parents }] of NEWEST_SETS.entries()) {
    const isThere = kinds.every((kind) => kind.startsWith(OURS) || servers.has(kind));
    test.skipIf(!isThere)(`${kinds.join(', ')} (needs redis-8.6 or valkey-9)`, async () => {
      expect(parents).toHaveLength(kinds.length - 1);
      await converge(kinds, parents, commands(new Random(SEED + 20 + i), COMMANDS));
    });
  }
});

describe.skipIf(missing.length > 0)(
  'mixed sets converge (needs redis-server, Redis 8.0, 8.2 and Valkey 8.1)',
  () => {
    test.each(CHOSEN.map(({ kinds, parents }, i) => [kinds.join(', '), kinds, parents, SEED + i] as const))(
      '%s',
      async (_name, kinds, parents, seed) => {
        expect(parents).toHaveLength(kinds.length - 1);
        await converge(kinds, parents, commands(new Random(seed), COMMANDS));
      },
    );

    test('hashes whose fields end: redis-8.2, lostlock, redis-8.0, lostlock', async () => {
      const kinds = ['redis-8.2', OURS, 'redis-8.0', OURS];
      expect(kinds).toHaveLength(4);
      await converge(kinds, [0, 1, 2], fieldCommands(new Random(SEED + 4), COMMANDS / 2));
    });
  },
);
