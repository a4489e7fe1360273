/**
 * Locks that their owner may enter again: what re-entrant, fair, fenced and read-write locks have in common.
 *
 * This process knows how many holds each of its owners has, and tells the server the number it wants there. Requests of
 * one owner for one lock go one after the other; so asking again after a lost reply never counts twice, and a count
 * that a failover set back is put right by the next request.
 */
import { ServerAcquisition } from '../asking/acquisition.ts';
import { type AcquireParams, Lock } from '../asking/lock.ts';
import type { LockRequest } from '../asking/requests.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import type { Core, CountedHolds } from '../holding/core.ts';
import type { Hold, HoldCallbacks, Renewal } from '../holding/hold.ts';
import { HoldHandle, type HoldOperations } from '../holding/hold-handle.ts';
import { abandonedKey } from '../keys.ts';
import type { OnceArgs } from '../server/request-log.ts';
import { retryUntilAnswered } from '../server/retry.ts';
import type { LockServer } from '../server/server.ts';
import { type ChannelWaiter, type Choose, chooseFirst, type Successor } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';

/** What the server said to a request for a hold. */
export type CountedReply =
  | { granted: true; fence?: number }
  | { granted: false; retryInMs: number }
  | { granted: false; gone: true };

/** One request to hold `target` times; the same `request` again must have the same effect. */
export interface CountedAcquire {
  readonly owner: string;
  readonly target: number;
  readonly ttlMs: number;
  readonly request: string;
  /** Whether it may stand in line. */
  readonly waits: boolean;
}

/** One request to hold only `target` times. `lateMs` > 0 bars the request that took the hold, which may be under way. */
export interface CountedRelease extends Omit<CountedAcquire, 'waits' | 'request'> {
  /** The number of the hold that ends; see read-write.ts, where each hold has a key of its own. */
  readonly ending: number;
  readonly lateMs: number;
  /** The request that took the hold. */
  readonly takenBy: string;
  /** The last key and the first arguments of scripts that begin with `once`. */
  readonly requests: string;
  readonly once: OnceArgs;
}

/** How one kind of counted lock speaks to the server. */
export interface CountedKind {
  readonly name: string;
  /** Tells the holds of this lock from those of other locks of the same name, in this process. */
  readonly id: string;
  channel(owner: string): string;
  readonly ordered: boolean;
  readonly choose?: Choose;
  readonly shared?: boolean;
  /** A waiter looks at least that often, whatever it hears. */
  readonly longestSleepMs?: number;
  passOn?(granted: boolean): ((waiter: ChannelWaiter) => boolean) | undefined;
  token(owner: string): string;
  acquireRequest(take: CountedAcquire): LockRequest;
  readAcquireReply(reply: unknown): CountedReply;
  release(server: LockServer, give: CountedRelease): Promise<unknown>;
  /** What the reply to that says: 1: free now, 0: still held, -1: not the owner's. Left out where it is that number. */
  readReleaseReply?(server: LockServer, reply: unknown): number;
  /** From an owner that holds it once to the next one of this process, where it can be handed over. */
  handOver?(owner: string, successor: Successor): LockRequest;
  /** @param number how many holds the owner has; of read holds, which one */
  renewal(owner: string, number: number): Renewal;
  /** Its key may outlive its lease, because other holds of the same owner keep it up. */
  readonly keyMayOutliveLease?: boolean;
  /** Leaves the line, when waiting left a trace there. */
  leaveQueue?(server: LockServer, owner: string): Promise<void>;
}

/** Why holds are lost of which the server has no trace. */
export const UNKNOWN_TO_SERVER = 'the server does not know it any more';

/** For how long a release is remembered: a copy that comes later would find its owner holding the lock again. */
const REMEMBER_MS = 10_000;

export class CountedLock extends Lock<HoldHandle> {
  protected readonly kind: CountedKind;

  constructor(core: Core, kind: CountedKind) {
    super(core, kind.name);
    this.kind = kind;
  }

  protected prepare(params: AcquireParams): Acquisition<HoldHandle> {
    return new CountedAcquisition(this.core, this.kind, params);
  }
}

/** Runs `work` when the owner's earlier requests for this lock are done. */
export async function inTurn<T>(
  core: Core,
  key: string,
  work: (counted: CountedHolds) => Promise<T>,
): Promise<T> {
  let counted = core.counted.get(key);
  if (!counted) {
    counted = noHolds();
    core.counted.set(key, counted);
  }
  const mine = counted;
  if (mine.busy) await new Promise<void>((resolve) => mine.queue.push(resolve));
  mine.busy = true;
  try {
    return await work(mine);
  } finally {
    const next = mine.queue.shift();
    if (next)
      next(); // It stays busy: the turn is handed on.
    else {
      mine.busy = false;
      if (mine.count === 0) core.counted.delete(key);
    }
  }
}

const noHolds = (): CountedHolds => ({ hold: undefined, count: 0, renewed: 0, busy: false, queue: [] });

/** All holds of an owner are one: they have one lease, the longest that was asked for, and are lost together. */
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
  /** The holds of an owner that nobody else asks for: neither has it to be found, nor does anybody wait for his turn. */
  readonly #soleHolds: CountedHolds | undefined;
  /** The holds that it keeps. */
  #counted: CountedHolds | undefined;
  /** There are no more attempts: the caller has the lock, or the acquisition was abandoned. */
  #isOver = false;

  constructor(core: Core, kind: CountedKind, params: AcquireParams) {
    super(core, kind.name, params);
    this.#request = core.owners.request();
    this.kind = kind;
    this.#soleHolds = core.owners.isAlone(params.owner) ? noHolds() : undefined;
    this.channel = kind.channel(params.owner);
    this.handsOver = kind.ordered;
    this.choose = kind.choose ?? chooseFirst;
    this.shared = kind.shared ?? false;
    this.longestSleepMs = kind.longestSleepMs;
    // Who holds it already does not stand in line to enter again.
    this.ordered = kind.ordered && (this.#soleHolds ?? core.counted.get(this.#key) ?? noHolds()).count === 0;
  }

  get #key(): string {
    return `${this.kind.id} ${this.kind.name} ${this.owner}`;
  }

  protected inTurn<T>(work: (counted: CountedHolds) => Promise<T>): Promise<T> {
    return this.#soleHolds ? work(this.#soleHolds) : inTurn(this.core, this.#key, work);
  }

  get token(): string {
    return this.kind.token(this.owner);
  }

  get markerKey(): string {
    return abandonedKey(this.lock, this.#request);
  }

  /** Where replicas have to confirm a grant, or the owner may hold it already, nothing is handed over. */
  get successor(): Successor | undefined {
    return this.#soleHolds && this.kind.handOver && !this.core.replication ? this : undefined;
  }

  passOn(granted: boolean): ((waiter: ChannelWaiter) => boolean) | undefined {
    const others = this.kind.passOn?.(granted);
    if (!granted || this.#soleHolds) return others;
    // Whoever else waits for the same owner enters with it.
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

  /** Asks the server for so many holds. */
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
    if (this.#soleHolds || !this.kind.keyMayOutliveLease) return;
    // A grant whose reply came too late: the next attempt may get the lock, and a release would bar that too.
    if (!this.#isOver) return;
    this.inTurn(async (counted) => {
      if (!counted.hold) await this.giveBack(0);
    }).catch(() => {});
  }

  extend(hold: Hold, leaseMs: number): Promise<boolean> {
    return this.renew(hold.spec.callbacks.renewal(), hold.serverLeaseMs(leaseMs));
  }

  release(hold: Hold): Promise<boolean> {
    return this.inTurn((counted) => this.releaseOne(counted, hold));
  }

  protected async releaseOne(counted: CountedHolds, hold: Hold): Promise<boolean> {
    if (counted.hold !== hold) {
      // Lost before: the field on the server may still be there, unless a new hold of the owner stands on it.
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
      counted.count = target; // Where it is unknown, the next request, or the end of the lease, puts it right.
      if (target === 0) reset(counted);
    }
  }

  #handOver(successor: Successor, validUntil: number): Promise<boolean> {
    return this.handOver(successor, this.kind.handOver!(this.owner, successor), async (unanswered) => {
      return (await this.giveBack(0, validUntil)) >= 0 || (unanswered && elapsed() < validUntil);
    });
  }

  /** The release of an owner that may come back is numbered: no copy of it may end a later hold. */
  protected giveBack(
    target: number,
    validUntil = elapsed() + this.params.leaseMs,
    ending = target + 1,
  ): Promise<number> {
    const { server, requests, owners } = this.core;
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
      const byItself = number === 0 && unanswered > 0 && elapsed() < validUntil;
      return left < 0 && byItself ? Number(target === 0) : left;
    };
    const given = retryUntilAnswered(ask, read, Math.max(validUntil, elapsed() + server.requestTimeoutMs));
    return number > 0 ? given.finally(() => requests.settle(number)) : given;
  }

  taken(): void {
    this.#isOver = true;
  }

  async abandon(unknown: boolean): Promise<void> {
    this.#isOver = true;
    this.declineHandOver();
    if (this.waits) await this.kind.leaveQueue?.(this.core.server, this.owner).catch(() => {});
    if (!unknown && this.markerMs === 0) return;
    // Whatever a lost request did: back to the holds that are known.
    this.inTurn((counted) => this.giveBack(counted.count)).catch(() => {});
  }
}

function reset(counted: CountedHolds, only?: Hold): void {
  if (only && counted.hold !== only) return;
  counted.hold = undefined;
  counted.count = 0;
  counted.renewed = 0;
}
