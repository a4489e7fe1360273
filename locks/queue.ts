/** The queue lock: ZooKeeper's recipe, where each waiter watches only its predecessor and a release wakes one. */
import type { Core } from './core.ts';
import { Held } from './held.ts';
import { Hold, type Renewal } from './hold.ts';
import { abandonedKey, prefixed, suffixed } from './keys.ts';
import { Lock, type Wish } from './lock.ts';
import { insist } from './retry.ts';
import { queueLeaveScript, queueVisitScript } from './scripts/queue.ts';
import { type LockServer, NoReply } from './server.ts';
import { MARKER_MS, renewOne } from './simple.ts';
import { take } from './taking.ts';
import type { Acquisition, Attempt } from './waiting.ts';
import { chooseFirst } from './wakeups.ts';

/** Grants in the order of arrival; `fence` is the number drawn, which grows with every grant. */
export class QueueLock extends Lock<Held> {
  protected prepare(wish: Wish): Acquisition<Held> {
    return new QueueAcquisition(this.core, this.name, wish);
  }
}

class QueueAcquisition implements Acquisition<Held> {
  readonly lock: string;
  readonly owner: string;
  readonly servers: readonly LockServer[];
  readonly channel: string;
  readonly choose = chooseFirst;
  readonly ordered = false;
  readonly longestSleepMs: number;
  readonly #core: Core;
  readonly #wish: Wish;
  readonly #id: string;
  readonly #channels: string;
  readonly #queue: string;
  readonly #seen: string;
  #unknown = false;

  constructor(core: Core, name: string, wish: Wish) {
    this.#core = core;
    this.#id = core.owners.token();
    this.#wish = wish;
    this.lock = name;
    this.owner = wish.owner;
    this.servers = [core.server];
    this.#channels = prefixed('lostlock_queue__channel', name);
    this.channel = `${this.#channels}:${this.#id}`;
    this.#queue = prefixed('lostlock_queue', name);
    this.#seen = suffixed(name, 'lostlock_queue_seen');
    this.longestSleepMs = Math.max(1, Math.floor(core.placeMs / 3));
  }

  get #waits(): boolean {
    return (this.#wish.options.waitMs ?? Number.POSITIVE_INFINITY) > 0;
  }

  async attempt(): Promise<Attempt<Held>> {
    const sentAt = Date.now();
    const number = suffixed(this.lock, 'lostlock_queue_number');
    const keys = [this.#queue, this.#seen, number, abandonedKey(this.lock, this.#id)];
    const ttlMs = this.#wish.leaseMs + this.#core.lockDelayMs;
    const args = [this.#id, ttlMs, this.#waits ? this.#core.placeMs : 0];
    try {
      const reply = await take(this.#core, {
        lock: this.lock,
        owner: this.owner,
        script: queueVisitScript,
        keys,
        args,
        granted: (answer) => Number((answer as unknown[])[0]) >= 0,
        undo: () => this.#leave(sentAt + this.#wish.leaseMs),
      });
      const [drawn, left] = (reply as unknown[]).map(Number) as [number, number];
      return drawn >= 0 ? { held: this.#held(sentAt, drawn) } : { retryInMs: left };
    } catch (error) {
      if (error instanceof NoReply) this.#unknown = true;
      throw error;
    }
  }

  #held(sentAt: number, fence: number): Held {
    const { leaseMs, renewed, owner } = this.#wish;
    const renewal: Renewal = { kind: 'place', keys: [this.#seen], token: this.#id };
    const hold = new Hold(
      {
        lock: this.lock,
        owner,
        token: this.#id,
        fence,
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
        return this.#leave(hold.validUntil);
      },
      extend: (ms) => renewOne(this.#core.server, renewal, hold.serverLeaseMs(ms)),
    });
  }

  #leave(validUntil: number, background = false): Promise<boolean> {
    const { server } = this.#core;
    const keys = [this.#queue, this.#seen, abandonedKey(this.lock, this.#id), this.#channels];
    const args = [this.#id, server.publish, this.#unknown ? MARKER_MS : 0];
    return insist(
      async (unanswered) => {
        const reply = Number(await server.run(queueLeaveScript, keys, args));
        return reply === 1 || (unanswered > 0 && Date.now() < validUntil);
      },
      Math.max(validUntil, Date.now() + server.requestTimeoutMs),
      background,
    );
  }

  async abandon(unknown: boolean): Promise<void> {
    if (!this.#waits && !unknown) return;
    const left = this.#leave(Date.now() + this.#core.placeMs, unknown).catch(() => {});
    if (!unknown) await left;
  }
}
