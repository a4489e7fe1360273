/** The keys that one client watches for its transaction (https://redis.io/docs/latest/commands/watch/). */
import type { Keyspace, Watcher } from '../../keyspace/keyspace.ts';
import type { Bytes } from '../../protocol/bytes.ts';

/** True when a key has expired, even if it is still stored: a replica keeps it until its primary's DEL. */
export function isPastDeadline(db: Keyspace, key: Bytes): boolean {
  const entry = db.entries.get(key);
  return entry !== undefined && db.hasExpired(entry);
}

/** One watched key. */
class Watch implements Watcher {
  readonly db: Keyspace;
  readonly key: Bytes;
  /** The key had expired before it was watched, so its removal does not count as a change. */
  expired: boolean;
  readonly #watches: Watches;

  constructor(watches: Watches, db: Keyspace, key: Bytes) {
    this.#watches = watches;
    this.db = db;
    this.key = key;
    this.expired = isPastDeadline(db, key);
  }

  touch(): void {
    if (this.expired && !this.db.entries.has(this.key)) this.expired = false;
    else this.#watches.spoil();
  }

  replaced(existed: boolean, next: 'nothing' | 'expired' | 'live'): void {
    const wasLive = existed && !this.expired;
    if (wasLive || next === 'live') this.#watches.spoil();
    else this.expired = next === 'expired';
  }
}

/** The keys that a client watches since its last EXEC, DISCARD or UNWATCH. */
export class Watches {
  /** A watched key has changed. */
  touched = false;
  /** True once the client has watched a key or begun a transaction. */
  used = false;
  readonly #watches: Watch[] = [];

  /** The number of watched keys. */
  get size(): number {
    return this.#watches.length;
  }

  /** Watches a key, once. */
  add(db: Keyspace, key: Bytes): void {
    if (this.#watches.some((seen) => seen.key === key && seen.db === db)) return;
    const seen = new Watch(this, db, key);
    this.#watches.push(seen);
    let watchers = db.watchers.get(key);
    if (watchers === undefined) db.watchers.set(key, (watchers = new Set()));
    watchers.add(seen);
  }

  /** True when EXEC must not run: a watched key has changed or expired. */
  isSpoilt(): boolean {
    return this.touched || this.#watches.some(({ db, key, expired }) => !expired && isPastDeadline(db, key));
  }

  /** A watched key has changed: EXEC will fail, so that no key needs to be watched any more. */
  spoil(): void {
    this.clear();
    this.touched = true;
  }

  /** Forgets all watched keys. */
  clear(): void {
    for (const watch of this.#watches) {
      const { db, key } = watch;
      const watchers = db.watchers.get(key);
      watchers?.delete(watch);
      if (watchers?.size === 0) db.watchers.delete(key);
    }
    this.#watches.length = 0;
    this.touched = false;
  }
}
