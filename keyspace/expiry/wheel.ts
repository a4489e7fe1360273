/**
 * A hierarchical timing wheel for deadlines. Arming and disarming take O(1), and empty time costs nothing, however
 * long.
 *
 * A deadline is a number of six digits in base 512. A node waits in the level of the highest digit in which its
 * deadline differs from the wheel's `base`, in the slot with the number of that digit. The levels' slots are 1 ms, 512
 * ms, 4.4 min, 37 h, 2.2 years and 1115 years wide.
 *
 * The base is at or before every deadline except a few, which are kept in a separate ordered list. When time reaches
 * the first slot of a level, the base moves to the start of that slot and the slot's nodes move to lower levels. Nodes
 * with equal deadlines always share a slot, so they keep the order in which they were armed. A bit set of the occupied
 * slots finds the next one without a walk. The idea: Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", 1987.
 */
import type { Millis } from '../../protocol/bytes.ts';

/** The deadline of something that never expires. */
export const NO_DEADLINE: Millis = Infinity;

/** Something that can be armed. Only the wheel writes these four fields. */
export interface WheelNode {
  /** The deadline while armed, and after popDue; NO_DEADLINE otherwise. */
  expiresAt: Millis;
  wheelPrev: WheelNode | undefined;
  wheelNext: WheelNode | undefined;
  /** The slot that it waits in, counted over all levels; -1 while not armed. */
  wheelSlot: number;
}

const DIGIT_BITS = 9;
const SLOTS = 1 << DIGIT_BITS;
const LEVELS = 6;
/** Half of the digits fit into the 32-bit integers of JavaScript's bit operations. */
const HALF = 2 ** (3 * DIGIT_BITS);
/** Nothing ever reaches this time, so later deadlines wait here too. */
const LATEST = 2 ** 53;
const WORDS = SLOTS / 32;
/**
 * In a slot with more nodes than this, the exact first deadline is not searched for: the slot's start is a good enough
 * bound.
 */
const SCAN_MAX = 64;
/**
 * The list of nodes whose deadline is before the base, in order. A SET with a PXAT far in the past creates one for a
 * moment.
 */
const PAST = SLOTS * LEVELS;

/** A timing wheel. Deadlines are in milliseconds since the epoch. */
export class ExpiryWheel<T extends WheelNode> {
  #size = 0;
  /** The upper and lower three digits of the base. */
  #high = 0;
  #low = 0;
  readonly #first: (T | undefined)[] = new Array<T | undefined>(PAST + 1).fill(undefined);
  readonly #last: (T | undefined)[] = new Array<T | undefined>(PAST + 1).fill(undefined);
  readonly #occupied = new Int32Array(WORDS * LEVELS + 1);
  /** How many nodes wait in each level, and before the base. */
  readonly #waiting = new Int32Array(LEVELS + 1);
  /** The cached result of next(). */
  #next: Millis | undefined;
  /** The slot whose nodes are being moved to lower levels, or -1. The base is the start of this slot. */
  #opening = -1;

  /** How many nodes are armed. */
  get size(): number {
    return this.#size;
  }

  /**
   * Arms a node for a deadline of at least 0, or moves it there, behind the nodes that were armed for that deadline
   * before.
   */
  arm(node: T, at: Millis): void {
    if (node.wheelSlot >= 0) this.#unlink(node);
    else this.#size++;
    node.expiresAt = at;
    if (this.#next !== undefined && at < this.#next) this.#next = at;
    if (at >= this.#high * HALF + this.#low) this.#link(node);
    else if (!this.#linkPast(node)) {
      this.#rewind(Math.min(at, this.#first[PAST]!.expiresAt));
      this.#link(node);
    }
  }

  /** Disarms a node. Does nothing when it is not armed. */
  disarm(node: T): void {
    if (node.wheelSlot >= 0) {
      this.#size--;
      this.#unlink(node);
    }
    node.expiresAt = NO_DEADLINE;
  }

  /**
   * The earliest deadline; undefined when nothing is armed. When very many deadlines are close together far ahead, it
   * is an earlier time at which to call popDue.
   */
  next(): Millis | undefined {
    if (this.#next === undefined && this.#size > 0) this.#next = this.#findNext();
    return this.#next;
  }

  /**
   * Moves at most this many nodes to the levels where popDue finds them; false when there are more to move. A caller
   * with little time calls this before each popDue, which would otherwise move all of them. Until all are moved, a node
   * armed for the same deadline as a node that still has to be moved may be returned before it.
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

  /** Removes and returns the earliest node whose deadline is before now; among equal deadlines, the one armed first. */
  popDue(now: Millis): T | undefined {
    for (;;) {
      if (this.#opening >= 0) this.#open(Infinity);
      const slot = this.#firstSlot();
      if (slot < 0 || this.#startOf(slot) >= now) return this.#nothingDue(now);
      if (slot < SLOTS || slot === PAST) {
        const node = this.#first[slot]!;
        if (node.expiresAt >= now) return this.#nothingDue(now);
        this.#size--;
        this.#unlink(node);
        return node;
      }
      this.#beginToOpen(slot);
    }
  }

  /**
   * The bound of a crowded slot outlives the slot's nodes when they are disarmed. Its time has come, so it is dropped.
   */
  #nothingDue(now: Millis): undefined {
    if (this.#next !== undefined && this.#next < now) this.#next = undefined;
    return undefined;
  }

  /**
   * Disarms every node, which takes O(n). For FLUSHDB the caller can drop the wheel together with the nodes instead.
   */
  clear(): void {
    for (let slot = this.#firstSlot(); slot >= 0; slot = this.#firstSlot()) this.disarm(this.#first[slot]!);
  }

  #link(node: T): void {
    const at = Math.min(node.expiresAt, LATEST);
    const high = Math.floor(at / HALF);
    const upper = high !== this.#high;
    const digits = upper ? high : at - high * HALF;
    const differing = digits ^ (upper ? this.#high : this.#low);
    const level = differing < SLOTS ? 0 : differing < SLOTS * SLOTS ? 1 : 2;
    const digit = (digits >>> (level * DIGIT_BITS)) & (SLOTS - 1);
    const slot = (upper ? level + 3 : level) * SLOTS + digit;
    const last = this.#last[slot];
    node.wheelSlot = slot;
    node.wheelPrev = last;
    node.wheelNext = undefined;
    this.#last[slot] = node;
    if (last === undefined) {
      this.#first[slot] = node;
      this.#occupied[slot >>> 5]! |= 1 << (slot & 31);
    } else {
      last.wheelNext = node;
    }
    this.#waiting[slot >>> DIGIT_BITS]!++;
  }

  /** Inserts a node into the list before the base; false when it would have to pass too many others. */
  #linkPast(node: T): boolean {
    let before = this.#last[PAST];
    for (let passed = 0; before !== undefined && before.expiresAt > node.expiresAt; passed++) {
      if (passed === SCAN_MAX) return false;
      before = before.wheelPrev as T | undefined;
    }
    const after = before === undefined ? this.#first[PAST] : (before.wheelNext as T | undefined);
    node.wheelSlot = PAST;
    node.wheelPrev = before;
    node.wheelNext = after;
    if (before === undefined) this.#first[PAST] = node;
    else before.wheelNext = node;
    if (after === undefined) this.#last[PAST] = node;
    else after.wheelPrev = node;
    this.#waiting[LEVELS]!++;
    return true;
  }

  #unlink(node: T): void {
    const slot = node.wheelSlot;
    const { wheelPrev: prev, wheelNext: next } = node;
    if (prev === undefined) this.#first[slot] = next as T | undefined;
    else prev.wheelNext = next;
    if (next === undefined) this.#last[slot] = prev as T | undefined;
    else next.wheelPrev = prev;
    if (prev === undefined && next === undefined) this.#occupied[slot >>> 5]! &= ~(1 << (slot & 31));
    node.wheelPrev = undefined;
    node.wheelNext = undefined;
    node.wheelSlot = -1;
    this.#waiting[slot >>> DIGIT_BITS]!--;
    if (node.expiresAt === this.#next || this.#size === 0) this.#next = undefined;
  }

  /** The occupied slot with the earliest deadline, lower levels first; -1 when nothing is armed. */
  #firstSlot(): number {
    if (this.#waiting[LEVELS]! > 0) return PAST;
    for (let level = 0; level < LEVELS; level++) {
      if (this.#waiting[level] === 0) continue;
      for (let word = level * WORDS; ; word++) {
        const bits = this.#occupied[word]!;
        if (bits !== 0) return word * 32 + 31 - Math.clz32(bits & -bits);
      }
    }
    return -1;
  }

  /** The first millisecond of a slot: the base's digits above the slot's level, the slot's own digit, and zeros. */
  #startOf(slot: number): Millis {
    if (slot === PAST) return this.#first[PAST]!.expiresAt;
    const level = slot >>> DIGIT_BITS;
    const shift = (level % 3) * DIGIT_BITS;
    const digit = (slot & (SLOTS - 1)) << shift;
    const above = (level < 3 ? this.#low : this.#high) >>> (shift + DIGIT_BITS);
    const digits = above * 2 ** (shift + DIGIT_BITS) + digit;
    return level < 3 ? this.#high * HALF + digits : digits * HALF;
  }

  /** Moves the base to the start of a slot, whose nodes must then be moved. */
  #beginToOpen(slot: number): void {
    this.#moveBase(this.#startOf(slot));
    this.#next = undefined;
    this.#opening = slot;
  }

  /**
   * Moves at most this many nodes of the slot that is being opened to lower levels, in order. Returns how many more may
   * be moved.
   */
  #open(most: number): number {
    const slot = this.#opening;
    let left = most;
    for (let node = this.#first[slot]; node !== undefined; node = this.#first[slot]) {
      if (left === 0) return 0;
      left--;
      this.#unlink(node);
      this.#link(node);
    }
    this.#opening = -1;
    this.#next = undefined;
    return left;
  }

  #moveBase(to: Millis): void {
    this.#high = Math.floor(to / HALF);
    this.#low = to - this.#high * HALF;
  }

  /**
   * Moves the base back to the start of the 37-hour slot that contains the time, and every node to its new place.
   * Happens when a clock was set back and many deadlines are before the base; takes O(n), once.
   */
  #rewind(to: Millis): void {
    if (this.#opening >= 0) this.#open(Infinity);
    const nodes: T[] = [];
    for (let slot = this.#firstSlot(); slot >= 0; slot = this.#firstSlot()) {
      const node = this.#first[slot]!;
      this.#unlink(node);
      nodes.push(node);
    }
    this.#moveBase(Math.floor(Math.max(0, to) / HALF) * HALF);
    for (const node of nodes) this.#link(node);
  }

  #findNext(): Millis {
    const slot = this.#opening >= 0 ? this.#opening : this.#firstSlot();
    const start = this.#startOf(slot);
    let node = this.#first[slot];
    if (slot < SLOTS || slot === PAST) return node!.expiresAt;
    if (slot === this.#opening) return start;
    let earliest = NO_DEADLINE;
    for (let scanned = 0; node !== undefined; node = node.wheelNext as T | undefined) {
      if (node.expiresAt < earliest) earliest = node.expiresAt;
      if (++scanned > SCAN_MAX) return start;
    }
    return earliest;
  }
}
