/** The semaphore: a number of permits in one string, on the key and channel of Redisson's RSemaphore. */
import type { Core } from './core.ts';
import { Held } from './held.ts';
import { Hold } from './hold.ts';
import { latchKey, prefixed } from './keys.ts';
import { type AcquireOptions, Lock, type Wish } from './lock.ts';
import { insist } from './retry.ts';
import {
  semaphoreAcquireScript,
  semaphoreReleaseScript,
  semaphoreSetScript,
  semaphoreUndoScript,
} from './scripts/semaphore.ts';
import { type LockServer, NoReply } from './server.ts';
import { ask, PATIENCE_MS, take } from './taking.ts';
import type { Acquisition, Attempt } from './waiting.ts';
import type { Choose, Waiter } from './wakeups.ts';

/** How long a latch keeps what a request did. */
const LATCH_MS = 60_000;

export interface PermitOptions extends AcquireOptions {
  /** How many permits to take at once. Default 1. */
  permits?: number;
}

export const semaphoreChannel = (name: string): string => prefixed('redisson_sc', name);

/** A message says how many permits came back: so many waiters may find one. */
export const chooseByCount: Choose = (waiters, text) => waiters.slice(0, Math.max(1, Number(text) || 1));

/** Permits without a lease: a holder that dies keeps them. `expirablePermits` is for those who mind. */
export class Semaphore extends Lock<Held, PermitOptions> {
  /** Sets the number of permits, unless it was set before. */
  async trySetPermits(permits: number): Promise<boolean> {
    return setPermits(this.core, this.name, permits);
  }

  /** The permits left. */
  async availablePermits(): Promise<number> {
    const { core, name } = this;
    return Number((await ask(core, name, () => core.server.command(['GET', name]))) ?? 0);
  }

  /** Adds permits to the pool and wakes who waits for them. Not for permits that were acquired: release those. */
  async addPermits(permits: number): Promise<void> {
    const request = this.core.owners.request();
    await giveBack(this.core, this.name, permits, request, undefined);
  }

  protected prepare(wish: Wish<PermitOptions>): Acquisition<Held> {
    const permits = wish.options.permits ?? 1;
    if (!Number.isInteger(permits) || permits < 1)
      throw new RangeError(`${permits} permits are none to take`);
    return new PermitAcquisition(this.core, this.name, wish, permits);
  }
}

/** Sets a number of permits where there is none. */
export function setPermits(core: Core, name: string, permits: number): Promise<boolean> {
  const { server } = core;
  const keys = [name, semaphoreChannel(name)];
  // Not idempotent in its reply: unanswered it is unknown, and the caller has to look.
  const set = (): Promise<unknown> => server.run(semaphoreSetScript, keys, [permits, server.publish]);
  return ask(core, name, set, 0).then((reply) => Number(reply) === 1);
}

/** Gives permits back exactly once, however many answers get lost. */
async function giveBack(
  core: Core,
  name: string,
  permits: number,
  request: string,
  taken: { request: string; unknown: boolean } | undefined,
): Promise<void> {
  const { server } = core;
  const latch = latchKey(name, request);
  const keys = [name, semaphoreChannel(name), latch, latchKey(name, taken?.request ?? request)];
  const args = [permits, LATCH_MS, server.publish, taken?.unknown ? 1 : 0];
  await ask(core, name, async (unanswered) => {
    await server.run(semaphoreReleaseScript, keys, args);
    if (unanswered === 0) server.forget(latch);
  });
}

class PermitAcquisition implements Acquisition<Held> {
  readonly lock: string;
  readonly owner: string;
  readonly servers: readonly LockServer[];
  readonly channel: string;
  readonly choose = chooseByCount;
  readonly ordered = false;
  readonly shared = true;
  readonly demand: number;
  readonly #core: Core;
  readonly #request: string;
  #unknown = false;

  constructor(core: Core, name: string, wish: Wish<PermitOptions>, permits: number) {
    this.#core = core;
    this.#request = core.owners.request();
    this.lock = name;
    this.owner = wish.owner;
    this.servers = [core.server];
    this.channel = semaphoreChannel(name);
    this.demand = permits;
  }

  /** More may be left for the next one; where there were too few, somebody who wants less may be content. */
  passOn(granted: boolean): (waiter: Waiter) => boolean {
    return granted ? () => true : (waiter) => waiter.demand < this.demand;
  }

  async attempt(): Promise<Attempt<Held>> {
    const { server } = this.#core;
    const latch = latchKey(this.lock, this.#request);
    let reply: unknown;
    try {
      reply = await take(this.#core, {
        lock: this.lock,
        owner: this.owner,
        script: semaphoreAcquireScript,
        keys: [this.lock, latch],
        args: [this.demand, LATCH_MS],
        granted: (answer) => answer === null,
        undo: () => this.#undo(),
      });
    } catch (error) {
      if (error instanceof NoReply) this.#unknown = true;
      throw error;
    }
    if (reply !== null) return { retryInMs: -1 };
    // While a copy of the request may be under way, the latch stays and makes it harmless.
    if (!this.#unknown) server.forget(latch);
    return { held: this.#held() };
  }

  #held(): Held {
    const release = this.#core.owners.request();
    const hold = new Hold(
      {
        lock: this.lock,
        owner: this.owner,
        token: this.#request,
        leaseMs: Number.POSITIVE_INFINITY,
        renewed: false,
        servers: this.servers,
        quorum: 1,
        renewal: () => ({ kind: 'string', keys: [this.lock], token: '' }),
      },
      this.#core,
      Date.now(),
    );
    return new Held(hold, {
      release: async () => {
        hold.end();
        const taken = { request: this.#request, unknown: this.#unknown };
        await giveBack(this.#core, this.lock, this.demand, release, taken);
        return true;
      },
      extend: async () => true,
    });
  }

  async abandon(unknown: boolean): Promise<void> {
    if (unknown) this.#undo(true).catch(() => {});
  }

  #undo(background = false): Promise<unknown> {
    const { server } = this.#core;
    const keys = [this.lock, latchKey(this.lock, this.#request), this.channel];
    const args = [this.demand, LATCH_MS, server.publish];
    return insist(() => server.run(semaphoreUndoScript, keys, args), Date.now() + PATIENCE_MS, background);
  }
}
