/** A hold: one owner's grant of one lock, its validity on the holder's monotonic clock, and how its end becomes known. */

import { LockLost } from '../errors.ts';
import type { LockServer } from '../server/server.ts';
import type { Wakeups } from '../server/wakeups.ts';
import { ChainLink } from '../timing/chain.ts';
import { elapsed, wallClockAt } from '../timing/clock.ts';
import type { Deadlines, ScheduledDeadline } from '../timing/deadlines.ts';
import type { LockEvents } from './events.ts';

/** How the server recognises a hold, for the script that renews many at once. */
export interface Renewal {
  readonly kind: 'string' | 'hash' | 'read' | 'permit' | 'place' | 'session';
  readonly keys: readonly string[];
  readonly token: string;
}

/**
 * Whoever asked for a hold, and answers for it. One object for all of this, and no functions made for each hold: these
 * would be the greater part of its cost.
 */
export interface HoldCallbacks {
  /** What the server knows of it now. */
  renewal(): Renewal;
  /** It was lost. */
  lost?(hold: Hold): void;
}

export interface HoldSpec {
  readonly lock: string;
  readonly owner: string;
  readonly token: string;
  readonly fence?: number | undefined;
  readonly leaseMs: number;
  /** Renewed by the watchdog, or left to end with its lease. */
  readonly renewed: boolean;
  /** The servers that keep it, and how many of them must agree. */
  readonly servers: readonly LockServer[];
  readonly quorum: number;
  readonly callbacks: HoldCallbacks;
}

/** Renews holds before their leases end. The watchdog is one. */
export interface Renewer {
  /** Renews the hold, whose lease may have begun at `since`, until the returned link is unlinked. */
  add(hold: Hold, since: number): ChainLink;
}

/** What a hold needs of its surroundings. */
export interface HoldContext {
  readonly events: LockEvents;
  readonly driftFactor: number;
  /** Added to every TTL on the server: after an unclean end the lock stays closed this much longer. */
  readonly lockDelayMs: number;
  /** Where the ends of leases are watched. */
  readonly leases: Deadlines;
  readonly watchdog: Renewer;
}

/** The end of its lease is a deadline of its own. */
export class Hold extends ChainLink implements ScheduledDeadline {
  /** Until when it is certain: a moment of this process' monotonic clock. */
  at = 0;
  readonly spec: HoldSpec;
  readonly #context: HoldContext;
  /** With the watchdog, while that renews it. */
  #renewals: ChainLink | undefined;
  #leaseMs: number;
  #lost: LockLost | undefined;
  #over = false;
  #controller: AbortController | undefined;
  #wakeups: Pick<Wakeups, 'peek'> | undefined;
  #channel = '';
  /** Why the last renewal did not count, though the server has it. */
  #unconfirmed: string | undefined;
  /** What `validUntil` last said. */
  #validUntil = Number.NaN;

  /** @param sentAt when the request that was granted left: the lease may have begun then, never earlier */
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

  /** Until when it is certain, on the monotonic clock. */
  get endsAt(): number {
    return this.at;
  }

  /** The same on the wall clock as that goes now. Two clocks are read one after the other: 1 ms of difference is no change. */
  get validUntil(): number {
    const moment = wallClockAt(this.at);
    if (!(Math.abs(moment - this.#validUntil) <= 1)) this.#validUntil = moment;
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

  /** Aborts when the hold is lost. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.lost) this.#controller.abort(this.#lost);
    }
    return this.#controller.signal;
  }

  /** The TTL to ask of the server for a lease. */
  serverLeaseMs(leaseMs: number): number {
    return leaseMs + this.#context.lockDelayMs;
  }

  /** The server has confirmed a lease asked for at `sentAt`. Validity never shrinks. */
  prolong(sentAt: number, leaseMs: number): void {
    if (this.#over) return;
    this.#unconfirmed = undefined;
    const drift = Number.isFinite(leaseMs) ? Math.ceil(leaseMs * this.#context.driftFactor) : 0;
    this.at = Math.max(this.at, sentAt + leaseMs - drift);
    if (!this.linked && Number.isFinite(this.at)) this.#context.leases.add(this);
  }

  /** The server has confirmed a lease, but so few replicas have it that it does not count. */
  renewalMissedReplicas(copies: number, needed: number): void {
    this.#unconfirmed = `its last renewal reached ${copies} of ${needed} replicas in time`;
  }

  /** Whoever waits for it in this process is told of its end, in the same turn in which a release is sent. */
  notifyOnEnd(wakeups: Pick<Wakeups, 'peek'>, channel: string): void {
    this.#wakeups = wakeups;
    this.#channel = channel;
  }

  /** Whether its end is told. */
  get notifiesOnEnd(): boolean {
    return this.#wakeups !== undefined;
  }

  /** From now on the watchdog keeps it, with the given lease. */
  startRenewing(leaseMs: number): void {
    if (this.#renewals || this.#over) return;
    this.#leaseMs = leaseMs;
    this.#renewals = this.#context.watchdog.add(this, elapsed());
  }

  /** From now on it ends with the lease it has. */
  stopRenewing(): void {
    this.#renewals?.unlink();
    this.#renewals = undefined;
  }

  /** It is held no longer, and nobody released it. */
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

  /** It is about to be released: no renewal leaves any more. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#context.leases.remove(this);
    this.#renewals?.unlink();
    this.#wakeups?.peek(this.#channel)?.handOver();
  }

  /** Tells of something that happened to this hold. */
  tell(
    event: 'acquired' | 'extended' | 'released',
    more: { waitedMs?: number; attempts?: number } = {},
  ): void {
    const { events } = this.#context;
    if (!events.hasListeners(event)) return;
    const { lock, owner, token, fence } = this.spec;
    events.publish({ event, lock, owner, token, ...(fence !== undefined && { fence }), ...more });
  }

  /** After a stall the timer may be late; the clock is not. The wall clock is not asked: it may be set. */
  #checkClock(): void {
    if (!this.#over && elapsed() >= this.at) this.#expire();
  }

  #expire(): void {
    const why = this.#unconfirmed === undefined ? '' : ` (${this.#unconfirmed})`;
    this.lose(`its lease ended on the holder's clock${why}`);
  }

  /** The timer says that the lease is over. It may ring a fraction of a millisecond too early. */
  fire(): void {
    this.#checkClock();
    if (!this.#over) this.#context.leases.add(this);
  }
}
