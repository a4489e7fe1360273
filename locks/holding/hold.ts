/** A hold: one lock granted to one owner, valid until its lease ends on the holder's monotonic clock. */

import { LockLost } from '../errors.ts';
import type { LockServer } from '../server/server.ts';
import type { Wakeups } from '../server/wakeups.ts';
import { ChainLink } from '../timing/chain.ts';
import { elapsed, wallClockAt } from '../timing/clock.ts';
import type { Deadlines, ScheduledDeadline } from '../timing/deadlines.ts';
import type { LockEvents } from './events.ts';
import type { Releases } from './releases.ts';

/** How the server recognises a hold, for the script that renews many holds at once. */
export interface Renewal {
  readonly kind: 'string' | 'hash' | 'read' | 'permit' | 'place' | 'session';
  readonly keys: readonly string[];
  readonly token: string;
}

/**
 * What a hold calls; the acquisition that got it implements this. It is one object, because closures created for each hold
 * would be most of its cost.
 */
export interface HoldCallbacks {
  /** @internal How the server recognises the hold now. */
  renewal(): Renewal;
  /** @internal The hold was lost. */
  lost?(hold: Hold): void;
  /** @internal The server does not have the hold, and a majority has not lost it: others have confirmed it, or are silent. */
  restore?(server: LockServer): void;
}

/** What an acquisition knows about its hold. */
export interface HoldSpec {
  readonly lock: string;
  readonly owner: string;
  readonly token: string;
  readonly fence?: number | undefined;
  readonly leaseMs: number;
  /** Whether the watchdog renews it; otherwise it ends with its lease. */
  readonly renewed: boolean;
  /** The servers that keep it, and how many of them must agree on a renewal. */
  readonly servers: readonly LockServer[];
  readonly quorum: number;
  readonly callbacks: HoldCallbacks;
}

/** Renews holds before their leases end. The watchdog is one. */
export interface Renewer {
  /** Renews the hold, whose lease may have begun at `since`, until the returned link is unlinked. */
  add(hold: Hold, since: number): ChainLink;
}

/** The shared parts that holds use. */
export interface HoldContext {
  readonly events: LockEvents;
  readonly driftFactor: number;
  /** Added to every TTL on the server, in milliseconds, so that a lock whose holder crashed stays closed longer. */
  readonly lockDelayMs: number;
  /** Deadlines at the ends of leases. */
  readonly leases: Deadlines;
  readonly watchdog: Renewer;
  /** Goes on with releases that failed. */
  readonly releases: Releases;
}

/**
 * How much the difference between the two clocks may vary although nobody has set one. They are read one after the other,
 * the process can be interrupted in between, and NTP makes the wall clock run a little faster or slower.
 */
const READING_ERROR_MS = 20;

/** A hold is itself the deadline at the end of its lease. */
export class Hold extends ChainLink implements ScheduledDeadline {
  /** Until when it is certainly held, on the monotonic clock. */
  at = 0;
  readonly spec: HoldSpec;
  readonly #context: HoldContext;
  /** Its entry in the watchdog, while it is renewed. */
  #renewals: ChainLink | undefined;
  #leaseMs: number;
  #lost: LockLost | undefined;
  #over = false;
  #controller: AbortController | undefined;
  #wakeups: Pick<Wakeups, 'peek'> | undefined;
  #channel = '';
  /** Why the last renewal did not count although the server executed it. */
  #unconfirmed: string | undefined;
  /** The last value of `validUntil`; NaN if the lease was prolonged since. */
  #validUntil = Number.NaN;

  /** @param sentAt when the granted request was sent: the lease cannot have begun earlier */
  constructor(spec: HoldSpec, context: HoldContext, sentAt: number) {
    super();
    this.spec = spec;
    this.#context = context;
    this.#leaseMs = spec.leaseMs;
    this.prolong(sentAt, spec.leaseMs);
    if (spec.renewed) this.#renewals = context.watchdog.add(this, sentAt);
  }

  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** Until when it is certainly held, on the monotonic clock. */
  get endsAt(): number {
    return this.at;
  }

  /** The same on the wall clock. It changes when the lease is prolonged, and when the wall clock is set. */
  get validUntil(): number {
    const moment = wallClockAt(this.at);
    if (!(Math.abs(moment - this.#validUntil) <= READING_ERROR_MS)) this.#validUntil = moment;
    return this.#validUntil;
  }

  get lost(): LockLost | undefined {
    this.#checkClock();
    return this.#lost;
  }

  /** Neither released nor lost. */
  get active(): boolean {
    this.#checkClock();
    return !this.#over;
  }

  /** Aborted when the hold is lost. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.lost) this.#controller.abort(this.#lost);
    }
    return this.#controller.signal;
  }

  /**
   * Repeats a release of this hold that failed, until its outcome is known; see Releases.goOn. Renewals that were sent before it
   * may have prolonged the lease on the server once more; when that is over too, the hold is certainly gone.
   */
  goOnReleasing(release: (last: unknown) => Promise<boolean>, error: unknown): Promise<boolean> {
    const gone = Math.max(this.at, elapsed()) + this.serverLeaseMs(this.#leaseMs);
    return this.#context.releases.goOn(release, error, gone);
  }

  /** The TTL to request from the server for a lease, in milliseconds. */
  serverLeaseMs(leaseMs: number): number {
    return leaseMs + this.#context.lockDelayMs;
  }

  /** The server has confirmed a lease requested at `sentAt`. Validity is never shortened. */
  prolong(sentAt: number, leaseMs: number): void {
    if (this.#over) return;
    this.#unconfirmed = undefined;
    const drift = Number.isFinite(leaseMs) ? Math.ceil(leaseMs * this.#context.driftFactor) : 0;
    const end = sentAt + leaseMs - drift;
    if (end > this.at) {
      this.at = end;
      this.#validUntil = Number.NaN;
    }
    if (!this.linked && Number.isFinite(this.at)) this.#context.leases.add(this);
  }

  /** The server has confirmed a lease, but too few replicas acknowledged it for it to count. */
  renewalMissedReplicas(copies: number, needed: number): void {
    this.#unconfirmed = `its last renewal reached ${copies} of ${needed} replicas in time`;
  }

  /** At its end, notifies the waiters of this process on the channel, in the same turn in which the release is sent. */
  notifyOnEnd(wakeups: Pick<Wakeups, 'peek'>, channel: string): void {
    this.#wakeups = wakeups;
    this.#channel = channel;
  }

  /** Whether its end is notified. */
  get notifiesOnEnd(): boolean {
    return this.#wakeups !== undefined;
  }

  /** From now on the watchdog renews it, with the given lease in milliseconds. */
  startRenewing(leaseMs: number): void {
    if (this.#renewals || this.#over) return;
    this.#leaseMs = leaseMs;
    this.#renewals = this.#context.watchdog.add(this, elapsed());
  }

  /** From now on it ends with its present lease. */
  stopRenewing(): void {
    this.#renewals?.unlink();
    this.#renewals = undefined;
  }

  /** It is no longer held, though it was not released. */
  lose(reason: string, cause?: unknown): void {
    if (this.#over) return;
    const { lock, owner, token, fence } = this.spec;
    this.#lost = new LockLost(lock, owner, reason, cause);
    this.end();
    this.spec.callbacks.lost?.(this);
    this.#controller?.abort(this.#lost);
    this.#context.events.publish({
      event: 'lost',
      lock,
      owner,
      token,
      reason,
      ...(fence !== undefined && { fence }),
    });
  }

  /** It is about to be released: no further renewal is sent. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#context.leases.remove(this);
    this.#renewals?.unlink();
    this.#wakeups?.peek(this.#channel)?.handOver();
  }

  /** Publishes an event of this hold. */
  tell(
    event: 'acquired' | 'extended' | 'released',
    more: { waitedMs?: number; attempts?: number } = {},
  ): void {
    const { events } = this.#context;
    if (!events.hasListeners(event)) return;
    const { lock, owner, token, fence } = this.spec;
    events.publish({ event, lock, owner, token, ...(fence !== undefined && { fence }), ...more });
  }

  /** After a stall the timer may fire late, so the monotonic clock is checked too; the wall clock could have been set. */
  #checkClock(): void {
    if (!this.#over && elapsed() >= this.at) this.#expire();
  }

  #expire(): void {
    const why = this.#unconfirmed === undefined ? '' : ` (${this.#unconfirmed})`;
    this.lose(`its lease ended on the holder's clock${why}`);
  }

  /** The timer at the end of the lease. It may fire a fraction of a millisecond too early. */
  fire(): void {
    this.#checkClock();
    if (!this.#over) this.#context.leases.add(this);
  }
}
