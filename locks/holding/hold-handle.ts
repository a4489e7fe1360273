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
   * @throws TypeError for a wrong lease, LockLost or NotOwner when the lock is not held any more, OutcomeUnknown when no
   *   reply came, NotReplicated when too few replicas acknowledged the new lease in time (the old lease stays valid)
   */
  extend(leaseMs?: number): Promise<void>;
  /**
   * Releases the lock. If it rejects because no reply came or the server refused, the release goes on in the background until its
   * outcome is known, `Locks.close()` is called or the process ends, for which it does not keep the process alive. A second call
   * then waits for that outcome, and resolves or rejects with it. After a first call that resolved, a second one throws NotOwner.
   * The end of an `await using` block releases the lock unless `release()` was called.
   * @throws NotOwner or LockLost when the lock was not held any more, OutcomeUnknown when no reply came until the lease was over
   *   (30 seconds for a semaphore's permit), ServerRefused when the server refused
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
  /**
   * Releases it; false when the server has no such hold. Retries by itself.
   * @param again given when an earlier call rejected: then the release is sent once, and has no further effect if that one had
   */
  release(hold: Hold, again?: ReleaseAgain): Promise<boolean>;
  /** Requests a new lease; false when the server has no such hold. */
  extend(hold: Hold, leaseMs: number): Promise<boolean>;
}

/** A release that is repeated in the background. */
export interface ReleaseAgain {
  readonly once: true;
  readonly background: true;
  /** Whether a request of an earlier try got no reply, so that it may have released the hold. */
  readonly unanswered: boolean;
}

/** The handle that an acquisition returns. */
export class HoldHandle implements HeldLock {
  /** @internal */
  readonly hold: Hold;
  readonly #operations: HoldOperations;
  #released: Promise<void> | undefined;
  /** The outcome of a release that failed and goes on. */
  #outcome: Promise<void> | undefined;

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
    if (!this.#released) {
      this.#released = this.#release();
      return this.#released;
    }
    return this.#released.then(
      () => {
        throw new NotOwner(this.name, this.owner);
      },
      (error: unknown) => this.#outcome ?? Promise.reject(error),
    );
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
      this.#outcome = this.#goOn(error);
      this.#outcome.catch(() => {}); // Perhaps nobody asks for it.
      throw this.#translate(error);
    }
    this.#conclude(released);
  }

  /** Repeats a release that failed until its outcome is known. */
  async #goOn(error: unknown): Promise<void> {
    let unanswered = false;
    const release = (last: unknown): Promise<boolean> => {
      unanswered ||= isTransient(last);
      return this.#operations.release(this.hold, { once: true, background: true, unanswered });
    };
    let released: boolean;
    try {
      released = await this.hold.goOnReleasing(release, error);
    } catch (last) {
      throw this.#translate(last);
    }
    this.#conclude(released);
  }

  #conclude(released: boolean): void {
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
