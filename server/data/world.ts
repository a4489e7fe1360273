/** The state that a node's databases share, and the mechanisms to which they report changes, expiries and misses. */
import { DeadlineTable } from '../../keyspace/expiry/deadlines.ts';
import { ExpiryWheel } from '../../keyspace/expiry/wheel.ts';
import type { Keyspace, KeyspaceWorld } from '../../keyspace/keyspace.ts';
import { STRING_LAYOUTS } from '../../keyspace/string-place.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { Client } from '../clients/client.ts';
import { takePlace } from '../clients/outbox.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Statistics } from '../figures/statistics.ts';
import type { HasSettings, Stream } from '../ports.ts';

/** The mechanisms to which changes are reported. */
interface ReportingNode extends Stream, HasSettings {
  readonly notifications: {
    readonly enabled: boolean;
    send(db: Keyspace, key: Bytes, event: string, fields?: readonly Bytes[]): void;
  };
  readonly tracking: { readonly listens: boolean; changed(key: Bytes, event: string): void };
  readonly blocking: { readonly count: number; signal(db: Keyspace, key: Bytes, event: string): void };
  readonly stats: Statistics;
  readonly dialect: Dialect;
  /** The client whose request is running. */
  readonly running: Client | undefined;
}

/**
 * Creates the shared state of empty databases.
 * @param now the current time, in milliseconds since the epoch
 */
export function makeWorld(server: ReportingNode, now: Millis): KeyspaceWorld {
  const changed = (db: Keyspace, key: Bytes, event: string, fields?: readonly Bytes[]): void => {
    if (server.running !== undefined) takePlace(server.running, event);
    if (server.tracking.listens) server.tracking.changed(key, event);
    if (server.notifications.enabled) server.notifications.send(db, key, event, fields);
    if (server.blocking.count > 0) server.blocking.signal(db, key, event);
  };
  const endOf = (db: Keyspace, key: Bytes): void =>
    server.effects.propagateOwn(db, [server.settings['lazyfree-lazy-expire'] ? 'UNLINK' : 'DEL', key]);
  const deadlines = new DeadlineTable();
  return {
    now,
    dirty: 0,
    expiredFields: 0,
    expiryPolicy: 'delete',
    footprint: 0,
    hits: 0,
    misses: 0,
    noteUse: undefined,
    noteChange: undefined,
    listening: false,
    stringLayout: STRING_LAYOUTS[server.dialect.stringPlace],
    deadlines,
    wheel: new ExpiryWheel(deadlines),
    onChanged: changed,
    onExpired(db, key) {
      server.stats.expired++;
      changed(db, key, 'expired');
      endOf(db, key);
    },
    onFieldsExpired(db, key, fields) {
      server.stats.expiredFields += fields.length;
      const together = server.dialect.expiredFields === 'together';
      const groups = together ? [fields] : fields.map((field) => [field]);
      for (const group of groups) server.effects.propagateOwn(db, ['HDEL', key, ...group]);
      const { held } = db.peek(key) ?? {};
      const isLast =
        held !== undefined && typeof held !== 'string' && held.type === 'hash' && held.size === 0;
      if (isLast && server.dialect.lastFields === 'HDEL and the key') endOf(db, key);
    },
    onAnnounced(db, key, event) {
      if (server.running !== undefined) takePlace(server.running, event);
      if (server.notifications.enabled) server.notifications.send(db, key, event);
    },
    onMissed: (db, key) => changed(db, key, 'keymiss'),
  };
}
