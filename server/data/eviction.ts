/**
 * maxmemory: measures the memory that the data uses, and evicts keys beyond the limit, by one of the policies.
 */
import type { Entry } from '../../keyspace/entry.ts';
import type { Keyspace, KeyspaceWorld } from '../../keyspace/keyspace.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { Statistics } from '../figures/statistics.ts';
import { GATE_LIMITED_MEMORY, GATE_PAUSED } from '../gates.ts';
import type { Timer } from '../host/host.ts';
import type { Gated, HasData, HasHost, HasNow, HasSettings, Stream, Units } from '../ports.ts';

/** The memory that redis-server 7.0 uses without keys, in bytes. */
export const STARTUP_BYTES = 876_064;

/** The best candidates of earlier samples are kept, so that the choice is better than one sample allows. */
const POOL = 16;
/** How many random picks are tried before the next key in order is taken. */
const TRIES = 64;
const MINUTE = 60_000;
const FREQUENCY_MAX = 255;
/** The largest value of Redis' clock for times of use, in seconds. */
const USE_CLOCK_MAX = 0xffffff;

interface Victim {
  readonly db: Keyspace;
  readonly key: Bytes;
  /** That of the key's entry: a key that was removed and made again has another. */
  readonly serial: number;
  /** The key with the highest score is evicted first. */
  readonly score: number;
}

/** The node, as eviction sees it. */
interface EvictingNode extends Gated, HasData, HasHost, HasNow, HasSettings, Stream, Units {
  readonly role: 'primary' | 'replica';
  /** The nesting depth of execution units; 0 between requests. */
  readonly depth: number;
  readonly stats: Statistics;
  readonly observer: { timed<T>(event: 'eviction-cycle', work: () => T): T };
  readonly replication: { readonly backlog: { readonly length: number } | undefined };
}

/** The memory limit of a node (https://redis.io/docs/latest/develop/reference/eviction/). */
export class Eviction {
  readonly #server: EvictingNode;
  /** Sorted by ascending score. */
  #pool: Victim[] = [];
  #nextDb = 0;
  /** How uses are counted otherwise, while a command runs whose lookups do not count. */
  #counted: Pick<KeyspaceWorld, 'noteUse'> | undefined;
  #timer: Timer | undefined;
  /** The most bytes ever measured. */
  #peak = 0;
  /** When memory was last measured at its peak, in milliseconds since the epoch. */
  peakAt: Millis = 0;
  /** When memory exceeded the limit despite evictions, in milliseconds since the epoch. */
  #exceededSince: number | undefined;
  /** True if the last check could not free enough memory. */
  outOfMemory = false;

  constructor(server: EvictingNode) {
    this.#server = server;
  }

  /** Measures the bytes that redis-server 7.0 would use for the same data, and updates the peak. */
  measure(): number {
    const { world, replication } = this.#server;
    const bytes = STARTUP_BYTES + world.footprint + (replication.backlog?.length ?? 0);
    if (bytes > this.#peak) {
      this.#peak = bytes;
      this.peakAt = this.#server.now;
    }
    return bytes;
  }

  /** The most bytes ever measured. */
  get peak(): number {
    return this.#peak;
  }

  /** How long memory has exceeded the limit, currently and in total, in milliseconds. */
  get exceeded(): { current: number; total: number } {
    const current = this.#exceededSince === undefined ? 0 : this.#server.now - this.#exceededSince;
    return { current, total: this.#server.stats.evictionExceeded + current };
  }

  /** Resets the time beyond the limit (CONFIG RESETSTAT). */
  forgetExceeded(): void {
    this.#exceededSince = undefined;
  }

  configure(): void {
    const { settings, world } = this.#server;
    const policy = settings['maxmemory-policy'];
    this.#server.gate(GATE_LIMITED_MEMORY, settings.maxmemory > 0);
    this.#pool = [];
    const isLrm = policy.endsWith('lrm');
    const unnoted = isLrm ? () => {} : undefined;
    world.noteUse = policy.endsWith('lfu') ? (entry) => this.#noteFrequency(entry) : unnoted;
    world.noteChange = isLrm ? (entry) => (entry.usedAt = this.#server.now) : undefined;
    // Keys beyond a new limit are evicted now, not only with the next command.
    if (settings.maxmemory > 0 && this.#timer === undefined) {
      this.#timer = this.#server.host.clock.soon(() => {
        this.#timer = undefined;
        this.freeMemory();
        this.#server.settle();
      });
    }
  }

  /** Evicts keys until memory is below maxmemory. Sets `outOfMemory` if that is impossible. */
  makeRoom(): void {
    this.outOfMemory = !this.freeMemory();
  }

  /** Evicts keys until memory is below maxmemory. Returns false if that is impossible. */
  freeMemory(): boolean {
    const { settings, state, role, depth } = this.#server;
    const limit = settings.maxmemory;
    if (limit === 0 || this.measure() <= limit) return this.#settled();
    const spared = role === 'replica' && settings['replica-ignore-maxmemory'];
    if (spared || (state & GATE_PAUSED) !== 0) return true;
    const keepsAll = settings['maxmemory-policy'] === 'noeviction';
    const imports = settings['import-mode'] && role === 'primary';
    if (keepsAll || imports || depth > 0) return this.#exceeding();
    const freed = this.#server.observer.timed('eviction-cycle', () => this.#evictDownTo(limit));
    return freed ? this.#settled() : this.#exceeding();
  }

  /** Evicts keys until memory is within the limit. Returns false if there are none left to evict. */
  #evictDownTo(limit: number): boolean {
    while (this.measure() > limit) {
      const victim = this.#choose();
      if (victim === undefined) return false;
      this.#evict(victim);
    }
    return true;
  }

  /** Returns an entry's access frequency on a logarithmic scale, which decays with time. */
  frequency(entry: Entry): number {
    const decay = this.#server.settings['lfu-decay-time'];
    if (decay === 0) return entry.frequency;
    const periods = Math.floor((this.#server.now - entry.usedAt) / MINUTE / decay);
    return Math.max(0, entry.frequency - periods);
  }

  /**
   * Sets how a restored key was used. Only what the policy goes by is kept: the frequency under an LFU policy,
   * otherwise the time of the last use.
   * @param idle the seconds since the last use
   */
  restoreUse(
    entry: Entry,
    { idle, frequency }: { idle?: number | undefined; frequency?: number | undefined },
  ): void {
    const { settings, now } = this.#server;
    if (settings['maxmemory-policy'].endsWith('lfu')) {
      if (frequency !== undefined) entry.frequency = frequency;
      return;
    }
    if (idle === undefined) return;
    entry.usedAt = now - idleOnClock(Math.floor(now / 1000), idle) * 1000;
  }

  /** Runs a command whose lookups do not count as uses of keys. */
  untouched<T>(work: () => T): T {
    this.#counted = { noteUse: this.#server.world.noteUse };
    try {
      return this.#noting(() => {}, work);
    } finally {
      this.#counted = undefined;
    }
  }

  /** Runs TOUCH, whose lookups always count as uses of keys. */
  touching<T>(work: () => T): T {
    return this.#counted === undefined ? work() : this.#noting(this.#counted.noteUse, work);
  }

  #noting<T>(noteUse: KeyspaceWorld['noteUse'], work: () => T): T {
    const { world } = this.#server;
    const before = world.noteUse;
    world.noteUse = noteUse;
    try {
      return work();
    } finally {
      world.noteUse = before;
    }
  }

  /** Cancels the timer. */
  stop(): void {
    this.#timer?.cancel();
  }

  #exceeding(): boolean {
    this.#exceededSince ??= this.#server.now;
    return false;
  }

  #settled(): boolean {
    if (this.#exceededSince !== undefined) {
      this.#server.stats.evictionExceeded += this.#server.now - this.#exceededSince;
      this.#exceededSince = undefined;
    }
    return true;
  }

  // The higher the frequency, the less likely it is that another access increases it.
  #noteFrequency(entry: Entry): void {
    const { settings, host, now } = this.#server;
    const frequency = this.frequency(entry);
    entry.usedAt = now;
    const above = Math.max(0, frequency - 5);
    const counts = host.random() < 1 / (above * settings['lfu-log-factor'] + 1);
    entry.frequency = counts ? Math.min(FREQUENCY_MAX, frequency + 1) : frequency;
  }

  #evict({ db, key }: Pick<Victim, 'db' | 'key'>): void {
    const server = this.#server;
    server.unit(() => {
      // It may have expired when the unit read the clock.
      if (!db.entries.has(key)) return;
      const verb = server.settings['lazyfree-lazy-eviction'] ? 'UNLINK' : 'DEL';
      server.effects.propagateOwn(db, [verb, key]);
      server.stats.evicted++;
      db.evict(key);
    });
  }

  #choose(): Pick<Victim, 'db' | 'key'> | undefined {
    const { settings, databases } = this.#server;
    const policy = settings['maxmemory-policy'];
    const among = policy.startsWith('volatile') ? 'volatile' : 'all';
    if (policy.endsWith('random')) {
      for (let i = 0; i < databases.length; i++) {
        const db = databases[this.#nextDb++ % databases.length]!;
        const [found] = this.#sample(db, among, 1);
        if (found !== undefined) return { db, key: found.key };
      }
      return undefined;
    }
    for (;;) {
      let keys = 0;
      for (const db of databases) keys += this.#fillPool(db, among, settings['maxmemory-samples']);
      for (let best = this.#pool.pop(); best !== undefined; best = this.#pool.pop()) {
        if (best.db.entries.get(best.key)?.serial === best.serial) return best;
      }
      if (keys === 0) return undefined;
    }
  }

  /** Adds a sample of the database's keys to the pool. Returns the number of keys that may be sampled. */
  #fillPool(db: Keyspace, among: 'all' | 'volatile', count: number): number {
    const size = among === 'all' ? db.size : db.volatile;
    if (size === 0) return 0;
    const pool = this.#pool;
    for (const { key, entry } of this.#sample(db, among, count)) {
      const { serial } = entry;
      if (pool.some((each) => each.db === db && each.serial === serial)) continue;
      const score = this.#score(db, entry);
      let place = pool.length;
      while (place > 0 && pool[place - 1]!.score >= score) place--;
      pool.splice(place, 0, { db, key, serial, score });
      if (pool.length > POOL) pool.shift();
    }
    return size;
  }

  #score(db: Keyspace, entry: Entry): number {
    const policy = this.#server.settings['maxmemory-policy'];
    if (policy === 'volatile-ttl') return -(db.expiresAt(entry) ?? Infinity);
    return policy.endsWith('lfu') ? -this.frequency(entry) : this.#server.now - entry.usedAt;
  }

  /** Returns up to `count` random keys of the database. */
  #sample(db: Keyspace, among: 'all' | 'volatile', count: number): { key: Bytes; entry: Entry }[] {
    const size = among === 'all' ? db.size : db.volatile;
    const chosen = new Map<Bytes, Entry>();
    if (size <= count) {
      const keys = among === 'all' ? db.entries.keys() : db.listVolatile().values();
      for (const key of keys) chosen.set(key, db.entries.get(key)!);
    } else {
      for (let i = 0; i < count; i++) {
        const key = among === 'all' ? this.#anyKey(db) : db.listVolatile().at(this.#random(size));
        const entry = key === undefined ? undefined : db.entries.get(key);
        if (entry !== undefined) chosen.set(key!, entry);
      }
    }
    return [...chosen].map(([key, entry]) => ({ key, entry }));
  }

  #anyKey(db: Keyspace): Bytes | undefined {
    const roll = db.openRoll();
    let place = 0;
    for (let i = 0; i < TRIES; i++) {
      place = this.#random(roll.length);
      const key = roll.at(place);
      if (key !== undefined) return key;
    }
    for (let i = 1; i <= roll.length; i++) {
      const key = roll.at((place + i) % roll.length);
      if (key !== undefined) return key;
    }
    return undefined;
  }

  #random(below: number): number {
    return Math.floor(this.#server.host.random() * below);
  }
}

/**
 * Returns the idle time that Redis reads back after storing one, both in seconds. It keeps the time of use in 24 bits,
 * and its corrections for the clock's wrap-around are off by one.
 */
function idleOnClock(second: number, idle: number): number {
  const clock = second & USE_CLOCK_MAX;
  const usedAt = (clock - (idle % (USE_CLOCK_MAX + 1)) + (idle > clock ? USE_CLOCK_MAX : 0)) & USE_CLOCK_MAX;
  return usedAt <= clock ? clock - usedAt : clock + USE_CLOCK_MAX - usedAt;
}

/** Formats a number of bytes as INFO's human-readable fields do. */
export function humanBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  let value = bytes;
  let unit = -1;
  while (value >= 1024 && unit < 3) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(2)}${'KMGT'[unit]}`;
}
