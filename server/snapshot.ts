/** The dataset as an RDB file, for a full resync and for dump files, and back. */
import type { Keyspace } from '../keyspace/keyspace.ts';
import { type RdbDatabase, type RdbEntry, readRdb, writeRdb } from '../keyspace/rdb/file.ts';
import { type Bytes, parseSafeInteger } from '../protocol/bytes.ts';
import type { Server } from './server.ts';
import { VERSION } from './version.ts';

function* entriesOf(db: Keyspace): Iterable<RdbEntry> {
  for (const [key, { value, deadline }] of db.entries) yield { key, value, expiresAt: deadline?.expiresAt };
}

/** Every database as one RDB file, with the identity of the stream that continues it. */
export function snapshot(server: Server): Bytes {
  const databases: RdbDatabase[] = server.databases.map((db) => ({
    index: db.index,
    entries: entriesOf(db),
  }));
  return writeRdb(databases, {
    libraries: server.functions.codes(),
    aux: [
      ['redis-ver', VERSION],
      ['redis-bits', '64'],
      ['ctime', String(Math.floor(server.now / 1000))],
      ['repl-stream-db', String(server.primary?.client?.db.index ?? 0)],
      ['repl-id', server.replication.id],
      ['repl-offset', String(server.replication.offset)],
      ['aof-base', '0'],
    ],
  });
}

/**
 * Replaces every database, and the libraries of functions, by what the file holds. Keys past their deadline are left
 * out on a primary, as they would be deleted at once. Answers the database that the stream behind the dataset has
 * selected. Throws RdbError for a damaged file, ReplyError for a library that does not load, and then changes nothing.
 */
export function loadSnapshot(server: Server, rdb: Bytes): number {
  let streamDb = 0;
  const items = [...readRdb(rdb, server.encoding)];
  server.functions.adopt(items.flatMap((item) => (item.kind === 'library' ? [item.code] : [])));
  for (const db of server.databases) {
    db.touchAll();
    db.clear();
  }
  if (server.tracking.listens) server.tracking.flushed();
  const loaded = { keys: 0, expired: 0 };
  for (const item of items) {
    if (item.kind === 'aux' && item.name === 'repl-stream-db') streamDb = parseSafeInteger(item.value) ?? 0;
    if (item.kind !== 'entry' || item.database >= server.databases.length) continue;
    if (server.role === 'primary' && item.expiresAt !== undefined && item.expiresAt < server.now) {
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
