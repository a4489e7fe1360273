/** What all locks of one `createLocks` share. */

import {
  type AllowedOptions,
  acquireRules,
  checkOptions,
  count,
  either,
  flag,
  half,
  millis,
  oneOf,
  share,
  text,
} from '../options.ts';
import { RequestLog } from '../server/request-log.ts';
import type { LockServer, ReplicaRequirement } from '../server/server.ts';
import { Deadlines } from '../timing/deadlines.ts';
import { LockEvents } from './events.ts';
import type { Hold } from './hold.ts';
import { Owners } from './owner.ts';
import { Watchdog } from './watchdog.ts';

/** Settings of a set of locks; times in milliseconds. */
export interface LocksOptions {
  /** The lease of an acquisition that names none, 30 or more; the watchdog renews it every third. Default 30,000. */
  leaseMs?: number;
  /** How long a reply may take before its outcome counts as unknown. Default 3,000. */
  requestTimeoutMs?: number;
  /** The longest sleep between two looks of a waiter, should every message be lost; 10 or more. Default 5,000. */
  maxSleepMs?: number;
  /** How much of a lease is not trusted, for clocks that do not run alike: 0 to 0.5. Default 0.01. */
  driftFactor?: number;
  /** After an unclean end (crash, loss) a lock stays closed this much longer. A clean release opens it at once. Default 0. */
  lockDelayMs?: number;
  /** The watchdog lets a hold end that was kept longer: a holder that hangs does not keep others out for ever. */
  maxHoldMs?: number;
  /**
   * A grant must reach that many replicas (WAIT, on the same connection), or it is rolled back. A renewal prolongs a hold
   * only when it has reached them too.
   */
  replicas?: number | 'all';
  /** How long to wait for the replicas, 1 or more. Default 1,000. */
  replicaTimeoutMs?: number;
  /** With `replicas`: they must have it on disk, and the primary too (WAITAOF, Redis 7.2). */
  fsync?: boolean;
  /** Fair locks: when a waiter of Redisson is presumed dead, as in its own `fairLockWaitTimeout`. Default 300,000. */
  fairWaitMs?: number;
  /** Fair and queue locks: when a waiter of ours that does not show up any more loses its place; 30 or more. Default 6,000. */
  placeMs?: number;
  /**
   * Redlock: how long one server may take to answer, as a share of the lease, so that a dead one costs little of it.
   * Default 0.01, but at least 50 ms. Never more than `requestTimeoutMs`, or than a share that leaves half of the lease.
   */
  redlockServerShare?: number;
  /** The name of this client among the owners. Default: a random UUID. */
  clientId?: string;
}

/** Nobody looks for a lock, shows up in a line or renews more often than every so many milliseconds. */
const LEAST_PAUSE_MS = 10;
/** A lease that is renewed every third of it. */
export const RENEWED_LEASE = millis(3 * LEAST_PAUSE_MS);

const SETTINGS: AllowedOptions = {
  leaseMs: RENEWED_LEASE,
  requestTimeoutMs: millis(1),
  maxSleepMs: millis(LEAST_PAUSE_MS),
  // Less than two thirds: a lease is renewed after one.
  driftFactor: half,
  lockDelayMs: millis(0),
  maxHoldMs: millis(1, true),
  replicas: either(count(1), oneOf('all')),
  replicaTimeoutMs: millis(1), // 0 would be for ever.
  fsync: flag,
  fairWaitMs: millis(1),
  placeMs: millis(3 * LEAST_PAUSE_MS), // A waiter shows up every third of it.
  redlockServerShare: share,
  clientId: text,
};

/** One owner's counted holds of one lock; see kinds/counted.ts. */
export interface CountedHolds {
  hold: Hold | undefined;
  count: number;
  /** How many of the holds want to be renewed. */
  renewed: number;
  /** Where each hold has a lease of its own: by their numbers, with gaps for those that have ended; see kinds/read-lock.ts. */
  holds?: (Hold | undefined)[];
  busy: boolean;
  /** Requests that wait for their turn. */
  readonly queue: (() => void)[];
}

/** How much of the lease one of several servers may take to answer, and how long it may in any case, in milliseconds. */
const SERVER_SHARE = 0.01;
const SERVER_LEAST_MS = 50;

export class Core {
  readonly servers: readonly LockServer[];
  /** The server of every lock but Redlock. */
  readonly server: LockServer;
  /** That one only. */
  readonly first: readonly LockServer[];
  readonly owners: Owners;
  readonly requests: RequestLog;
  readonly events = new LockEvents();
  readonly leases = new Deadlines(false);
  readonly watchdog: Watchdog;
  readonly leaseMs: number;
  readonly maxSleepMs: number;
  readonly driftFactor: number;
  /** What acquisitions may ask for. */
  readonly acquireRules: AllowedOptions;
  readonly lockDelayMs: number;
  readonly fairWaitMs: number;
  readonly placeMs: number;
  readonly #serverShare: number | undefined;
  readonly replication: ReplicaRequirement | undefined;
  readonly counted = new Map<string, CountedHolds>();

  constructor(servers: readonly LockServer[], options: LocksOptions) {
    checkOptions('createLocks', options, SETTINGS);
    this.servers = servers;
    this.server = servers[0]!;
    this.first = [this.server];
    this.owners = new Owners(options.clientId);
    this.requests = new RequestLog(this.owners.token());
    this.leaseMs = options.leaseMs ?? 30_000;
    this.maxSleepMs = options.maxSleepMs ?? 5000;
    this.driftFactor = options.driftFactor ?? 0.01;
    // A lease must leave its holder something: the drift allowance takes a whole millisecond at least.
    this.acquireRules = acquireRules(this.driftFactor > 0 ? 2 : 1);
    // Servers take whole milliseconds.
    this.lockDelayMs = Math.ceil(options.lockDelayMs ?? 0);
    this.fairWaitMs = Math.ceil(options.fairWaitMs ?? 300_000);
    this.placeMs = Math.ceil(options.placeMs ?? 6000);
    this.#serverShare = options.redlockServerShare;
    this.replication =
      options.replicas === undefined
        ? undefined
        : {
            replicas: options.replicas,
            timeoutMs: Math.ceil(options.replicaTimeoutMs ?? 1000),
            fsync: options.fsync ?? false,
          };
    this.watchdog = new Watchdog(options.maxHoldMs, this.replication);
  }

  /** How long one of several servers is waited for: little against the lease, so that a dead one does not eat it up. */
  serverLimitMs(leaseMs: number): number {
    const wanted =
      this.#serverShare === undefined
        ? Math.max(SERVER_LEAST_MS, leaseMs * SERVER_SHARE)
        : leaseMs * this.#serverShare;
    const most = Math.min(this.server.requestTimeoutMs, leaseMs / this.servers.length / 2);
    return Math.max(1, Math.floor(Math.min(wanted, most)));
  }
}
