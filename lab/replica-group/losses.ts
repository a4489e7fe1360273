/** What a promotion loses: writes of the old primary that the new one lacks, and whether they had been acknowledged. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Server } from '../../server/server.ts';
import { Comparison } from './comparison.ts';
import type { Sweep, Write, WriteLog } from './write-log.ts';

/** The writes that a promotion or demotion has lost. */
export interface Losses {
  /**
   * Acknowledged writes: the reply had reached the client. FLUSHALL, FLUSHDB and SWAPDB are listed once for each key
   * that differs because of them, changes of functions once for each library.
   */
  readonly lost: readonly Write[];
  /** Writes that were executed, but whose reply had not reached the client. */
  readonly unanswered: readonly Write[];
  /** Writes that an earlier promotion had lost and the new primary still has, because it had not discarded them yet. */
  readonly returned: readonly Write[];
  /**
   * False when perhaps not every lost write on a key is listed, but only the last one and the last answered one. That is so
   * beyond 100,000 writes, when the log is shortened, and when it is not known where the histories of the two nodes parted.
   * Every key that differs is still listed.
   */
  readonly complete: boolean;
  /**
   * Keys that differ on the new primary and for which the log has no write: the log forgets the oldest beyond a million
   * keys, and does not contain what a node loaded from its disk or through a full resync.
   */
  readonly unlogged: readonly { readonly db: number; readonly key: Bytes }[];
}

/** What a process of a node has, or had when it died. */
export interface Logged {
  readonly server: Server;
  readonly log: WriteLog;
}

/** What earlier comparisons have found out. */
interface Known {
  /** The offset at which the old primary's history parted from those of the other nodes; undefined when not known. */
  readonly parted?: number | undefined;
  /** The writes that are lost so far. */
  readonly lost?: readonly Write[];
}

/** The copies of logged writes that reports contain. */
const COPIES = new WeakMap<Write, Write>();

/**
 * A copy of the write without its reply, through which a report would keep the whole world in memory. There is one copy
 * of each write, so that two reports can be compared.
 */
function copyOf(write: Write): Write {
  const copy = COPIES.get(write) ?? { ...write };
  COPIES.set(write, copy);
  return copy;
}

/**
 * Compares the two nodes' data. A write is gone when its offset is beyond what the new primary has of the same history,
 * and the key's value differs from the old primary's (a lost SET and a lost DEL may cancel out). Where it is not known
 * how far the histories agree, the last write to each key counts, and the last one that was answered.
 */
export function lossesBetween(old: Logged, fresh: Logged, { parted, lost = [] }: Known = {}): Losses {
  const shared = sharedOffset(old.server, fresh.server);
  const comparison = new Comparison(old.server, fresh.server);
  const since = shared ?? parted;
  const behind = goneFrom(old, fresh.server, since ?? -1, comparison);
  const gone = since === undefined ? lastPerKey(behind, old.log) : behind;
  const back = goneFrom(fresh, old.server, shared ?? -1, comparison).map(copyOf);
  const before = new Set(lost);
  return {
    lost: gone.filter((write) => old.log.isAnswered(write)).map(copyOf),
    unanswered: gone.filter((write) => !old.log.isAnswered(write)).map(copyOf),
    returned: shared === undefined ? back.filter((write) => before.has(write)) : back,
    complete: gone.length === behind.length && old.log.thinnedUpTo <= (since ?? 0),
    unlogged: since === undefined || old.log.forgottenUpTo > since ? unlogged(old, gone, comparison) : [],
  };
}

/** The node's writes after the offset to keys that differ, in order. @param base has the data as of that offset */
function goneFrom({ server, log }: Logged, base: Server, since: number, comparison: Comparison): Write[] {
  const writes = log.writes.filter(({ offset }) => offset > since);
  const sweeps = log.sweeps.filter(({ offset }) => offset > since);
  if (sweeps.length === 0) return writes.filter(({ db, key }) => comparison.differs(db, key));
  const gone: Write[] = [];
  const present = new Presence(base);
  let next = 0;
  const takeWrites = (upTo: number): void => {
    for (let write = writes[next]; write !== undefined && write.offset <= upTo; write = writes[++next]) {
      present.add(write);
      if (comparison.differs(write.db, write.key)) gone.push(write);
    }
  };
  for (const sweep of sweeps) {
    takeWrites(sweep.offset);
    gone.push(...partsOf(sweep, { server, log }, present, comparison));
  }
  takeWrites(Infinity);
  return gone;
}

/** The part of a sweep that concerns each key and library that differs. */
function partsOf(sweep: Sweep, { server, log }: Logged, present: Presence, comparison: Comparison): Write[] {
  const parts: Write[] = [];
  if (sweep.fate === 'swapped') present.mix(sweep.databases);
  for (const db of new Set(sweep.databases)) {
    for (const key of comparison.differing(db)) {
      if (sweep.fate === 'unknown' || present.has(db, key))
        parts.push(log.partOf(sweep, server, 'key', db, key));
    }
  }
  if (!sweep.libraries) return parts;
  for (const name of comparison.differingLibraries()) {
    parts.push(log.partOf(sweep, server, 'library', sweep.db, name));
  }
  return parts;
}

/** The names of the keys that each database has had since an offset: the keys that a sweep can have touched. */
class Presence {
  readonly #base: Server;
  readonly #names = new Map<number, Set<Bytes>>();

  constructor(base: Server) {
    this.#base = base;
  }

  add({ db, key }: Write): void {
    this.#of(db).add(key);
  }

  has(db: number, key: Bytes): boolean {
    return this.#of(db).has(key);
  }

  /** The databases were swapped: a key of one may now be in the other. */
  mix(databases: readonly number[]): void {
    const all = databases.flatMap((db) => [...this.#of(db)]);
    for (const db of databases) this.#names.set(db, new Set(all));
  }

  #of(db: number): Set<Bytes> {
    let names = this.#names.get(db);
    if (names === undefined) this.#names.set(db, (names = new Set(this.#base.db(db).entries.keys())));
    return names;
  }
}

/** The old primary's keys that differ although no logged write names them. */
function unlogged({ server }: Logged, gone: readonly Write[], comparison: Comparison): Losses['unlogged'] {
  const named = new Set(gone.filter(({ kind }) => kind === 'key').map(({ db, key }) => `${db} ${key}`));
  return server.databases.flatMap(({ index: db, entries }) =>
    comparison
      .differing(db)
      .filter((key) => entries.has(key) && !named.has(`${db} ${key}`))
      .map((key) => ({ db, key })),
  );
}

/** The offset up to which both nodes have the same stream; undefined when they share none. */
export function sharedOffset(old: Server, fresh: Server): number | undefined {
  const [a, b] = [old.replication, fresh.replication];
  if (a.id === b.id) return Math.min(a.offset, b.offset);
  if (b.secondId === a.id) return Math.min(a.offset, b.secondOffset - 1);
  if (a.secondId === b.id) return Math.min(a.secondOffset - 1, b.offset);
  return undefined;
}

/** The last write and the last answered write of each key, in order. */
function lastPerKey(writes: readonly Write[], log: WriteLog): Write[] {
  const last = new Map<string, Write>();
  const lastAnswered = new Map<string, Write>();
  for (const write of writes) {
    const name = `${write.kind} ${write.db} ${write.key}`;
    last.set(name, write);
    if (log.isAnswered(write)) lastAnswered.set(name, write);
  }
  const kept = new Set([...last.values(), ...lastAnswered.values()]);
  return writes.filter((write) => kept.has(write));
}
