/** The methods that all locks have: acquire, tryAcquire, using. */

import { badOption } from '../../base/options.ts';
import { LockTimeout } from '../errors.ts';
import type { LockContext } from '../holding/context.ts';
import { type HeldLock, HoldHandle } from '../holding/hold-handle.ts';
import { type AllowedOptions, check, checkOptions, text } from '../options.ts';
import { refusal } from '../server/refusal.ts';
import { elapsed } from '../timing/clock.ts';
import { type Acquisition, acquireBy } from './waiting.ts';

/** Options of an acquisition. Times are in milliseconds. */
export interface AcquireOptions {
  /** How long to wait for the lock. Default: forever for `acquire`, 0 for `tryAcquire`. */
  waitMs?: number;
  /**
   * A lease that is not renewed: the lock ends with it. Without this option the watchdog renews the default lease.
   * At least 2 (1 with a `driftFactor` of 0): a shorter lease would be over before it was granted.
   */
  leaseMs?: number;
  /** Gives up, with the signal's reason, when aborted. */
  signal?: AbortSignal;
  /** The owner's name. Default: the owner of the async context (`run`, `using`), or a new owner. */
  owner?: string;
}

/** No options, which need no check. */
const NONE: AcquireOptions = {};

/** The options of one acquisition, with defaults filled in. */
export interface AcquireParams<O extends AcquireOptions = AcquireOptions> {
  readonly options: O;
  readonly owner: string;
  readonly waitMs: number;
  readonly leaseMs: number;
  readonly renewed: boolean;
}

/** A lock with one name. `H` is the type of the held lock, `O` that of the options. */
export abstract class Lock<H extends HeldLock = HeldLock, O extends AcquireOptions = AcquireOptions> {
  /** The lock's name. */
  readonly name: string;
  /** @internal */
  protected readonly context: LockContext;
  /** @internal The allowed options. */
  protected readonly rules: AllowedOptions;

  /** @internal */
  constructor(context: LockContext, name: string, more?: AllowedOptions) {
    check('name', name, text);
    this.context = context;
    this.rules = more ? { ...context.acquireRules, ...more } : context.acquireRules;
    this.name = name;
  }

  /** Whether the other lock has the same name and comes from the same `createLocks` call. */
  isSameLock(other: Lock<HeldLock>): boolean {
    return this.context === (other as this).context && this.name === other.name;
  }

  /** @internal Prepares one acquisition; nothing is sent yet. */
  protected abstract prepare(params: AcquireParams<O>): Acquisition<H>;

  /**
   * Waits for the lock and acquires it.
   * @throws TypeError for a wrong option, LockTimeout after `waitMs`, the signal's reason when aborted, OutcomeUnknown
   *   when no reply came, ServerRefused when the server refused, ClientUnusable when the client cannot send commands,
   *   NotReplicated when too few replicas acknowledged the grant, LocksClosed after `Locks.close()`
   */
  acquire(options: O = NONE as O): Promise<H> {
    return this.#getFor(this.context.owners.choose(options?.owner), options);
  }

  #getFor(owner: string, options: O): Promise<H> {
    return this.acquireAs(owner, options, options?.waitMs ?? Number.POSITIVE_INFINITY, true) as Promise<H>;
  }

  /** Acquires the lock if it is free or becomes so within `waitMs` (default 0); else resolves to null. Throws as acquire(). */
  tryAcquire(options: O = NONE as O): Promise<H | null> {
    return this.acquireAs(this.context.owners.choose(options?.owner), options, options?.waitMs ?? 0);
  }

  /**
   * Acquires the lock, runs `fn` and releases the lock, unless `fn` did. All of it has one owner, so a re-entrant lock can
   * be acquired again inside. Throws as acquire() does, what `fn` threw, or LockLost when the lock was lost before the end.
   */
  async using<T>(fn: (held: H) => T | Promise<T>): Promise<T>;
  async using<T>(options: O, fn: (held: H) => T | Promise<T>): Promise<T>;
  async using<T>(first: O | ((held: H) => T | Promise<T>), second?: (held: H) => T | Promise<T>): Promise<T> {
    const [options, fn] = typeof first === 'function' ? [NONE as O, first] : [first, second!];
    if (typeof fn !== 'function') throw badOption('using', fn, 'a function, alone or after the options');
    const { owners } = this.context;
    const owner = owners.forTask(owners.choose(options?.owner));
    return owners.runAs(owner, async () => {
      const held = await this.#getFor(owner, options);
      let result: T;
      try {
        result = await fn(held);
      } catch (error) {
        await held.release().catch(() => {}); // The caller needs the error of `fn`, not that of the release.
        throw error;
      }
      await held[Symbol.asyncDispose]();
      return result;
    });
  }

  /** @internal Whether its holds have leases. */
  get hasLease(): boolean {
    return true;
  }

  /** @internal Throws TypeError for a wrong option. */
  protected checked(options: O): void {
    if (options !== NONE) checkOptions('acquire', options, this.rules);
  }

  /**
   * @internal
   * Acquires the lock for an owner given by its full name; locks that consist of locks use this.
   * @param waitMs how long to wait, in milliseconds
   * @param must whether to throw LockTimeout when the lock was not free in time; otherwise resolves to null
   */
  async acquireAs(owner: string, options: O, waitMs: number, must = false): Promise<H | null> {
    this.checked(options);
    const leaseMs = Math.ceil(options.leaseMs ?? this.context.leaseMs);
    const params: AcquireParams<O> = {
      options,
      owner,
      waitMs,
      leaseMs,
      renewed: options.leaseMs === undefined,
    };
    const limits = { waitMs, signal: options.signal, maxSleepMs: this.context.maxSleepMs };
    const acquisition = this.prepare(params);
    try {
      const acquired = await acquireBy(acquisition, limits);
      if (!acquired) {
        const reason = acquisition.failureReason?.();
        if (reason) throw reason;
        if (must) throw new LockTimeout(this.name, owner, waitMs);
        return null;
      }
      const { held, attempts } = acquired;
      if (held instanceof HoldHandle && this.context.events.hasListeners('acquired')) {
        held.hold.tell('acquired', { waitedMs: elapsed() - acquired.startedAt, attempts });
      }
      return held;
    } catch (error) {
      throw refusal(this.name, owner, error, options.signal);
    }
  }
}
