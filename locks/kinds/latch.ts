/** The count-down latch: closed while its count is above 0, open from then on. */

import { ask } from '../asking/requests.ts';
import { type Acquisition, acquireBy, type Releasable } from '../asking/waiting.ts';
import { LockTimeout } from '../errors.ts';
import type { LockContext } from '../holding/context.ts';
import { type AllowedOptions, abortSignal, check, checkOptions, count, millis, text } from '../options.ts';
import { latchCountDownScript, latchSetScript } from '../scripts/latch.ts';
import { refusal } from '../server/refusal.ts';
import { chooseAll } from '../server/wakeups.ts';

/** Options of `CountDownLatch.await`. */
export interface AwaitOptions {
  /** How long to wait, in milliseconds. Default: forever. */
  waitMs?: number;
  /** Gives up, with the signal's reason, when aborted. */
  signal?: AbortSignal;
}

const AT_LEAST_ONE = count(1);
const AWAIT_RULES: AllowedOptions = { waitMs: millis(0, true), signal: abortSignal };

/** Compatible with Redisson's RCountDownLatch. */
export class CountDownLatch {
  /** The latch's name. */
  readonly name: string;
  readonly #context: LockContext;
  readonly #channel: string;

  /** @internal */
  constructor(context: LockContext, name: string) {
    check('name', name, text);
    this.#context = context;
    this.name = name;
    this.#channel = `redisson_countdownlatch__channel__{${name}}`;
  }

  /**
   * Sets the count; false when the latch is closed already.
   * @param count an integer of 1 or more
   * @throws TypeError for a wrong count, OutcomeUnknown when no reply came, ServerRefused when the server refused
   */
  async trySetCount(count: number): Promise<boolean> {
    check('trySetCount', count, AT_LEAST_ONE);
    const { server } = this.#context;
    const keys = [this.name, this.#channel];
    // A retry would get another reply, so there is none: without a reply the outcome is unknown.
    const set = (): Promise<unknown> => server.run(latchSetScript, keys, [count]);
    return Number(await ask(this.#context, this.name, set, 0)) === 1;
  }

  /** Counts down by one, exactly once even if replies are lost. Resolves to the remaining count. Throws as trySetCount() does. */
  async countDown(): Promise<number> {
    const { server, requests } = this.#context;
    const number = requests.open();
    const keys = [this.name, this.#channel, requests.key(this.name)];
    const down = (): Promise<unknown> => server.run(latchCountDownScript, keys, requests.args(number));
    return Number(await ask(this.#context, this.name, down).finally(() => requests.settle(number)));
  }

  /** The count; 0 when the latch is open. Throws OutcomeUnknown when no reply came, ServerRefused when the server refused. */
  async getCount(): Promise<number> {
    const get = (): Promise<unknown> => this.#context.server.command(['GET', this.name]);
    return Number((await ask(this.#context, this.name, get)) ?? 0);
  }

  /**
   * Waits until the latch is open.
   * @throws TypeError for a wrong option, LockTimeout after `waitMs`, the signal's reason when aborted, OutcomeUnknown when no
   *   reply came, ServerRefused when the server refused, ClientUnusable when the client cannot send commands, LocksClosed
   *   after `Locks.close()`
   */
  async await(options: AwaitOptions = {}): Promise<void> {
    checkOptions('await', options, AWAIT_RULES);
    const { waitMs = Number.POSITIVE_INFINITY, signal } = options;
    const owner = this.#context.owners.choose();
    const gate: Acquisition<Releasable> = {
      lock: this.name,
      owner,
      servers: [this.#context.server],
      channel: this.#channel,
      choose: chooseAll,
      ordered: false,
      attempt: async () =>
        Number((await this.#context.server.command(['GET', this.name])) ?? 0) > 0
          ? { retryInMs: -1 }
          : { held: { release: async () => {} } },
      abandon: async () => {},
    };
    const limits = { waitMs, signal, maxSleepMs: this.#context.maxSleepMs };
    const opened = await acquireBy(gate, limits).catch((error: unknown) => {
      throw refusal(this.name, owner, error, signal);
    });
    if (!opened) throw new LockTimeout(this.name, owner, waitMs);
  }
}
