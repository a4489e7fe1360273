/** The dataset as an RDB file, for a full resync and for dump files, and back. */

import type { EncodingLimits } from '../../keyspace/collections/encoding.ts';
import { badFormat } from '../../keyspace/format/errors.ts';
import type { Keyspace } from '../../keyspace/keyspace.ts';
import {
  type RdbDatabase,
  type RdbEntry,
  type RdbExtras,
  type RdbItem,
  readRdb,
  writeRdb,
} from '../../keyspace/rdb/file.ts';
import type { RdbFormat } from '../../keyspace/rdb/formats.ts';
import { type Bytes, parseSafeInteger } from '../../protocol/bytes.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { HasData, HasNow } from '../ports.ts';
import type { RestorePolicy } from '../scripts/restore-policy.ts';

/** The node, as a dataset that is saved or loaded sees it. */
export interface SnapshotNode extends HasData, HasNow {
  readonly rdbFormat: RdbFormat;
  readonly role: 'primary' | 'replica';
  readonly encoding: EncodingLimits;
  readonly dialect: Dialect;
  readonly functions: { codes(): Bytes[]; adopt(codes: readonly Bytes[], policy: RestorePolicy): void };
  readonly tracking: { readonly listens: boolean; flushed(): void };
  readonly blocking: { signalAll(db: Keyspace): void };
  readonly replication: { readonly id: Bytes; readonly offset: number };
  readonly primary: { readonly client: { readonly db: Keyspace } | undefined } | undefined;
  readonly dumpFile: { loaded: { keys: number; expired: number } };
}

function* entriesOf(db: Keyspace): Iterable<RdbEntry> {
  for (const [key, entry] of db.entries) {
    yield { key, value: entry.read(), expiresAt: entry.deadline?.expiresAt };
  }
}

/** Every database as one RDB file, with the identity of the stream that continues it. */
export function snapshot(server: SnapshotNode): Bytes {
  const databases: RdbDatabase[] = server.databases.map((db) => ({
    index: db.index,
    entries: entriesOf(db),
  }));
  const extras: RdbExtras = {
    libraries: server.functions.codes(),
    aux: [
      server.dialect.dumpVersion,
      ['redis-bits', '64'],
      ['ctime', String(Math.floor(server.now / 1000))],
      ['repl-stream-db', String(server.primary?.client?.db.index ?? 0)],
      ['repl-id', server.replication.id],
      ['repl-offset', String(server.replication.offset)],
      ['aof-base', '0'],
    ],
  };
  return writeRdb(databases, extras, server.rdbFormat);
}

/** What becomes of the data and libraries that are there. */
export interface Merging {
  /** They stay beside what is loaded. */
  readonly keeps: boolean;
  /** What is loaded takes the place of what has the same name; otherwise a name that is taken spoils the whole. */
  readonly replaces: boolean;
}

/**
 * Loads every database, and the libraries of functions, from the file; what was there goes unless it is to be kept. Keys
 * past their deadline are left out on a primary, as they would be deleted at once. Answers the database that the stream
 * behind the dataset has selected. Throws RdbError for a damaged file or a key that is taken, ReplyError for a library
 * that does not load, and then changes nothing.
 * @param expired whether a primary keeps keys past their deadline: it must when a log follows that may move the deadline
 *   (Redis: RDBFLAGS_AOF_PREAMBLE)
 */
export function loadSnapshot(
  server: SnapshotNode,
  rdb: Bytes,
  { keeps, replaces }: Merging = { keeps: false, replaces: false },
  expired: 'drop' | 'keep' = 'drop',
): number {
  let streamDb = 0;
  const items = [...readRdb(rdb, server.encoding)];
  if (keeps && !replaces) refuseTaken(server, items);
  server.functions.adopt(
    items.flatMap((item) => (item.kind === 'library' ? [item.code] : [])),
    keeps ? (replaces ? 'REPLACE' : 'APPEND') : 'FLUSH',
  );
  if (!keeps) clear(server);
  const loaded = { keys: 0, expired: 0 };
  for (const item of items) {
    if (item.kind === 'aux' && item.name === 'repl-stream-db') streamDb = parseSafeInteger(item.value) ?? 0;
    if (item.kind !== 'entry' || item.database >= server.databases.length) continue;
    const drops = server.role === 'primary' && expired === 'drop';
    if (drops && item.expiresAt !== undefined && item.expiresAt < server.now) {
      loaded.expired++;
      continue;
    }
    loaded.keys++;
    const db = server.db(item.database);
    const entry = db.put(item.key, item.value);
    if (item.expiresAt !== undefined) db.expireAt(item.key, entry, item.expiresAt);
    db.weigh(item.key, entry);
    db.touch(item.key);
  }
  server.dumpFile.loaded = loaded;
  for (const db of server.databases) server.blocking.signalAll(db);
  return streamDb;
}

/** Removes every key of every database, without an event or a command for replicas. */
export function clear(server: SnapshotNode): void {
  for (const db of server.databases) {
    db.touchAll();
    db.clear();
  }
  if (server.tracking.listens) server.tracking.flushed();
}

/** Throws RdbError when a key of the file is there already. */
function refuseTaken(server: SnapshotNode, items: readonly RdbItem[]): void {
  for (const item of items) {
    if (item.kind !== 'entry' || item.database >= server.databases.length) continue;
    if (server.db(item.database).peek(item.key) !== undefined) throw badFormat(`key ${item.key} is taken`);
  }
}
