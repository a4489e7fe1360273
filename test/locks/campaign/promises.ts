/**
 * What each configuration promises under which fault, and so what the judge may excuse.
 *
 * | fault | mutual exclusion, permits, fences | conservation of permits and stock |
 * |---|---|---|
 * | lost, late or doubled messages, broken connections, flushed scripts | kept | kept |
 * | a client stalls | kept by its own clock | kept |
 * | a client dies | kept | a plain semaphore's permits and taken stock are gone (S102) |
 * | a client's wall clock is stepped, or runs up to 0.8 % too fast or slow | kept | kept |
 * | nobody gets an answer for more than 20 s | kept | excused: who releases permits without a lease gives up after 30 s |
 * | a node stalls, or restarts with its data | kept | kept |
 * | the clocks of all nodes are set back | kept: leases last longer; `fence: 'clock'` may fall in a lossy failover | kept |
 * | the clocks of all nodes are set forward | leases end early (S16): excused for who was granted before; fences kept | kept |
 * | failover that loses nothing of the lock | kept | kept |
 * | failover that loses writes, fewer copies than replicas | excused for who asked before (S28, S32) | excused (S106) |
 * | failover that loses writes, `replicas` is all of them | kept: a grant counts only with its copies | excused: releases are not copied |
 * | two primaries, fewer copies than replicas | excused from the promotion to the demotion | excused |
 * | two primaries, `replicas` is all of them | kept: the old one has no replica left | excused |
 *
 * Permits of a plain semaphore have no names: one that a failover has lost is given back all the same, and from then on
 * there is one too many (S103, S106). That is excused for good.
 *
 * Fences of the counting kinds fall back with a failover that loses grants (S20, S56), and are excused with them.
 * A failover never promotes a node that has not had the primary's data yet (S126). The count of a latch and the stock of
 * a segmented lock are not covered by `replicas`. Redlock is failed over by nobody; its servers keep their data (S69).
 */
import { longestTrouble, type Plan } from './plan.ts';

/** Something that may break a promise, from one moment of true time to another, in microseconds. */
export interface Mark {
  readonly kind: 'lossy failover' | 'two primaries' | 'clock forward' | 'clock back' | 'client died';
  readonly from: number;
  to: number;
}

/** Whether each grant that counts is on every replica, so that no failover takes it away. */
export function coversEveryReplica({ kind, replicas, settings }: Plan): boolean {
  if (kind === 'latch' || kind === 'redlock') return false;
  if (settings.replicas === 'all') return replicas === 1;
  return replicas > 0 && settings.replicas === replicas;
}

/** The faults of one world so far, and what they excuse. */
export class Promises {
  readonly marks: Mark[] = [];
  readonly #covered: boolean;
  readonly #byClock: boolean;
  readonly #silent: boolean;
  readonly #nameless: boolean;

  constructor(plan: Plan) {
    this.#covered = coversEveryReplica(plan);
    this.#nameless = plan.kind === 'semaphore';
    this.#silent = longestTrouble(plan) > 20_000;
    this.#byClock = plan.kind === 'fenced by the clock';
  }

  /** Whether holders may exclude each other no more: one asked before the fault, another was granted after it. */
  excuses(askedAt: number, grantedAt: number): boolean {
    return this.marks.some(({ kind, from, to }) => {
      if (kind === 'client died' || kind === 'clock back') return false;
      if (kind !== 'clock forward' && this.#covered) return false;
      return (askedAt <= to || this.#nameless) && grantedAt >= from;
    });
  }

  /** Whether a fence may be smaller than one that was granted before. */
  excusesFence(before: number, now: number): boolean {
    const struck = (kinds: readonly Mark['kind'][]): boolean =>
      this.marks.some(({ kind, from, to }) => kinds.includes(kind) && before <= to && now >= from);
    if (this.#covered || !struck(['lossy failover', 'two primaries'])) return false;
    return !this.#byClock || this.marks.some(({ kind }) => kind === 'clock back');
  }

  /** Whether permits that have no lease, or stock, may be gone for good. */
  get excusesLeaks(): boolean {
    if (this.#silent) return true;
    return this.marks.some(
      ({ kind }) => kind === 'lossy failover' || kind === 'two primaries' || kind === 'client died',
    );
  }
}
