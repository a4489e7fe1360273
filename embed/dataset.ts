/** Seeding a server's databases and dumping them as plain values. */
import { HashValue } from '../keyspace/hash.ts';
import { ListValue } from '../keyspace/list.ts';
import { SetValue } from '../keyspace/set.ts';
import { SortedSet } from '../keyspace/sorted-set.ts';
import { StreamValue } from '../keyspace/stream.ts';
import { formatId, MAX_ID, MIN_ID, parseId } from '../keyspace/stream-id.ts';
import type { Value } from '../keyspace/value.ts';
import type { Server } from '../server/server.ts';
import { badOption } from './options.ts';
import { decodeText, encodeText, type TextLike } from './text.ts';

/** Text, or a Buffer where the bytes are not UTF-8. */
export type Text = string | Buffer;

/** A value of each type as plain data. */
export type DumpValue =
  | { readonly type: 'string'; readonly value: Text }
  | { readonly type: 'hash'; readonly value: readonly (readonly [field: Text, value: Text])[] }
  | { readonly type: 'list'; readonly value: readonly Text[] }
  | { readonly type: 'set'; readonly value: readonly Text[] }
  | { readonly type: 'zset'; readonly value: readonly (readonly [member: Text, score: number])[] }
  /** The entries of a stream, fields and values alternating; its consumer groups are left out. */
  | { readonly type: 'stream'; readonly value: readonly (readonly [id: string, fields: readonly Text[]])[] };

/** A key as `dump` gives it and `seed` takes it. */
export type DumpEntry = DumpValue & {
  /** The database's number; 0 when left out. */
  readonly db?: number;
  readonly key: Text;
  /** When the key ends, in milliseconds since the epoch; never, when left out. */
  readonly expiresAt?: number;
};

/** A value in short form: a string or number, an array (list), a Set (set), a plain object or Map of values (hash). */
export type SeedValue =
  | TextLike
  | readonly TextLike[]
  | ReadonlySet<TextLike>
  | ReadonlyMap<TextLike, TextLike>
  | { readonly [field: string]: TextLike };

/** What `seed` takes: keys with values in short form (database 0), or the entries of a dump. */
export type Seed = { readonly [key: string]: SeedValue } | readonly DumpEntry[];

/** Stores the seed's keys over what is there, as one change. Throws for a value that it does not understand. */
export function seed(server: Server, data: Seed): void {
  const keys = Array.isArray(data)
    ? (data as readonly DumpEntry[]).map((entry) => ({ ...entry, value: fromEntry(server, entry) }))
    : Object.entries(data).map(([key, value]) => ({
        db: 0,
        key,
        value: fromShort(server, key, value),
        expiresAt: undefined,
      }));
  server.unit(() => {
    for (const { db: index = 0, key, value, expiresAt } of keys) {
      const db = server.db(index);
      const name = encodeText(key);
      const entry = db.put(name, value);
      if (expiresAt !== undefined) db.expireAt(name, entry, expiresAt);
      db.changed(name, 'restore');
    }
  });
  server.settle();
}

function fromShort(server: Server, key: string, value: SeedValue): Value {
  if (typeof value === 'string' || typeof value === 'number' || value instanceof Uint8Array) {
    return encodeText(value);
  }
  if (Array.isArray(value)) return new ListValue((value as readonly TextLike[]).map(encodeText));
  if (value instanceof Set) return setOf(server, value as ReadonlySet<TextLike>);
  const entries = value instanceof Map ? [...value] : Object.entries(value ?? {});
  if (entries.length === 0) {
    throw badOption(
      'seed',
      { [key]: value },
      'strings, numbers, Buffers, and arrays, Sets, Maps or objects that hold something',
    );
  }
  return hashOf(server, entries as [TextLike, TextLike][]);
}

function fromEntry(server: Server, entry: DumpEntry): Value {
  switch (entry.type) {
    case 'string':
      return encodeText(entry.value);
    case 'list':
      return new ListValue(entry.value.map(encodeText));
    case 'set':
      return setOf(server, entry.value);
    case 'hash':
      return hashOf(server, entry.value);
    case 'zset': {
      const zset = new SortedSet(server.encoding);
      for (const [member, score] of entry.value) zset.set(encodeText(member), score);
      return zset;
    }
    case 'stream':
      return streamOf(server, entry.value);
    default:
      throw badOption('seed', entry, "entries of type 'string', 'hash', 'list', 'set', 'zset' or 'stream'");
  }
}

function streamOf(server: Server, entries: Iterable<readonly [string, readonly TextLike[]]>): StreamValue {
  const stream = new StreamValue(server.encoding);
  for (const [text, fields] of entries) {
    const id = parseId(text);
    if (id === undefined || id <= stream.lastId || fields.length === 0 || fields.length % 2 !== 0) {
      throw badOption('seed', [text, fields], 'stream entries with ascending ids and fields with values');
    }
    stream.append(id, fields.map(encodeText));
  }
  return stream;
}

function setOf(server: Server, members: Iterable<TextLike>): SetValue {
  const set = new SetValue(server.encoding);
  for (const member of members) set.add(encodeText(member));
  return set;
}

function hashOf(server: Server, fields: Iterable<readonly [TextLike, TextLike]>): HashValue {
  const hash = new HashValue(server.encoding);
  for (const [field, value] of fields) hash.set(encodeText(field), encodeText(value));
  return hash;
}

/** Every live key of every database, in order of creation. */
export function dump(server: Server): DumpEntry[] {
  const out: DumpEntry[] = [];
  server.unit(() => {
    for (const db of server.databases) {
      for (const key of db.entries.keys()) {
        const entry = db.peek(key);
        if (entry === undefined) continue;
        const expiresAt = entry.deadline?.expiresAt;
        const head = {
          db: db.index,
          key: decodeText(key),
          ...(expiresAt === undefined ? {} : { expiresAt }),
        };
        out.push({ ...head, ...plain(entry.value) });
      }
    }
  });
  return out;
}

function plain(value: Value): DumpValue {
  if (typeof value === 'string') return { type: 'string', value: decodeText(value) };
  switch (value.type) {
    case 'hash':
      return {
        type: 'hash',
        value: [...value.entries()].map(([field, text]): [Text, Text] => [
          decodeText(field),
          decodeText(text),
        ]),
      };
    case 'zset':
      return {
        type: 'zset',
        value: [...value.entries()].map(({ member, score }): [Text, number] => [decodeText(member), score]),
      };
    case 'list':
      return { type: 'list', value: [...value.values()].map(decodeText) };
    case 'set':
      return { type: 'set', value: [...value.values()].map(decodeText) };
    case 'stream':
      return {
        type: 'stream',
        value: value
          .range(MIN_ID, MAX_ID)
          .map(({ id, fields }): [string, Text[]] => [formatId(id), fields.map(decodeText)]),
      };
  }
}
