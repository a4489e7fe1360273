/** A server's data as plain values, and the forms in which a seed gives them. */

import { dumpValue } from '../keyspace/rdb/dump.ts';
import { formatId, MAX_ID, MIN_ID } from '../keyspace/stream/id.ts';
import type { Value } from '../keyspace/value.ts';
import { toBuffer } from '../protocol/bytes.ts';
import type { Server } from '../server/server.ts';
import { decodeText, type TextLike } from './text.ts';

/** A string, or a Buffer when the bytes are not valid UTF-8. */
export type Text = string | Buffer;

/** A value of each Redis type as plain data. */
export type DumpValue =
  | { readonly type: 'string'; readonly value: Text }
  | { readonly type: 'hash'; readonly value: readonly (readonly [field: Text, value: Text])[] }
  | { readonly type: 'list'; readonly value: readonly Text[] }
  | { readonly type: 'set'; readonly value: readonly Text[] }
  | { readonly type: 'zset'; readonly value: readonly (readonly [member: Text, score: number])[] }
  /** The stream's entries, with alternating fields and values. Consumer groups are left out. */
  | { readonly type: 'stream'; readonly value: readonly (readonly [id: string, fields: readonly Text[]])[] }
  /** A vector set, as the payload that DUMP returns. */
  | { readonly type: 'vectorset'; readonly value: Buffer }
  /** A value that a command of your own stored, as the payload that DUMP returns. */
  | { readonly type: 'own'; readonly value: Buffer };

/** One key, as `dump` returns it and `seed` accepts it. */
export type DumpEntry = DumpValue & {
  /** The database number; default 0. */
  readonly db?: number;
  /** The key's name. */
  readonly key: Text;
  /** The expiry time in milliseconds since the epoch; without it the key never expires. */
  readonly expiresAt?: number;
};

/** A value in short form: a string or number, an array (list), a Set (set), or a plain object or Map (hash). */
export type SeedValue =
  | TextLike
  | readonly TextLike[]
  | ReadonlySet<TextLike>
  | ReadonlyMap<TextLike, TextLike>
  | { readonly [field: string]: TextLike };

/** What `seed` accepts: keys with values in short form (in database 0), or the entries of a dump. */
export type Seed = { readonly [key: string]: SeedValue } | readonly DumpEntry[];

/** Every live key of every database, in order of creation. */
export function dump(server: Server): DumpEntry[] {
  const out: DumpEntry[] = [];
  server.unit(() => {
    for (const db of server.databases) {
      for (const key of db.entries.keys()) {
        const entry = db.peek(key);
        if (entry === undefined) continue;
        const expiresAt = db.expiresAt(entry);
        const head = {
          db: db.index,
          key: decodeText(key),
          ...(expiresAt === undefined ? {} : { expiresAt }),
        };
        out.push({ ...head, ...plain(entry.read()) });
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
    case 'vectorset':
    case 'own':
      return { type: value.type, value: toBuffer(dumpValue(value)) };
  }
}
