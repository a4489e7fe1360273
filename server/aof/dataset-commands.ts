/** The dataset as the commands that create it: the base of an append-only file if `aof-use-rdb-preamble` is no. */
import { HashValue } from '../../keyspace/collections/hash.ts';
import { dumpValue } from '../../keyspace/rdb/dump.ts';
import type { StreamGroup } from '../../keyspace/stream/group.ts';
import { formatId, MAX_ID, MIN_ID } from '../../keyspace/stream/id.ts';
import type { StreamValue } from '../../keyspace/stream/stream.ts';
import type { Value } from '../../keyspace/value.ts';
import { type Bytes, formatDouble } from '../../protocol/bytes.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import type { SnapshotNode } from '../data/snapshot.ts';

/** The largest number of elements in one command (AOF_REWRITE_ITEMS_PER_CMD). */
const ELEMENTS_MAX = 64;

/** Returns the commands that create all libraries of functions and all keys. */
export function commandsOf(server: SnapshotNode): Bytes {
  let out = '';
  for (const code of server.functions.codes()) out += encodeRequest(['FUNCTION', 'LOAD', code]);
  for (const db of server.databases) {
    if (db.size === 0) continue;
    out += encodeRequest(['SELECT', String(db.index)]);
    for (const [key, entry] of db.entries) {
      for (const argv of creating(key, entry.read(), server)) out += encodeRequest(argv);
      const expiresAt = db.expiresAt(entry);
      if (expiresAt !== undefined) out += encodeRequest(['PEXPIREAT', key, String(expiresAt)]);
    }
  }
  return out;
}

/** The commands that create a key, without its expiry. */
export function* creating(
  key: Bytes,
  value: Value,
  { rdbFormat }: Pick<SnapshotNode, 'rdbFormat'>,
): Generator<readonly Bytes[]> {
  if (typeof value === 'string') yield ['SET', key, value];
  else if (value.type === 'list') yield* inParts(['RPUSH', key], value.values(), 1);
  else if (value.type === 'set') yield* inParts(['SADD', key], value.values(), 1);
  else if (value.type === 'zset') yield* inParts(['ZADD', key], scored(value.entries()), 2);
  else if (value instanceof HashValue && value.times === undefined) {
    yield* inParts(['HMSET', key], [...value.entries()].flat(), 2);
  } else if (value.type === 'stream' && isPlain(value)) yield* creatingStream(key, value);
  // Times of fields, vectors, and entries that a consumer gave back.
  else yield ['RESTORE', key, '0', dumpValue(value, rdbFormat)];
}

function* scored(entries: Iterable<{ readonly member: Bytes; readonly score: number }>): Generator<Bytes> {
  for (const { member, score } of entries) {
    yield formatDouble(score);
    yield member;
  }
}

/** Splits the elements over several commands. @param each how many words an element has */
function* inParts(head: readonly Bytes[], words: Iterable<Bytes>, each: number): Generator<readonly Bytes[]> {
  let part: Bytes[] = [];
  for (const word of words) {
    part.push(word);
    if (part.length < ELEMENTS_MAX * each) continue;
    yield [...head, ...part];
    part = [];
  }
  if (part.length > 0) yield [...head, ...part];
}

function isPlain(stream: StreamValue): boolean {
  return [...stream.groups.values()].every(({ nobody }) => nobody.pending.size === 0);
}

function* creatingStream(key: Bytes, stream: StreamValue): Generator<readonly Bytes[]> {
  const entries = stream.range(MIN_ID, MAX_ID);
  for (const { id, fields } of entries) yield ['XADD', key, formatId(id), ...fields];
  // An empty stream is created with an entry that is trimmed at once.
  if (entries.length === 0) yield ['XADD', key, 'MAXLEN', '0', '0-1', 'x', 'y'];
  const added = ['ENTRIESADDED', String(stream.entriesAdded), 'MAXDELETEDID', formatId(stream.maxDeletedId)];
  yield ['XSETID', key, formatId(stream.lastId), ...added];
  for (const group of stream.sortedGroups()) yield* creatingGroup(key, group);
}

function* creatingGroup(key: Bytes, group: StreamGroup): Generator<readonly Bytes[]> {
  const read = ['ENTRIESREAD', String(group.entriesRead ?? -1)];
  yield ['XGROUP', 'CREATE', key, group.name, formatId(group.lastId), ...read];
  for (const consumer of group.sortedConsumers()) {
    if (consumer.pending.size === 0) yield ['XGROUP', 'CREATECONSUMER', key, group.name, consumer.name];
    for (const { id, deliveredAt, deliveries } of consumer.pending.values()) {
      const state = ['TIME', String(deliveredAt), 'RETRYCOUNT', String(deliveries), 'JUSTID', 'FORCE'];
      yield ['XCLAIM', key, group.name, consumer.name, '0', formatId(id), ...state];
    }
  }
}
