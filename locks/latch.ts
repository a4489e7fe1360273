/** The count-down latch: closed while a count stands, open for good when it has come to nothing. */
import { randomBytes } from 'node:crypto';
import type { Core } from './core.ts';
import { LockTimeout } from './errors.ts';
import { latchKey } from './keys.ts';
import { insist } from './retry.ts';
import { latchCountDownScript, latchSetScript } from './scripts/latch.ts';
import { type Acquisition, acquireBy, type Releasable } from './waiting.ts';
import { chooseAll } from './wakeups.ts';

const LATCH_MS = 60_000;
const PATIENCE_MS = 30_000;

export interface AwaitOptions {
  /** How long to wait, in milliseconds. Default: for ever. */
  waitMs?: number;
  /** Gives up when aborted. */
  signal?: AbortSignal;
}

export class CountDownLatch {
  readonly name: string;
  readonly #core: Core;
  readonly #channel: string;

  constructor(core: Core, name: string) {
    this.#core = core;
    this.name = name;
    this.#channel = `redisson_countdownlatch__channel__{${name}}`;
  }

  /** Closes the latch with a count, unless it is closed. */
  async trySetCount(count: number): Promise<boolean> {
    if (!Number.isInteger(count) || count < 1)
      throw new RangeError(`a latch cannot count down from ${count}`);
    const { server } = this.#core;
    const reply = await server.run(latchSetScript, [this.name, this.#channel], [count, server.publish]);
    return Number(reply) === 1;
  }

  /** Counts down by one, exactly once however many answers get lost. Gives the count that remains. */
  async countDown(): Promise<number> {
    const { server } = this.#core;
    const latch = latchKey(this.name, randomBytes(12).toString('base64url'));
    return insist(async (unanswered) => {
      const keys = [this.name, this.#channel, latch];
      const left = Number(await server.run(latchCountDownScript, keys, [server.publish, LATCH_MS]));
      if (unanswered === 0) server.forget(latch);
      return left;
    }, Date.now() + PATIENCE_MS);
  }

  /** The count; 0 when open. */
  async getCount(): Promise<number> {
    return Number((await this.#core.server.command(['GET', this.name])) ?? 0);
  }

  /** Waits until the latch is open. Throws LockTimeout after `waitMs`. */
  async await({ waitMs = Number.POSITIVE_INFINITY, signal }: AwaitOptions = {}): Promise<void> {
    const owner = this.#core.owners.choose();
    const gate: Acquisition<Releasable> = {
      lock: this.name,
      owner,
      servers: [this.#core.server],
      channel: this.#channel,
      choose: chooseAll,
      ordered: false,
      attempt: async () =>
        (await this.getCount()) > 0 ? { retryInMs: -1 } : { held: { release: async () => {} } },
      abandon: async () => {},
    };
    const opened = await acquireBy(gate, { waitMs, signal, maxSleepMs: this.#core.maxSleepMs });
    if (!opened) throw new LockTimeout(this.name, owner, waitMs);
  }
}
