/** The one shape of all locks: acquire, tryAcquire, using. */

import { LockError, LockTimeout } from '../errors.ts';
import type { Core } from '../holding/core.ts';
import { type HeldLock, HoldHandle } from '../holding/hold-handle.ts';
import { type AllowedOptions, badOption, check, checkOptions, text } from '../options.ts';
import { refusal } from '../server/refusal.ts';
import { elapsed } from '../timing/clock.ts';
import { type Acquisition, acquireBy } from './waiting.ts';

/** What an acquisition may ask for; times in milliseconds. */
export interface AcquireOptions {
  /** How long to wait for the lock. acquire: for ever by default; tryAcquire: not at all. */
  waitMs?: number;
  /**
   * An explicit lease is not renewed: it ends by itself. Without one the default lease is kept up by the watchdog.
   * At least 2 (1 with a `driftFactor` of 0): a shorter one would be over before it was granted.
   */
  leaseMs?: number;
  /** Gives up when aborted. */
  signal?: AbortSignal;
  /** The owner's name within this set of locks; default: that of the async context, or a new one. */
  owner?: string;
}

/** No options: need no check. */
const NONE: AcquireOptions = {};

/** An acquisition's wishes, filled in. */
export interface AcquireParams<O extends AcquireOptions = AcquireOptions> {
  readonly options: O;
  readonly owner: string;
  readonly waitMs: number;
  readonly leaseMs: number;
  readonly renewed: boolean;
}

/** A lock with one name. `H` is what holding it gives, `O` what can be asked for. */
export abstract class Lock<H extends HeldLock = HeldLock, O extends AcquireOptions = AcquireOptions> {
  readonly name: string;
  protected readonly core: Core;
  /** What may be asked for. */
  protected readonly rules: AllowedOptions;

  constructor(core: Core, name: string, more?: AllowedOptions) {
    check('name', name, text);
    this.core = core;
    this.rules = more ? { ...core.acquireRules, ...more } : core.acquireRules;
    this.name = name;
  }

  /** Whether the other one is the same name in the same set of locks. */
  isSameLock(other: Lock<HeldLock>): boolean {
    return this.core === (other as this).core && this.name === other.name;
  }

  /** Prepares one acquisition; nothing is sent yet. */
  protected abstract prepare(params: AcquireParams<O>): Acquisition<H>;

  /**
   * Waits for the lock and gives it.
   * Throws a RangeError for a wrong option, LockTimeout after `waitMs`, the signal's reason when aborted, OutcomeUnknown
   * when no answer came, ServerRefused when the server will not.
   */
  acquire(options: O = NONE as O): Promise<H> {
    return this.#getFor(this.core.owners.choose(options?.owner), options);
  }

  #getFor(owner: string, options: O): Promise<H> {
    return this.acquireAs(owner, options, options?.waitMs ?? Number.POSITIVE_INFINITY, true) as Promise<H>;
  }

  /** The lock if it is free (or gets free within `waitMs`, 0 by default), else null. Throws as acquire() does. */
  tryAcquire(options: O = NONE as O): Promise<H | null> {
    return this.acquireAs(this.core.owners.choose(options?.owner), options, options?.waitMs ?? 0);
  }

  /**
   * Runs `fn` with the lock held, as one owner: the same lock acquired inside is entered again. Releases at its end, unless
   * `fn` did.
   * Throws what `fn` threw; otherwise LockLost when the lock did not last to the end.
   */
  async using<T>(fn: (held: H) => T | Promise<T>): Promise<T>;
  async using<T>(options: O, fn: (held: H) => T | Promise<T>): Promise<T>;
  async using<T>(first: O | ((held: H) => T | Promise<T>), second?: (held: H) => T | Promise<T>): Promise<T> {
    const [options, fn] = typeof first === 'function' ? [NONE as O, first] : [first, second!];
    if (typeof fn !== 'function') throw badOption('using', fn, 'a function, alone or after the options');
    const { owners } = this.core;
    const owner = owners.forTask(owners.choose(options.owner));
    return owners.runAs(owner, async () => {
      const held = await this.#getFor(owner, options);
      let result: T;
      try {
        result = await fn(held);
      } catch (error) {
        await held.release().catch(() => {}); // What the work threw is what the caller has to know.
        throw error;
      }
      await held[Symbol.asyncDispose]();
      return result;
    });
  }

  /**
   * Acquires for an owner given by its full name, within `waitMs`; the way in for locks made of locks. Where it was not
   * free in time, gives null; `must`: throws LockTimeout.
   */
  async acquireAs(owner: string, options: O, waitMs: number, must = false): Promise<H | null> {
    if (options !== NONE) checkOptions('acquire', options, this.rules);
    const leaseMs = Math.ceil(options.leaseMs ?? this.core.leaseMs);
    const params: AcquireParams<O> = {
      options,
      owner,
      waitMs,
      leaseMs,
      renewed: options.leaseMs === undefined,
    };
    const limits = { waitMs, signal: options.signal, maxSleepMs: this.core.maxSleepMs };
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
      if (held instanceof HoldHandle && this.core.events.hasListeners('acquired')) {
        held.hold.tell('acquired', { waitedMs: elapsed() - acquired.startedAt, attempts });
      }
      return held;
    } catch (error) {
      const own = error instanceof LockError || (options.signal?.aborted && error === options.signal.reason);
      throw own ? error : refusal(this.name, owner, error);
    }
  }
}
