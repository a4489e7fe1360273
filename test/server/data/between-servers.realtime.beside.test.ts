/** Payloads of DUMP and dump files go from every server to every other, real or ours: same data, or the same error. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { type RdbFormat, REDIS_7_2 } from '../../../keyspace/rdb/formats.ts';
import { digestOfAll } from '../../../server/data/digest.ts';
import { type DialectName, dialectNames } from '../../../server/dialects/index.ts';
import { cleanUpAfterEachTest, cleanups, Node, OwnNode, ours, real } from '../../support/nodes.ts';
import { oracleOf } from '../../support/oracles.ts';
import { removeFolder, startRedisServer } from '../../support/redis-server.ts';

cleanUpAfterEachTest();

/** The dialects whose server is installed. */
const dialects = dialectNames.filter((name) => oracleOf(name) !== undefined);

const LONG = 'x'.repeat(100);
const many = (count: number, each: (i: number) => string[]): string[] =>
  Array.from({ length: count }, (_, i) => each(i)).flat();

/** A key for each type and encoding; what a server refuses is not there on our node of its dialect either. */
const WRITES: readonly string[][] = [
  ['SET', 'string', 'value'],
  ['SET', 'number', '-12345'],
  ['SET', 'long', 'y'.repeat(30_000)],
  ['SETBIT', 'bits', '1000', '1'],
  ['SET', 'ends', 'value', 'PXAT', '4102444800123'],
  ['RPUSH', 'list', 'a', '1', '-70000', LONG],
  ['RPUSH', 'long list', ...many(500, (i) => [`${i}`, `${LONG}${i}`])],
  ['SADD', 'numbers', '3', '-1', '70000', '5000000000'],
  ['SADD', 'set', 'a', 'b', '1'],
  ['SADD', 'long set', ...many(600, (i) => [`m${i}`])],
  ['HSET', 'hash', 'f', 'v', 'g', '7'],
  ['HSET', 'long hash', 'f', LONG, 'g', '7'],
  ['ZADD', 'zset', '0.1', 'a', '1e20', 'b', '-inf', 'c', '3', 'd'],
  ['ZADD', 'long zset', '0.1', LONG, '1e20', 'b', '-inf', 'c', '3', 'd'],
  ['PFADD', 'hll', 'a', 'b', 'c'],
  ['GEOADD', 'geo', '13.361389', '38.115556', 'Palermo'],
  ['XADD', 'stream', '1-1', 'f', 'v', 'g', 'w'],
  ['XADD', 'stream', '2-1', 'f', 'v'],
  ['XDEL', 'stream', '1-1'],
  ['XGROUP', 'CREATE', 'stream', 'group', '0'],
  ['XREADGROUP', 'GROUP', 'group', 'ann', 'STREAMS', 'stream', '>'],
  ['XGROUP', 'CREATECONSUMER', 'stream', 'group', 'idle'],
  ['HSET', 'timed', 'f', 'v', 'g', '7'],
  ['HPEXPIREAT', 'timed', '4102444800123', 'FIELDS', '1', 'f'],
  ['HSET', 'long timed', 'f', LONG, 'g', '7'],
  ['HPEXPIREAT', 'long timed', '4102444800123', 'FIELDS', '1', 'f'],
];
const KEYS = [
  ...new Set(
    WRITES.flatMap(([name, key]) => (name?.startsWith('XG') || name === 'XREADGROUP' ? [] : [key ?? ''])),
  ),
];
const FUNCTION = "#!lua name=lib\nredis.register_function('f', function() return 1 end)";

async function fill(node: Node): Promise<void> {
  for (const words of WRITES) await node.ask(...words);
  await node.ask('FUNCTION', 'LOAD', FUNCTION);
}

const startReal = (dialect: DialectName): Promise<Node> =>
  real({ 'enable-debug-command': 'yes' }, oracleOf(dialect));

/** What a node makes of the payloads of all keys: each key's encoding and digest, or the error. */
async function restored(node: Node, payloads: readonly Buffer[]): Promise<string[]> {
  await node.ask('FLUSHALL');
  const answers = await Promise.all(
    payloads.map((payload, i) =>
      node.redis.call('RESTORE', KEYS[i]!, '0', payload).catch(({ message }) => message),
    ),
  );
  const digests = (await node.ask('DEBUG', 'DIGEST-VALUE', ...KEYS)) as string[];
  const encodings = await Promise.all(KEYS.map((key) => node.ask('OBJECT', 'ENCODING', key)));
  return answers.map((answer, i) => `${KEYS[i]}: ${answer} ${encodings[i]} ${digests[i]}`);
}

test.skipIf(dialects.length < 2)(
  'a payload of DUMP is restored everywhere as on the real server (needs real servers)',
  async () => {
    const theirs = await Promise.all(dialects.map(startReal));
    const own = await Promise.all(dialects.map((dialect) => ours({}, { dialect, strict: true })));
    const payloads = await Promise.all(
      [...theirs, ...own].map(async (node) => {
        await fill(node);
        return Promise.all(KEYS.map((key) => node.redis.dumpBuffer(key) as Promise<Buffer>));
      }),
    );
    for (const [to, dialect] of dialects.entries()) {
      for (const [from, source] of dialects.entries()) {
        const wanted = await restored(theirs[to]!, payloads[from]!);
        const which = `from ${source} to ${dialect}`;
        // What differs in the servers' data, such as a TTL of a field, differs in the payloads too.
        expect(await restored(own[to]!, payloads[from]!), `real to ours, ${which}`).toEqual(wanted);
        const ourPayloads = payloads[dialects.length + from]!;
        expect(await restored(theirs[to]!, ourPayloads), `ours to real, ${which}`).toEqual(wanted);
        expect(await restored(own[to]!, ourPayloads), `ours to ours, ${which}`).toEqual(wanted);
      }
    }
  },
  120_000,
);

/** Starts a real server with a dump file. undefined: it refuses the file. */
async function startWith(dir: string, dialect: DialectName): Promise<Node | undefined> {
  const args = ['--enable-debug-command', 'yes', '--dir', dir];
  const program = oracleOf(dialect) ?? '';
  const server = await startRedisServer({ tcp: true, args, program }).catch((error: Error) => {
    expect(error.message).toMatch(
      /Can't handle RDB format version|Wrong signature trying to load DB from file/,
    );
  });
  if (server === undefined) return undefined;
  cleanups.push(() => server.stop());
  return new Node(server.port, () => server.stop());
}

/** True if a server reads the files of another one. Redis and Valkey read each other's up to the version that both had. */
function loads(own: RdbFormat, file: RdbFormat): boolean {
  if (own.magic === file.magic) return file.version <= own.version;
  return file.magic === 'REDIS' && file.version <= REDIS_7_2.version;
}

/** Starts ours in a dialect, strict, with the dump file of a folder. */
async function loaded(dir: string, dialect: DialectName): Promise<OwnNode> {
  const server = await startServer({ dialect, strict: true, rdbFile: join(dir, 'dump.rdb') });
  cleanups.push(() => server.stop());
  return new OwnNode(server);
}

test.skipIf(dialects.length < 2).each(dialects)(
  'the dump files of %s and of our node in that dialect are loaded by all servers that know their version (needs real servers)',
  async (source) => {
    const theirs = await startReal(source);
    const folder = mkdtempSync(join(tmpdir(), 'lostlock-dumps-'));
    cleanups.push(() => removeFolder(folder));
    const own = await loaded(folder, source);
    const folders = [String(((await theirs.ask('CONFIG', 'GET', 'dir')) as string[])[1]), folder];
    for (const node of [theirs, own]) {
      await fill(node);
      expect(await node.ask('SAVE')).toBe('OK');
    }
    const { databases, rdbFormat: written } = own.server;
    for (const dialect of dialects) {
      for (const dir of folders) {
        const which = `${dir === folder ? 'ours' : 'real'}, ${source} to ${dialect}`;
        const ourNode = await loaded(dir, dialect);
        const { rdbFormat } = ourNode.server;
        expect(digestOfAll(ourNode.server.databases, written), which).toBe(digestOfAll(databases, written));
        expect(await ourNode.ask('FCALL', 'f', '0'), which).toBe(1);
        const realNode = await startWith(dir, dialect);
        expect(realNode === undefined, which).toBe(!loads(rdbFormat, written));
        if (realNode === undefined) continue;
        expect(await realNode.ask('DEBUG', 'DIGEST'), which).toBe(digestOfAll(databases, rdbFormat));
        expect(await realNode.ask('FCALL', 'f', '0'), which).toBe(1);
      }
    }
  },
  120_000,
);
