/** The base classes of acquisitions: their parameters, abandoned requests, hand-overs, and the hold that a grant creates. */

import type { LockContext } from '../holding/context.ts';
import { Hold, type HoldSpec, type Renewal } from '../holding/hold.ts';
import { HoldHandle } from '../holding/hold-handle.ts';
import { renewScript } from '../scripts/renew.ts';
import { NoReply, TooFewCopies } from '../server/outcomes.ts';
import type { LockServer, ReplicaRequirement } from '../server/server.ts';
import type { Choose, Successor } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';
import type { AcquireOptions, AcquireParams } from './lock.ts';
import { type LockRequest, type RetryOptions, take, type UndoableGrant } from './requests.ts';
import type { Acquisition, Attempt } from './waiting.ts';

/** How long an abandoned request is remembered, in milliseconds: longer than it can be under way. */
export const MARKER_MS = 60_000;

/**
 * Renews one hold; false when the server has no such hold. With `replication`, rejects with TooFewCopies when too few
 * replicas acknowledge the new lease in time.
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

/** The part of a hold's spec that depends on the grant; the rest, by default the lease too, is the acquisition's. */
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
  protected readonly context: LockContext;
  protected readonly params: AcquireParams<O>;

  constructor(context: LockContext, name: string, params: AcquireParams<O>, servers: readonly LockServer[]) {
    this.context = context;
    this.params = params;
    this.lock = name;
    this.owner = params.owner;
    this.servers = servers;
  }

  abstract attempt(now: number): Promise<Attempt<HoldHandle>>;

  abstract abandon(unknown: boolean): Promise<void>;

  /** The TTL to request from a server, in milliseconds. */
  get ttlMs(): number {
    return this.params.leaseMs + this.context.lockDelayMs;
  }

  /** Creates the granted hold. @param sentAt when the request was sent */
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
    return new Hold(spec, this.context, sentAt);
  }
}

/** A hand-over by a holder of this process: its reply, and when the request was sent. */
interface HandOver {
  readonly reply: Promise<unknown>;
  readonly sentAt: number;
}

export abstract class ServerAcquisition<
  O extends AcquireOptions = AcquireOptions,
> extends BaseAcquisition<O> {
  /** Whether a request for the lock got no reply, and so may still be under way. */
  #unknown = false;
  #handOver: HandOver | undefined;

  constructor(context: LockContext, name: string, params: AcquireParams<O>) {
    super(context, name, params, context.first);
  }

  /** Whether it may wait in the queue. */
  protected get waits(): boolean {
    return this.params.waitMs > 0;
  }

  /** How long a release must bar a request that may still arrive, in milliseconds; 0 when there is none. */
  protected get markerMs(): number {
    return this.#unknown ? MARKER_MS : 0;
  }

  /** A request for the lock failed; without a reply it may still be under way. */
  onTransientError(error: unknown): void {
    if (error instanceof NoReply) this.#unknown = true;
  }

  /** Sends a request for the lock. Throws as `take` does. */
  protected take(request: LockRequest, grant: () => Omit<UndoableGrant, 'lock' | 'owner'>): Promise<unknown> {
    const { lock, owner } = this;
    return take(this.context, request, () => ({ lock, owner, ...grant() }));
  }

  /** Asks for a new lease; false when the server knows no such hold. Rejects as `renewOne` does. */
  protected renew(renewal: Renewal, ttlMs: number): Promise<boolean> {
    return renewOne(this.context.server, renewal, ttlMs, this.context.replication);
  }

  /** A holder of this process hands the lock over: the next attempt waits for the reply. */
  receiveHandOver(reply: Promise<unknown>, sentAt: number): void {
    this.#handOver = { reply, sentAt };
    reply.catch(() => {}); // An abandoned acquisition does not read it.
  }

  /** Whether there is a hand-over that no attempt has read yet. */
  protected get hasHandOver(): boolean {
    return this.#handOver !== undefined;
  }

  /** When the request that handed the lock over was sent; undefined when the server refused it. */
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

  /** The acquisition is abandoned: a hand-over under way must be released, and may take effect only after that. */
  protected declineHandOver(): void {
    if (this.#handOver) this.#unknown = true;
    this.#handOver = undefined;
  }

  /**
   * The waiter of this process to hand the hold over to. None if the hold was never returned to a caller, or if a request
   * may still be under way.
   */
  protected successorFor(hold: Hold): Successor | undefined {
    const channel = this.context.server.wakeups.peek(this.channel);
    return channel && hold.active && hold.notifiesOnEnd && this.markerMs === 0
      ? channel.successor()
      : undefined;
  }

  /**
   * Hands the lock over to the next waiter of this process.
   * @param giveBack releases it if the server refused the hand-over, or (`unanswered`) its outcome is unknown
   */
  protected async handOver(
    successor: Successor,
    request: LockRequest,
    giveBack: (unanswered: boolean) => Promise<boolean>,
  ): Promise<boolean> {
    const sentAt = elapsed();
    const reply = this.context.server.run(request.script, request.keys, request.args);
    successor.receiveHandOver(reply, sentAt);
    try {
      const handed = Number(await reply);
      return handed < 0 ? await giveBack(false) : handed === 1;
    } catch (error) {
      return giveBack(error instanceof NoReply);
    }
  }

  /** The handle on a granted hold. @param giveBack releases it, with retries until the hold is over unless told otherwise */
  protected held(
    sentAt: number,
    renewal: Renewal,
    giveBack: (validUntil: number, how?: RetryOptions) => Promise<boolean>,
    fence?: number,
  ): HoldHandle {
    const hold = this.hold(sentAt, { token: renewal.token, fence, callbacks: { renewal: () => renewal } });
    return new HoldHandle(hold, {
      release: (_, again) => {
        hold.end();
        return giveBack(hold.endsAt, again);
      },
      extend: (_, ms) => this.renew(renewal, hold.serverLeaseMs(ms)),
    });
  }
}
