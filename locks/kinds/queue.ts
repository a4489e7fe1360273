/** The queue lock, ZooKeeper's recipe: each waiter watches only its predecessor, and a release notifies one waiter. */
import { ServerAcquisition } from '../asking/acquisition.ts';
import { type AcquireParams, Lock } from '../asking/lock.ts';
import { type RetryOptions, releaseUntilAnswered } from '../asking/requests.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import type { LockContext } from '../holding/context.ts';
import type { FencedHold, HeldLock, HoldHandle } from '../holding/hold-handle.ts';
import { abandonedKey, prefixed, suffixed } from '../keys.ts';
import { queueLeaveScript, queueVisitScript } from '../scripts/queue.ts';
import { chooseFirst } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';

/** Granted in order of arrival. `fence` is the waiter's number in the queue, which grows with every grant. */
export class QueueLock extends Lock<FencedHold> {
  /** @internal */
  protected prepare(params: AcquireParams): Acquisition<FencedHold> {
    // Each of its holds has a fence, which the type does not know.
    const acquisition: Acquisition<HeldLock> = new QueueAcquisition(this.context, this.name, params);
    return acquisition as Acquisition<FencedHold>;
  }
}

class QueueAcquisition extends ServerAcquisition {
  readonly channel: string;
  readonly choose = chooseFirst;
  readonly ordered = false;
  readonly longestSleepMs: number;
  readonly #id: string;
  readonly #channels: string;
  readonly #queue: string;
  readonly #seen: string;

  constructor(context: LockContext, name: string, params: AcquireParams) {
    super(context, name, params);
    this.#id = context.owners.token();
    this.#channels = prefixed('lostlock_queue__channel', name);
    this.channel = `${this.#channels}:${this.#id}`;
    this.#queue = prefixed('lostlock_queue', name);
    this.#seen = suffixed(name, 'lostlock_queue_seen');
    this.longestSleepMs = Math.max(1, Math.floor(context.placeMs / 3));
  }

  async attempt(): Promise<Attempt<HoldHandle>> {
    const sentAt = elapsed();
    const number = suffixed(this.lock, 'lostlock_queue_number');
    const reply = await this.take(
      {
        script: queueVisitScript,
        keys: [this.#queue, this.#seen, number, abandonedKey(this.lock, this.#id)],
        args: [this.#id, this.ttlMs, this.waits ? this.context.placeMs : 0],
      },
      () => ({
        granted: (answer) => Number((answer as unknown[])[0]) >= 0,
        undo: () => this.#leave(sentAt + this.params.leaseMs),
      }),
    );
    const [drawn, left] = (reply as unknown[]).map(Number) as [number, number];
    if (drawn < 0) return { retryInMs: left };
    const renewal = { kind: 'place', keys: [this.#seen], token: this.#id } as const;
    return { held: this.held(sentAt, renewal, (...args) => this.#leave(...args), drawn) };
  }

  #leave(validUntil: number, how?: RetryOptions): Promise<boolean> {
    const { server } = this.context;
    const keys = [this.#queue, this.#seen, abandonedKey(this.lock, this.#id), this.#channels];
    const args = [this.#id, this.markerMs];
    const leave = (): Promise<unknown> => server.run(queueLeaveScript, keys, args);
    return releaseUntilAnswered(server, leave, (reply) => Number(reply) === 1, validUntil, how);
  }

  async abandon(unknown: boolean): Promise<void> {
    if (!this.waits && !unknown) return;
    const left = this.#leave(elapsed() + this.context.placeMs, { background: unknown }).catch(() => {});
    if (!unknown) await left;
  }
}
