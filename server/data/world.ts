/** What a node's databases share, and whom they tell of changes, expiries and misses. */
import type { Deadline } from '../../keyspace/expiry/deadline.ts';
import { ExpiryWheel } from '../../keyspace/expiry/wheel.ts';
import type { Keyspace, KeyspaceWorld } from '../../keyspace/keyspace.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { takePlace } from '../clients/outbox.ts';
import type { Server } from '../server.ts';

/** A world without keys, at the instant given. */
export function makeWorld(server: Server, now: Millis): KeyspaceWorld {
  const changed = (db: Keyspace, key: Bytes, event: string): void => {
    if (server.running !== undefined) takePlace(server.running, event);
    if (server.tracking.listens) server.tracking.changed(key, event);
    if (server.notifications.enabled) server.notifications.send(db, key, event);
    if (server.blocking.count > 0) server.blocking.signal(db, key, event);
  };
  return {
    now,
    dirty: 0,
    expiryPolicy: 'delete',
    footprint: 0,
    hits: 0,
    misses: 0,
    noteUse: undefined,
    listening: false,
    wheel: new ExpiryWheel<Deadline>(),
    onChanged: changed,
    onExpired(db, key) {
      server.stats.expired++;
      changed(db, key, 'expired');
      server.propagateAlso(db, ['DEL', key]);
    },
    onFieldsExpired: (db, key, fields) => server.propagateAlso(db, ['HDEL', key, ...fields]),
    onMissed: (db, key) => changed(db, key, 'keymiss'),
  };
}
