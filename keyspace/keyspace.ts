/** One numbered database: its keys, their deadlines, and `changed`, which does everything that a write entails. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { EDIT_MIN, type EditedString, type HeldString } from './collections/edited-string.ts';
import { IndexedKeys } from './collections/random-map.ts';
import { type Entry, stringIn, valueIn } from './entry.ts';
import { type Deadline, type DeadlineOwner, type DeadlineTable, NONE } from './expiry/deadlines.ts';
import type { ExpiryWheel } from './expiry/wheel.ts';
import { endFields, forgetFields, timeFields } from './field-expiry.ts';
import { DEADLINE_BYTES, footprint } from './footprint.ts';
import { KeyIndex } from './key-index.ts';
import { type KeyRoll, rollOf } from './key-roll.ts';
import { placeDeadline, placeString, type StringLayout } from './string-place.ts';
import { isEmptied, type TypeName, type Types, type Value } from './value.ts';

/** Watches a key: a transaction (WATCH), or client-side caching. */
export interface Watcher {
  /** The key has changed. */
  touch(): void;
  /**
   * All keys of the database are removed, or replaced by those of another one.
   * @param existed the key was stored, even if it had expired
   * @param next what takes the key's place
   */
  replaced(existed: boolean, next: 'nothing' | 'expired' | 'live'): void;
}

/** What all databases of a node share: the frozen time, the number of changes, and the callbacks for changes. */
export interface KeyspaceWorld {
  /** The time of the current execution unit, in milliseconds since the epoch. */
  now: Millis;
  /** The number of changes since the node started. */
  dirty: number;
  /** The number of fields of hashes that have expired since the node started. */
  expiredFields: number;
  /**
   * What happens to an expired key: 'delete' removes it when it is accessed (primary), 'hide' keeps it until the
   * primary deletes it (replica), 'keep' keeps it visible (paused).
   */
  expiryPolicy: 'delete' | 'hide' | 'keep';
  /** The memory of all keys and values of all databases, in bytes. */
  footprint: number;
  /** How many look-ups by reading commands found their key, and how many did not. */
  hits: number;
  misses: number;
  /** Records a key's use in another way than by its time: under an LFU policy, or when nothing is to be recorded. */
  noteUse: ((entry: Entry) => void) | undefined;
  /** Records that a key was changed, under an LRM policy. */
  noteChange: ((entry: Entry) => void) | undefined;
  /** True when `changed` or `missed` must be reported. */
  listening: boolean;
  readonly stringLayout: StringLayout | undefined;
  readonly deadlines: DeadlineTable;
  readonly wheel: ExpiryWheel;
  /** Called for every event when `listening`: for notifications, blocked clients and client-side caching. */
  onChanged(db: Keyspace, key: Bytes, event: string, fields?: readonly Bytes[]): void;
  /** Called after an expired key was removed. */
  onExpired(db: Keyspace, key: Bytes): void;
  /** Called after expired fields of a hash were removed. */
  onFieldsExpired(db: Keyspace, key: Bytes, fields: readonly Bytes[]): void;
  /** Called for an event of a key that has not changed, if `listening`. */
  onAnnounced(db: Keyspace, key: Bytes, event: string): void;
  /** Called when a look-up found nothing, if `listening`. */
  onMissed(db: Keyspace, key: Bytes): void;
}

/** A roll with at most this many places is always kept. */
const ROLL_MAX = 1024;

/** One numbered database: its keys, their deadlines, and the order in which SCAN visits them. */
export class Keyspace implements DeadlineOwner {
  /** The database's number; SWAPDB exchanges two numbers. */
  index: number;
  readonly world: KeyspaceWorld;
  entries = new KeyIndex();
  /** The number by which deadlines refer to the database. SWAPDB exchanges it too, as the deadlines stay with their keys. */
  owner: number;
  /** The number of keys with a deadline. */
  volatile = 0;
  readonly watchers = new Map<Bytes, Set<Watcher>>();
  #serial = 0;
  /** Kept from the first SCAN or RANDOMKEY on. */
  #roll: KeyRoll | undefined;
  /** The keys with a deadline, kept while a policy evicts among them. */
  #volatileKeys: IndexedKeys | undefined;
  // The last entry that was looked up, even if it has expired.
  #lastKey: Bytes | undefined;
  #last: Entry | undefined;

  constructor(index: number, world: KeyspaceWorld) {
    this.index = index;
    this.world = world;
    this.owner = world.deadlines.enrol(this);
  }

  get size(): number {
    return this.entries.size;
  }

  /** Makes the roll of the keys by serial number, for SCAN and RANDOMKEY, and keeps it from then on. */
  openRoll(): KeyRoll {
    this.#roll ??= rollOf(this.entries);
    this.#roll.shorten();
    return this.#roll;
  }

  /** The live entry of a key. Does not count as a use. */
  peek(key: Bytes): Entry | undefined {
    const entry = this.#look(key);
    // Usually no key at all has expired. Then the deadline, which is seldom in the processor's cache, is not read.
    if (entry === undefined || !this.world.wheel.mayBeDue(this.world.now)) return entry;
    return this.hasExpired(entry) && this.#gone(entry.deadline) ? undefined : entry;
  }

  /** True when surely none of the stored keys has expired. */
  get isCurrent(): boolean {
    return !this.world.wheel.mayBeDue(this.world.now);
  }

  /** The live entry of a key, for a command that uses it. */
  find(key: Bytes): Entry | undefined {
    const entry = this.peek(key);
    if (entry === undefined) return undefined;
    const world = this.world;
    if (world.noteUse === undefined) entry.usedAt = world.now;
    else world.noteUse(entry);
    return entry;
  }

  /** The live entry of a key for a reading command; reports a miss. */
  lookup(key: Bytes): Entry | undefined {
    const entry = this.find(key);
    if (entry !== undefined) this.world.hits++;
    else this.#missed(key);
    return entry;
  }

  /** The live entry of a key for a command that examines it without using it; reports a miss. */
  inspect(key: Bytes): Entry | undefined {
    const entry = this.peek(key);
    if (entry !== undefined) this.world.hits++;
    else this.#missed(key);
    return entry;
  }

  /** The value of a key for a reading command. Throws WRONGTYPE when it has another type. */
  read<T extends TypeName>(key: Bytes, type: T): Types[T] | undefined {
    const entry = this.lookup(key);
    return entry === undefined ? undefined : valueIn(entry, type);
  }

  /** The value of a key for a writing command. Throws WRONGTYPE when it has another type. */
  get<T extends TypeName>(key: Bytes, type: T): Types[T] | undefined {
    const entry = this.find(key);
    return entry === undefined ? undefined : valueIn(entry, type);
  }

  /**
   * The string of a key for a reading command that needs only a part of it. Throws WRONGTYPE when it has another type.
   */
  readPart(key: Bytes): HeldString | undefined {
    const entry = this.lookup(key);
    return entry === undefined ? undefined : stringIn(entry);
  }

  /** The string of a key for a writing command that changes a part of it. Throws WRONGTYPE when it has another type. */
  getPart(key: Bytes): HeldString | undefined {
    const entry = this.find(key);
    return entry === undefined ? undefined : stringIn(entry);
  }

  /**
   * The string of a key for changes in place, created when absent, if it is long or will be; undefined for a short
   * string, which is better replaced. The caller has checked the type. Report the change with `changed`.
   */
  edit(key: Bytes, length: number): EditedString | undefined {
    if (length < EDIT_MIN) return undefined;
    return (this.peek(key) ?? this.put(key, '')).edit(length);
  }

  /**
   * Stores a value, replacing any other. Removes the TTL unless `keepTtl` is true. Report the change with `changed`.
   */
  put(key: Bytes, value: Value, keepTtl = false): Entry {
    const entry = this.peek(key);
    if (entry !== undefined) {
      forgetFields(this, entry.held);
      entry.replace(value);
      placeString(this.world.stringLayout, key, entry, keepTtl);
      timeFields(this, key, value);
      if (!keepTtl) this.persist(entry);
      return entry;
    }
    // A hidden expired key is replaced.
    const hidden = this.#look(key);
    if (hidden !== undefined) this.#drop(key, hidden);
    const fresh = this.entries.add(key, value, ++this.#serial, this.world.now);
    this.#lastKey = key;
    this.#last = fresh;
    placeString(this.world.stringLayout, key, fresh, false);
    timeFields(this, key, value);
    if (this.#roll !== undefined) this.#extendRoll(this.#roll, key, fresh.serial);
    if (this.world.listening) this.world.onChanged(this, key, 'new');
    return fresh;
  }

  /** Removes a live key; false when there is none. Report the change with `changed`. */
  remove(key: Bytes): boolean {
    return this.#removeEntry(key, this.find(key));
  }

  /** Removes a key even if its time has passed, as commands do that store an empty result; false when there is none. */
  removeStored(key: Bytes): boolean {
    return this.#removeEntry(key, this.#look(key));
  }

  #removeEntry(key: Bytes, entry: Entry | undefined): boolean {
    if (entry === undefined) return false;
    this.#drop(key, entry);
    return true;
  }

  /** Removes every key. If watchers must be notified, call `touchAll` before. */
  clear(): void {
    for (const entry of this.entries.unordered()) {
      if (entry.deadline !== NONE) this.world.wheel.discard(entry.deadline);
      entry.deadline = NONE;
      forgetFields(this, entry.held);
      this.world.footprint -= entry.footprint;
    }
    this.entries.clear();
    this.#roll = undefined;
    this.#volatileKeys = undefined;
    this.world.footprint -= DEADLINE_BYTES * this.volatile;
    this.volatile = 0;
    this.#lastKey = undefined;
  }

  /** Exchanges the contents of two databases; watchers and waiters stay. */
  swapWith(other: Keyspace): void {
    [this.entries, other.entries] = [other.entries, this.entries];
    [this.volatile, other.volatile] = [other.volatile, this.volatile];
    [this.#serial, other.#serial] = [other.#serial, this.#serial];
    [this.owner, other.owner] = [other.owner, this.owner];
    this.world.deadlines.exchange(this.owner, other.owner);
    for (const db of [this, other]) {
      db.#lastKey = undefined;
      db.#roll = undefined;
      db.#volatileKeys = undefined;
    }
  }

  /** Sets a key's expiry time in milliseconds since the epoch. Report the change with `changed`. */
  expireAt(key: Bytes, entry: Entry, at: Millis): void {
    if (entry.deadline === NONE) {
      placeDeadline(this.world.stringLayout, key, entry);
      // The entry's own string of the key, so that this request's can be freed.
      entry.deadline = this.world.deadlines.add(this.owner, entry.key);
      this.volatile++;
      this.world.footprint += DEADLINE_BYTES;
      this.#volatileKeys?.add(key);
    }
    this.world.wheel.arm(entry.deadline, at);
  }

  /** When an entry expires, in milliseconds since the epoch; undefined when it has no TTL. */
  expiresAt({ deadline }: Entry): Millis | undefined {
    return deadline === NONE ? undefined : this.world.deadlines.expiresAt(deadline);
  }

  /** True for an entry that has expired, even if it is still stored. */
  hasExpired({ deadline }: Entry): boolean {
    return deadline !== NONE && this.world.deadlines.expiresAt(deadline) < this.world.now;
  }

  /** Removes a key's TTL; false when it had none. */
  persist(entry: Entry): boolean {
    const { deadline } = entry;
    if (deadline === NONE) return false;
    this.#volatileKeys?.delete(this.world.deadlines.key(deadline));
    this.world.wheel.discard(deadline);
    entry.deadline = NONE;
    this.volatile--;
    this.world.footprint -= DEADLINE_BYTES;
    return true;
  }

  /**
   * Must be called after every write. Counts the change, fails transactions that watch the key, reports the event (to
   * notifications and blocked clients), and removes a collection that became empty.
   * @param fields the fields of a hash that changed
   */
  changed(key: Bytes, event: string, changes = 1, fields?: readonly Bytes[]): void {
    const world = this.world;
    world.dirty += changes;
    if (this.watchers.size !== 0) this.touch(key);
    if (world.listening) world.onChanged(this, key, event, fields);
    const entry = this.#look(key);
    if (entry === undefined) return;
    if (world.noteChange !== undefined) world.noteChange(entry);
    const value = entry.held;
    if (isEmptied(value)) {
      this.#drop(key, entry);
      if (world.listening) world.onChanged(this, key, 'del');
    } else {
      const bytes = footprint(key, value);
      world.footprint += bytes - entry.footprint;
      entry.footprint = bytes;
      timeFields(this, key, value);
    }
  }

  /** Publishes an event of a key that has not changed. */
  announce(key: Bytes, event: string): void {
    if (this.world.listening) this.world.onAnnounced(this, key, event);
  }

  /** Reports fields that were removed because they expired. */
  fieldsEnded(key: Bytes, fields: readonly Bytes[]): void {
    this.world.expiredFields += fields.length;
    this.world.onFieldsExpired(this, key, fields);
    this.changed(key, 'hexpired', 0, fields);
  }

  /** A value's encoding or internal state has changed: replicas are updated, but no event is published. */
  reformed(key: Bytes): void {
    this.world.dirty++;
    if (this.watchers.size !== 0) this.touch(key);
    const entry = this.#look(key);
    if (entry === undefined) return;
    if (this.world.noteChange !== undefined) this.world.noteChange(entry);
    this.weigh(key, entry);
  }

  /** Adds the size of a key that was stored without being reported, as when a dataset is loaded. */
  weigh(key: Bytes, entry: Entry): void {
    const bytes = footprint(key, entry.held);
    this.world.footprint += bytes - entry.footprint;
    entry.footprint = bytes;
  }

  /** Makes the list of the keys with a deadline, for policies that evict among them, and keeps it from then on. */
  listVolatile(): IndexedKeys {
    if (this.#volatileKeys === undefined) {
      this.#volatileKeys = new IndexedKeys();
      for (const [key, { deadline }] of this.entries) if (deadline !== NONE) this.#volatileKeys.add(key);
    }
    return this.#volatileKeys;
  }

  /** Removes a key to free memory, and fails transactions that watch it. */
  evict(key: Bytes): void {
    this.#drop(key, this.entries.get(key)!);
    if (this.watchers.size !== 0) this.touch(key);
    if (this.world.listening) this.world.onChanged(this, key, 'evicted');
  }

  /** Fails the transactions that watch the key. */
  touch(key: Bytes): void {
    const watchers = this.watchers.get(key);
    if (watchers !== undefined) for (const watcher of watchers) watcher.touch();
  }

  /**
   * Fails the transactions that watch a key that exists here, or in the database that is about to take this one's
   * place. A key that had expired is as good as none.
   */
  touchAll(replacement?: Keyspace): void {
    for (const [key, watchers] of this.watchers) {
      const existed = this.entries.has(key);
      const entry = replacement?.entries.get(key);
      if (!existed && entry === undefined) continue;
      const next = entry === undefined ? 'nothing' : this.hasExpired(entry) ? 'expired' : 'live';
      for (const watcher of watchers) watcher.replaced(existed, next);
    }
  }

  /** Removes an expired key, or a hash's expired fields. Called by the wheel and by look-ups. */
  expire(deadline: Deadline): void {
    const { deadlines } = this.world;
    const key = deadlines.key(deadline);
    const entry = this.entries.get(key);
    if (deadlines.isOfFields(deadline)) {
      const hash = entry?.held;
      if (typeof hash === 'object' && hash.type === 'hash') endFields(this, key, hash);
      return;
    }
    if (entry?.deadline !== deadline) return;
    this.#drop(key, entry);
    if (this.watchers.size !== 0) this.touch(key);
    this.world.onExpired(this, key);
  }

  #missed(key: Bytes): void {
    this.world.misses++;
    if (this.world.listening) this.world.onMissed(this, key);
  }

  /** Extends the roll, or drops it when most of its places belong to removed keys. The next scan builds a new one. */
  #extendRoll(roll: KeyRoll, key: Bytes, serial: number): void {
    roll.add(key, serial);
    if (roll.length > ROLL_MAX && roll.length > 4 * this.entries.size) this.#roll = undefined;
  }

  // Remembers the last key that was looked up, because commands look a key up, change it and report it, and scripts
  // return to the same key.
  #look(key: Bytes): Entry | undefined {
    if (key === this.#lastKey) return this.#last;
    const entry = this.entries.get(key);
    this.#lastKey = key;
    this.#last = entry;
    return entry;
  }

  #gone(deadline: Deadline): boolean {
    const policy = this.world.expiryPolicy;
    if (policy === 'delete') this.expire(deadline);
    return policy !== 'keep';
  }

  #drop(key: Bytes, entry: Entry): void {
    this.world.footprint -= entry.footprint;
    this.persist(entry);
    forgetFields(this, entry.held);
    if (key === this.#lastKey) this.#last = undefined;
    this.entries.delete(key);
  }
}
