/** The semaphore: a number of permits in one string, on the key and channel of Redisson's RSemaphore. */
import { randomBytes } from 'node:crypto';
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
import type { Acquisition, Attempt } from './waiting.ts';
import type { Choose, Waiter } from './wakeups.ts';

/** How long a latch keeps what a request did. */
const LATCH_MS = 60_000;
/** For how long an unanswered release goes on asking. */
const PATIENCE_MS = 30_000;

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
    const { server } = this.core;
    const keys = [this.name, semaphoreChannel(this.name)];
    return Number(await server.run(semaphoreSetScript, keys, [permits, server.publish])) === 1;
  }

  /** The permits left. */
  async availablePermits(): Promise<number> {
    return Number((await this.core.server.command(['GET', this.name])) ?? 0);
  }

  /** Adds permits to the pool and wakes who waits for them. Not for permits that were acquired: release those. */
  async addPermits(permits: number): Promise<void> {
    const request = randomBytes(12).toString('base64url');
    await giveBack(this.core.server, this.name, permits, request, undefined);
  }

  protected prepare(wish: Wish<PermitOptions>): Acquisition<Held> {
    const permits = wish.options.permits ?? 1;
    if (!Number.isInteger(permits) || permits < 1)
      throw new RangeError(`${permits} permits are none to take`);
    return new PermitAcquisition(this.core, this.name, wish, permits);
  }
}

/** Gives permits back exactly once, however many answers get lost. */
async function giveBack(
  server: LockServer,
  name: string,
  permits: number,
  request: string,
  taken: { request: string; unknown: boolean } | undefined,
): Promise<void> {
  const latch = latchKey(name, request);
  const keys = [name, semaphoreChannel(name), latch, latchKey(name, taken?.request ?? request)];
  const args = [permits, LATCH_MS, server.publish, taken?.unknown ? 1 : 0];
  await insist(async (unanswered) => {
    await server.run(semaphoreReleaseScript, keys, args);
    if (unanswered === 0) server.forget(latch);
  }, Date.now() + PATIENCE_MS);
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
  readonly #request = randomBytes(12).toString('base64url');
  #unknown = false;

  constructor(core: Core, name: string, wish: Wish<PermitOptions>, permits: number) {
    this.#core = core;
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
      reply = await server.run(semaphoreAcquireScript, [this.lock, latch], [this.demand, LATCH_MS]);
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
    const { server } = this.#core;
    const release = randomBytes(12).toString('base64url');
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
        await giveBack(server, this.lock, this.demand, release, taken);
        return true;
      },
      extend: async () => true,
    });
  }

  async abandon(unknown: boolean): Promise<void> {
    if (!unknown) return;
    const { server } = this.#core;
    const keys = [this.lock, latchKey(this.lock, this.#request), this.channel];
    insist(
      () => server.run(semaphoreUndoScript, keys, [this.demand, LATCH_MS, server.publish]),
      Date.now() + PATIENCE_MS,
      true,
    ).catch(() => {});
  }
}
