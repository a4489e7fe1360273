/** Runs scripts one by one on a real server, with a subscriber, so that probes can check what each script does. */

import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { fairAcquireScript, fairLeaveScript, fairReleaseScript } from '../../../locks/scripts/fair.ts';
import { fencedAcquireScript } from '../../../locks/scripts/fenced.ts';
import { latchCountDownScript, latchSetScript } from '../../../locks/scripts/latch.ts';
import {
  permitAcquireScript,
  permitCountScript,
  permitReleaseScript,
} from '../../../locks/scripts/permits.ts';
import { queueLeaveScript, queueVisitScript } from '../../../locks/scripts/queue.ts';
import {
  readAcquireScript,
  readReleaseScript,
  writeAcquireScript,
  writeReleaseScript,
} from '../../../locks/scripts/read-write.ts';
import {
  reentrantAcquireScript,
  reentrantFreeScript,
  reentrantHandOverScript,
  reentrantReleaseScript,
} from '../../../locks/scripts/reentrant.ts';
import { renewScript } from '../../../locks/scripts/renew.ts';
import { segmentPutScript, segmentTakeScript } from '../../../locks/scripts/segmented.ts';
import {
  semaphoreAcquireScript,
  semaphoreReleaseScript,
  semaphoreSetScript,
  semaphoreUndoScript,
} from '../../../locks/scripts/semaphore.ts';
import { sessionAcquireScript, sessionCloseScript } from '../../../locks/scripts/session.ts';
import {
  simpleAcquireScript,
  simpleHandOverScript,
  simpleReleaseScript,
} from '../../../locks/scripts/simple.ts';

/** Every script of the locks by its name. */
export const allScripts = new Map(
  [
    fairAcquireScript,
    fairLeaveScript,
    fairReleaseScript,
    fencedAcquireScript,
    latchCountDownScript,
    latchSetScript,
    permitAcquireScript,
    permitCountScript,
    permitReleaseScript,
    queueLeaveScript,
    queueVisitScript,
    readAcquireScript,
    readReleaseScript,
    writeAcquireScript,
    writeReleaseScript,
    reentrantAcquireScript,
    reentrantFreeScript,
    reentrantHandOverScript,
    reentrantReleaseScript,
    renewScript,
    segmentPutScript,
    segmentTakeScript,
    semaphoreAcquireScript,
    semaphoreReleaseScript,
    semaphoreSetScript,
    semaphoreUndoScript,
    sessionAcquireScript,
    sessionCloseScript,
    simpleAcquireScript,
    simpleHandOverScript,
    simpleReleaseScript,
  ].map(({ name, text }) => [name, text]),
);

/** A server to run scripts on; a mutant replaces the script of its name. */
export class ScriptBench {
  readonly redis: Redis;
  readonly #subscriber: Redis;
  #messages: string[] = [];
  #mutant: { name: string; text: string } | undefined;

  constructor(path: string) {
    this.redis = new Redis({ path });
    this.#subscriber = new Redis({ path });
    this.#subscriber.on('pmessage', (_pattern, channel, text) => this.#messages.push(`${channel}=${text}`));
  }

  /** Empties the server and puts a mutant in place, or none. */
  async reset(mutant?: { name: string; text: string }): Promise<void> {
    this.#mutant = mutant;
    await this.#subscriber.psubscribe('*');
    await this.redis.flushall();
    this.#messages = [];
  }

  run(name: string, keys: string[], args: (string | number)[]): Promise<unknown> {
    const text = this.#mutant?.name === name ? this.#mutant.text : allScripts.get(name)!;
    return this.redis.eval(text, keys.length, ...keys, ...args);
  }

  /** The messages published since the last call. */
  async heard(): Promise<string[]> {
    await this.redis.publish('end', '');
    while (!this.#messages.includes('end=')) await this.#subscriber.ping();
    const heard = this.#messages.filter((message) => message !== 'end=');
    this.#messages = [];
    return heard;
  }

  /** The server's time in milliseconds. */
  async now(): Promise<number> {
    const [seconds, micros] = await this.redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  }

  close(): void {
    this.redis.disconnect();
    this.#subscriber.disconnect();
  }
}

/** Expects a time to live that has just been set to so many milliseconds, on a busy machine too. */
export function near(value: unknown, expected: number): void {
  expect(Number(value)).toBeGreaterThan(expected - 5000);
  expect(Number(value)).toBeLessThanOrEqual(expected);
}
