/** What acquisitions have in common: who asks for what, requests that may be under way for long, the hold that a grant gives. */

import type { Core } from '../holding/core.ts';
import { Hold, type HoldSpec, type Renewal } from '../holding/hold.ts';
import { HoldHandle } from '../holding/hold-handle.ts';
import { renewScript } from '../scripts/renew.ts';
import { NoReply, TooFewCopies } from '../server/outcomes.ts';
import type { LockServer, ReplicaRequirement } from '../server/server.ts';
import type { Choose, Successor } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';
import type { AcquireOptions, AcquireParams } from './lock.ts';
import { type LockRequest, take, type UndoableGrant } from './requests.ts';
import type { Acquisition, Attempt } from './waiting.ts';

/** How long a request given up is remembered at most: longer than any connection keeps it under way. */
export const MARKER_MS = 60_000;

/**
 * Whether the one renewed hold is still there, asked by the renewing script. With `replication`, rejects with TooFewCopies
 * when the new lease does not reach enough replicas in time.
 */
export async function renewOne(
  server: LockServer,
  renewal: Renewal,
  ttlMs: number,
  replication?: ReplicaRequirement,
): Promise<boolean> {
  const args = [renewal.kind, renewal.keys.length, renewal.token, ttlMs];
  if (!replication) return isRenewed(await server.run(renewScript, renewal.keys, args));
  const renewed = await server.runReplicated(renewScript, renewal.keys, args, replication);
  if (!isRenewed(renewed.reply)) return false;
  if (renewed.copies >= renewed.needed) return true;
  throw renewed.cause instanceof NoReply ? renewed.cause : new TooFewCopies(renewed);
}

const isRenewed = (reply: unknown): boolean => Number((reply as unknown[])[0]) === 1;

/** What a hold is besides its acquisition's; without a lease it has the one that was wished for. */
type GrantedHold = Pick<HoldSpec, 'token' | 'fence' | 'callbacks'> &
  Partial<Pick<HoldSpec, 'leaseMs' | 'renewed' | 'quorum'>>;

/** An acquisition from one server or several. */
export abstract class BaseAcquisition<O extends AcquireOptions = AcquireOptions>
  implements Acquisition<HoldHandle>
{
  readonly lock: string;
  readonly owner: string;
  readonly servers: readonly LockServer[];
  abstract readonly channel: string;
  abstract readonly choose: Choose;
  abstract readonly ordered: boolean;
  protected readonly core: Core;
  protected readonly params: AcquireParams<O>;

  constructor(core: Core, name: string, params: AcquireParams<O>, servers: readonly LockServer[]) {
    this.core = core;
    this.params = params;
    this.lock = name;
    this.owner = params.owner;
    this.servers = servers;
  }

  abstract attempt(now: number): Promise<Attempt<HoldHandle>>;

  abstract abandon(unknown: boolean): Promise<void>;

  /** The TTL to ask of a server. */
  get ttlMs(): number {
    return this.params.leaseMs + this.core.lockDelayMs;
  }

  /** The hold that was granted. @param sentAt when the request for it left */
  protected hold(sentAt: number, granted: GrantedHold): Hold {
    const { lock, owner, servers, params } = this;
    const {
      token,
      fence,
      callbacks,
      quorum = 1,
      leaseMs = params.leaseMs,
      renewed = params.renewed,
    } = granted;
    const spec = { lock, owner, token, fence, leaseMs, renewed, servers, quorum, callbacks };
    return new Hold(spec, this.core, sentAt);
  }
}

/** What the holder of this process hands over: the answer to come, and when the request left. */
interface HandOver {
  readonly reply: Promise<unknown>;
  readonly sentAt: number;
}

/** An acquisition from one server. */
export abstract class ServerAcquisition<
  O extends AcquireOptions = AcquireOptions,
> extends BaseAcquisition<O> {
  /** A request for the lock got no answer: it may be under way still. */
  #unknown = false;
  #handOver: HandOver | undefined;

  constructor(core: Core, name: string, params: AcquireParams<O>) {
    super(core, name, params, core.first);
  }

  /** Whether it may stand in line. */
  protected get waits(): boolean {
    return this.params.waitMs > 0;
  }

  /** For how long a release must bar a request that took the lock, which may come after it; 0: there is none. */
  protected get markerMs(): number {
    return this.#unknown ? MARKER_MS : 0;
  }

  /** A request for the lock got no answer: it may be under way still. */
  onTransientError(error: unknown): void {
    if (error instanceof NoReply) this.#unknown = true;
  }

  /** Sends a request for the lock. Throws as `take` does. */
  protected take(request: LockRequest, grant: () => Omit<UndoableGrant, 'lock' | 'owner'>): Promise<unknown> {
    const { lock, owner } = this;
    return take(this.core, request, () => ({ lock, owner, ...grant() }));
  }

  /** Asks for a new lease; false when the server knows no such hold. Rejects as `renewOne` does. */
  protected renew(renewal: Renewal, ttlMs: number): Promise<boolean> {
    return renewOne(this.core.server, renewal, ttlMs, this.core.replication);
  }

  /** The holder of this process hands the lock over: the next look waits for that answer. */
  receiveHandOver(reply: Promise<unknown>, sentAt: number): void {
    this.#handOver = { reply, sentAt };
    reply.catch(() => {}); // Whoever gives up now does not look any more.
  }

  /** Whether the lock was handed over, and nobody has looked yet. */
  protected get hasHandOver(): boolean {
    return this.#handOver !== undefined;
  }

  /** When the request left that handed the lock over; undefined where the server refused it. */
  protected async acceptHandOver(): Promise<number | undefined> {
    const handOver = this.#handOver!;
    this.#handOver = undefined;
    try {
      return Number(await handOver.reply) === 1 ? handOver.sentAt : undefined;
    } catch (error) {
      if (error instanceof NoReply) throw error;
      return undefined;
    }
  }

  /** Nobody looks any more. What is on its way to this acquisition has to go back, and may come after that. */
  protected declineHandOver(): void {
    if (this.#handOver) this.#unknown = true;
    this.#handOver = undefined;
  }

  /**
   * To whom of this process the hold may go in one step. Not what was never handed out (its end wakes nobody here), nor
   * where a request may be under way.
   */
  protected successorFor(hold: Hold): Successor | undefined {
    const channel = this.core.server.wakeups.peek(this.channel);
    return channel && hold.active && hold.notifiesOnEnd && this.markerMs === 0
      ? channel.successor()
      : undefined;
  }

  /**
   * Hands the lock over to the next one of this process.
   * @param giveBack releases it, should the server not do that; `unanswered`: nobody knows whether it has
   */
  protected async handOver(
    successor: Successor,
    request: LockRequest,
    giveBack: (unanswered: boolean) => Promise<boolean>,
  ): Promise<boolean> {
    const sentAt = elapsed();
    const reply = this.core.server.run(request.script, request.keys, request.args);
    successor.receiveHandOver(reply, sentAt);
    try {
      const handed = Number(await reply);
      return handed < 0 ? await giveBack(false) : handed === 1;
    } catch (error) {
      return giveBack(error instanceof NoReply);
    }
  }

  /** A hold that one renewal keeps up, in hand. @param giveBack retries by itself until the hold is over */
  protected held(
    sentAt: number,
    renewal: Renewal,
    giveBack: (validUntil: number) => Promise<boolean>,
    fence?: number,
  ): HoldHandle {
    const hold = this.hold(sentAt, { token: renewal.token, fence, callbacks: { renewal: () => renewal } });
    return new HoldHandle(hold, {
      release: () => {
        hold.end();
        return giveBack(hold.endsAt);
      },
      extend: (_, ms) => this.renew(renewal, hold.serverLeaseMs(ms)),
    });
  }
}
