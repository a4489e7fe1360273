/** A sorted set: a map from member to score beside an index in order of (score, member bytes). */
import type { Bytes } from '../../protocol/bytes.ts';
import { MemberRoll, type Step } from '../key-roll.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from './encoding.ts';
import { RankedIndex, type ScoredMember } from './ranked-index.ts';
import { LARGE, ReusedMap } from './reused.ts';

export type { ScoredMember };

/** Integer scores up to this value are stored as integers in a listpack. */
const INTEGER_SCORE_MAX = 2 ** 62;

/** True when a listpack stores the score as an integer. */
export function isPackedInteger(score: number): boolean {
  return Number.isInteger(score) && Math.abs(score) <= INTEGER_SCORE_MAX && !Object.is(score, -0);
}

/** The value of a key of type zset. */
export class SortedSet {
  readonly type = 'zset';
  #scores: Map<Bytes, number> | ReusedMap<Bytes, number> = new Map();
  #index = new RankedIndex();
  #large = false;
  #bytes = 0;
  /** The members in scan order, kept from the first scan on. */
  #roll: MemberRoll | undefined;
  readonly #limits: Readonly<EncodingLimits>;

  /** @param expected how many members it will have, if known: a set that will be large does not start as a listpack */
  constructor(limits: Readonly<EncodingLimits> = DEFAULT_LIMITS, expected = 0) {
    this.#limits = limits;
    this.#large = expected > limits.zsetMaxEntries;
  }

  /**
   * Prepares the set for a number of members, the longest of which has so many bytes: Redis 7.2 and later choose the
   * encoding by what the request names. Earlier servers do not, nor does this.
   */
  expect(count: number, longest: number): void {
    const { sizesValues, zsetMaxEntries, zsetMaxValue } = this.#limits;
    if (sizesValues) this.#large ||= count > zsetMaxEntries || longest > zsetMaxValue;
  }

  get size(): number {
    return this.#scores.size;
  }

  /** Bytes of all members. */
  get bytes(): number {
    return this.#bytes;
  }

  score(member: Bytes): number | undefined {
    return this.#scores.get(member);
  }

  has(member: Bytes): boolean {
    return this.#scores.has(member);
  }

  /**
   * Adds a member or moves it to another score (never NaN). A listpack has no -0, so a small set keeps 0, as
   * redis-server 7.0 does; a score that compares equal to the present one changes nothing.
   * @param old its present score
   */
  set(member: Bytes, score: number, old = this.score(member)): 'added' | 'updated' | 'same' {
    const scores = this.#scores;
    let held = member;
    if (old === undefined) {
      this.#bytes += member.length;
      const limits = this.#limits;
      if (scores.size >= limits.zsetMaxEntries || member.length > limits.zsetMaxValue) this.#large = true;
    } else if (old === score) {
      return 'same';
    } else {
      // The index keeps its string. A second copy of each moved member would take memory, and time in V8's collections.
      held = this.#index.delete(member, old);
    }
    const kept = score === 0 && !this.#large ? 0 : score;
    scores.set(member, kept);
    if (old === undefined) this.#roll?.add(member);
    this.#index.insert(held, kept);
    return old === undefined ? 'added' : 'updated';
  }

  /**
   * Adds a member as a compact form stores it: however long it is, the set stays a listpack, and it may have the score -0. Returns
   * false if the member is there already.
   */
  addStored(member: Bytes, score: number): boolean {
    if (this.#scores.has(member)) return false;
    this.#bytes += member.length;
    this.#scores.set(member, score);
    this.#index.insert(member, score);
    return true;
  }

  /** True when the member was there. */
  delete(member: Bytes): boolean {
    const score = this.#scores.get(member);
    if (score === undefined) return false;
    this.#bytes -= member.length;
    if (this.#scores instanceof Map && this.#scores.size >= LARGE) this.#scores = new ReusedMap(this.#scores);
    this.#scores.delete(member);
    this.#roll?.delete(member);
    this.#index.delete(member, score);
    return true;
  }

  /** Members that come before this one in ascending order: its rank from 0. */
  rank(member: Bytes): number | undefined {
    const score = this.#scores.get(member);
    return score === undefined ? undefined : this.#index.rank(member, score);
  }

  /** The member of an ascending rank, 0 to size - 1. */
  atRank(rank: number): ScoredMember | undefined {
    return this.#index.at(rank);
  }

  /**
   * Members of ranks start to stop, both inclusive, already within 0 to size - 1 and counted in the order asked
   * for: with `reverse`, rank 0 is the last one and the answer descends.
   */
  rangeByRank(start: number, stop: number, reverse = false): ScoredMember[] {
    return this.#index.range(start, stop, reverse);
  }

  /** How many members have a score below this one, or with `inclusive` at most this score. O(log n). */
  countBelowScore(score: number, inclusive: boolean): number {
    return this.#index.countBelowScore(score, inclusive);
  }

  /** How many members sort below this one by bytes, or with `inclusive` not above it. All scores must be equal. */
  countBelowMember(member: Bytes, inclusive: boolean): number {
    return this.#index.countBelowMember(member, inclusive);
  }

  /** Removes and returns the member with the lowest score. */
  popMin(): ScoredMember | undefined {
    return this.#take(0);
  }

  /** Removes and returns the member with the highest score. */
  popMax(): ScoredMember | undefined {
    return this.#take(this.#scores.size - 1);
  }

  /** Every member, ascending or descending. The set must not change during the iteration. */
  entries(reverse = false): Generator<ScoredMember, undefined> {
    return this.#index.entries(reverse);
  }

  /** One step of a scan over a skiplist. A listpack is returned whole, ascending. */
  scan(cursor: number, count: number): Step {
    if (!this.#large) return { names: [...this.entries()].map(({ member }) => member), next: 0 };
    this.#roll ??= new MemberRoll(this.#scores.keys());
    return this.#roll.walk(cursor, count);
  }

  /** A set that has outgrown a listpack stays a skiplist even when it shrinks again. */
  encoding(): 'listpack' | 'skiplist' {
    return this.#large ? 'skiplist' : 'listpack';
  }

  /** Changes the encoding to a skiplist, as Redis does when SORT reads a set. */
  outgrow(): void {
    this.#large = true;
  }

  copy(): SortedSet {
    const copy = new SortedSet(this.#limits);
    copy.#scores = new Map(this.#scores.entries());
    copy.#index = this.#index.copy();
    copy.#large = this.#large;
    copy.#bytes = this.#bytes;
    return copy;
  }

  #take(rank: number): ScoredMember | undefined {
    const entry = this.#index.at(rank);
    if (entry !== undefined) this.delete(entry.member);
    return entry;
  }
}
