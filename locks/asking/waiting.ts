/**
 * How every lock waits: check the lock, subscribe to its channel, check again, then sleep until a message arrives, the
 * holder's lease ends or the longest sleep is over, and check again. A waiter that gives up leaves nothing behind on
 * the server.
 */
import { LocksClosed, OutcomeUnknown, ServerRefused } from '../errors.ts';
import { type HeldLock, HoldHandle } from '../holding/hold-handle.ts';
import { NoReply } from '../server/outcomes.ts';
import { isTransient, pauseMs } from '../server/retry.ts';
import type { LockServer } from '../server/server.ts';
import type { Channel, ChannelWaiter, Choose, Successor } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';
import { CallbackDeadline } from '../timing/deadlines.ts';

/**
 * The outcome of one check: the lock, or in how many milliseconds it may be free without a message (-1: unknown). With
 * `ignoresMessages`, messages do not shorten that time.
 */
export type Attempt<H> = { held: H } | { retryInMs: number; ignoresMessages?: boolean };

export interface Acquisition<H extends Releasable = HeldLock> {
  /** The lock's name. */
  readonly lock: string;
  readonly owner: string;
  readonly servers: readonly LockServer[];
  /** The channel on which releases of the lock are published. */
  readonly channel: string;
  readonly choose: Choose;
  /** True when the waiters of this process form a queue, in which only the first one checks the lock. */
  readonly ordered: boolean;
  /**
   * True when the reply to a release says how many connections received its message. The lock can then be handed over
   * within the process without starving other processes.
   */
  readonly handsOver?: boolean;
  /** This acquisition, if a holder in the same process can hand the lock over to it. */
  readonly successor?: Successor | undefined;
  /** How many servers' channels must be subscribed before the second check; default all. */
  readonly quorum?: number;
  readonly demand?: number;
  readonly shared?: boolean;
  /** A waiter checks the lock at least this often, in milliseconds. */
  readonly longestSleepMs?: number | undefined;
  /**
   * Asks for the lock. Idempotent: asking again after a lost reply gives the same lock.
   * @param now the time on the monotonic clock
   */
  attempt(now: number): Promise<Attempt<H>>;
  /** Called when the caller gets what was acquired: there are no more attempts. */
  taken?(): void;
  /** A check failed with this error and may be repeated. */
  onTransientError?(error: unknown): void;
  /**
   * Undoes what attempts may have done. Never rejects.
   * @param unknown true when some attempt got no reply, or a reply that came too late
   */
  abandon(unknown: boolean): Promise<void>;
  /**
   * Called after a check that a notification caused. Returns which other waiters to pass the notification on to, if
   * any.
   */
  passOn?(granted: boolean): ((waiter: ChannelWaiter) => boolean) | undefined;
  /** When the lock could not be acquired: an error that says more than a time-out. */
  failureReason?(): Error | undefined;
}

/** The parts of a held lock that waiting needs. */
export interface Releasable {
  release(): Promise<void>;
  /** Throws when the lock is no longer held. */
  assertHeld?(): void;
}

/** How long to wait. Times are in milliseconds. */
export interface WaitLimits {
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
  /** The longest sleep between two checks, in case a message is lost. */
  readonly maxSleepMs: number;
}

/** A lock that was acquired, and how long that took. */
export interface Acquired<H> {
  held: H;
  /** When the acquisition began, on the monotonic clock. */
  startedAt: number;
  attempts: number;
}

/** How often an acquisition that must not wait repeats a request without a reply, to find out what the request did. */
const READ_BACKS = 2;

/**
 * Acquires the lock, or resolves to null when it was not free in time. Rejects with the signal's reason when aborted.
 */
export function acquireBy<H extends Releasable>(
  acquisition: Acquisition<H>,
  limits: WaitLimits,
): Promise<Acquired<H> | null> {
  return new PendingAcquisition(acquisition, limits).run();
}

function isLive(held: Releasable): boolean {
  try {
    held.assertHeld?.();
    return true;
  } catch {
    return false;
  }
}

class PendingAcquisition<H extends Releasable> implements ChannelWaiter {
  readonly demand: number;
  readonly shared: boolean;
  woken = false;
  readonly #acquisition: Acquisition<H>;
  readonly #limits: WaitLimits;
  readonly #startedAt = elapsed();
  readonly #deadline: number;
  #attempts = 0;
  #failures = 0;
  /** How many grants in a row were over when their reply was read. */
  #expiredGrants = 0;
  #unknown = false;
  #lastError: unknown;
  #retryInMs = 0;
  #ignoresMessages = false;
  #wakeUp: (() => void) | undefined;
  /** The attempt that was under way when the signal was aborted. */
  #unfinished: Promise<Attempt<H>> | undefined;

  constructor(acquisition: Acquisition<H>, limits: WaitLimits) {
    this.#acquisition = acquisition;
    this.#limits = limits;
    this.#deadline = this.#startedAt + limits.waitMs;
    this.demand = acquisition.demand ?? 1;
    this.shared = acquisition.shared ?? false;
  }

  get owner(): string {
    return this.#acquisition.owner;
  }

  get successor(): Successor | undefined {
    return this.#acquisition.successor;
  }

  look(): void {
    this.#wakeUp?.();
  }

  /** Makes a first check without a subscription, because most locks are free. */
  run(): Promise<Acquired<H> | null> {
    const { signal, waitMs } = this.#limits;
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (waitMs > 0 && this.#hasLine()) return this.#continueAfterFirstLook();
    return this.#attempt(this.#startedAt).then(
      (attempt) => {
        const held = this.#seen(attempt);
        return held && !signal?.aborted ? this.#take(held) : this.#continueAfterFirstLook(held);
      },
      (error: unknown) => this.#continueAfterFirstLook(null, error),
    );
  }

  /** Continues after a first check that got no lock, got it too late, or was skipped. */
  async #continueAfterFirstLook(seen: H | null = null, error?: unknown): Promise<Acquired<H> | null> {
    const { signal, waitMs } = this.#limits;
    try {
      if (seen) return await this.#refuse(seen);
      if (error !== undefined) this.#missed(error);
      else signal?.throwIfAborted();
      const held = await (waitMs > 0 ? this.#wait() : this.#readBack());
      if (held) return signal?.aborted ? await this.#refuse(held) : this.#take(held);
    } catch (failure) {
      await this.#giveUp();
      throw failure;
    }
    await this.#giveUp();
    if (this.#lastError === undefined) return null;
    const { lock, owner } = this.#acquisition;
    const Kind = this.#lastError instanceof NoReply ? OutcomeUnknown : ServerRefused;
    throw new Kind(lock, owner, this.#lastError);
  }

  /** True when a check is useless: other waiters of this process are in front, or one of them holds the lock. */
  #hasLine(): boolean {
    const { servers, channel, ordered } = this.#acquisition;
    const known = ordered ? servers[0]!.wakeups.peek(channel) : undefined;
    return known !== undefined && (known.waiters.length > 0 || known.isHeld);
  }

  /** Checks the lock once; null when it is not free. */
  #look(): Promise<H | null> {
    return this.#attempt(elapsed()).then(
      (attempt) => this.#seen(attempt),
      (error: unknown) => this.#missed(error),
    );
  }

  /** Makes one attempt. Rejects with the signal's reason as soon as it is aborted. */
  #attempt(now: number): Promise<Attempt<H>> {
    for (const { wakeups } of this.#acquisition.servers) {
      if (wakeups.closed)
        return Promise.reject(new LocksClosed(this.#acquisition.lock, this.#acquisition.owner));
    }
    this.#attempts++;
    this.#ignoresMessages = false;
    const attempt = this.#acquisition.attempt(now);
    return this.#limits.signal ? this.#unlessAborted(attempt, this.#limits.signal) : attempt;
  }

  #seen(attempt: Attempt<H>): H | null {
    this.#lastError = undefined;
    this.#failures = 0;
    if ('held' in attempt) {
      if (isLive(attempt.held)) return attempt.held;
      // The reply was read so late that its lease is over, so there is no lock to return. If replies take longer than a
      // lease, this repeats, with ever longer pauses. The grant is released only at the end: a release that is sent
      // again and again could undo what the next check is granted.
      this.#retryInMs = pauseMs(++this.#expiredGrants);
      this.#ignoresMessages = true;
      this.#unknown = true;
    } else {
      this.#expiredGrants = 0;
      this.#retryInMs = attempt.retryInMs;
      this.#ignoresMessages = attempt.ignoresMessages ?? false;
    }
    return null;
  }

  /** Throws errors that a retry does not fix. */
  #missed(error: unknown): null {
    if (!isTransient(error)) throw error;
    if (error instanceof NoReply) this.#unknown = true;
    this.#acquisition.onTransientError?.(error);
    this.#lastError = error;
    this.#retryInMs = pauseMs(++this.#failures);
    return null;
  }

  /** Settles as the attempt does, or rejects with the signal's reason as soon as it is aborted. */
  #unlessAborted(attempt: Promise<Attempt<H>>, signal: AbortSignal): Promise<Attempt<H>> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#unfinished = attempt;
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort);
      attempt.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  async #readBack(): Promise<H | null> {
    for (let tries = 0; tries < READ_BACKS && this.#lastError !== undefined; tries++) {
      await this.#sleep(this.#retryInMs);
      this.#limits.signal?.throwIfAborted();
      const held = await this.#look();
      if (held) return held;
    }
    return null;
  }

  async #wait(): Promise<H | null> {
    const { servers, channel, choose } = this.#acquisition;
    const channels = servers.map((server) => server.wakeups.join(channel, choose, this));
    const onAbort = (): void => this.#wakeUp?.();
    this.#limits.signal?.addEventListener('abort', onAbort);
    let granted = false;
    try {
      const early = channels.some(({ isReady }) => !isReady) ? await this.#untilReady(channels) : null;
      const held = early ?? (await this.#lookUntilDeadline(channels[0]!));
      granted = held !== null;
      if (this.#acquisition.handsOver && held instanceof HoldHandle) {
        for (const each of channels) each.holder = held.hold;
      }
      return held;
    } finally {
      this.#limits.signal?.removeEventListener('abort', onAbort);
      const wasFirst = channels[0]!.waiters[0] === this;
      for (const [index, each] of channels.entries()) servers[index]!.wakeups.leave(each, this);
      // The waiter that is now first has never checked the lock and does not know when its lease ends.
      if (wasFirst && !granted && this.#acquisition.ordered) channels[0]!.lookAgain();
    }
  }

  /**
   * Waits for the subscriptions, but not beyond the deadline. With a quorum of them, a release by a majority is heard
   * on one at least. A waiter that is notified before that checks the lock, because it may have been handed over to this
   * waiter.
   */
  async #untilReady(channels: readonly Channel[]): Promise<H | null> {
    let missing = this.#acquisition.quorum ?? channels.length;
    let settled = false;
    for (const { ready } of channels) {
      void ready.then(() => {
        if (--missing > 0) return;
        settled = true;
        this.#wakeUp?.();
      });
    }
    await Promise.resolve();
    while (!settled && elapsed() < this.#deadline && !this.#limits.signal?.aborted) {
      if (!this.woken) await this.#sleep(this.#deadline - elapsed());
      else {
        const held = await this.#lookFrom(channels[0]!);
        if (held) return held;
      }
    }
    return null;
  }

  async #lookUntilDeadline(channel: Channel): Promise<H | null> {
    const { ordered } = this.#acquisition;
    for (let mayLook = !ordered || !channel.isHeld; ; mayLook = true) {
      this.#limits.signal?.throwIfAborted();
      if (!ordered || this.woken || (mayLook && channel.waiters[0] === this)) {
        const held = await this.#lookFrom(channel);
        if (held) return held;
      } else {
        this.#retryInMs = -1;
        this.#ignoresMessages = false;
      }
      const left = this.#deadline - elapsed();
      if (left <= 0) return null;
      const fallbackMs = Math.min(
        this.#limits.maxSleepMs,
        this.#acquisition.longestSleepMs ?? Number.POSITIVE_INFINITY,
      );
      const freeInMs = this.#retryInMs < 0 ? fallbackMs : this.#retryInMs + 1;
      const ms = Math.min(freeInMs, fallbackMs, left);
      if (this.#ignoresMessages) await this.#sleepThrough(ms);
      else if (!this.woken) await this.#sleep(ms);
    }
  }

  /** Checks the lock, and notifies other waiters that may now get it. */
  async #lookFrom(channel: Channel): Promise<H | null> {
    const { woken } = this;
    this.woken = false;
    const held = await this.#look().catch((error: unknown) => {
      this.woken ||= woken; // leave() passes the notification on.
      throw error;
    });
    const condition = this.#acquisition.passOn?.(held !== null);
    if (condition && (woken || held)) channel.passOn((other) => other !== this && condition(other));
    return held;
  }

  /** Sleeps the full time in spite of messages, unless aborted. */
  async #sleepThrough(ms: number): Promise<void> {
    const end = elapsed() + ms;
    do await this.#sleep(end - elapsed());
    while (elapsed() < end && !this.#limits.signal?.aborted);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const { sleeps } = this.#acquisition.servers[0]!.wakeups;
      const end = new CallbackDeadline(elapsed() + Math.max(0, ms), () => this.#wakeUp?.());
      this.#wakeUp = () => {
        sleeps.remove(end);
        this.#wakeUp = undefined;
        resolve();
      };
      sleeps.add(end);
    });
  }

  /** Releases a lock that was granted after the abort. */
  async #refuse(held: H): Promise<never> {
    await held.release().catch(() => {});
    throw this.#limits.signal?.reason;
  }

  #take(held: H): Acquired<H> {
    const { handsOver, servers, channel } = this.#acquisition;
    this.#acquisition.taken?.();
    if (handsOver && held instanceof HoldHandle) held.hold.notifyOnEnd(servers[0]!.wakeups, channel);
    return { held, startedAt: this.#startedAt, attempts: this.#attempts };
  }

  async #giveUp(): Promise<void> {
    if (this.#unfinished) void this.#giveUpLater(this.#unfinished);
    else await this.#acquisition.abandon(this.#unknown);
  }

  /** Waits for the reply to an aborted request, and releases what it was granted. */
  async #giveUpLater(unfinished: Promise<Attempt<H>>): Promise<void> {
    try {
      const attempt = await unfinished;
      if ('held' in attempt) await attempt.held.release();
    } catch (error) {
      if (isTransient(error)) this.#unknown = true;
      this.#acquisition.onTransientError?.(error);
    }
    await this.#acquisition.abandon(this.#unknown);
  }
}
