/**
 * Re-entrant locks: the common part of re-entrant, fair, fenced and read-write locks.
 *
 * This process counts the holds of each of its owners, and sends the server the count that it should have. Requests of
 * one owner for one lock are sent one after another. A request that is repeated after a lost reply is therefore never
 * counted twice, and the next request corrects a count that a failover has reset.
 */
import { ServerAcquisition } from '../asking/acquisition.ts';
import { type AcquireParams, Lock } from '../asking/lock.ts';
import type { LockRequest } from '../asking/requests.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import type { CountedHolds, LockContext } from '../holding/context.ts';
import type { Hold, HoldCallbacks, Renewal } from '../holding/hold.ts';
import { type HeldLock, HoldHandle, type HoldOperations, type ReleaseAgain } from '../holding/hold-handle.ts';
import { abandonedKey } from '../keys.ts';
import type { OnceArgs } from '../server/request-log.ts';
import { retryUntilAnswered } from '../server/retry.ts';
import type { LockServer } from '../server/server.ts';
import { type ChannelWaiter, type Choose, chooseFirst, type Successor } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';

/** The server's reply to a request for a hold. */
export type CountedReply =
  | { granted: true; fence?: number }
  | { granted: false; retryInMs: number }
  | { granted: false; gone: true };

/** A request to have `target` holds. Repeating the same `request` must have the same effect. */
export interface CountedAcquire {
  readonly owner: string;
  readonly target: number;
  readonly ttlMs: number;
  readonly request: string;
  /** True when the owner may wait in the lock's queue. */
  readonly waits: boolean;
}

/**
 * A request to have only `target` holds. With `lateMs` > 0, it also bars the request that took the hold, because that
 * may still be under way.
 */
export interface CountedRelease extends Omit<CountedAcquire, 'waits' | 'request'> {
  /** The number of the hold that ends. Used by read-write.ts, where each hold has a key of its own. */
  readonly ending: number;
  readonly lateMs: number;
  /** The request that took the hold. */
  readonly takenBy: string;
  /** The last key of scripts that begin with `once`; `once` has their first arguments. */
  readonly requests: string;
  readonly once: OnceArgs;
}

/** How one kind of counted lock communicates with the server. */
export interface CountedKind {
  readonly name: string;
  /** Distinguishes the holds of this kind of lock from those of other kinds with the same name, within this process. */
  readonly id: string;
  channel(owner: string): string;
  readonly ordered: boolean;
  readonly choose?: Choose;
  readonly shared?: boolean;
  /** A waiter checks the lock at least this often, in milliseconds, whatever messages it receives. */
  readonly longestSleepMs?: number;
  passOn?(granted: boolean): ((waiter: ChannelWaiter) => boolean) | undefined;
  token(owner: string): string;
  acquireRequest(take: CountedAcquire): LockRequest;
  readAcquireReply(reply: unknown): CountedReply;
  release(server: LockServer, give: CountedRelease): Promise<unknown>;
  /**
   * Interprets the reply to `release`: 1 when the lock is free now, 0 when it is still held, -1 when the owner did not
   * hold it. Omitted when the reply is that number.
   */
  readReleaseReply?(server: LockServer, reply: unknown): number;
  /**
   * Hands the lock over from an owner with one hold to the next owner of this process. Omitted when the kind cannot do
   * that.
   */
  handOver?(owner: string, successor: Successor): LockRequest;
  /** @param number how many holds the owner has; for read holds, which of them to renew */
  renewal(owner: string, number: number): Renewal;
  /** True when the key can outlive the hold's lease because other holds of the same owner keep it. */
  readonly keyMayOutliveLease?: boolean;
  /** Removes the owner from the lock's queue, if waiting added it there. */
  leaveQueue?(server: LockServer, owner: string): Promise<void>;
}

/** The reason for losing holds that the server does not have. */
export const UNKNOWN_TO_SERVER = 'the server does not know it any more';

/**
 * How long the server remembers a release, in milliseconds: a late copy could otherwise end a later hold of the same
 * owner.
 */
const REMEMBER_MS = 10_000;

/** A lock that its owner can acquire again while holding it. */
export class CountedLock<H extends HeldLock = HoldHandle> extends Lock<H> {
  /** @internal */
  protected readonly kind: CountedKind;

  /** @internal */
  constructor(context: LockContext, kind: CountedKind) {
    super(context, kind.name);
    this.kind = kind;
  }

  /** @internal */
  protected prepare(params: AcquireParams): Acquisition<H> {
    // Whether its holds have fences depends on the kind's replies, which the type does not know.
    return new CountedAcquisition(this.context, this.kind, params) as Acquisition<HeldLock> as Acquisition<H>;
  }
}

/** Runs `work` when the earlier requests of the same owner for this lock are done. */
export async function inTurn<T>(
  context: LockContext,
  key: string,
  work: (counted: CountedHolds) => Promise<T>,
): Promise<T> {
  let counted = context.counted.get(key);
  if (!counted) {
    counted = noHolds();
    context.counted.set(key, counted);
  }
  const mine = counted;
  if (mine.busy) await new Promise<void>((resolve) => mine.queue.push(resolve));
  mine.busy = true;
  try {
    return await work(mine);
  } finally {
    const next = mine.queue.shift();
    if (next)
      next(); // It stays busy: the next request has its turn.
    else {
      mine.busy = false;
      if (mine.count === 0) context.counted.delete(key);
    }
  }
}

const noHolds = (): CountedHolds => ({ hold: undefined, count: 0, renewed: 0, busy: false, queue: [] });

/**
 * An acquisition of a counted lock. All holds of one owner are one: they share one lease, the longest that was
 * requested, and are lost together.
 */
export class CountedAcquisition
  extends ServerAcquisition
  implements HoldOperations, Successor, HoldCallbacks
{
  readonly channel: string;
  readonly choose: Choose;
  readonly ordered: boolean;
  readonly handsOver: boolean;
  readonly shared: boolean;
  readonly longestSleepMs: number | undefined;
  protected readonly kind: CountedKind;
  readonly #request: string;
  /** The holds of an owner made for this acquisition only. They need no entry in `context.counted`, and no turns. */
  readonly #soleHolds: CountedHolds | undefined;
  /** The holds that this acquisition keeps. */
  #counted: CountedHolds | undefined;
  /** There are no more attempts: the caller has the lock, or the acquisition was abandoned. */
  #isOver = false;

  constructor(context: LockContext, kind: CountedKind, params: AcquireParams) {
    super(context, kind.name, params);
    this.#request = context.owners.request();
    this.kind = kind;
    this.#soleHolds = context.owners.isAlone(params.owner) ? noHolds() : undefined;
    this.channel = kind.channel(params.owner);
    this.handsOver = kind.ordered;
    this.choose = kind.choose ?? chooseFirst;
    this.shared = kind.shared ?? false;
    this.longestSleepMs = kind.longestSleepMs;
    // An owner that already holds the lock does not wait in the queue to enter again.
    this.ordered =
      kind.ordered && (this.#soleHolds ?? context.counted.get(this.#key) ?? noHolds()).count === 0;
  }

  get #key(): string {
    return `${this.kind.id} ${this.kind.name} ${this.owner}`;
  }

  protected inTurn<T>(work: (counted: CountedHolds) => Promise<T>): Promise<T> {
    return this.#soleHolds ? work(this.#soleHolds) : inTurn(this.context, this.#key, work);
  }

  get token(): string {
    return this.kind.token(this.owner);
  }

  get markerKey(): string {
    return abandonedKey(this.lock, this.#request);
  }

  /** Nothing is handed over when replicas must acknowledge a grant, or when the owner may already hold the lock. */
  get successor(): Successor | undefined {
    return this.#soleHolds && this.kind.handOver && !this.context.replication ? this : undefined;
  }

  passOn(granted: boolean): ((waiter: ChannelWaiter) => boolean) | undefined {
    const others = this.kind.passOn?.(granted);
    if (!granted || this.#soleHolds) return others;
    // Other waiters with the same owner can enter too.
    return (waiter) => waiter.owner === this.owner || others?.(waiter) === true;
  }

  attempt(): Promise<Attempt<HoldHandle>> {
    return this.inTurn((counted) => this.look(counted));
  }

  protected async look(counted: CountedHolds): Promise<Attempt<HoldHandle>> {
    if (counted.hold && !counted.hold.active) reset(counted);
    const handedAt = this.hasHandOver ? await this.acceptHandOver() : undefined;
    if (handedAt !== undefined) {
      counted.count = 1;
      return { held: this.#held(counted, handedAt, undefined) };
    }
    const sentAt = elapsed();
    let taken = this.kind.readAcquireReply(await this.takeTo(counted.count + 1));
    if ('gone' in taken) {
      counted.hold?.lose(UNKNOWN_TO_SERVER);
      reset(counted);
      taken = this.kind.readAcquireReply(await this.takeTo(1));
    }
    if (!taken.granted) return { retryInMs: 'retryInMs' in taken ? taken.retryInMs : 0 };
    counted.count++;
    return { held: this.#held(counted, sentAt, taken.fence) };
  }

  /** Asks the server for this many holds. */
  protected takeTo(target: number): Promise<unknown> {
    const wanted = this.kind.acquireRequest({
      owner: this.owner,
      target,
      ttlMs: this.ttlMs,
      request: this.#request,
      waits: this.waits,
    });
    return this.take(wanted, () => ({
      granted: (answer) => this.kind.readAcquireReply(answer).granted,
      undo: () => this.giveBack(target - 1),
    }));
  }

  #held(counted: CountedHolds, sentAt: number, fence: number | undefined): HoldHandle {
    const { leaseMs, renewed } = this.params;
    if (renewed) counted.renewed++;
    if (counted.hold) {
      counted.hold.prolong(sentAt, leaseMs);
      if (renewed) counted.hold.startRenewing(leaseMs);
    } else {
      this.#counted = counted;
      counted.hold = this.hold(sentAt, { token: this.token, fence, callbacks: this });
    }
    return new HoldHandle(counted.hold, this);
  }

  renewal(): Renewal {
    return this.kind.renewal(this.owner, Math.max(1, this.#counted?.count ?? 1));
  }

  lost(hold: Hold): void {
    if (this.#counted) reset(this.#counted, hold);
    this.forgetHolds();
    if (this.#soleHolds || !this.kind.keyMayOutliveLease) return;
    // A grant whose reply came too late: the next attempt may get the lock, and a release would bar that too.
    if (!this.#isOver) return;
    this.inTurn(async (counted) => {
      if (!counted.hold) await this.giveBack(0);
    }).catch(() => {});
  }

  /** An owner without holds needs no entry, unless requests of it are under way: the last of them removes it. */
  protected forgetHolds(): void {
    const counted = this.context.counted.get(this.#key);
    if (counted !== undefined && counted.count === 0 && !counted.busy) this.context.counted.delete(this.#key);
  }

  extend(hold: Hold, leaseMs: number): Promise<boolean> {
    return this.renew(hold.spec.callbacks.renewal(), hold.serverLeaseMs(leaseMs));
  }

  release(hold: Hold, again?: ReleaseAgain): Promise<boolean> {
    return this.inTurn((counted) =>
      again ? this.releaseAgain(counted, hold, again) : this.releaseOne(counted, hold),
    );
  }

  /** Repeats a release that failed. Every request sets the owner's count, so one for a later hold has done it already. */
  protected async releaseAgain(counted: CountedHolds, hold: Hold, again: ReleaseAgain): Promise<boolean> {
    if (counted.hold && counted.hold !== hold) return true;
    return (await this.giveBack(counted.count, hold.endsAt, counted.count + 1, again)) >= 0;
  }

  protected async releaseOne(counted: CountedHolds, hold: Hold): Promise<boolean> {
    if (counted.hold !== hold) {
      // The hold was lost earlier. Its field may still be on the server, unless a new hold of the owner uses it.
      if (!counted.hold && hold.lost) await this.giveBack(0);
      return false;
    }
    const target = counted.count - 1;
    const successor =
      target === 0 && this.#soleHolds && this.kind.handOver ? this.successorFor(hold) : undefined;
    if (target === 0) hold.end();
    else if (this.params.renewed && --counted.renewed === 0) hold.stopRenewing();
    try {
      if (successor) return await this.#handOver(successor, hold.endsAt);
      const left = await this.giveBack(target, hold.endsAt);
      if (target > 0 && left < 0) hold.lose(UNKNOWN_TO_SERVER);
      return left >= 0;
    } finally {
      // If the outcome is unknown, the next request or the end of the lease corrects the count.
      counted.count = target;
      if (target === 0) reset(counted);
    }
  }

  #handOver(successor: Successor, validUntil: number): Promise<boolean> {
    return this.handOver(successor, this.kind.handOver!(this.owner, successor), async (unanswered) => {
      return (await this.giveBack(0, validUntil)) >= 0 || (unanswered && elapsed() < validUntil);
    });
  }

  /**
   * Reduces the owner's holds to `target`. For an owner that may acquire the lock again, the release is numbered, so
   * that no copy of it can end a later hold.
   */
  protected giveBack(
    target: number,
    validUntil = elapsed() + this.params.leaseMs,
    ending = target + 1,
    again?: ReleaseAgain,
  ): Promise<number> {
    const { server, requests, owners } = this.context;
    const number = owners.isLasting(this.owner) ? requests.open() : 0;
    const ask = (): Promise<unknown> =>
      this.kind.release(server, {
        owner: this.owner,
        target,
        ending,
        ttlMs: this.ttlMs,
        takenBy: this.#request,
        lateMs: this.markerMs,
        requests: number > 0 ? requests.key(this.lock) : this.lock,
        once: requests.args(number, REMEMBER_MS),
      });
    const read = (reply: unknown, unanswered: number): number => {
      const left = this.kind.readReleaseReply?.(server, reply) ?? Number(reply);
      // An earlier try had another number, so its outcome is not known by that.
      const byItself = again?.unanswered === true || (number === 0 && unanswered > 0);
      return left < 0 && byItself && elapsed() < validUntil ? Number(target === 0) : left;
    };
    const until = again ? 0 : Math.max(validUntil, elapsed() + server.requestTimeoutMs);
    const given = retryUntilAnswered(ask, read, until);
    return number > 0 ? given.finally(() => requests.settle(number)) : given;
  }

  taken(): void {
    this.#isOver = true;
  }

  /** False when other waiters of the same owner share its place in the lock's queue: their channel is that of the owner. */
  get #isLastWaiter(): boolean {
    return (this.context.server.wakeups.peek(this.channel)?.waiters.length ?? 0) === 0;
  }

  async abandon(unknown: boolean): Promise<void> {
    this.#isOver = true;
    this.declineHandOver();
    if (this.waits && this.#isLastWaiter)
      await this.kind.leaveQueue?.(this.context.server, this.owner).catch(() => {});
    if (!unknown && this.markerMs === 0) return;
    // Whatever a request without a reply has done, this resets the server to the holds that are known.
    this.inTurn((counted) => this.giveBack(counted.count)).catch(() => {});
  }
}

function reset(counted: CountedHolds, only?: Hold): void {
  if (only && counted.hold !== only) return;
  counted.hold = undefined;
  counted.count = 0;
  counted.renewed = 0;
}
