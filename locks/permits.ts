/** Permits with a lease each, on the keys of Redisson's RPermitExpirableSemaphore; and the lock made of one permit. */
import type { Core } from './core.ts';
import { Held } from './held.ts';
import { Hold, type Renewal } from './hold.ts';
import { abandonedKey, suffixed } from './keys.ts';
import { Lock, type Wish } from './lock.ts';
import { insist } from './retry.ts';
import { permitAcquireScript, permitCountScript, permitReleaseScript } from './scripts/permits.ts';
import { chooseByCount, semaphoreChannel, setPermits } from './semaphore.ts';
import { type LockServer, NoReply } from './server.ts';
import { MARKER_MS, renewOne } from './simple.ts';
import { ask, take } from './taking.ts';
import type { Acquisition, Attempt } from './waiting.ts';
import type { Waiter } from './wakeups.ts';

/** A number of permits; each is known by its id and returns by itself when its lease ends. */
export class ExpirablePermits extends Lock<Held> {
  /** Permits to begin with where none were ever set. */
  protected readonly initial: number = 0;

  /** Sets the number of permits, unless it was set before. */
  async trySetPermits(permits: number): Promise<boolean> {
    return setPermits(this.core, this.name, permits);
  }

  /** The permits left, expired ones included. */
  async availablePermits(): Promise<number> {
    const { core, name } = this;
    const count = (): Promise<unknown> =>
      core.server.run(permitCountScript, permitKeys(name), [core.server.publish]);
    return Number(await ask(core, name, count));
  }

  protected prepare(wish: Wish): Acquisition<Held> {
    return new ExpirableAcquisition(this.core, this.name, wish, this.initial);
  }
}

/** Excludes everybody, its own holder too. */
export class NonReentrantLock extends ExpirablePermits {
  protected override readonly initial = 1;
}

const permitKeys = (name: string): string[] => [name, suffixed(name, 'timeout'), semaphoreChannel(name)];

class ExpirableAcquisition implements Acquisition<Held> {
  readonly lock: string;
  readonly owner: string;
  readonly servers: readonly LockServer[];
  readonly channel: string;
  readonly choose = chooseByCount;
  readonly ordered: boolean;
  readonly shared = true;
  readonly #core: Core;
  readonly #wish: Wish;
  readonly #initial: number;
  readonly #id: string;
  #unknown = false;

  constructor(core: Core, name: string, wish: Wish, initial: number) {
    this.#core = core;
    this.#id = core.owners.token();
    this.#wish = wish;
    this.#initial = initial;
    this.lock = name;
    this.owner = wish.owner;
    this.servers = [core.server];
    this.channel = semaphoreChannel(name);
    this.ordered = initial === 1;
  }

  passOn(granted: boolean): ((waiter: Waiter) => boolean) | undefined {
    return granted && !this.ordered ? () => true : undefined;
  }

  async attempt(): Promise<Attempt<Held>> {
    const { server, lockDelayMs } = this.#core;
    const sentAt = Date.now();
    const keys = [...permitKeys(this.lock), abandonedKey(this.lock, this.#id)];
    const args = [server.publish, this.#id, this.#wish.leaseMs + lockDelayMs, this.#initial];
    try {
      const reply = await take(this.#core, {
        lock: this.lock,
        owner: this.owner,
        script: permitAcquireScript,
        keys,
        args,
        granted: (answer) => answer === null,
        undo: () => this.#giveBack(sentAt + this.#wish.leaseMs),
      });
      return reply === null ? { held: this.#held(sentAt) } : { retryInMs: Number(reply) };
    } catch (error) {
      if (error instanceof NoReply) this.#unknown = true;
      throw error;
    }
  }

  #held(sentAt: number): Held {
    const { leaseMs, renewed, owner } = this.#wish;
    const renewal: Renewal = {
      kind: 'permit',
      keys: [suffixed(this.lock, 'timeout'), this.lock],
      token: this.#id,
    };
    const hold = new Hold(
      {
        lock: this.lock,
        owner,
        token: this.#id,
        leaseMs,
        renewed,
        servers: this.servers,
        quorum: 1,
        renewal: () => renewal,
      },
      this.#core,
      sentAt,
    );
    return new Held(hold, {
      release: () => {
        hold.end();
        return this.#giveBack(hold.validUntil);
      },
      extend: (ms) => renewOne(this.#core.server, renewal, hold.serverLeaseMs(ms)),
    });
  }

  #giveBack(validUntil: number, background = false): Promise<boolean> {
    const { server } = this.#core;
    const keys = [...permitKeys(this.lock), abandonedKey(this.lock, this.#id)];
    const args = [server.publish, this.#id, this.#unknown ? MARKER_MS : 0];
    return insist(
      async (unanswered) => {
        const reply = Number(await server.run(permitReleaseScript, keys, args));
        return reply === 1 || (unanswered > 0 && Date.now() < validUntil);
      },
      Math.max(validUntil, Date.now() + server.requestTimeoutMs),
      background,
    );
  }

  async abandon(unknown: boolean): Promise<void> {
    if (unknown) this.#giveBack(Date.now() + this.#wish.leaseMs, true).catch(() => {});
  }
}
