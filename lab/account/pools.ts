/**
 * Recognizes the locks that lostlock/locks and Redisson keep in sorted sets and counters: permits with leases, the lock
 * that is not re-entrant (a pool of one such permit), semaphores, and the queue lock of lostlock/locks.
 */
import type { ReadMessage } from '../timeline/connections.ts';
import type { RecordedRun, RecordedWrite } from '../timeline/record.ts';
import type { LockWrite } from './lock-write.ts';

/** What a sorted set keeps of a lock: its permits, the order of its clients, or until when each has its place. */
interface RankedKey {
  readonly lock: string;
  readonly use: 'permits' | 'queue' | 'places';
}

const LAYOUTS: readonly (readonly [use: RankedKey['use'], key: RegExp])[] = [
  ['permits', /^(.*\{.+\}.*):timeout$/],
  ['queue', /^lostlock_queue:(.+)$/],
  ['places', /^(.+):lostlock_queue_seen$/],
];
/** The channel of a pool of permits, in Redisson and in lostlock/locks. */
const CHANNEL = /^redisson_sc:(.+)$/;
/** Keys with which lostlock/locks and Redisson keep books beside the lock itself. */
const INTERNAL =
  /^(?:lostlock_(?:abandoned|requests|queue)|redisson_(?:lock__channel|lock_queue|lock_timeout|lock_token|unlock_latch|rwlock|sc)):/;
/** The key of a session; the locks that belong to it have its name in their value. */
export const SESSION = /^lostlock_session:[^ ]+/;
/** The key with which a reader of a read-write lock keeps its lease: `{name}:<owner>:rwlock_timeout:1`. */
export const READER = /^(.+):([^:]+:[^:]+):rwlock_timeout:\d+$/;
/** From this score on, a permit has no end. */
const ENDLESS = 922_337_203_685_477;

/** True for a key that only keeps books beside a lock. */
export function isBookkeeping(key: string): boolean {
  return INTERNAL.test(key);
}

/** `{name}` is the lock `name`: the braces keep its keys in one slot of a cluster. */
export function lockName(name: string): string {
  return /^\{[^{}]+\}$/.test(name) ? name.slice(1, -1) : name;
}

/** The pools and queues of a run. */
export class Pools {
  /** The largest number of free permits of each counter: how many there are. */
  readonly #sizes = new Map<string, number>();
  /** The counters whose permits have leases, in a sorted set beside the counter. */
  readonly #leased = new Set<string>();
  readonly #semaphores = new Set<string>();
  /** How many permits of a semaphore each client has. */
  readonly #taken = new Map<string, number>();

  constructor({ writes }: RecordedRun, messages: readonly ReadMessage[]) {
    for (const { asks = [] } of messages) {
      for (const word of asks.flatMap(({ words }) => words)) {
        const [, name] = CHANNEL.exec(word) ?? [];
        if (name !== undefined) this.#semaphores.add(lockName(name));
      }
    }
    for (const { write } of writes) {
      const { key, holder, command } = write;
      const set = this.sortedSet(key);
      if (set?.use === 'permits') this.#leased.add(set.lock);
      if (!this.#semaphores.has(key)) continue;
      const begun = /^set$/i.test(command[0] ?? '') ? Number(command[2]) : 0;
      this.#sizes.set(key, Math.max(this.#sizes.get(key) ?? 0, begun, Number(holder ?? 0)));
    }
  }

  /** What the key keeps of a lock; undefined for a key of another kind. */
  sortedSet(key: string): RankedKey | undefined {
    for (const [use, layout] of LAYOUTS) {
      const [, name] = layout.exec(key) ?? [];
      if (name === undefined) continue;
      const lock = lockName(name);
      // Others may call a sorted set like this, too.
      return use === 'permits' && !this.#semaphores.has(lock) ? undefined : { lock, use };
    }
    return undefined;
  }

  /** True for a key in a layout that is known by its name. */
  keeps(key: string): boolean {
    return READER.test(key) || SESSION.test(key) || this.isCounter(key) || this.sortedSet(key) !== undefined;
  }

  /** True for a key that counts free permits. */
  isCounter(key: string): boolean {
    return this.#semaphores.has(key);
  }

  /** How many permits the pool has; undefined when it is not known. */
  sizeOf(lock: string): number | undefined {
    return this.#sizes.get(lock) || undefined;
  }

  /** True when several clients may have a permit at the same time. */
  isShared(lock: string): boolean {
    return this.#semaphores.has(lock) && (this.#sizes.get(lock) ?? 2) > 1;
  }

  /** The writes about holds, when the key is one of a pool or a queue. @param asked the request's words */
  holdsIn(
    { write }: RecordedWrite,
    common: Omit<LockWrite, 'lock' | 'holder' | 'lease' | 'gone'>,
    asked: readonly (readonly string[])[],
  ): LockWrite[] | undefined {
    const { key, client = '', command, at } = write;
    if (this.isCounter(key)) return this.#leased.has(key) ? [] : this.#counted(key, client, command, common);
    const set = this.sortedSet(key);
    if (set === undefined) return undefined;
    if (set.use === 'queue') return [];
    const isShared = this.isShared(set.lock);
    const visits = asked.some((words) => words.includes(`lostlock_queue:${key.replace(/:[^:]*$/, '')}`));
    return membersOf(command).map(({ member, score }) => ({
      ...{ ...common, claim: `${key} ${member}`, lock: set.lock, holder: member, gone: score === undefined },
      ...{ shared: isShared, permit: isShared, visits, renews: set.use === 'places' && !visits },
      lease: score === undefined ? undefined : score >= ENDLESS ? Infinity : score - at,
    }));
  }

  /** A semaphore's permits have no names. A client holds it from its first permit to its last. */
  #counted(
    key: string,
    client: string,
    [name = '', , by = '1']: readonly string[],
    common: Omit<LockWrite, 'lock' | 'holder' | 'lease' | 'gone'>,
  ): LockWrite[] {
    const way = /^decr(by)?$/i.test(name) ? 1 : /^incr(by)?$/i.test(name) ? -1 : 0;
    const before = this.#taken.get(`${client} ${key}`) ?? 0;
    const count = Math.max(0, before + way * Number(by));
    this.#taken.set(`${client} ${key}`, count);
    if (way === 0 || before > 0 === count > 0) return [];
    const isShared = this.isShared(key);
    return [
      {
        ...{ ...common, lock: key, shared: isShared, permit: isShared, counted: true },
        ...{ holder: client, lease: count > 0 ? Infinity : undefined, gone: count === 0 },
      },
    ];
  }
}

/** The members that ZADD gives a score, or that ZREM removes. */
export function membersOf(command: readonly string[]): { member: string; score: number | undefined }[] {
  const [name = '', , ...rest] = command;
  if (/^zrem$/i.test(name)) return rest.map((member) => ({ member, score: undefined }));
  if (!/^zadd$/i.test(name)) return [];
  const first = rest.findIndex((word) => /^[-+\d]/.test(word));
  const pairs = first === -1 ? [] : rest.slice(first);
  return pairs.flatMap((score, i) =>
    i % 2 === 0 && pairs[i + 1] !== undefined
      ? [{ member: pairs[i + 1] as string, score: Number(score) }]
      : [],
  );
}
