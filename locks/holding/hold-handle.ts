/** The result of an acquisition: a handle on the held lock. */

import { LockError, NotOwner, NotReplicated, OutcomeUnknown } from '../errors.ts';
import { check, millis } from '../options.ts';
import { TooFewCopies } from '../server/outcomes.ts';
import { refusal } from '../server/refusal.ts';
import { isTransient } from '../server/retry.ts';
import { elapsed } from '../timing/clock.ts';
import type { Hold } from './hold.ts';

const LEASE = millis(1);

/** A held lock. Use `await using`, or call `release()`. */
export interface HeldLock extends AsyncDisposable {
  /** The lock's name. */
  readonly name: string;
  /** The value that identifies this holder on the server. */
  readonly token: string;
  /** `<client id>:<owner id>`. */
  readonly owner: string;
  /** The fencing token, which grows with every grant. Pass it to the resource, which must refuse smaller ones. */
  readonly fence: number | undefined;
  /**
   * Until when the lock is certainly held, renewals included, in milliseconds as of Date.now(). Validity is measured on a
   * monotonic clock; when the wall clock is set, this value changes with it. Read it again then, or call `assertHeld()`.
   */
  readonly validUntil: number;
  /** Aborted when the lock is lost; the reason is a LockLost. */
  readonly signal: AbortSignal;
  /** Throws LockLost as soon as the lease may have ended by this process's clock, and NotOwner after a release. */
  assertHeld(): void;
  /**
   * Starts a new lease now. It never shortens the present one.
   * Locks without a lease (a semaphore's permits, a session's lock) are only checked, as by `assertHeld()`.
   * @param leaseMs the new lease in milliseconds; default: the lease it was acquired with
   * @throws RangeError for a wrong lease, LockLost or NotOwner when the lock is not held any more, OutcomeUnknown when no
   *   reply came, NotReplicated when too few replicas acknowledged the new lease in time (the old lease stays valid)
   */
  extend(leaseMs?: number): Promise<void>;
  /**
   * Releases the lock. A second call throws what the first one threw, or NotOwner if that one succeeded. The end of an
   * `await using` block releases the lock unless `release()` was called.
   * @throws NotOwner or LockLost when the lock was not held any more, OutcomeUnknown when no reply came until the lease
   *   was over
   */
  release(): Promise<void>;
}

/** A held lock of a kind that has fencing tokens. */
export interface FencedHold extends HeldLock {
  /** The fencing token. */
  readonly fence: number;
}

/** How a kind of lock releases and extends its holds. */
export interface HoldOperations {
  /** Releases it; false when the server has no such hold. Retries by itself. */
  release(hold: Hold): Promise<boolean>;
  /** Requests a new lease; false when the server has no such hold. */
  extend(hold: Hold, leaseMs: number): Promise<boolean>;
}

/** The handle that an acquisition returns. */
export class HoldHandle implements HeldLock {
  /** @internal */
  readonly hold: Hold;
  readonly #operations: HoldOperations;
  #released: Promise<void> | undefined;

  /** @internal */
  constructor(hold: Hold, operations: HoldOperations) {
    this.hold = hold;
    this.#operations = operations;
  }

  get name(): string {
    return this.hold.spec.lock;
  }

  get token(): string {
    return this.hold.spec.token;
  }

  get owner(): string {
    return this.hold.spec.owner;
  }

  get fence(): number | undefined {
    return this.hold.spec.fence;
  }

  get validUntil(): number {
    return this.hold.validUntil;
  }

  get signal(): AbortSignal {
    return this.hold.signal;
  }

  assertHeld(): void {
    if (this.hold.active && !this.#released) return;
    throw this.hold.lost ?? new NotOwner(this.name, this.owner);
  }

  async extend(wanted?: number): Promise<void> {
    if (wanted !== undefined) check('extend', wanted, LEASE);
    this.assertHeld();
    if (this.hold.leaseMs === Number.POSITIVE_INFINITY) return;
    const leaseMs = Math.ceil(wanted ?? this.hold.leaseMs);
    const sentAt = elapsed();
    const extended = await this.#operations.extend(this.hold, leaseMs).catch((error: unknown) => {
      throw this.#translate(error);
    });
    if (!extended) this.hold.lose('the server does not know it any more');
    this.assertHeld();
    this.hold.prolong(sentAt, leaseMs);
    this.hold.tell('extended');
  }

  release(): Promise<void> {
    if (this.#released) {
      return this.#released.then(() => {
        throw new NotOwner(this.name, this.owner);
      });
    }
    this.#released = this.#release();
    return this.#released;
  }

  async #release(): Promise<void> {
    const { lost } = this.hold;
    if (lost) {
      // The holder's clock ends the lease before the server does, so the key may still exist: try to delete it.
      this.#operations.release(this.hold).catch(() => {});
      throw lost;
    }
    let released: boolean;
    try {
      released = await this.#operations.release(this.hold);
    } catch (error) {
      throw this.#translate(error);
    }
    if (this.hold.lost) throw this.hold.lost;
    if (!released) throw new NotOwner(this.name, this.owner);
    this.hold.tell('released');
  }

  #translate(error: unknown): unknown {
    if (error instanceof LockError) return error;
    if (error instanceof TooFewCopies) {
      const { copies, needed, cause } = error;
      return new NotReplicated(this.name, this.owner, copies, needed, { cause, extending: true });
    }
    return isTransient(error)
      ? new OutcomeUnknown(this.name, this.owner, error)
      : refusal(this.name, this.owner, error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#released ? this.#released.catch(() => {}) : this.release());
  }
}
