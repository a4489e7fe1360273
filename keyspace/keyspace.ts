/** One numbered database: its keys, their deadlines, and the single consequence of every write. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { fail, WRONGTYPE } from '../protocol/errors.ts';
import { EDIT_MIN, type EditedString, type HeldString } from './collections/edited-string.ts';
import { IndexedKeys } from './collections/random-map.ts';
import { Entry } from './entry.ts';
import { Deadline, type DeadlineOwner } from './expiry/deadline.ts';
import type { ExpiryWheel } from './expiry/wheel.ts';
import { adoptFields, endFields, forgetFields, timeFields } from './field-expiry.ts';
import { DEADLINE_BYTES, footprint } from './footprint.ts';
import { KeyRoll } from './key-roll.ts';
import { type Held, isEmptied, type TypeName, type Types, typeOf, type Value } from './value.ts';

/** Someone who watches a key: WATCH marks its transaction, client-side caching its clients. */
export interface Watcher {
  /** The key has changed. */
  touch(): void;
}

/** What all databases of one node share: the frozen instant, the count of changes, and who wants to hear of them. */
export interface KeyspaceWorld {
  /** The instant of the present execution unit. */
  now: Millis;
  /** Changes made since the node started. */
  dirty: number;
  /** 'delete': a key past its deadline goes at first touch (primary); 'hide': it stays until told (replica); 'keep': paused. */
  expiryPolicy: 'delete' | 'hide' | 'keep';
  /** Bytes that the keys and values of all databases take. */
  footprint: number;
  /** Look-ups by reading commands that found a key, and that did not. */
  hits: number;
  misses: number;
  /** Notes a key's use in another way than by the time of it: an LFU policy is in force, or it is not to be noted. */
  noteUse: ((entry: Entry) => void) | undefined;
  /** True when someone wants `changed` or `missed` to be reported. */
  listening: boolean;
  readonly wheel: ExpiryWheel<Deadline>;
  /** Called for every event when `listening`: notifications, blocked clients, client-side caching. */
  onChanged(db: Keyspace, key: Bytes, event: string): void;
  /** Called after a key was removed because its deadline passed. */
  onExpired(db: Keyspace, key: Bytes): void;
  /** Called after fields of a hash were removed because their end passed. */
  onFieldsExpired(db: Keyspace, key: Bytes, fields: readonly Bytes[]): void;
  /** Called for a look-up that found nothing, when `listening`. */
  onMissed(db: Keyspace, key: Bytes): void;
}

/** Up to so many places the roll is kept whatever it costs. */
const ROLL_MAX = 1024;

export class Keyspace implements DeadlineOwner {
  /** Its number; SWAPDB exchanges two. */
  index: number;
  readonly world: KeyspaceWorld;
  entries: Map<Bytes, Entry>;
  /** Keys with a deadline. */
  volatile = 0;
  readonly watchers = new Map<Bytes, Set<Watcher>>();
  #serial = 0;
  /** Kept from the first SCAN or RANDOMKEY on. */
  #roll: KeyRoll | undefined;
  /** The keys with a deadline, kept while a policy evicts among them. */
  #volatileKeys: IndexedKeys | undefined;
  // The entry most recently looked up, whether or not its deadline has passed.
  #lastKey: Bytes | undefined;
  #last: Entry | undefined;

  constructor(index: number, world: KeyspaceWorld, entries: Map<Bytes, Entry> = new Map()) {
    this.index = index;
    this.world = world;
    this.entries = entries;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Makes the roll of the keys by serial number, for SCAN and RANDOMKEY, and keeps it from then on. */
  openRoll(): KeyRoll {
    this.#roll ??= this.#makeRoll();
    this.#roll.shorten();
    return this.#roll;
  }

  /** The live entry of a key, without counting as a use. */
  peek(key: Bytes): Entry | undefined {
    const entry = this.#look(key);
    if (entry === undefined) return undefined;
    const deadline = entry.deadline;
    if (deadline !== undefined && deadline.expiresAt < this.world.now && this.#gone(deadline))
      return undefined;
    return entry;
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

  /** The live entry of a key for a reading command, which tells of a miss. */
  lookup(key: Bytes): Entry | undefined {
    const entry = this.find(key);
    if (entry !== undefined) this.world.hits++;
    else this.#missed(key);
    return entry;
  }

  /** The live entry of a key for a command that looks at it without using it; tells of a miss. */
  inspect(key: Bytes): Entry | undefined {
    const entry = this.peek(key);
    if (entry !== undefined) this.world.hits++;
    else this.#missed(key);
    return entry;
  }

  /** The value of a key for a reading command; throws WRONGTYPE when it is of another type. */
  read<T extends TypeName>(key: Bytes, type: T): Types[T] | undefined {
    const entry = this.lookup(key);
    return entry === undefined ? undefined : typed(entry, type);
  }

  /** The value of a key for a writing command; throws WRONGTYPE when it is of another type. */
  get<T extends TypeName>(key: Bytes, type: T): Types[T] | undefined {
    const entry = this.find(key);
    return entry === undefined ? undefined : typed(entry, type);
  }

  /** The string of a key for a reading command that wants no more than a part of it. */
  readPart(key: Bytes): HeldString | undefined {
    const entry = this.lookup(key);
    return entry === undefined ? undefined : stringHeld(entry.held);
  }

  /** The string of a key for a writing command that changes a part of it. */
  getPart(key: Bytes): HeldString | undefined {
    const entry = this.find(key);
    return entry === undefined ? undefined : stringHeld(entry.held);
  }

  /**
   * The string of a key to be changed in place, created when absent, where it is long or to become so; undefined for
   * a short one, which is better replaced. Its type has been asked for before. Report with `changed`.
   */
  edit(key: Bytes, length: number): EditedString | undefined {
    if (length < EDIT_MIN) return undefined;
    return (this.peek(key) ?? this.put(key, '')).edit(length);
  }

  /** Stores a value, over whatever was there. The TTL goes unless it is to be kept. Report with `changed`. */
  put(key: Bytes, value: Value, keepTtl = false): Entry {
    const entry = this.peek(key);
    if (entry !== undefined) {
      forgetFields(this, entry.held);
      entry.replace(value);
      timeFields(this, key, value);
      if (!keepTtl && entry.deadline !== undefined) this.persist(entry);
      return entry;
    }
    // A key that is hidden, past its deadline, makes way.
    const hidden = this.#look(key);
    if (hidden !== undefined) this.#drop(key, hidden);
    const fresh = new Entry(value, ++this.#serial, this.world.now);
    this.entries.set(key, fresh);
    timeFields(this, key, value);
    if (this.#roll !== undefined) this.#extendRoll(this.#roll, key, fresh.serial);
    this.#lastKey = key;
    this.#last = fresh;
    if (this.world.listening) this.world.onChanged(this, key, 'new');
    return fresh;
  }

  /** Removes a live key; false when there was none. Report with `changed`. */
  remove(key: Bytes): boolean {
    const entry = this.find(key);
    if (entry === undefined) return false;
    this.#drop(key, entry);
    return true;
  }

  /** Removes every key. Report with `touchAll` beforehand where watchers must know. */
  clear(): void {
    for (const entry of this.entries.values()) {
      if (entry.deadline !== undefined) this.world.wheel.disarm(entry.deadline);
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

  /** Exchanges contents with another database; watchers and waiters stay. */
  swapWith(other: Keyspace): void {
    [this.entries, other.entries] = [other.entries, this.entries];
    [this.volatile, other.volatile] = [other.volatile, this.volatile];
    [this.#serial, other.#serial] = [other.#serial, this.#serial];
    for (const db of [this, other]) {
      db.#lastKey = undefined;
      db.#roll = undefined;
      db.#volatileKeys = undefined;
      for (const { deadline, held } of db.entries.values()) {
        if (deadline !== undefined) deadline.db = db;
        adoptFields(db, held);
      }
    }
  }

  /** Sets when a key ends, in milliseconds since the epoch. Report with `changed`. */
  expireAt(key: Bytes, entry: Entry, at: Millis): void {
    const deadline = entry.deadline;
    if (deadline === undefined) {
      entry.deadline = new Deadline(this, key, at);
      this.volatile++;
      this.world.footprint += DEADLINE_BYTES;
      this.#volatileKeys?.add(key);
      this.world.wheel.arm(entry.deadline, at);
    } else {
      this.world.wheel.arm(deadline, at);
    }
  }

  /** Takes a key's deadline away; false when it had none. */
  persist(entry: Entry): boolean {
    const deadline = entry.deadline;
    if (deadline === undefined) return false;
    this.world.wheel.disarm(deadline);
    entry.deadline = undefined;
    this.volatile--;
    this.world.footprint -= DEADLINE_BYTES;
    this.#volatileKeys?.delete(deadline.key);
    return true;
  }

  /**
   * The one consequence of every write, called after it: counts it, spoils transactions that watch the key, reports
   * the event (notifications, blocked clients), and removes an aggregate that became empty.
   */
  changed(key: Bytes, event: string, changes = 1): void {
    const world = this.world;
    world.dirty += changes;
    if (this.watchers.size !== 0) this.touch(key);
    if (world.listening) world.onChanged(this, key, event);
    const entry = this.#look(key);
    if (entry === undefined) return;
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

  /** Reports fields that were removed because their end had passed. */
  fieldsEnded(key: Bytes, fields: readonly Bytes[]): void {
    this.world.onFieldsExpired(this, key, fields);
    this.changed(key, 'hexpired', 0);
  }

  /** A value was put into another form, or what it remembers of itself changed: replicas follow, no event tells of it. */
  reformed(key: Bytes): void {
    this.world.dirty++;
    if (this.watchers.size !== 0) this.touch(key);
    const entry = this.#look(key);
    if (entry !== undefined) this.weigh(key, entry);
  }

  /** Counts what a key takes that was put without being reported (a dataset that is being loaded). */
  weigh(key: Bytes, entry: Entry): void {
    const bytes = footprint(key, entry.held);
    this.world.footprint += bytes - entry.footprint;
    entry.footprint = bytes;
  }

  /** Makes the list of the keys with a deadline, for policies that evict among them, and keeps it from then on. */
  listVolatile(): IndexedKeys {
    if (this.#volatileKeys === undefined) {
      this.#volatileKeys = new IndexedKeys();
      for (const [key, { deadline }] of this.entries) if (deadline !== undefined) this.#volatileKeys.add(key);
    }
    return this.#volatileKeys;
  }

  /** Removes a key to make room, and spoils the transactions that watch it. */
  evict(key: Bytes, entry: Entry): void {
    this.#drop(key, entry);
    if (this.watchers.size !== 0) this.touch(key);
    if (this.world.listening) this.world.onChanged(this, key, 'evicted');
  }

  /** Spoils the transactions that watch the key. */
  touch(key: Bytes): void {
    const watchers = this.watchers.get(key);
    if (watchers !== undefined) for (const watcher of watchers) watcher.touch();
  }

  /** Spoils the transactions that watch a key that exists here, or in the database about to take this one's place. */
  touchAll(replacement?: Keyspace): void {
    for (const [key, watchers] of this.watchers) {
      if (!this.entries.has(key) && !replacement?.entries.has(key)) continue;
      for (const watcher of watchers) watcher.touch();
    }
  }

  /** Removes a key whose deadline has passed, or a hash's fields; the wheel and the look-ups call it. */
  expire(deadline: Deadline): void {
    const entry = this.entries.get(deadline.key);
    if (deadline.ofFields) {
      const hash = entry?.held;
      if (typeof hash === 'object' && hash.type === 'hash') endFields(this, deadline.key, hash);
      return;
    }
    if (entry?.deadline !== deadline) return;
    this.#drop(deadline.key, entry);
    if (this.watchers.size !== 0) this.touch(deadline.key);
    this.world.onExpired(this, deadline.key);
  }

  #missed(key: Bytes): void {
    this.world.misses++;
    if (this.world.listening) this.world.onMissed(this, key);
  }

  #makeRoll(): KeyRoll {
    const { entries } = this;
    const roll = new KeyRoll(
      (key) => entries.get(key)?.serial,
      () => entries.size,
    );
    for (const [key, { serial }] of entries) roll.add(key, serial);
    return roll;
  }

  /** Whoever never scans again must not pay for the roll for ever. */
  #extendRoll(roll: KeyRoll, key: Bytes, serial: number): void {
    roll.add(key, serial);
    if (roll.length > ROLL_MAX && roll.length > 4 * this.entries.size) this.#roll = undefined;
  }

  // Commands look a key up, change it and report it, and scripts come back to the same key: the last one is remembered.
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
    this.entries.delete(key);
    if (key === this.#lastKey) this.#last = undefined;
    if (entry.deadline !== undefined) this.persist(entry);
    forgetFields(this, entry.held);
  }
}

function stringHeld(held: Held): HeldString {
  if (typeOf(held) !== 'string') fail(WRONGTYPE);
  return held as HeldString;
}

function typed<T extends TypeName>(entry: Entry, type: T): Types[T] {
  if (typeOf(entry.held) !== type) fail(WRONGTYPE);
  return entry.read() as Types[T];
}
