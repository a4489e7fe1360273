/** Several locks acquired together: all of them, or none. */
import { randomInt } from 'node:crypto';
import { badOption } from '../../base/options.ts';
import { type AcquireOptions, type AcquireParams, Lock } from '../asking/lock.ts';
import type { Acquisition } from '../asking/waiting.ts';
import { LockLost, LockTimeout, NotOwner } from '../errors.ts';
import type { LockContext } from '../holding/context.ts';
import type { HeldLock } from '../holding/hold-handle.ts';
import { elapsed, LONGEST_TIMER_MS, pause } from '../timing/clock.ts';

/** How long to wait per lock before all are released and tried again, in milliseconds; as Redisson. */
const BUDGET_PER_LOCK_MS = 1500;

/** Several locks that are acquired together or not at all. */
export class MultiLock extends Lock<HeldLock> {
  readonly #locks: readonly Lock<HeldLock>[];

  /** @internal @param locks locks of any kind; they are always acquired in the order of their names */
  constructor(context: LockContext, locks: readonly Lock<HeldLock>[]) {
    if (!Array.isArray(locks) || locks.length === 0 || !locks.every((lock) => lock instanceof Lock)) {
      throw badOption('multi', locks, 'an array of one or more locks');
    }
    const inOrder = [...locks].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    if (inOrder.some((lock, index) => index > 0 && lock.isSameLock(inOrder[index - 1]!))) {
      throw badOption('multi', locks, 'locks with different names');
    }
    super(context, inOrder.map((lock) => lock.name).join(' + '));
    this.#locks = inOrder;
  }

  /** @internal */
  protected prepare(_params: AcquireParams): Acquisition<HeldLock> {
    throw new Error('unreachable: a multi lock acquires its locks one by one');
  }

  /** @internal */
  override async acquireAs(
    owner: string,
    options: AcquireOptions,
    waitMs: number,
    must = false,
  ): Promise<HeldLock | null> {
    this.checked(options);
    const deadline = elapsed() + waitMs;
    const budget = this.#locks.length * BUDGET_PER_LOCK_MS;
    for (let each = owner; ; each = this.context.owners.another(owner)) {
      options.signal?.throwIfAborted();
      const until = Math.min(deadline, elapsed() + budget);
      const helds = await this.#round(each, options, waitMs === 0 ? 0 : until);
      if (helds) return new HeldMultiLock(this.name, each, helds);
      const rest = randomInt(5, 50); // Others may have tried the same locks at the same time.
      if (elapsed() + rest >= deadline) {
        if (must) throw new LockTimeout(this.name, owner, waitMs);
        return null;
      }
      await pause(rest);
    }
  }

  /** Acquires all locks until the given moment (0: only if free now), or releases those it acquired. */
  async #round(owner: string, options: AcquireOptions, until: number): Promise<HeldLock[] | null> {
    const helds: HeldLock[] = [];
    const { leaseMs: _, ...unleased } = options;
    try {
      for (const lock of this.#locks) {
        const held = await lock.acquireAs(
          owner,
          lock.hasLease ? options : unleased,
          Math.max(0, until - elapsed()),
        );
        if (!held) return null;
        helds.push(held);
      }
      if (options.leaseMs !== undefined) await Promise.all(helds.map((held) => held.extend(options.leaseMs)));
      for (const held of helds) held.assertHeld();
      return helds.splice(0);
    } catch (error) {
      if (error instanceof LockLost) return null; // The first lock was lost while it waited for the last.
      throw error;
    } finally {
      await this.#giveBack(helds, options.leaseMs ?? this.context.leaseMs);
    }
  }

  /** Waits only briefly for a server that does not answer; its lock is released when it does. */
  #giveBack(helds: readonly HeldLock[], leaseMs: number): Promise<void> | undefined {
    if (helds.length === 0) return undefined;
    return new Promise((resolve) => {
      const limit = setTimeout(resolve, Math.min(this.context.serverLimitMs(leaseMs), LONGEST_TIMER_MS));
      void Promise.all(helds.map((held) => held.release().catch(() => {}))).then(() => {
        clearTimeout(limit);
        resolve();
      });
    });
  }
}

class HeldMultiLock implements HeldLock {
  readonly name: string;
  readonly owner: string;
  readonly fence = undefined;
  readonly #helds: readonly HeldLock[];
  #signal: AbortSignal | undefined;
  #released: Promise<void> | undefined;
  /** Those whose release was rejected. Their own handles know whether it goes on. */
  #failed: readonly HeldLock[] = [];

  constructor(name: string, owner: string, helds: readonly HeldLock[]) {
    this.name = name;
    this.owner = owner;
    this.#helds = helds;
  }

  get token(): string {
    return this.#helds.map((held) => held.token).join(' + ');
  }

  get validUntil(): number {
    return Math.min(...this.#helds.map((held) => held.validUntil));
  }

  /** Aborted when the first of the locks is lost. */
  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any(this.#helds.map((held) => held.signal));
    return this.#signal;
  }

  assertHeld(): void {
    for (const held of this.#helds) held.assertHeld();
  }

  async extend(leaseMs?: number): Promise<void> {
    await Promise.all(this.#helds.map((held) => held.extend(leaseMs)));
  }

  release(): Promise<void> {
    if (!this.#released) {
      this.#released = this.#releaseAll([...this.#helds].reverse());
      return this.#released;
    }
    return this.#released.then(
      () => {
        throw new NotOwner(this.name, this.owner);
      },
      () => this.#releaseAll(this.#failed),
    );
  }

  /** Releases them, the last acquired first, and then throws the first error. */
  async #releaseAll(helds: readonly HeldLock[]): Promise<void> {
    const outcomes = await Promise.allSettled(helds.map((held) => held.release()));
    this.#failed = helds.filter((_, index) => outcomes[index]!.status === 'rejected');
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (this.#released ? this.#released.catch(() => {}) : this.release());
  }
}
