/** The state that all locks of one `createLocks` call share. */

import {
  type AllowedOptions,
  acquireRules,
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
import { Releases } from './releases.ts';
import { Watchdog } from './watchdog.ts';

/** Options of `createLocks`. Times are in milliseconds. */
export interface LocksOptions {
  /** The lease of acquisitions without `leaseMs`, renewed by the watchdog after each third of it. At least 30; default 30,000. */
  leaseMs?: number;
  /** How long to wait for a reply before the outcome counts as unknown. Default 3,000. */
  requestTimeoutMs?: number;
  /** How often a waiter checks the lock even without a notification. At least 10; default 5,000. */
  maxSleepMs?: number;
  /** The fraction of a lease subtracted as an allowance for clock drift, from 0 to 0.5. Default 0.01. */
  driftFactor?: number;
  /** How much longer a lock stays closed after its holder crashed or lost it. A release frees it at once. Default 0. */
  lockDelayMs?: number;
  /** How long the watchdog renews a lock at most, so that a hung holder does not keep it forever. Default: no limit. */
  maxHoldMs?: number;
  /**
   * How many replicas must acknowledge a grant (by WAIT, on the same connection), or it is rolled back. A renewal counts
   * only when as many have acknowledged it. `all`: those connected at the time, at least one. Default: none.
   */
  replicas?: number | 'all';
  /** How long to wait for the replicas. At least 1; default 1,000. */
  replicaTimeoutMs?: number;
  /** With `replicas`: require it on disk, on the primary and the replicas (WAITAOF, from Redis 7.2). Default false. */
  fsync?: boolean;
  /** Fair locks: after how long a Redisson waiter is presumed dead, as its `fairLockWaitTimeout`. Default 300,000. */
  fairWaitMs?: number;
  /** Fair and queue locks: how long a waiter keeps its place without a sign of life. At least 30; default 6,000. */
  placeMs?: number;
  /**
   * Redlock: how long to wait for one server, as a fraction of the lease, so that a dead server costs little of it.
   * Default 0.01, but at least 50 ms. Never more than `requestTimeoutMs`, or than half of the lease divided by the servers.
   */
  redlockServerShare?: number;
  /** The first part of the names of all owners in this process. Default: a random UUID. */
  clientId?: string;
}

/** The shortest interval between two checks, places renewed in a queue, or renewals, in milliseconds. */
const LEAST_PAUSE_MS = 10;
/** A lease that the watchdog renews after each third of it. */
export const RENEWED_LEASE = millis(3 * LEAST_PAUSE_MS);

/** The options of createLocks. */
export const SETTINGS: AllowedOptions = {
  leaseMs: RENEWED_LEASE,
  requestTimeoutMs: millis(1),
  maxSleepMs: millis(LEAST_PAUSE_MS),
  // Less than two thirds, because a lease is renewed after one third.
  driftFactor: half,
  lockDelayMs: millis(0),
  maxHoldMs: millis(1, true),
  replicas: either(count(1), oneOf('all')),
  replicaTimeoutMs: millis(1), // WAIT treats 0 as forever.
  fsync: flag,
  fairWaitMs: millis(1),
  placeMs: millis(3 * LEAST_PAUSE_MS), // A waiter renews its place after each third of this time.
  redlockServerShare: share,
  clientId: text,
};

/** How often one owner holds one re-entrant lock; see kinds/counted.ts. */
export interface CountedHolds {
  hold: Hold | undefined;
  count: number;
  /** How many of these were acquired without `leaseMs` and are renewed. */
  renewed: number;
  /** Read locks, where each hold has a lease of its own: the holds by number, with gaps for ended ones; see kinds/read-lock.ts. */
  holds?: (Hold | undefined)[];
  busy: boolean;
  /** Requests waiting for the one under way. */
  readonly queue: (() => void)[];
}

/** How long one of several servers may take to reply: this fraction of the lease, but at least SERVER_LEAST_MS. */
const SERVER_SHARE = 0.01;
const SERVER_LEAST_MS = 50;

/** Clients, options and shared state of one `createLocks` call. */
export class LockContext {
  readonly servers: readonly LockServer[];
  /** The server of all locks except Redlock. */
  readonly server: LockServer;
  /** `[server]`. */
  readonly first: readonly LockServer[];
  readonly owners: Owners;
  readonly requests: RequestLog;
  readonly events = new LockEvents();
  readonly leases = new Deadlines(false);
  readonly watchdog: Watchdog;
  readonly releases = new Releases();
  readonly leaseMs: number;
  readonly maxSleepMs: number;
  readonly driftFactor: number;
  /** The options that acquisitions allow. */
  readonly acquireRules: AllowedOptions;
  readonly lockDelayMs: number;
  readonly fairWaitMs: number;
  readonly placeMs: number;
  readonly #serverShare: number | undefined;
  readonly replication: ReplicaRequirement | undefined;
  readonly counted = new Map<string, CountedHolds>();

  constructor(servers: readonly LockServer[], options: LocksOptions) {
    this.servers = servers;
    this.server = servers[0]!;
    this.first = [this.server];
    this.owners = new Owners(options.clientId);
    this.requests = new RequestLog(this.owners.token());
    this.leaseMs = options.leaseMs ?? 30_000;
    this.maxSleepMs = options.maxSleepMs ?? 5000;
    this.driftFactor = options.driftFactor ?? 0.01;
    // The drift allowance is at least 1 ms, and a lease must be longer than that.
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

  /** How long to wait for one of several servers, in milliseconds: short, so that a dead server does not use up the lease. */
  serverLimitMs(leaseMs: number): number {
    const wanted =
      this.#serverShare === undefined
        ? Math.max(SERVER_LEAST_MS, leaseMs * SERVER_SHARE)
        : leaseMs * this.#serverShare;
    const most = Math.min(this.server.requestTimeoutMs, leaseMs / this.servers.length / 2);
    return Math.max(1, Math.floor(Math.min(wanted, most)));
  }
}
