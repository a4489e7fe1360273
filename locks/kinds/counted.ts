/**
 * Locks that their owner may enter again: what re-entrant, fair, fenced and read-write locks have in common.
 *
 * This process knows how many holds each of its owners has, and tells the server the number it wants there. Requests of
 * one owner for one lock go one after the other; so asking again after a lost reply never counts twice, and a count
 * that a failover set back is put right by the next request.
 */
import { ServerAcquisition } from '../asking/acquisition.ts';
import { Lock, type Wish } from '../asking/lock.ts';
import type { Request } from '../asking/taking.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import type { Core, Counted } from '../holding/core.ts';
import { type Backing, Held } from '../holding/held.ts';
import type { Hold, Keeper, Renewal } from '../holding/hold.ts';
import { abandonedKey } from '../keys.ts';
import type { OnceArgs } from '../server/requests.ts';
import { insist } from '../server/retry.ts';
import type { LockServer } from '../server/server.ts';
import { type Choose, chooseFirst, type Heir, type Waiter } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';

/** What the server said to a request for a hold. */
export type Taken =
  | { granted: true; fence?: number }
  | { granted: false; retryInMs: number }
  | { granted: false; gone: true };

/** One request to hold `target` times; the same `request` again must have the same effect. */
export interface Take {
  readonly owner: string;
  readonly target: number;
  readonly ttlMs: number;
  readonly request: string;
  /** Whether it may stand in line. */
  readonly waits: boolean;
}

/** One request to hold only `target` times. `lateMs` > 0 bars the request that took the hold, which may be under way. */
export interface Give extends Omit<Take, 'waits' | 'request'> {
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
  passOn?(granted: boolean): ((waiter: Waiter) => boolean) | undefined;
  token(owner: string): string;
  takeScript(take: Take): Request;
  taken(reply: unknown): Taken;
  give(server: LockServer, give: Give): Promise<unknown>;
  /** What the reply to that says: 1: free now, 0: still held, -1: not the owner's. Left out where it is that number. */
  given?(server: LockServer, reply: unknown): number;
  /** From an owner that holds it once to the next one of this process, where it can be handed over. */
  handOver?(owner: string, heir: Heir): Request;
  /** @param number how many holds the owner has; of read holds, which one */
  renewal(owner: string, number: number): Renewal;
  /** Its key may outlive its lease, because other holds of the same owner keep it up. */
  readonly outlived?: boolean;
  /** Leaves the line, when waiting left a trace there. */
  leave?(server: LockServer, owner: string): Promise<void>;
}

/** Why holds are lost of which the server has no trace. */
export const UNKNOWN_THERE = 'the server does not know it any more';

/** For how long a release is remembered: a copy that comes later would find its owner holding the lock again. */
const REMEMBER_MS = 10_000;

export class CountedLock extends Lock<Held> {
  protected readonly kind: CountedKind;

  constructor(core: Core, kind: CountedKind) {
    super(core, kind.name);
    this.kind = kind;
  }

  protected prepare(wish: Wish): Acquisition<Held> {
    return new CountedAcquisition(this.core, this.kind, wish);
  }
}

/** Runs `work` when the owner's earlier requests for this lock are done. */
export async function inTurn<T>(core: Core, key: string, work: (counted: Counted) => Promise<T>): Promise<T> {
  let counted = core.counted.get(key);
  if (!counted) {
    counted = nothing();
    core.counted.set(key, counted);
  }
  const mine = counted;
  if (mine.busy) await new Promise<void>((resolve) => mine.line.push(resolve));
  mine.busy = true;
  try {
    return await work(mine);
  } finally {
    const next = mine.line.shift();
    if (next)
      next(); // It stays busy: the turn is handed on.
    else {
      mine.busy = false;
      if (mine.count === 0) core.counted.delete(key);
    }
  }
}

const nothing = (): Counted => ({ hold: undefined, count: 0, renewed: 0, busy: false, line: [] });

/** All holds of an owner are one: they have one lease, the longest that was asked for, and are lost together. */
export class CountedAcquisition extends ServerAcquisition implements Backing, Heir, Keeper {
  readonly channel: string;
  readonly choose: Choose;
  readonly ordered: boolean;
  readonly handsOver: boolean;
  readonly shared: boolean;
  readonly longestSleepMs: number | undefined;
  protected readonly kind: CountedKind;
  readonly #request: string;
  /** The holds of an owner that nobody else asks for: neither has it to be found, nor does anybody wait for his turn. */
  readonly #own: Counted | undefined;
  /** The holds that it keeps. */
  #counted: Counted | undefined;

  constructor(core: Core, kind: CountedKind, wish: Wish) {
    super(core, kind.name, wish);
    this.#request = core.owners.request();
    this.kind = kind;
    this.#own = core.owners.isAlone(wish.owner) ? nothing() : undefined;
    this.channel = kind.channel(wish.owner);
    this.handsOver = kind.ordered;
    this.choose = kind.choose ?? chooseFirst;
    this.shared = kind.shared ?? false;
    this.longestSleepMs = kind.longestSleepMs;
    // Who holds it already does not stand in line to enter again.
    this.ordered = kind.ordered && (this.#own ?? core.counted.get(this.#key) ?? nothing()).count === 0;
  }

  get #key(): string {
    return `${this.kind.id} ${this.kind.name} ${this.owner}`;
  }

  protected inTurn<T>(work: (counted: Counted) => Promise<T>): Promise<T> {
    return this.#own ? work(this.#own) : inTurn(this.core, this.#key, work);
  }

  get token(): string {
    return this.kind.token(this.owner);
  }

  get markerKey(): string {
    return abandonedKey(this.lock, this.#request);
  }

  /** Where replicas have to confirm a grant, or the owner may hold it already, nothing is handed over. */
  get heir(): Heir | undefined {
    return this.#own && this.kind.handOver && !this.core.replication ? this : undefined;
  }

  passOn(granted: boolean): ((waiter: Waiter) => boolean) | undefined {
    const others = this.kind.passOn?.(granted);
    if (!granted || this.#own) return others;
    // Whoever else waits for the same owner enters with it.
    return (waiter) => waiter.owner === this.owner || others?.(waiter) === true;
  }

  attempt(): Promise<Attempt<Held>> {
    return this.inTurn((counted) => this.look(counted));
  }

  protected async look(counted: Counted): Promise<Attempt<Held>> {
    if (counted.hold && !counted.hold.active) reset(counted);
    const inherited = this.inherits ? await this.claim() : undefined;
    if (inherited !== undefined) {
      counted.count = 1;
      return { held: this.#held(counted, inherited, undefined) };
    }
    const sentAt = elapsed();
    let taken = this.kind.taken(await this.takeTo(counted.count + 1));
    if ('gone' in taken) {
      counted.hold?.lose(UNKNOWN_THERE);
      reset(counted);
      taken = this.kind.taken(await this.takeTo(1));
    }
    if (!taken.granted) return { retryInMs: 'retryInMs' in taken ? taken.retryInMs : 0 };
    counted.count++;
    return { held: this.#held(counted, sentAt, taken.fence) };
  }

  /** Asks the server for so many holds. */
  protected takeTo(target: number): Promise<unknown> {
    const wanted = this.kind.takeScript({
      owner: this.owner,
      target,
      ttlMs: this.ttlMs,
      request: this.#request,
      waits: this.waits,
    });
    return this.take(wanted, () => ({
      granted: (answer) => this.kind.taken(answer).granted,
      undo: () => this.giveBack(target - 1),
    }));
  }

  #held(counted: Counted, sentAt: number, fence: number | undefined): Held {
    const { leaseMs, renewed } = this.wish;
    if (renewed) counted.renewed++;
    if (counted.hold) {
      counted.hold.prolong(sentAt, leaseMs);
      if (renewed) counted.hold.renew(leaseMs);
    } else {
      this.#counted = counted;
      counted.hold = this.hold(sentAt, { token: this.token, fence, keeper: this });
    }
    return new Held(counted.hold, this);
  }

  renewal(): Renewal {
    return this.kind.renewal(this.owner, Math.max(1, this.#counted?.count ?? 1));
  }

  lost(hold: Hold): void {
    if (this.#counted) reset(this.#counted, hold);
    if (this.#own || !this.kind.outlived) return;
    this.inTurn(async (counted) => {
      if (!counted.hold) await this.giveBack(0);
    }).catch(() => {});
  }

  extend(hold: Hold, leaseMs: number): Promise<boolean> {
    return this.renew(hold.spec.keeper.renewal(), hold.serverLeaseMs(leaseMs));
  }

  release(hold: Hold): Promise<boolean> {
    return this.inTurn((counted) => this.giveUpOne(counted, hold));
  }

  protected async giveUpOne(counted: Counted, hold: Hold): Promise<boolean> {
    if (counted.hold !== hold) {
      // Lost before: the field on the server may still be there, unless a new hold of the owner stands on it.
      if (!counted.hold && hold.lost) await this.giveBack(0);
      return false;
    }
    const target = counted.count - 1;
    const heir = target === 0 && this.#own && this.kind.handOver ? this.heirOf(hold) : undefined;
    if (target === 0) hold.end();
    else if (this.wish.renewed && --counted.renewed === 0) hold.rest();
    try {
      if (heir) return await this.#handOver(heir, hold.endsAt);
      const left = await this.giveBack(target, hold.endsAt);
      if (target > 0 && left < 0) hold.lose(UNKNOWN_THERE);
      return left >= 0;
    } finally {
      counted.count = target; // Where it is unknown, the next request, or the end of the lease, puts it right.
      if (target === 0) reset(counted);
    }
  }

  #handOver(heir: Heir, validUntil: number): Promise<boolean> {
    return this.handOver(heir, this.kind.handOver!(this.owner, heir), async (unanswered) => {
      return (await this.giveBack(0, validUntil)) >= 0 || (unanswered && elapsed() < validUntil);
    });
  }

  /** The release of an owner that may come back is numbered: no copy of it may end a later hold. */
  protected giveBack(
    target: number,
    validUntil = elapsed() + this.wish.leaseMs,
    ending = target + 1,
  ): Promise<number> {
    const { server, requests, owners } = this.core;
    const number = owners.isLasting(this.owner) ? requests.open() : 0;
    const ask = (): Promise<unknown> =>
      this.kind.give(server, {
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
      const left = this.kind.given?.(server, reply) ?? Number(reply);
      const byItself = number === 0 && unanswered > 0 && elapsed() < validUntil;
      return left < 0 && byItself ? Number(target === 0) : left;
    };
    const given = insist(ask, read, Math.max(validUntil, elapsed() + server.requestTimeoutMs));
    return number > 0 ? given.finally(() => requests.settle(number)) : given;
  }

  async abandon(unknown: boolean): Promise<void> {
    this.disclaim();
    if (this.waits) await this.kind.leave?.(this.core.server, this.owner).catch(() => {});
    if (!unknown && this.markerMs === 0) return;
    // Whatever a lost request did: back to the holds that are known.
    this.inTurn((counted) => this.giveBack(counted.count)).catch(() => {});
  }
}

function reset(counted: Counted, only?: Hold): void {
  if (only && counted.hold !== only) return;
  counted.hold = undefined;
  counted.count = 0;
  counted.renewed = 0;
}
