/** Mixed sets of real servers and lostlock: all nodes have the same data after random commands and cut links. */
import { describe, expect, test } from 'vitest';
import { FORMATS, type RdbFormat, REDIS_7_0 } from '../../keyspace/rdb/formats.ts';
import { asciiLower, asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import { allCommands } from '../../server/commands/index.ts';
import { digestOfAll } from '../../server/data/digest.ts';
import { sampleOf } from '../support/long.ts';
import { type Node, OwnNode, ours, real } from '../support/nodes.ts';
import { realServers } from '../support/oracles.ts';
import { RawClient } from '../support/raw-client.ts';
import { request as toBytes } from '../support/reply-text.ts';
import { until } from '../support/until.ts';
import { Random } from './random.ts';
import { grammarOf } from './requests.ts';

const OURS = 'lostlock';
const servers = new Map(realServers());

/** Of each set. */
const COMMANDS = sampleOf(20_000, 1500);
/** Requests sent at once. */
const BATCH = 50;

/** A node of a set, with the form of RDB that it writes. */
interface Member {
  readonly kind: string;
  readonly node: Node;
  readonly format: RdbFormat;
}

async function startMember(kind: string): Promise<Member> {
  if (kind === OURS) return { kind, node: await ours(), format: REDIS_7_0 };
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

/** Words of newer servers' options, which older replicas do not know. */
const NEWER = new Set(['DIFF', 'DIFF1', 'ANDOR', 'ONE', 'KEEPREF', 'DELREF', 'ACKED']);

/**
 * No blocking command, no option of newer servers, and no score of -0: a listpack stores it as 0, a skiplist as -0, and servers differ in when a sorted
 * set becomes a skiplist.
 */
function isFit(argv: readonly Bytes[]): boolean {
  if (BLOCKING.has(asciiLower(argv[0] ?? ''))) return false;
  return !argv.some((word) => /^-0(\.0*)?$/.test(word) || NEWER.has(asciiUpper(word)));
}

/** Random commands on keys, some of them in transactions. */
function* commands(random: Random, count: number): Generator<readonly Bytes[]> {
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
    if (isFit(argv)) yield argv;
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
): Promise<void> {
  const client = await RawClient.connect({ port });
  const list = [...all];
  let cut = false;
  for (let at = 0; at < list.length; at += BATCH) {
    const batch = list.slice(at, at + BATCH);
    await client.send(batch.map(([name = '', ...words]) => toBytes(name, ...words)).join(''));
    if (!cut && at >= list.length / 2) {
      cut = true;
      await halfway();
    }
    for (const _ of batch) await client.read();
  }
  client.close();
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
  await sendAll(members[0]!.node.port, stream, async () => {
    for (const { node } of sources) await node.ask('CLIENT', 'KILL', 'TYPE', 'replica');
  });
  const own = members.find(({ node }) => node instanceof OwnNode)?.node as OwnNode;
  for (const [, replica] of links) await replica.node.caughtUp(members[0]!.node);
  for (const member of members) {
    await until(async () => (await digestOf(member)) === digestFor(member, own), {
      what: `the data of ${member.kind} in ${kinds.join(', ')}`,
    });
  }
  expect(await own.ask('DBSIZE')).toBeGreaterThan(0);
  for (const { node } of sources) {
    const followers = links.filter(([primary]) => primary.node === node).length;
    const partial = await node.field('sync_partial_ok', 'stats');
    expect(Number(partial)).toBeGreaterThanOrEqual(followers);
  }
  for (const { node } of members) {
    if (node instanceof OwnNode) expect(node.server.stats.unexpectedErrors).toBe(0);
  }
}

/** The nodes of a set, and which node each of them but the first follows: a real server follows no newer one. */
const SETS: readonly { kinds: string[]; parents: number[] }[] = [
  { kinds: ['redis-8.2', OURS, 'redis-server', 'valkey-8.1', 'redis-8.0'], parents: [0, 1, 1, 3] },
  { kinds: [OURS, 'redis-8.2', OURS, 'redis-server', 'redis-8.0'], parents: [0, 1, 2, 1] },
  { kinds: ['valkey-8.1', OURS, 'redis-server', OURS, 'redis-8.2'], parents: [0, 1, 2, 0] },
  { kinds: ['redis-server', OURS, 'valkey-8.1', 'redis-8.0', OURS], parents: [0, 0, 2, 3] },
];
const CHOSEN = SETS.slice(0, sampleOf(SETS.length, 2));

const missing = SETS.flatMap(({ kinds }) => kinds).filter((kind) => kind !== OURS && !servers.has(kind));

describe.skipIf(missing.length > 0)(
  'mixed sets converge (needs redis-server, Redis 8.0, 8.2 and Valkey 8.1)',
  () => {
    test.each(CHOSEN.map(({ kinds, parents }, i) => [kinds.join(', '), kinds, parents, i + 1] as const))(
      '%s',
      async (_name, kinds, parents, seed) => {
        expect(parents).toHaveLength(kinds.length - 1);
        await converge(kinds, parents, commands(new Random(seed), COMMANDS));
      },
    );

    test('hashes whose fields end: redis-8.2, lostlock, redis-8.0, lostlock', async () => {
      const kinds = ['redis-8.2', OURS, 'redis-8.0', OURS];
      expect(kinds).toHaveLength(4);
      await converge(kinds, [0, 1, 2], fieldCommands(new Random(5), COMMANDS / 2));
    });
  },
);
