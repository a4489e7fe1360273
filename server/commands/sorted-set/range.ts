/** Ranges of sorted sets by rank, score or bytes: reading them from a request and finding them in a set. */
import type { ScoredMember, SortedSet } from '../../../keyspace/collections/sorted-set.ts';
import { type Bytes, cString, digitsOnly, parseAnyDouble, stripBlanks } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { integer } from '../../table/arguments.ts';

/** An interval of ranks in the requested order: from `start` up to, but not including, `end`. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** Finds a range in a set. `reverse`: ranks count from the highest score. */
export type Range = (set: SortedSet, reverse: boolean) => Interval;

const EMPTY: Interval = { start: 0, end: 0 };

function interval(start: number, end: number): Interval {
  return start < end ? { start, end } : EMPTY;
}

/** Converts ascending ranks to ranks in the requested order. */
function seenFrom(set: SortedSet, { start, end }: Interval, reverse: boolean): Interval {
  return reverse ? { start: set.size - end, end: set.size - start } : { start, end };
}

/** Reads a range of ranks; negative ones count from the end. Throws Redis' error for a bad rank. */
export function rankRange(first: Bytes, last: Bytes): Range {
  const start = integer(first);
  const stop = integer(last);
  return ({ size }) => {
    const from = start < 0 ? Math.max(0, start + size) : start;
    const to = stop < 0 ? stop + size : Math.min(stop, size - 1);
    return interval(from, to + 1);
  };
}

const HEXADECIMAL = /^[+-]?0x/i;

/** Reads the number of a range or a weight as newer servers do: without blanks, and not as hexadecimal. */
export function strictDouble(text: Bytes): number | undefined {
  return HEXADECIMAL.test(text) ? undefined : parseAnyDouble(text);
}

/** Reads a bound of scores; '(' makes it exclusive. */
function scoreBound(text: Bytes, loose: boolean): { score: number; exclusive: boolean } {
  // Most bounds are these. They need no regular expression.
  const whole = digitsOnly(text);
  if (whole !== undefined) return { score: whole, exclusive: false };
  if (text === '+inf') return { score: Infinity, exclusive: false };
  const exclusive = text.startsWith('(');
  // strtod stops at a zero byte. It reads empty text as 0, but refuses blanks.
  const digits = cString(exclusive ? text.slice(1) : text);
  if (digits === '') return { score: 0, exclusive };
  const score = loose ? parseAnyDouble(stripBlanks(digits)) : strictDouble(digits);
  return { score: score ?? fail('ERR min or max is not a float'), exclusive };
}

/** Reads a range of scores. Throws what Redis answers. @param loose takes leading blanks and hexadecimal digits, too */
export function scoreRange(lowest: Bytes, highest: Bytes, loose: boolean): Range {
  const min = scoreBound(lowest, loose);
  const max = scoreBound(highest, loose);
  return (set, reverse) => {
    const start = set.countBelowScore(min.score, min.exclusive);
    const end = set.countBelowScore(max.score, !max.exclusive);
    return seenFrom(set, interval(start, end), reverse);
  };
}

/** A bound of a range by bytes. '-' and '+' are below and above every member. */
type LexBound = '-' | '+' | { readonly member: Bytes; readonly exclusive: boolean };

function lexBound(text: Bytes): LexBound {
  if (text === '-' || text === '+') return text;
  const mark = text.charAt(0);
  if (mark !== '(' && mark !== '[') fail('ERR min or max not valid string range item');
  return { member: text.slice(1), exclusive: mark === '(' };
}

function reaches(member: Bytes, min: LexBound): boolean {
  if (typeof min === 'string') return min === '-';
  return min.exclusive ? member > min.member : member >= min.member;
}

function exceeds(member: Bytes, max: LexBound): boolean {
  if (typeof max === 'string') return max === '-';
  return max.exclusive ? member >= max.member : member > max.member;
}

function countBelow(set: SortedSet, bound: LexBound, isMin: boolean): number {
  if (typeof bound === 'string') return bound === '-' ? 0 : set.size;
  return set.countBelowMember(bound.member, bound.exclusive === isMin);
}

function isEmptyRange(min: LexBound, max: LexBound): boolean {
  if (min === '+' || max === '-') return true;
  if (typeof min === 'string' || typeof max === 'string') return false;
  return min.member > max.member || (min.member === max.member && (min.exclusive || max.exclusive));
}

/** Reads a range by bytes. Throws Redis' error for a bad bound. */
export function lexRange(lowest: Bytes, highest: Bytes): Range {
  const min = lexBound(lowest);
  const max = lexBound(highest);
  return (set, reverse) => {
    const first = set.atRank(0);
    const last = set.atRank(set.size - 1);
    if (first === undefined || last === undefined || isEmptyRange(min, max)) return EMPTY;
    if (first.score !== last.score && set.encoding() === 'listpack') return walk(set, min, max, reverse);
    return seenFrom(set, interval(countBelow(set, min, true), countBelow(set, max, false)), reverse);
  };
}

/**
 * Finds a range by bytes in a listpack with different scores, where the result is unspecified. As Redis does, it
 * iterates from the first member that is inside the range to the first that is not.
 */
function walk(set: SortedSet, min: LexBound, max: LexBound, reverse: boolean): Interval {
  const [first, last] = [set.atRank(0)!, set.atRank(set.size - 1)!];
  if (!reaches(last.member, min) || exceeds(first.member, max)) return EMPTY;
  const enters = (member: Bytes): boolean => (reverse ? !exceeds(member, max) : reaches(member, min));
  const leaves = (member: Bytes): boolean => (reverse ? !reaches(member, min) : exceeds(member, max));
  let start = -1;
  let rank = 0;
  for (const { member } of set.entries(reverse)) {
    if (start < 0 && enters(member)) start = rank;
    if (start >= 0 && leaves(member)) break;
    rank++;
  }
  return start < 0 ? EMPTY : interval(start, rank);
}

/** The option LIMIT. */
export interface Limit {
  readonly offset: number;
  readonly count: number;
  /** True where a negative offset counts from the end of a skiplist's range. Otherwise there is nothing at it. */
  readonly wraps: boolean;
}

/** Returns the members of a range, limited by LIMIT if it is given. */
export function membersIn(set: SortedSet, range: Range, reverse: boolean, limit?: Limit): ScoredMember[] {
  const { start, end } = range(set, reverse);
  if (limit === undefined) return start < end ? set.rangeByRank(start, end - 1, reverse) : [];
  const { offset, count, wraps } = limit;
  let from = start + offset;
  if (offset < 0) {
    from = wraps && set.encoding() === 'skiplist' ? end + offset : end;
    if (from < start) return [];
  }
  const to = count < 0 ? end : Math.min(end, from + count);
  return from < to ? set.rangeByRank(from, to - 1, reverse) : [];
}
