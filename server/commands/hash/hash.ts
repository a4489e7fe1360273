/** Commands on hashes (https://redis.io/docs/latest/commands/?group=hash). */
import type { HashValue } from '../../../keyspace/collections/hash.ts';
import { type Bytes, parseInteger } from '../../../protocol/bytes.ts';
import { fail, NOT_FLOAT, wrongArity } from '../../../protocol/errors.ts';
import { parseLongDouble } from '../../../protocol/long-double.ts';
import { MapReply, OK, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { int64, wordAt } from '../../table/arguments.ts';
import { type Argv, type Flag, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { addFloats, addIntegers } from '../string/counter.ts';
import { createHash, readHash, writeHash } from './access.ts';
import { namesForEvents } from './fields.ts';
import { hashScan, randomFields } from './parts.ts';

const WRITES: readonly Flag[] = ['write', 'denyoom', 'fast'];
const READS: readonly Flag[] = ['readonly', 'fast'];
const UNORDERED = ['nondeterministic_output_order'];

/** Sets pairs of fields and values. Returns the number of new fields. */
function setAll(client: Caller, argv: Argv<-2>, command: Bytes): number {
  if (argv.length % 2 === 1) throw wrongArity(command);
  const name = argv[1];
  const hash = writeHash(client, name, argv) ?? createHash(client, name);
  hash.expect((argv.length - 2) / 2);
  let added = 0;
  for (let i = 2; i < argv.length; i += 2) if (hash.set(wordAt(argv, i), wordAt(argv, i + 1))) added++;
  client.db.changed(name, 'hset', (argv.length - 2) / 2, namesForEvents(client, argv, 2));
  return added;
}

function increment(client: Caller, argv: Argv<4>): Reply {
  const [, name, field, text] = argv;
  const by = int64(text);
  const hash = writeHash(client, name, argv);
  const before = hash?.get(field);
  const old = before === undefined ? 0 : (parseInteger(before) ?? fail('ERR hash value is not an integer'));
  const sum = addIntegers(old, by);
  (hash ?? createHash(client, name)).set(field, String(sum), true);
  client.db.changed(name, 'hincrby', 1, [field]);
  const rewritten = client.server.dialect.fieldIncrement === 'with its deadline';
  if (rewritten && (hash?.times?.size ?? 0) > 0) propagateSum(client, name, field, String(sum), hash);
  return sum;
}

/** HINCRBYFLOAT. Replicas receive the sum, because they might compute it differently. */
function incrementFloat(client: Caller, argv: Argv<4>): Reply {
  const [, name, field, text] = argv;
  const by = parseLongDouble(text) ?? fail(NOT_FLOAT);
  if (typeof by === 'string') fail('ERR value is NaN or Infinity');
  const hash = writeHash(client, name, argv);
  const sum = addFloats(hash?.get(field) ?? '0', text, 'ERR hash value is not a float');
  (hash ?? createHash(client, name)).set(field, sum, true);
  client.db.changed(name, 'hincrbyfloat', 1, [field]);
  propagateSum(client, name, field, sum, hash);
  return sum;
}

/** Propagates the sum in a field, with its deadline as the server does it. */
function propagateSum(
  { server: { dialect, effects } }: Caller,
  name: Bytes,
  field: Bytes,
  sum: Bytes,
  hash: HashValue | undefined,
): void {
  if (!effects.feeding) return;
  const end = hash?.times?.endOf(field);
  if (dialect.fieldIncrement === 'HSETEX') {
    effects.propagateAs(['HSETEX', name, 'KEEPTTL', 'FIELDS', '1', field, sum]);
  } else if (dialect.fieldIncrement === 'with its deadline' && end !== undefined) {
    effects.propagateAs(['HSETEX', name, 'PXAT', String(end), 'FIELDS', '1', field, sum]);
    // In Redis before 8.2 the field loses its TTL on replicas.
  } else effects.propagateAs(['HSET', name, field, sum]);
}

function remove(client: Caller, argv: Argv<-2>): number {
  const name = argv[1];
  const hash = writeHash(client, name, argv);
  if (hash === undefined) return 0;
  const removed = argv.slice(2).filter((field) => hash.delete(field));
  if (removed.length > 0) client.db.changed(name, 'hdel', removed.length, removed);
  return removed.length;
}

export const hashCommands = defineCommands('hash', {
  hset: {
    summary: 'Sets fields of a hash and counts the new ones.',
    since: '2.0.0',
    complexity: 'O(N) with N the number of fields',
    arity: -4,
    flags: WRITES,
    keys: key('RW UPDATE'),
    run: (client, argv) => setAll(client, argv, 'hset'),
  },
  hmset: {
    summary: 'Sets fields of a hash.',
    since: '2.0.0',
    complexity: 'O(N) with N the number of fields',
    arity: -4,
    flags: WRITES,
    keys: key('RW UPDATE'),
    run(client, argv) {
      setAll(client, argv, 'hmset');
      return OK;
    },
  },
  hsetnx: {
    summary: 'Sets a field of a hash unless it exists.',
    since: '2.0.0',
    complexity: 'O(1)',
    arity: 4,
    flags: WRITES,
    keys: key('RW INSERT'),
    run(client, argv) {
      const [, name, field, value] = argv;
      const hash = writeHash(client, name, argv);
      if (hash?.has(field)) return 0;
      (hash ?? createHash(client, name)).set(field, value);
      client.db.changed(name, 'hset', 1, [field]);
      const { effects, dialect } = client.server;
      const asSet = dialect.fieldIncrement === 'with its deadline' && (hash?.times?.size ?? 0) > 0;
      if (asSet && effects.feeding) effects.propagateAs(['HSET', name, field, value]);
      return 1;
    },
  },
  hget: {
    summary: 'Returns the value of a field.',
    since: '2.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: READS,
    keys: key('RO ACCESS'),
    run: (client, argv) => readHash(client, argv[1], argv)?.get(argv[2]) ?? null,
  },
  hmget: {
    summary: 'Returns the values of fields.',
    since: '2.0.0',
    complexity: 'O(N) with N the number of fields',
    arity: -3,
    flags: READS,
    keys: key('RO ACCESS'),
    run(client, argv) {
      const hash = readHash(client, argv[1], argv);
      return argv.slice(2).map((field) => hash?.get(field) ?? null);
    },
  },
  hgetall: {
    summary: 'Returns all fields with their values.',
    since: '2.0.0',
    complexity: 'O(N) with N the size of the hash',
    arity: 2,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    tips: UNORDERED,
    run(client, argv) {
      const items: Bytes[] = [];
      for (const [field, value] of readHash(client, argv[1], argv)?.entries() ?? []) items.push(field, value);
      return new MapReply(items);
    },
  },
  hkeys: {
    summary: 'Returns all fields.',
    since: '2.0.0',
    complexity: 'O(N) with N the size of the hash',
    arity: 2,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    tips: UNORDERED,
    run: (client, argv) => [...(readHash(client, argv[1], argv)?.keys() ?? [])],
  },
  hvals: {
    summary: 'Returns the values of all fields.',
    since: '2.0.0',
    complexity: 'O(N) with N the size of the hash',
    arity: 2,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    tips: UNORDERED,
    run: (client, argv) => [...(readHash(client, argv[1], argv)?.values() ?? [])],
  },
  hlen: {
    summary: 'Counts the fields of a hash.',
    since: '2.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: READS,
    keys: key('RO'),
    run: (client, argv) => client.db.read(argv[1], 'hash')?.size ?? 0,
  },
  hexists: {
    summary: 'Checks whether a field exists.',
    since: '2.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: READS,
    keys: key('RO'),
    run: (client, argv) => (readHash(client, argv[1], argv)?.has(argv[2]) ? 1 : 0),
  },
  hdel: {
    summary: 'Deletes fields, and the hash with its last one.',
    since: '2.0.0',
    complexity: 'O(N) with N the number of fields',
    arity: -3,
    flags: ['write', 'fast'],
    keys: key('RW DELETE'),
    run: remove,
  },
  hstrlen: {
    summary: "Returns the length of a field's value.",
    since: '3.2.0',
    complexity: 'O(1)',
    arity: 3,
    flags: READS,
    keys: key('RO'),
    run: (client, argv) => readHash(client, argv[1], argv)?.get(argv[2])?.length ?? 0,
  },
  hincrby: {
    summary: "Adds an integer to a field's value.",
    since: '2.0.0',
    complexity: 'O(1)',
    arity: 4,
    flags: WRITES,
    keys: key('RW ACCESS UPDATE'),
    run: increment,
  },
  hincrbyfloat: {
    summary: "Adds a floating-point number to a field's value.",
    since: '2.6.0',
    complexity: 'O(1)',
    arity: 4,
    flags: WRITES,
    keys: key('RW ACCESS UPDATE'),
    run: incrementFloat,
  },
  hrandfield: {
    summary: 'Returns random fields, with their values where asked.',
    since: '6.2.0',
    complexity: 'O(N) with N the number of fields answered',
    arity: -2,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    tips: ['nondeterministic_output'],
    run: randomFields,
  },
  hscan: {
    summary: 'Iterates over the fields and values by a cursor.',
    since: '2.8.0',
    complexity: 'O(1) per call, O(N) for a whole walk',
    arity: -3,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    tips: ['nondeterministic_output'],
    run: hashScan,
  },
});
