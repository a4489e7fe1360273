/**
 * A hierarchical timing wheel for deadlines. Arming and disarming take O(1), and empty time costs nothing, however
 * long.
 *
 * A deadline's time is a number of six digits in base 512. The deadline waits in the level of the highest digit in which
 * it differs from the wheel's `base`, in the slot with the number of that digit. The levels' slots are 1 ms, 512 ms, 4.4
 * min, 37 h, 2.2 years and 1115 years wide.
 *
 * The base is at or before every deadline except a few, which are kept in a separate ordered list. When time reaches
 * the first slot of a level, the base moves to the start of that slot and the slot's deadlines move to lower levels.
 * Equal deadlines always share a slot, so they keep the order in which they were armed. The idea: Varghese and Lauck,
 * "Hashed and Hierarchical Timing Wheels", 1987.
 *
 * The deadlines are rows of a table, which keeps their times and the links of the lists.
 */
import type { Millis } from '../../protocol/bytes.ts';
import { type Deadline, type DeadlineTable, NO_TIME, NONE } from './deadlines.ts';
import { DIGIT_BITS, SLOTS, WheelLevel } from './wheel-level.ts';

const LEVELS = 6;
/** Half of the digits fit into the 32-bit integers of JavaScript's bit operations. */
const HALF = 2 ** (3 * DIGIT_BITS);
/** Nothing ever reaches this time, so later deadlines wait here too. */
const LATEST = 2 ** 53;
/**
 * In a slot with more deadlines than this, the exact first one is not searched for: the slot's start is a good enough
 * bound.
 */
const SCAN_MAX = 64;
/**
 * The list of deadlines before the base, in order. A SET with a PXAT far in the past creates one for a moment. It is the
 * only slot of a level of its own.
 */
const PAST = SLOTS * LEVELS;

/** A timing wheel. Times are in milliseconds since the epoch. */
export class ExpiryWheel {
  readonly #table: DeadlineTable;
  #size = 0;
  /** The upper and lower three digits of the base. */
  #high = 0;
  #low = 0;
  /** The levels, and one for PAST behind them. Each is made when it is first needed. */
  readonly #levels: (WheelLevel | undefined)[] = [];
  /** No deadline is earlier. */
  #bound: Millis = Infinity;
  /** True while the bound is what next() returns, without a search. */
  #found = true;
  /** The slot whose deadlines are being moved to lower levels, or -1. The base is the start of this slot. */
  #opening = -1;

  /** @param table has the deadlines that this wheel is told to arm */
  constructor(table: DeadlineTable) {
    this.#table = table;
  }

  /** How many deadlines are armed. */
  get size(): number {
    return this.#size;
  }

  /** Arms a deadline for a time of at least 0, or moves it there, behind those that were armed for that time before. */
  arm(deadline: Deadline, at: Millis): void {
    const table = this.#table;
    if (table.slot(deadline) >= 0) this.#unlink(deadline);
    else this.#size++;
    table.setExpiresAt(deadline, at);
    if (at < this.#bound) {
      this.#bound = at;
      this.#found = true;
    }
    if (at >= this.#high * HALF + this.#low) this.#link(deadline);
    else if (!this.#linkPast(deadline)) {
      this.#rewind(Math.min(at, table.expiresAt(this.#firstOf(PAST))));
      this.#link(deadline);
    }
  }

  /** Disarms a deadline. Does nothing when it is not armed. */
  disarm(deadline: Deadline): void {
    if (this.#table.slot(deadline) >= 0) {
      this.#size--;
      this.#unlink(deadline);
    }
    this.#table.setExpiresAt(deadline, NO_TIME);
  }

  /** Disarms a deadline and releases its row. */
  discard(deadline: Deadline): void {
    this.disarm(deadline);
    this.#table.release(deadline);
  }

  /**
   * The earliest time; undefined when nothing is armed. When very many deadlines are close together far ahead, it is an
   * earlier time at which to call popDue.
   */
  next(): Millis | undefined {
    if (this.#size === 0) return undefined;
    if (!this.#found) this.#bound = this.#findNext();
    this.#found = true;
    return this.#bound;
  }

  /**
   * False only if no deadline is before this time. Unlike `next`, it never searches: when the earliest deadline has been
   * moved to a later time, as every renewal of a lock does, its former time remains the bound.
   */
  mayBeDue(now: Millis): boolean {
    return this.#bound < now;
  }

  /**
   * Moves at most this many deadlines to the levels where popDue finds them; false when there are more to move. A caller
   * with little time calls this before each popDue, which would otherwise move all of them. Until all are moved, a
   * deadline armed for the same time as one that still has to be moved may be returned before it.
   */
  prepare(now: Millis, most: number): boolean {
    for (let left = most; ; ) {
      if (this.#opening < 0) {
        const slot = this.#firstSlot();
        if (slot < SLOTS || slot === PAST || this.#startOf(slot) >= now) return true;
        this.#beginToOpen(slot);
      }
      left = this.#open(left);
      if (this.#opening >= 0) return false;
    }
  }

  /**
   * Disarms and returns the earliest deadline before now, or NONE; among equal ones, the one armed first. It keeps its
   * row and its time until its owner releases it or arms it again.
   */
  popDue(now: Millis): Deadline {
    for (;;) {
      if (this.#opening >= 0) this.#open(Infinity);
      const slot = this.#firstSlot();
      if (slot < 0 || this.#startOf(slot) >= now) return this.#nothingDue(now);
      if (slot < SLOTS || slot === PAST) {
        const deadline = this.#firstOf(slot);
        if (this.#table.expiresAt(deadline) >= now) return this.#nothingDue(now);
        this.#size--;
        this.#unlink(deadline);
        return deadline;
      }
      this.#beginToOpen(slot);
    }
  }

  /**
   * The bound may be older than every deadline, because its deadline was moved, or those of its crowded slot were disarmed.
   * Then next() searches again.
   */
  #nothingDue(now: Millis): Deadline {
    if (this.#bound < now) this.#found = false;
    return NONE;
  }

  #firstOf(slot: number): Deadline {
    return this.#levels[slot >>> DIGIT_BITS]!.first(slot & (SLOTS - 1));
  }

  #level(slot: number): WheelLevel {
    const index = slot >>> DIGIT_BITS;
    while (this.#levels.length <= index) this.#levels.push(undefined);
    return (this.#levels[index] ??= new WheelLevel(slot === PAST ? 1 : SLOTS));
  }

  #link(deadline: Deadline): void {
    const table = this.#table;
    const at = Math.min(table.expiresAt(deadline), LATEST);
    const high = Math.floor(at / HALF);
    const upper = high !== this.#high;
    const digits = upper ? high : at - high * HALF;
    const differing = digits ^ (upper ? this.#high : this.#low);
    const level = differing < SLOTS ? 0 : differing < SLOTS * SLOTS ? 1 : 2;
    const digit = (digits >>> (level * DIGIT_BITS)) & (SLOTS - 1);
    const slot = (upper ? level + 3 : level) * SLOTS + digit;
    this.#insert(deadline, slot, this.#level(slot).last(digit), NONE);
  }

  /** Inserts a deadline into the list before the base; false when it would have to pass too many others. */
  #linkPast(deadline: Deadline): boolean {
    const table = this.#table;
    const past = this.#level(PAST);
    const at = table.expiresAt(deadline);
    let before = past.last(0);
    for (let passed = 0; before !== NONE && table.expiresAt(before) > at; passed++) {
      if (passed === SCAN_MAX) return false;
      before = table.previous(before);
    }
    this.#insert(deadline, PAST, before, before === NONE ? past.first(0) : table.next(before));
    return true;
  }

  /** Inserts a deadline into the list of a slot, between two others or at an end. */
  #insert(deadline: Deadline, slot: number, before: Deadline, after: Deadline): void {
    const table = this.#table;
    const level = this.#level(slot);
    const digit = slot & (SLOTS - 1);
    table.setSlot(deadline, slot);
    table.setPrevious(deadline, before);
    table.setNext(deadline, after);
    if (before === NONE) level.setFirst(digit, deadline);
    else table.setNext(before, deadline);
    if (after === NONE) level.setLast(digit, deadline);
    else table.setPrevious(after, deadline);
    level.waiting++;
  }

  #unlink(deadline: Deadline): void {
    const table = this.#table;
    const slot = table.slot(deadline);
    const level = this.#level(slot);
    const digit = slot & (SLOTS - 1);
    const before = table.previous(deadline);
    const after = table.next(deadline);
    if (before === NONE) level.setFirst(digit, after);
    else table.setNext(before, after);
    if (after === NONE) level.setLast(digit, before);
    else table.setPrevious(after, before);
    table.setSlot(deadline, -1);
    level.waiting--;
    if (this.#size === 0) {
      this.#bound = Infinity;
      this.#found = true;
    } else if (table.expiresAt(deadline) === this.#bound) this.#found = false;
  }

  /** The occupied slot with the earliest deadline, lower levels first; -1 when nothing is armed. */
  #firstSlot(): number {
    const levels = this.#levels;
    if (levels.length > LEVELS && levels[LEVELS]!.waiting > 0) return PAST;
    for (let index = 0; index < levels.length; index++) {
      const level = levels[index];
      if (level !== undefined && level.waiting > 0) return index * SLOTS + level.firstOccupied();
    }
    return -1;
  }

  /** The first millisecond of a slot: the base's digits above the slot's level, the slot's own digit, and zeros. */
  #startOf(slot: number): Millis {
    if (slot === PAST) return this.#table.expiresAt(this.#firstOf(PAST));
    const level = slot >>> DIGIT_BITS;
    const shift = (level % 3) * DIGIT_BITS;
    const digit = (slot & (SLOTS - 1)) << shift;
    const above = (level < 3 ? this.#low : this.#high) >>> (shift + DIGIT_BITS);
    const digits = above * 2 ** (shift + DIGIT_BITS) + digit;
    return level < 3 ? this.#high * HALF + digits : digits * HALF;
  }

  /** Moves the base to the start of a slot, whose deadlines must then be moved. */
  #beginToOpen(slot: number): void {
    this.#moveBase(this.#startOf(slot));
    this.#found = false;
    this.#opening = slot;
  }

  /**
   * Moves at most this many deadlines of the slot that is being opened to lower levels, in order. Returns how many more
   * may be moved.
   */
  #open(most: number): number {
    const slot = this.#opening;
    let left = most;
    for (let first = this.#firstOf(slot); first !== NONE; first = this.#firstOf(slot)) {
      if (left === 0) return 0;
      left--;
      this.#unlink(first);
      this.#link(first);
    }
    this.#opening = -1;
    this.#found = false;
    return left;
  }

  #moveBase(to: Millis): void {
    this.#high = Math.floor(to / HALF);
    this.#low = to - this.#high * HALF;
  }

  /**
   * Moves the base back to the start of the 37-hour slot that contains the time, and every deadline to its new place.
   * Happens when a clock was set back and many deadlines are before the base; takes O(n), once.
   */
  #rewind(to: Millis): void {
    if (this.#opening >= 0) this.#open(Infinity);
    const all: Deadline[] = [];
    for (let slot = this.#firstSlot(); slot >= 0; slot = this.#firstSlot()) {
      const first = this.#firstOf(slot);
      this.#unlink(first);
      all.push(first);
    }
    this.#moveBase(Math.floor(Math.max(0, to) / HALF) * HALF);
    for (const deadline of all) this.#link(deadline);
  }

  #findNext(): Millis {
    const table = this.#table;
    const first = this.#firstSlot();
    const slot = this.#opening >= 0 && first !== PAST ? this.#opening : first;
    const start = this.#startOf(slot);
    let deadline = this.#firstOf(slot);
    if (slot < SLOTS || slot === PAST) return table.expiresAt(deadline);
    if (slot === this.#opening) return start;
    let earliest = NO_TIME;
    for (let scanned = 0; deadline !== NONE; deadline = table.next(deadline)) {
      earliest = Math.min(earliest, table.expiresAt(deadline));
      if (++scanned > SCAN_MAX) return start;
    }
    return earliest;
  }
}
