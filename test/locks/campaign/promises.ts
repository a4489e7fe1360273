/**
 * What each configuration promises under which fault, and so what the judge may excuse.
 *
 * | fault | mutual exclusion, permits, fences | conservation of permits and stock |
 * |---|---|---|
 * | lost, late or doubled messages, broken connections, flushed scripts | kept | kept |
 * | a client stalls | kept by its own clock | kept |
 * | a client dies | kept | a plain semaphore's permits and taken stock are gone (S102) |
 * | a client's wall clock is stepped, or runs up to 0.8 % too fast or slow | kept | kept |
 * | answers take up to 0.4 of the lease | kept, and no hold is lost | kept |
 * | releases are refused | kept | kept: they go on until they are executed |
 * | a server of a Redlock comes back empty | excused for who asked before (S61) | kept |
 * | a node stalls, or restarts with its data | kept | kept |
 * | the clocks of all nodes are set back | kept: leases last longer; `fence: 'clock'` may fall in a lossy failover | kept |
 * | the clocks of all nodes are set forward | leases end early (S16): excused for who was granted before; fences kept | kept |
 * | failover that loses nothing of the lock | kept | kept |
 * | failover that loses writes, without `replicas` | excused for who asked before (S28) | excused (S106) |
 * | … with fewer `replicas` than there are, and one of them cannot be promoted | excused for who asked before (S32) | excused |
 * | … with fewer, and the one of all that is furthest is promoted; or with all | kept: a grant counts only with its copies | excused: nobody waits for copies of a release |
 * | two primaries | as a failover that loses writes, from the promotion to the demotion; with `replicas` the old one has none left | excused |
 *
 * Permits of a plain semaphore have no names: one that a failover has lost is given back all the same, and from then on
 * there is one too many (S103, S106). That is excused for good.
 *
 * Fences of the counting kinds fall back with a failover that loses grants (S20, S56), and are excused with them. With
 * `fence: 'clock'` an owner that comes back to a hold whose release was lost gets that hold's fence again: the resource
 * refuses it, which is safe.
 * A failover never promotes a node that has not had the primary's data yet (S126). The count of a latch and the stock of
 * a segmented lock are not covered by `replicas`. Redlock is failed over by nobody.
 */
import type { Plan } from './plan.ts';

/** Something that may break a promise, from one moment of true time to another, in microseconds. */
export interface Mark {
  readonly kind:
    | 'lossy failover'
    | 'two primaries'
    | 'came back empty'
    | 'clock forward'
    | 'clock back'
    | 'client died';
  readonly from: number;
  to: number;
  /** Every replica could have been promoted, and the one that was furthest was: no copy of a write is lost. */
  readonly complete: boolean;
}

/** In how many copies, besides the primary's, each grant that counts is: all of them, one at least, or perhaps none. */
function copiesOf({ kind, replicas, settings }: Plan): 'all' | 'one' | 'none' {
  if (kind === 'latch' || kind === 'redlock' || settings.replicas === undefined) return 'none';
  if (settings.replicas === replicas || replicas === 1) return 'all';
  return 'one';
}

/** The faults of one world so far, and what they excuse. */
export class Promises {
  readonly marks: Mark[] = [];
  readonly #copies: ReturnType<typeof copiesOf>;
  readonly #byClock: boolean;
  readonly #nameless: boolean;

  constructor(plan: Plan) {
    this.#copies = copiesOf(plan);
    this.#nameless = plan.kind === 'semaphore';
    this.#byClock = plan.kind === 'fenced by the clock';
  }

  /** Whether holders may exclude each other no more: one asked before the fault, another was granted after it. */
  excuses(askedAt: number, grantedAt: number): boolean {
    return this.marks.some((mark) => {
      const { kind, from, to } = mark;
      if (kind === 'client died' || kind === 'clock back') return false;
      if (kind !== 'clock forward' && this.#survives(mark)) return false;
      return (askedAt <= to || this.#nameless) && grantedAt >= from;
    });
  }

  /**
   * Whether a fence may be smaller than one that was granted before.
   * @param again the owner has had this very fence before
   */
  excusesFence(before: number, now: number, again: boolean): boolean {
    const struck = this.marks.some((mark) => {
      const { kind, from, to } = mark;
      const takes = kind === 'lossy failover' || kind === 'two primaries';
      return takes && !this.#survives(mark) && before <= to && now >= from;
    });
    return struck && (!this.#byClock || again || this.marks.some(({ kind }) => kind === 'clock back'));
  }

  /** Whether each grant that counts has a copy that survives the failover. */
  #survives({ complete }: Mark): boolean {
    return this.#copies === 'all' || (this.#copies === 'one' && complete);
  }

  /** Whether permits that have no lease, or stock, may be gone for good. */
  get excusesLeaks(): boolean {
    return this.marks.some(
      ({ kind }) => kind === 'lossy failover' || kind === 'two primaries' || kind === 'client died',
    );
  }
}
