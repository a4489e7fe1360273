/** The segmented lock: a stock of units split over k locks, so that k clients can take from it at the same time. */
import { randomInt } from 'node:crypto';
import type { AcquireOptions } from '../asking/lock.ts';
import { ask, numberedRelease } from '../asking/requests.ts';
import { NotOwner } from '../errors.ts';
import type { LockContext } from '../holding/context.ts';
import type { HeldLock } from '../holding/hold-handle.ts';
import { suffixed } from '../keys.ts';
import { check, checkOptions, count, text } from '../options.ts';
import type { LockScript } from '../scripts/define.ts';
import { segmentPutScript, segmentTakeScript } from '../scripts/segmented.ts';
import { isTransient } from '../server/retry.ts';
import { SimpleLock } from './simple.ts';

/** Options of `Locks.segmented`. */
export interface SegmentedOptions {
  /** How many locks the stock is split over; 1 or more. */
  segments: number;
}

/** The units taken from one segment. */
export interface Portion {
  /** The number of the segment, from 0. */
  readonly segment: number;
  /** How many units were taken from it. */
  readonly units: number;
}

export interface HeldSegment {
  /** The number of the segment, from 0. */
  readonly segment: number;
  /** The held lock of the segment. */
  readonly held: HeldLock;
}

/** A stock and its locks, split into `segments` parts. Each part has a cluster slot of its own. */
export class SegmentedLock {
  /** The lock's name. */
  readonly name: string;
  /** How many parts the stock is split into. */
  readonly segments: number;
  readonly #context: LockContext;
  readonly #locks: readonly SimpleLock[];

  /** @internal */
  constructor(context: LockContext, name: string, options: SegmentedOptions) {
    check('name', name, text);
    checkOptions('segmented', options, { segments: count(1) });
    check('segmented.segments', options.segments, count(1));
    const { segments } = options;
    this.#context = context;
    this.name = name;
    this.segments = segments;
    this.#locks = Array.from(
      { length: segments },
      (_, index) => new SimpleLock(context, `${name}:segment:${index}`),
    );
  }

  /** The key of a segment's stock, for callers that change it themselves while they hold the segment. */
  stockKey(segment: number): string {
    return suffixed(`${this.name}:segment:${segment}`, 'stock');
  }

  /**
   * Spreads a stock of `units` (0 or more) evenly over the segments; false when one was set before.
   * Throws OutcomeUnknown when no reply came, ServerRefused when the server refused.
   */
  async trySetStock(units: number): Promise<boolean> {
    check('trySetStock', units, count(0));
    const parts = this.#locks.map(
      (_, index) => Math.floor(units / this.segments) + (index < units % this.segments ? 1 : 0),
    );
    const set = parts.map((part, index) => this.#command(['SET', this.stockKey(index), String(part), 'NX']));
    return (await Promise.all(set)).every((reply) => reply !== null);
  }

  /** The sum over all segments. It is exact only while no client takes units. Throws as trySetStock() does. */
  async stock(): Promise<number> {
    const parts = this.#locks.map((_, index) => this.#command(['GET', this.stockKey(index)]));
    return (await Promise.all(parts)).reduce<number>((sum, part) => sum + Number(part ?? 0), 0);
  }

  /** Acquires any free segment; if none is free, waits for a randomly chosen one. Throws as Lock.acquire does. */
  async acquire(options: AcquireOptions = {}): Promise<HeldSegment> {
    checkOptions('acquire', options, this.#context.acquireRules);
    return this.#lockOneOf(new Set(this.#locks.keys()), options);
  }

  /**
   * Takes units from as many segments as needed, holding one lock at a time. Resolves to null, having taken nothing, when
   * the stock is too small. Throws as Lock.acquire does; units taken by then are put back, in the background if that fails.
   * Those of a request whose outcome is unknown (OutcomeUnknown) may have been taken.
   * @param units how many to take; 1 or more
   */
  async take(units: number, options: AcquireOptions = {}): Promise<Portion[] | null> {
    check('take', units, count(1));
    checkOptions('take', options, this.#context.acquireRules);
    const portions: Portion[] = [];
    let missing = units;
    const untried = new Set(this.#locks.keys());
    try {
      while (missing > 0 && untried.size > 0) {
        const { segment, held } = await this.#lockOneOf(untried, options);
        untried.delete(segment);
        const taken = await this.#takeFrom(segment, held, missing);
        if (taken > 0) portions.push({ segment, units: taken });
        missing -= taken;
      }
    } catch (error) {
      await this.#undo(portions);
      throw error;
    }
    if (missing === 0) return portions;
    await this.#undo(portions);
    return null;
  }

  /** Puts back the units of a request that could not get all of them. A release that fails is repeated in the background. */
  async #undo(portions: readonly Portion[]): Promise<void> {
    const context = this.#context;
    await Promise.all(
      portions.map(async ({ segment, units }) => {
        const send = (number: number): Promise<unknown> =>
          this.#send(number, segmentPutScript, segment, [this.stockKey(segment)], [units]);
        const put = numberedRelease(context, this.name, context.owners.clientId, send);
        let unanswered = false;
        const again = (last: unknown): Promise<boolean> => {
          unanswered ||= isTransient(last);
          return put({ unanswered });
        };
        await put().catch((error: unknown) => void context.releases.goOn(again, error).catch(() => {}));
      }),
    );
  }

  /** Puts units back, each portion exactly once even if replies are lost. Throws as trySetStock() does. */
  async putBack(portions: readonly Portion[]): Promise<void> {
    await Promise.all(
      portions.map(({ segment, units }) => {
        const stock = this.stockKey(segment);
        return this.#once(segmentPutScript, segment, [stock], [units]);
      }),
    );
  }

  #command(command: string[]): Promise<unknown> {
    return ask(this.#context, this.name, () => this.#context.server.command(command));
  }

  /** Runs a script that has its effect once, however often it is sent. */
  #once(
    script: LockScript,
    segment: number,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<number> {
    const { requests } = this.#context;
    const number = requests.open();
    const run = async (): Promise<number> => Number(await this.#send(number, script, segment, keys, args));
    return ask(this.#context, this.name, run).finally(() => requests.settle(number));
  }

  #send(
    number: number,
    script: LockScript,
    segment: number,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const { server, requests } = this.#context;
    const all = [...keys, requests.key(`${this.name}:segment:${segment}`)];
    return server.run(script, all, [...requests.args(number), ...args]);
  }

  /** Tries the segments from a random one on; if none is free, waits for one of them. */
  async #lockOneOf(candidates: ReadonlySet<number>, options: AcquireOptions): Promise<HeldSegment> {
    const list = [...candidates];
    const start = randomInt(list.length);
    const { waitMs: _, ...now } = options;
    for (let step = 0; step < list.length; step++) {
      const segment = list[(start + step) % list.length]!;
      const held = await this.#locks[segment]!.tryAcquire(now);
      if (held) return { segment, held };
    }
    const segment = list[start]!;
    return { segment, held: await this.#locks[segment]!.acquire(options) };
  }

  async #takeFrom(segment: number, held: HeldLock, units: number): Promise<number> {
    try {
      const keys = [held.name, this.stockKey(segment)];
      const taken = await this.#once(segmentTakeScript, segment, keys, [held.token, units]);
      if (taken < 0) throw new NotOwner(held.name, held.owner);
      return taken;
    } finally {
      await held.release().catch(() => {}); // The units are taken; it does not matter if the lease has ended since.
    }
  }
}
