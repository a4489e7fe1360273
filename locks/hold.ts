/** A hold: one owner's grant of one lock, its validity on the holder's own clock, and how its end becomes known. */
import type { Deadline, Deadlines } from './deadlines.ts';
import { LockLost } from './errors.ts';
import type { LockEvents } from './events.ts';
import type { LockServer } from './server.ts';

/** How the server recognises a hold, for the script that renews many at once. */
export interface Renewal {
  readonly kind: 'string' | 'hash' | 'read' | 'permit' | 'place' | 'session';
  readonly keys: readonly string[];
  readonly token: string;
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
  renewal(): Renewal;
}

/** What a hold needs of its surroundings. */
export interface HoldHome {
  readonly events: LockEvents;
  readonly driftFactor: number;
  /** Added to every TTL on the server: after an unclean end the lock stays closed this much longer. */
  readonly lockDelayMs: number;
  /** Where the ends of leases are watched. */
  readonly leases: Deadlines;
  readonly watchdog: { add(hold: Hold): void; remove(hold: Hold): void };
}

export class Hold {
  readonly spec: HoldSpec;
  readonly #home: HoldHome;
  #renewed: boolean;
  #leaseMs: number;
  #validUntil = 0;
  #lost: LockLost | undefined;
  #over = false;
  #controller: AbortController | undefined;
  #end: Deadline | undefined;
  /** Told once, when the hold is lost. */
  onLost: (() => void) | undefined;
  /** Told once, when the hold ends in any way; a release is sent in the same turn, right after. */
  onEnd: (() => void) | undefined;

  /** @param sentAt when the request that was granted left: the lease may have begun then, never earlier */
  constructor(spec: HoldSpec, home: HoldHome, sentAt: number) {
    this.spec = spec;
    this.#home = home;
    this.#renewed = spec.renewed;
    this.#leaseMs = spec.leaseMs;
    this.prolong(sentAt, spec.leaseMs);
    if (this.#renewed) home.watchdog.add(this);
  }

  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** Until when the hold is certain on this process' clock (Date.now milliseconds). */
  get validUntil(): number {
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
    return leaseMs + this.#home.lockDelayMs;
  }

  /** The server has confirmed a lease asked for at `sentAt`. Validity never shrinks. */
  prolong(sentAt: number, leaseMs: number): void {
    if (this.#over) return;
    const drift = Number.isFinite(leaseMs) ? Math.ceil(leaseMs * this.#home.driftFactor) : 0;
    this.#validUntil = Math.max(this.#validUntil, sentAt + leaseMs - drift);
    if (Number.isFinite(this.#validUntil)) this.#watch();
  }

  /** From now on the watchdog keeps it, with the given lease. */
  renew(leaseMs: number): void {
    if (this.#renewed || this.#over) return;
    this.#renewed = true;
    this.#leaseMs = leaseMs;
    this.#home.watchdog.add(this);
  }

  /** It is held no longer, and nobody released it. */
  lose(reason: string, cause?: unknown): void {
    if (this.#over) return;
    const { lock, owner, token, fence } = this.spec;
    this.#lost = new LockLost(lock, owner, reason, cause);
    this.end();
    this.onLost?.();
    this.#controller?.abort(this.#lost);
    this.#home.events.tell({
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
    if (this.#end) this.#home.leases.remove(this.#end);
    if (this.#renewed) this.#home.watchdog.remove(this);
    this.onEnd?.();
  }

  /** Tells of something that happened to this hold. */
  tell(
    event: 'acquired' | 'extended' | 'released',
    more: { waitedMs?: number; attempts?: number } = {},
  ): void {
    const { events } = this.#home;
    if (!events.isHeard(event)) return;
    const { lock, owner, token, fence } = this.spec;
    events.tell({ event, lock, owner, token, ...(fence !== undefined && { fence }), ...more });
  }

  /** After a stall the timer may be late; the clock is not. */
  #checkClock(): void {
    if (!this.#over && Date.now() >= this.#validUntil) this.lose("its lease ended on the holder's clock");
  }

  #watch(): void {
    if (this.#end) {
      this.#end.at = this.#validUntil;
      return;
    }
    const end: Deadline = {
      at: this.#validUntil,
      due: () => {
        this.#checkClock();
        if (!this.#over) this.#home.leases.add(end); // The clock was set back.
      },
    };
    this.#end = end;
    this.#home.leases.add(end);
  }
}
