/** A semaphore whose permits have leases, on the keys of Redisson's RPermitExpirableSemaphore; and a lock of one permit. */
import { ServerAcquisition } from '../asking/acquisition.ts';
import { type AcquireParams, Lock } from '../asking/lock.ts';
import { ask, type RetryOptions, releaseUntilAnswered } from '../asking/requests.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import { NotSetUp } from '../errors.ts';
import type { LockContext } from '../holding/context.ts';
import type { HoldHandle } from '../holding/hold-handle.ts';
import { abandonedKey, suffixed } from '../keys.ts';
import { permitAcquireScript, permitCountScript, permitReleaseScript } from '../scripts/permits.ts';
import type { ChannelWaiter } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';
import {
  chooseByCount,
  PERMITS_NOT_SET,
  SET_UP_RULES,
  type SetUpOptions,
  semaphoreChannel,
  setPermits,
} from './semaphore.ts';

/**
 * Permits with an id and a lease each: a permit whose lease ends is free again. Acquisitions throw NotSetUp when
 * `trySetPermits` was never called.
 */
export class ExpirablePermits extends Lock<HoldHandle, SetUpOptions> {
  /** The number of permits when none was set. */
  readonly #initial: number;

  /** @internal */
  constructor(context: LockContext, name: string, initial = 0) {
    super(context, name, initial > 0 ? undefined : SET_UP_RULES);
    this.#initial = initial;
  }

  /** Sets the number of permits, 0 or more; false when it was set before. Throws OutcomeUnknown when no reply came. */
  async trySetPermits(permits: number): Promise<boolean> {
    return setPermits(this.context, this.name, permits);
  }

  /**
   * The number of free permits, including those whose lease has ended. Throws OutcomeUnknown when no reply came, ServerRefused
   * when the server refused.
   */
  async availablePermits(): Promise<number> {
    const { context, name } = this;
    const count = (): Promise<unknown> => context.server.run(permitCountScript, permitKeys(name), []);
    return Number(await ask(context, name, count));
  }

  /** @internal */
  protected prepare(params: AcquireParams<SetUpOptions>): Acquisition<HoldHandle> {
    return new ExpirableAcquisition(this.context, this.name, params, this.#initial);
  }
}

/** A lock that even its holder cannot acquire again. */
export class NonReentrantLock extends ExpirablePermits {
  /** @internal */
  constructor(context: LockContext, name: string) {
    super(context, name, 1);
  }
}

const permitKeys = (name: string): string[] => [name, suffixed(name, 'timeout'), semaphoreChannel(name)];

class ExpirableAcquisition extends ServerAcquisition<SetUpOptions> {
  readonly channel = semaphoreChannel(this.lock);
  readonly choose = chooseByCount;
  readonly ordered: boolean;
  readonly shared = true;
  readonly #initial: number;
  readonly #id: string;

  constructor(context: LockContext, name: string, params: AcquireParams<SetUpOptions>, initial: number) {
    super(context, name, params);
    this.#id = context.owners.token();
    this.#initial = initial;
    this.ordered = initial === 1;
  }

  passOn(granted: boolean): ((waiter: ChannelWaiter) => boolean) | undefined {
    return granted && !this.ordered ? () => true : undefined;
  }

  async attempt(): Promise<Attempt<HoldHandle>> {
    const sentAt = elapsed();
    const reply = await this.take(
      {
        script: permitAcquireScript,
        keys: this.#keys(),
        args: [this.#id, this.ttlMs, this.#initial],
      },
      () => ({
        granted: (answer) => answer === null,
        undo: () => this.#giveBack(sentAt + this.params.leaseMs),
      }),
    );
    if (Number(reply ?? 0) === PERMITS_NOT_SET && !this.params.options.waitForSetup) {
      throw new NotSetUp(this.lock, this.owner);
    }
    if (reply !== null) return { retryInMs: Number(reply) };
    const keys = [suffixed(this.lock, 'timeout'), this.lock];
    const renewal = { kind: 'permit', keys, token: this.#id } as const;
    return { held: this.held(sentAt, renewal, (...args) => this.#giveBack(...args)) };
  }

  #keys(): string[] {
    return [...permitKeys(this.lock), abandonedKey(this.lock, this.#id)];
  }

  #giveBack(validUntil: number, how?: RetryOptions): Promise<boolean> {
    const { server } = this.context;
    const args = [this.#id, this.markerMs];
    const giveBack = (): Promise<unknown> => server.run(permitReleaseScript, this.#keys(), args);
    return releaseUntilAnswered(server, giveBack, (reply) => Number(reply) === 1, validUntil, how);
  }

  async abandon(unknown: boolean): Promise<void> {
    if (unknown) this.#giveBack(elapsed() + this.params.leaseMs, { background: true }).catch(() => {});
  }
}
