/** The expiry times of a hash's fields. A hash whose fields never had a TTL has none of this. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { type Deadline, NONE } from '../expiry/deadlines.ts';
import { type ScoredMember, SortedSet } from './sorted-set.ts';

/** Fields and their expiry times, in order of time. */
export class FieldTimes {
  #ends = new SortedSet();
  /** The deadline of the first field to expire, while the hash is stored under a key, or NONE. */
  deadline: Deadline = NONE;

  get size(): number {
    return this.#ends.size;
  }

  /** The earliest expiry time. */
  get first(): Millis | undefined {
    return this.#ends.atRank(0)?.score;
  }

  endOf(field: Bytes): Millis | undefined {
    return this.#ends.score(field);
  }

  set(field: Bytes, at: Millis): void {
    this.#ends.set(field, at);
  }

  /** Removes a field's expiry time; true when it had one. */
  delete(field: Bytes): boolean {
    return this.#ends.delete(field);
  }

  /** Fields with a TTL and their expiry times, earliest first. */
  entries(): Iterable<ScoredMember> {
    return this.#ends.entries();
  }

  /** Fields that expire before this time. */
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
