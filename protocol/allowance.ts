/**
 * The memory that one request may allocate. What grows with the data or with a request is counted here before it is
 * allocated, so that no request ends the whole process (docs/decisions/0039).
 */

/** Memory in use, in bytes: of the heap alone, and with a share of what is outside of it. */
interface Usage {
  readonly heap: number;
  readonly all: number;
}

/** Measures the memory of the process. */
export interface HeapMeter {
  /** The size at which the heap ends the process, in bytes. */
  readonly limit: number;
  /** What is in use. Garbage counts until it is collected. */
  used(): Usage;
  /** Collects garbage. It takes long, and happens only when a request seems to exceed its limit. */
  collect(): void;
}

/** How much memory the requests of a node may allocate. */
export interface MemoryRule {
  /** The most that one request may keep allocated, in bytes. */
  readonly limit: number;
  /** Absent where nothing measures the heap. Then everything that a request ever allocates counts. */
  readonly heap?: HeapMeter | undefined;
}

/** What is allowed where neither an option nor the heap says more, in bytes. */
const UNMEASURED = 256 * 1024 ** 2;

/** A request may allocate this share of the heap. */
const SHARE = 1 / 4;

/**
 * Memory outside of the heap counts this share: the heap's limit does not end it, and a string of 512 MB is allowed in Redis.
 */
export const OUTSIDE = 1 / 4;

/** No request may fill the heap beyond this share of its limit. V8 gives up before the heap is full. */
const FULL = 0.75;

/** The heap is looked at each time this share of a request's limit has been allocated. */
const CHUNK = 1 / 8;

/** After how many looks at the heap a request's ropes are made flat, because they may be more than they seem. */
const TRUSTED = 2;

/** A request would allocate more than it may. Nothing has been allocated yet. Scripts cannot catch it. */
export class OverLimit extends Error {
  constructor() {
    super('exceeds the memory limit of one request');
  }
}

/** What a request has allocated so far, as far as anybody has looked. */
export interface Account {
  /** The memory in use when the request began, as far as that is known; undefined without a meter. */
  base: number | undefined;
  /** Without a meter: the bytes that were counted. */
  counted: number;
  looks: number;
  /** The memory in use after the last collection that it caused; undefined before the first. */
  clean: number | undefined;
}

/** The rule of work that nobody's request causes, or that must not be refused: what a primary did, its replica does. */
export const UNLIMITED_MEMORY: MemoryRule = { limit: Infinity };

/** Returns the rule for a limit that an option gave, or for the heap. */
export function memoryRule(limit: number | undefined, heap: HeapMeter | undefined): MemoryRule {
  return { limit: limit ?? (heap === undefined ? UNMEASURED : heap.limit * SHARE), heap };
}

/** The allowance of the request that is running. The process has one heap, so there is one for all nodes. */
class Allowance {
  /** How many bytes may be allocated before the heap is looked at again. It is spent by many requests. */
  left = 0;
  /** The running request's; undefined until the heap has been looked at. A paused script keeps its own. */
  account: Account | undefined;
  #rule = UNLIMITED_MEMORY;

  /** A request of a node begins. */
  begin(rule: MemoryRule): void {
    this.account = undefined;
    if (rule === this.#rule) return;
    this.#rule = rule;
    this.left = 0;
  }

  /**
   * Looks at the heap before `bytes` are allocated.
   * @throws OverLimit when they are too many
   */
  look(bytes: number): void {
    const { limit, heap } = this.#rule;
    const chunk = limit * CHUNK;
    const counted = Math.max(0, chunk - this.left);
    // A request that was refused may still do small things, without a look at each of them.
    this.left = chunk / 16;
    if (bytes > limit) throw new OverLimit();
    const account = (this.account ??= { base: heap?.used().all, counted: 0, looks: 0, clean: undefined });
    account.looks++;
    account.counted += counted;
    if (heap !== undefined && account.clean === undefined && account.counted > limit / 2)
      measure(heap, account);
    if (heap === undefined ? account.counted > limit : !hasRoom(heap, account, limit, bytes)) {
      throw new OverLimit();
    }
    this.left = chunk;
  }

  /** Does work that is not refused, such as loading a dataset. */
  unlimited<T>(work: () => T): T {
    const { left } = this;
    this.left = Infinity;
    try {
      return work();
    } finally {
      this.left = left;
    }
  }

  /**
   * Counts small pieces that have been allocated, and that nobody counts by themselves. Without a meter, nobody knows which of them
   * are still there.
   */
  countSmall(bytes: number): void {
    if (this.#rule.heap !== undefined && (this.left -= bytes) < 0) this.look(0);
  }

  /** True when a rope that the request makes must be made flat, so that a look at the heap sees how long it is. */
  get flattens(): boolean {
    return this.account !== undefined && this.account.looks >= TRUSTED;
  }
}

/**
 * Measures again where the request began. What was garbage then would hide what the request keeps. This takes one collection,
 * for a request that has allocated half of what it may keep.
 */
function measure(heap: HeapMeter, account: Account): void {
  heap.collect();
  account.clean = heap.used().all;
  account.base = account.clean;
}

function hasRoom(heap: HeapMeter, account: Account, limit: number, bytes: number): boolean {
  const fits = (used: Usage): boolean =>
    used.all - (account.base ?? 0) + bytes <= limit && used.heap + bytes <= heap.limit * FULL;
  const used = heap.used();
  if (fits(used)) return true;
  // There is little garbage soon after a collection.
  if (account.clean !== undefined && used.all - account.clean < (limit * CHUNK) / 2) return false;
  heap.collect();
  const live = heap.used();
  account.clean = live.all;
  return fits(live);
}

/** The allowance of the running request. */
export const allowance = new Allowance();

/**
 * Counts bytes that are about to be allocated.
 * @throws OverLimit when they are more than the request may allocate
 */
export function allocate(bytes: number): void {
  if ((allowance.left -= bytes) < 0) allowance.look(bytes);
}

/**
 * Counts a part that is about to be added to a text. The text as a whole is copied when it is sent, so there must be room for
 * that too. To count the whole with each part used up the allowance, and every LRANGE of 100,000 elements collected garbage.
 * @throws OverLimit when the request may not allocate the whole once more
 */
export function allocatePart(bytes: number, whole: number): void {
  if ((allowance.left -= bytes) < 0) allowance.look(whole);
}

/** Counts bytes outside of the heap: those of buffers, and of texts that are made from long ones. */
export function allocateOutside(bytes: number): void {
  allocate(bytes * OUTSIDE);
}
