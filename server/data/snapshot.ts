/** Writes the dataset to an RDB file, for full resyncs and dump files, and loads it. */

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
import { allowance } from '../../protocol/allowance.ts';
import { type Bytes, parseSafeInteger } from '../../protocol/bytes.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { HasData, HasNow, HasSettings } from '../ports.ts';
import type { RestorePolicy } from '../scripts/restore-policy.ts';

/** The node, as saving and loading see it. */
export interface SnapshotNode extends HasData, HasNow, HasSettings {
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
    yield { key, value: entry.read(), expiresAt: db.expiresAt(entry) };
  }
}

/** A part of a dataset that a replica may do without. */
export type DatasetPart = 'data' | 'functions';

/**
 * Returns all databases as one RDB file.
 * @param use a dump file, or the dataset of a full resync, has the id and offset of the stream that continues it
 * @param leavesOut parts that are not written
 */
export function snapshot(
  server: SnapshotNode,
  use: 'dump' | 'AOF base' = 'dump',
  leavesOut: ReadonlySet<DatasetPart> = new Set(),
): Bytes {
  const written = leavesOut.has('data') ? [] : server.databases;
  const databases: RdbDatabase[] = written
    .filter((db) => db.entries.size > 0)
    .map((db) => ({ index: db.index, entries: entriesOf(db) }));
  const extras: RdbExtras = {
    libraries: leavesOut.has('functions') ? [] : server.functions.codes(),
    aux: [
      server.dialect.dumpVersion,
      ['redis-bits', '64'],
      ['ctime', String(Math.floor(server.now / 1000))],
      ...(use === 'dump' ? streamOf(server) : []),
      ['aof-base', use === 'dump' ? '0' : '1'],
    ],
  };
  return writeRdb(databases, extras, server.rdbFormat);
}

/** The stream that continues a dump file. */
function streamOf({ primary, replication }: SnapshotNode): [Bytes, Bytes][] {
  return [
    ['repl-stream-db', String(primary?.client?.db.index ?? 0)],
    ['repl-id', replication.id],
    ['repl-offset', String(replication.offset)],
  ];
}

/** What happens to existing keys and libraries. */
export interface Merging {
  /** They are kept beside the loaded ones. */
  readonly keeps: boolean;
  /** A loaded key or library replaces an existing one of the same name. Otherwise such a name makes the load fail. */
  readonly replaces: boolean;
}

/**
 * Loads all databases and function libraries from the file. Existing data is removed unless `keeps` is set. A primary
 * skips expired keys, as it would delete them at once.
 * @param expired whether a primary loads expired keys too: required when a log follows that may move the deadline
 * (Redis: RDBFLAGS_AOF_PREAMBLE)
 * @returns the database that the stream behind the dataset has selected
 * @throws RdbError for a damaged file or an existing key, ReplyError for a library that does not load; nothing is
 * changed then
 */
export function loadSnapshot(
  server: SnapshotNode,
  rdb: Bytes,
  { keeps, replaces }: Merging = { keeps: false, replaces: false },
  expired: 'drop' | 'keep' = 'drop',
): number {
  let streamDb = 0;
  const items = allowance.unlimited(() => [...readRdb(rdb, server.encoding, server.rdbFormat.triesNewer)]);
  if (keeps && !replaces) refuseTaken(server, items);
  server.functions.adopt(
    items.flatMap((item) => (item.kind === 'library' ? [item.code] : [])),
    keeps ? (replaces ? 'REPLACE' : 'APPEND') : 'FLUSH',
  );
  if (!keeps) clear(server);
  const loaded = { keys: 0, expired: 0 };
  // Nothing is reported of each key that is loaded.
  const { listening } = server.world;
  server.world.listening = false;
  for (const item of items) {
    if (item.kind === 'aux' && item.name === 'repl-stream-db') streamDb = parseSafeInteger(item.value) ?? 0;
    if (item.kind !== 'entry' || item.database >= server.databaseCount) continue;
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
  server.world.listening = listening;
  server.dumpFile.loaded = loaded;
  for (const db of server.databases) server.blocking.signalAll(db);
  return streamDb;
}

/** Removes every key of every database, without events and without commands for replicas. */
export function clear(server: SnapshotNode): void {
  for (const db of server.databases) {
    db.touchAll();
    db.clear();
  }
  if (server.tracking.listens) server.tracking.flushed();
}

/** Throws RdbError if a key of the file exists already. */
function refuseTaken(server: SnapshotNode, items: readonly RdbItem[]): void {
  for (const item of items) {
    if (item.kind !== 'entry' || item.database >= server.databaseCount) continue;
    if (server.db(item.database).peek(item.key) !== undefined) throw badFormat(`key ${item.key} is taken`);
  }
}
