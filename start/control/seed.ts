/** Seeds a server's databases. The whole seed is checked and converted before the first key is stored. */

import { badOption } from '../../base/options.ts';
import { HashValue } from '../../keyspace/collections/hash.ts';
import { ListValue } from '../../keyspace/collections/list.ts';
import { SetValue } from '../../keyspace/collections/set.ts';
import { SortedSet } from '../../keyspace/collections/sorted-set.ts';
import { RdbError } from '../../keyspace/format/errors.ts';
import { dumpValue, formatOfPayload, restoreValue } from '../../keyspace/rdb/dump.ts';
import { parseId } from '../../keyspace/stream/id.ts';
import { StreamValue } from '../../keyspace/stream/stream.ts';
import { type TypeName, typeOf, type Value } from '../../keyspace/value.ts';
import { type Bytes, fromBuffer, type Millis } from '../../protocol/bytes.ts';
import type { Server } from '../../server/server.ts';
import type { Seed } from '../dataset.ts';
import { encodeText, isText } from '../text.ts';

/** A key that is ready to be stored. */
interface Ready {
  readonly db: number;
  readonly key: Bytes;
  readonly value: Value;
  readonly expiresAt?: Millis;
}

/**
 * Stores the seed's keys, overwriting existing ones, in one step. Throws a TypeError that shows the invalid part, and
 * then stores nothing.
 */
export function seed(server: Server, data: Seed): void {
  const entries: unknown = data;
  if (typeof entries !== 'object' || entries === null) {
    throw badOption(
      'seed',
      data,
      'an object of keys with their values, or an array of entries as dump() gives them',
    );
  }
  const ready = Array.isArray(entries)
    ? entries.map((entry: unknown) => fromEntry(server, entry))
    : Object.entries(entries).map(([key, value]) => fromShort(server, key, value));
  server.unit(() => {
    for (const { db: index, key, value, expiresAt } of ready) {
      const db = server.db(index);
      const entry = db.put(key, value);
      if (expiresAt !== undefined) db.expireAt(key, entry, expiresAt);
      db.changed(key, 'restore');
      if (!server.effects.feeding) continue;
      const payload = dumpValue(value, server.rdbFormat);
      server.effects.propagateAlso(db, [
        'RESTORE',
        key,
        String(expiresAt ?? 0),
        payload,
        'REPLACE',
        'ABSTTL',
      ]);
    }
  });
  server.settle();
}

const SHORT_FORMS =
  'strings, numbers other than NaN, Buffers, and arrays, Sets, Maps or objects that hold something of these';

function fromShort(server: Server, key: string, value: unknown): Ready {
  const wrong = () => badOption('seed', { [key]: value }, SHORT_FORMS);
  return { db: 0, key: encodeText(key), value: shortValue(server, value, wrong) };
}

/** Makes the error for the value that is being read. */
type Wrong = () => TypeError;

function shortValue(server: Server, value: unknown, wrong: Wrong): Value {
  if (isText(value)) return encodeText(value);
  if (typeof value !== 'object' || value === null) throw wrong();
  if (Array.isArray(value)) return listOf(value, wrong);
  if (value instanceof Set) return setOf(server, [...value], wrong);
  return hashOf(server, value instanceof Map ? [...value] : Object.entries(value), wrong);
}

const ENTRIES =
  "entries with a key, a type ('string', 'hash', 'list', 'set', 'zset', 'stream', 'vectorset' or 'own'), a value of that type that is not " +
  'empty, the number of a database, and the time it expires at in milliseconds since 1970';

function fromEntry(server: Server, entry: unknown): Ready {
  const wrong = () => badOption('seed', entry, ENTRIES);
  if (typeof entry !== 'object' || entry === null) throw wrong();
  const { db = 0, key, type, value, expiresAt } = entry as { [name: string]: unknown };
  if (!isText(key) || !isIndex(db, server.databaseCount)) throw wrong();
  const head = { db, key: encodeText(key), value: entryValue(server, type, value, wrong) };
  if (expiresAt === undefined) return head;
  if (!isIndex(expiresAt, Number.MAX_SAFE_INTEGER)) throw wrong();
  return { ...head, expiresAt };
}

function entryValue(server: Server, type: unknown, value: unknown, wrong: Wrong): Value {
  if (type === 'string' && isText(value)) return encodeText(value);
  if ((type === 'vectorset' || type === 'own') && Buffer.isBuffer(value))
    return payloadOf(type, value, wrong);
  if (!Array.isArray(value)) throw wrong();
  if (type === 'list') return listOf(value, wrong);
  if (type === 'set') return setOf(server, value, wrong);
  if (type === 'hash') return hashOf(server, value, wrong);
  if (type === 'zset') return sortedSetOf(server, value, wrong);
  if (type === 'stream') return streamOf(server, value);
  throw wrong();
}

/** The value of a payload of DUMP, which must have this type. */
function payloadOf(type: TypeName, payload: Buffer, wrong: Wrong): Value {
  const bytes = fromBuffer(payload);
  try {
    const value = restoreValue(bytes, undefined, formatOfPayload(bytes));
    if (typeOf(value) === type) return value;
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
  }
  throw wrong();
}

function isIndex(value: unknown, end: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < end;
}

/** The bytes of each value. There must be at least one. */
function texts(values: readonly unknown[], wrong: Wrong): Bytes[] {
  if (values.length === 0 || !values.every(isText)) throw wrong();
  return values.map(encodeText);
}

/** Pairs of two elements. There must be at least one pair. */
function pairs(values: readonly unknown[], wrong: Wrong): [unknown, unknown][] {
  if (values.length === 0) throw wrong();
  return values.map((pair) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw wrong();
    return [pair[0], pair[1]];
  });
}

function listOf(values: readonly unknown[], wrong: Wrong): ListValue {
  return new ListValue(texts(values, wrong));
}

function setOf(server: Server, values: readonly unknown[], wrong: Wrong): SetValue {
  const set = new SetValue(server.encoding);
  for (const member of texts(values, wrong)) set.add(member);
  return set;
}

function hashOf(server: Server, values: readonly unknown[], wrong: Wrong): HashValue {
  const hash = new HashValue(server.encoding);
  for (const [field, value] of pairs(values, wrong)) {
    if (!isText(field) || !isText(value)) throw wrong();
    hash.set(encodeText(field), encodeText(value));
  }
  return hash;
}

function sortedSetOf(server: Server, values: readonly unknown[], wrong: Wrong): SortedSet {
  const zset = new SortedSet(server.encoding);
  for (const [member, score] of pairs(values, wrong)) {
    if (!isText(member) || typeof score !== 'number' || Number.isNaN(score)) throw wrong();
    zset.set(encodeText(member), score);
  }
  return zset;
}

function streamOf(server: Server, values: readonly unknown[]): StreamValue {
  const stream = new StreamValue(server.encoding);
  for (const entry of values) {
    const wrong = () => badOption('seed', entry, 'stream entries with ascending ids and fields with values');
    const [[text, fields]] = pairs([entry], wrong) as [[unknown, unknown]];
    const id = typeof text === 'string' ? parseId(text) : undefined;
    if (id === undefined || id <= stream.lastId || !Array.isArray(fields) || fields.length % 2 !== 0)
      throw wrong();
    stream.append(id, texts(fields, wrong));
  }
  return stream;
}
