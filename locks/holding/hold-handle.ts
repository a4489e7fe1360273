/** What an acquisition gives: the lock in hand. */

import { LockError, NotOwner, NotReplicated, OutcomeUnknown } from '../errors.ts';
import { check, millis } from '../options.ts';
import { TooFewCopies } from '../server/outcomes.ts';
import { refusal } from '../server/refusal.ts';
import { isTransient } from '../server/retry.ts';
import { elapsed } from '../timing/clock.ts';
import type { Hold } from './hold.ts';

const LEASE = millis(1);

/** What every held lock can do, however many servers and keys are behind it. */
export interface HeldLock extends AsyncDisposable {
  /** The lock's name. */
  readonly name: string;
  /** The random value by which the server knows this holder. */
  readonly token: string;
  /** `<client id>:<owner id>`. */
  readonly owner: string;
  /** Of fenced locks: grows with every grant. Hand it to the resource, which must refuse smaller ones. */
  readonly fence: number | undefined;
  /**
   * Until when the lock is certainly held, as a moment of this process' wall clock (milliseconds of Date.now), renewals
   * included. Validity itself is counted on a monotonic clock: when the wall clock is set, this moment moves with it, so
   * read it anew, or ask `assertHeld()`.
   */
  readonly validUntil: number;
  /** Aborts, with a LockLost as reason, when the lock is lost. */
  readonly signal: AbortSignal;
  /** Throws LockLost from the moment the lease could have ended on this process' clock, NotOwner after release. */
  assertHeld(): void;
  /**
   * Asks for a lease from now on (milliseconds; the one it was acquired with if left out). Never shortens it.
   * Throws LockLost when the lock is not held any more, NotReplicated when too few replicas have the new lease in time
   * (the old one stands). A hold without a lease (a semaphore's permits, a session's lock) has nothing to extend: it is
   * only asserted.
   */
  extend(leaseMs?: number): Promise<void>;
  /**
   * Gives the lock back. Throws NotOwner or LockLost when it was not held any more, OutcomeUnknown when no answer
   * came until the lease was over. Called again, it throws what the first call threw, and NotOwner where that gave the
   * lock back. The end of an `await using` block releases what has not been released yet, and is silent otherwise.
   */
  release(): Promise<void>;
}

/** How a kind of lock gives back and extends. */
export interface HoldOperations {
  /** Gives it back; false when the server knows no such hold. Retries by itself. */
  release(hold: Hold): Promise<boolean>;
  /** Asks for a new lease; false when the server knows no such hold. */
  extend(hold: Hold, leaseMs: number): Promise<boolean>;
}

export class HoldHandle implements HeldLock {
  readonly hold: Hold;
  readonly #operations: HoldOperations;
  #released: Promise<void> | undefined;

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
      // The key may still be there (the holder's clock is the more careful one): give it back, whatever comes of it.
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
