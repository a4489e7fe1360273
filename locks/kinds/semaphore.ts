/** The semaphore: a number of permits in one string, on the key and channel of Redisson's RSemaphore. */
import { ServerAcquisition } from '../asking/acquisition.ts';
import { type AcquireOptions, type AcquireParams, Lock } from '../asking/lock.ts';
import { ask, numberedRelease } from '../asking/requests.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import { NotSetUp } from '../errors.ts';
import type { LockContext } from '../holding/context.ts';
import { HoldHandle } from '../holding/hold-handle.ts';
import { prefixed } from '../keys.ts';
import { type AllowedOptions, check, count, flag, nothing } from '../options.ts';
import {
  semaphoreAcquireScript,
  semaphoreReleaseScript,
  semaphoreSetScript,
  semaphoreUndoScript,
} from '../scripts/semaphore.ts';
import type { ChannelWaiter, Choose } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';

/** Options of acquisitions from a semaphore, whose number of permits must have been set. */
export interface SetUpOptions extends AcquireOptions {
  /** Waits until the number of permits is set, instead of throwing NotSetUp. Default false. */
  waitForSetup?: boolean;
}

/** The additional options that SetUpOptions allows. */
export const SET_UP_RULES: AllowedOptions = { waitForSetup: flag };

/** The scripts' reply when the number of permits was never set. */
export const PERMITS_NOT_SET = -4;

/** Options of `Semaphore.acquire`. */
export interface PermitOptions extends SetUpOptions {
  /** How many permits to acquire at once. Default 1. */
  permits?: number;
  /** Permits of a semaphore have no lease; those of `expirablePermits` have. */
  leaseMs?: never;
}

const PERMIT_RULES: AllowedOptions = {
  ...SET_UP_RULES,
  permits: count(1),
  leaseMs: nothing('permits of a semaphore have no lease, those of expirablePermits have'),
};

/** The channel on which a semaphore's free permits are published, named as in Redisson. */
export const semaphoreChannel = (name: string): string => prefixed('redisson_sc', name);

/** The message says how many permits were released, so as many waiters are notified. */
export const chooseByCount: Choose = (waiters, text) => waiters.slice(0, Math.max(1, Number(text) || 1));

/**
 * Permits without a lease: a holder that dies keeps them. `expirablePermits` has permits with leases. Acquisitions throw
 * NotSetUp when `trySetPermits` was never called.
 */
export class Semaphore extends Lock<HoldHandle, PermitOptions> {
  /** @internal */
  constructor(context: LockContext, name: string) {
    super(context, name, PERMIT_RULES);
  }

  /** @internal */
  override get hasLease(): boolean {
    return false;
  }

  /** Sets the number of permits, 0 or more; false when it was set before. Throws OutcomeUnknown when no reply came. */
  async trySetPermits(permits: number): Promise<boolean> {
    return setPermits(this.context, this.name, permits);
  }

  /** The number of free permits. Throws OutcomeUnknown when no reply came, ServerRefused when the server refused. */
  async availablePermits(): Promise<number> {
    const { context, name } = this;
    return Number((await ask(context, name, () => context.server.command(['GET', name]))) ?? 0);
  }

  /**
   * Adds permits (1 or more) to the pool and notifies waiters. Acquired permits are returned by `release()`, not by this.
   * Throws OutcomeUnknown when no reply came, ServerRefused when the server refused.
   */
  async addPermits(permits: number): Promise<void> {
    check('addPermits', permits, count(1));
    const { context, name } = this;
    const number = context.requests.open();
    await ask(context, name, () => giveBack(context, name, number, permits)).finally(() =>
      context.requests.settle(number),
    );
  }

  /** @internal */
  protected prepare(params: AcquireParams<PermitOptions>): Acquisition<HoldHandle> {
    return new PermitAcquisition(this.context, this.name, params);
  }
}

/** Sets the number of permits; false when it was set before. */
export async function setPermits(context: LockContext, name: string, permits: number): Promise<boolean> {
  check('trySetPermits', permits, count(0));
  const { server } = context;
  const keys = [name, semaphoreChannel(name)];
  // A retry would get another reply, so there is none: without a reply the outcome is unknown.
  const set = (): Promise<unknown> => server.run(semaphoreSetScript, keys, [permits]);
  return ask(context, name, set, 0).then((reply) => Number(reply) === 1);
}

/** Returns permits, as request `number`, so exactly once even if it is sent again after a lost reply. */
function giveBack(
  { server, requests }: LockContext,
  name: string,
  number: number,
  permits: number,
): Promise<unknown> {
  const keys = [name, semaphoreChannel(name), requests.key(name)];
  return server.run(semaphoreReleaseScript, keys, [...requests.args(number), permits]);
}

class PermitAcquisition extends ServerAcquisition<PermitOptions> {
  readonly channel = semaphoreChannel(this.lock);
  readonly choose = chooseByCount;
  readonly ordered = false;
  readonly shared = true;
  readonly demand: number;
  readonly #token: string;
  /** The number of the request that has no reply yet. */
  #request: number | undefined;

  constructor(context: LockContext, name: string, params: AcquireParams<PermitOptions>) {
    super(context, name, params);
    this.#token = context.owners.request();
    this.demand = params.options.permits ?? 1;
  }

  /** After a grant more permits may be left for any waiter; after a refusal, enough for a waiter that wants fewer. */
  passOn(granted: boolean): (waiter: ChannelWaiter) => boolean {
    return granted ? () => true : (waiter) => waiter.demand < this.demand;
  }

  /** A request without a reply is repeated under the same number. */
  async attempt(): Promise<Attempt<HoldHandle>> {
    const { requests } = this.context;
    this.#request ??= requests.open();
    const number = this.#request;
    const reply = await this.take(
      {
        script: semaphoreAcquireScript,
        keys: [this.lock, requests.key(this.lock)],
        args: [...requests.args(number), this.demand],
      },
      () => ({
        granted: (answer) => answer === null,
        undo: () => {
          this.#request = undefined; // It is settled when it is undone.
          return this.#undo(number);
        },
      }),
    );
    this.#settle(number);
    if (reply === null) return { held: this.#held() };
    if (Number(reply) === PERMITS_NOT_SET && !this.params.options.waitForSetup)
      throw new NotSetUp(this.lock, this.owner);
    return { retryInMs: Number(reply) === -3 ? 0 : -1 };
  }

  #held(): HoldHandle {
    const hold = this.hold(elapsed(), {
      token: this.#token,
      leaseMs: Number.POSITIVE_INFINITY,
      renewed: false,
      callbacks: { renewal: () => ({ kind: 'string', keys: [this.lock], token: '' }) },
    });
    const { context, lock, owner, demand } = this;
    const give = numberedRelease(context, lock, owner, (number) => giveBack(context, lock, number, demand));
    return new HoldHandle(hold, {
      release: (_, again) => {
        hold.end();
        return give(again);
      },
      extend: async () => true,
    });
  }

  async abandon(unknown: boolean): Promise<void> {
    const number = this.#request;
    if (number === undefined) return;
    if (!unknown) this.#settle(number);
    else this.#undo(number).catch(() => {});
  }

  #settle(number: number): void {
    this.#request = undefined;
    this.context.requests.settle(number);
  }

  /** Undoes a request, and settles it. If that fails, it goes on in the background, because a permit has no lease. */
  async #undo(number: number): Promise<void> {
    const { server, requests, releases } = this.context;
    const keys = [this.lock, this.channel, requests.key(this.lock)];
    const undo = async (): Promise<boolean> => {
      await server.run(semaphoreUndoScript, keys, [...requests.args(number), this.demand]);
      this.#settle(number);
      return true;
    };
    try {
      await undo();
    } catch (error) {
      releases.goOn(undo, error).catch(() => {});
      throw error;
    }
  }
}
