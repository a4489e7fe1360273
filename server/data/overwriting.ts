/** Stores values in place of others, and reports which keys were overwritten and which changed their type. */
import type { Entry } from '../../keyspace/entry.ts';
import type { Keyspace } from '../../keyspace/keyspace.ts';
import { type Value, wordOf } from '../../keyspace/value.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import { takePlace } from '../clients/outbox.ts';
import type { Caller } from '../server.ts';

/** The type of the value at a key that a command is going to replace; undefined if there is none, or nobody listens. */
export function typeBefore({ server }: Caller, db: Keyspace, key: Bytes): Bytes | undefined {
  if (!db.world.listening || !server.dialect.overwriteEvents) return undefined;
  const entry = db.peek(key);
  return entry === undefined ? undefined : wordOf(entry.held);
}

/** Sends the events of a key whose value was replaced (https://redis.io/docs/latest/develop/pubsub/keyspace-notifications/). */
export function reportReplaced(
  { server }: Caller,
  db: Keyspace,
  key: Bytes,
  before: Bytes | undefined,
  value: Value,
): void {
  if (before === undefined || !server.notifications.enabled) return;
  for (const event of before === wordOf(value) ? ['overwritten'] : ['overwritten', 'type_changed']) {
    if (server.running !== undefined) takePlace(server.running, event);
    server.notifications.send(db, key, event);
  }
}

/** Stores a value like `Keyspace.put`, and reports first what it replaces. */
export function overwrite(client: Caller, key: Bytes, value: Value, keepTtl = false): Entry {
  const { db } = client;
  reportReplaced(client, db, key, typeBefore(client, db, key), value);
  return db.put(key, value, keepTtl);
}
