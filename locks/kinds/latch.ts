/** The count-down latch: closed while its count is above 0, open from then on. */

import { ask } from '../asking/requests.ts';
import { type Acquisition, acquireBy, type Releasable } from '../asking/waiting.ts';
import { LockTimeout } from '../errors.ts';
import type { Core } from '../holding/core.ts';
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
  readonly #core: Core;
  readonly #channel: string;

  /** @internal */
  constructor(core: Core, name: string) {
    check('name', name, text);
    this.#core = core;
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
    const { server } = this.#core;
    const keys = [this.name, this.#channel];
    // A retry would get another reply, so there is none: without a reply the outcome is unknown.
    const set = (): Promise<unknown> => server.run(latchSetScript, keys, [count]);
    return Number(await ask(this.#core, this.name, set, 0)) === 1;
  }

  /** Counts down by one, exactly once even if replies are lost. Resolves to the remaining count. Throws as trySetCount() does. */
  async countDown(): Promise<number> {
    const { server, requests } = this.#core;
    const number = requests.open();
    const keys = [this.name, this.#channel, requests.key(this.name)];
    const down = (): Promise<unknown> => server.run(latchCountDownScript, keys, requests.args(number));
    return Number(await ask(this.#core, this.name, down).finally(() => requests.settle(number)));
  }

  /** The count; 0 when the latch is open. Throws OutcomeUnknown when no reply came, ServerRefused when the server refused. */
  async getCount(): Promise<number> {
    const get = (): Promise<unknown> => this.#core.server.command(['GET', this.name]);
    return Number((await ask(this.#core, this.name, get)) ?? 0);
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
    const owner = this.#core.owners.choose();
    const gate: Acquisition<Releasable> = {
      lock: this.name,
      owner,
      servers: [this.#core.server],
      channel: this.#channel,
      choose: chooseAll,
      ordered: false,
      attempt: async () =>
        Number((await this.#core.server.command(['GET', this.name])) ?? 0) > 0
          ? { retryInMs: -1 }
          : { held: { release: async () => {} } },
      abandon: async () => {},
    };
    const limits = { waitMs, signal, maxSleepMs: this.#core.maxSleepMs };
    const opened = await acquireBy(gate, limits).catch((error: unknown) => {
      throw refusal(this.name, owner, error, signal);
    });
    if (!opened) throw new LockTimeout(this.name, owner, waitMs);
  }
}
