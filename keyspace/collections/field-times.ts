/** When fields of a hash end. A hash whose fields never had a TTL owns none of this. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { Deadline } from '../expiry/deadline.ts';
import { type ScoredMember, SortedSet } from './sorted-set.ts';

export class FieldTimes {
  #ends = new SortedSet();
  /** What waits in the expiry wheel for the first of them, while the hash lies under a key. */
  deadline: Deadline | undefined;

  get size(): number {
    return this.#ends.size;
  }

  /** When the first field ends. */
  get first(): Millis | undefined {
    return this.#ends.atRank(0)?.score;
  }

  endOf(field: Bytes): Millis | undefined {
    return this.#ends.score(field);
  }

  set(field: Bytes, at: Millis): void {
    this.#ends.set(field, at);
  }

  /** True when the field had a TTL. */
  delete(field: Bytes): boolean {
    return this.#ends.delete(field);
  }

  /** Fields with a TTL and their ends, the earliest first. */
  entries(): Iterable<ScoredMember> {
    return this.#ends.entries();
  }

  /** Fields that end before the instant. */
  endedBefore(now: Millis): Bytes[] {
    const count = this.#ends.countBelowScore(now, false);
    return count === 0 ? [] : this.#ends.rangeByRank(0, count - 1).map(({ member }) => member);
  }

  copy(): FieldTimes {
    const copy = new FieldTimes();
    copy.#ends = this.#ends.copy();
    return copy;
  }
}
