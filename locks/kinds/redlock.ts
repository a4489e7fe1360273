/** Redlock: one lock on independent servers, held while more than half of them grant it. */
import { randomInt } from 'node:crypto';
import { BaseAcquisition, MARKER_MS, renewOne } from '../asking/acquisition.ts';
import { type AcquireOptions, type AcquireParams, Lock } from '../asking/lock.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import { QuorumFailed } from '../errors.ts';
import type { LockContext } from '../holding/context.ts';
import type { Renewal } from '../holding/hold.ts';
import { HoldHandle, type ReleaseAgain } from '../holding/hold-handle.ts';
import { RELEASED, simpleAcquireScript } from '../scripts/simple.ts';
import { NoReply } from '../server/outcomes.ts';
import { isTransient } from '../server/retry.ts';
import type { LockServer } from '../server/server.ts';
import { chooseFirst, UNDONE } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';
import { IndependenceCheck } from './independence-check.ts';
import { askAll, type Votes } from './majority.ts';
import { abandonedTokensKey, releaseByToken, simpleChannel } from './simple.ts';

const independence = new WeakMap<LockContext, IndependenceCheck>();

/**
 * Each server keeps a simple lock. A server that restarts without its data must stay down for the longest lease: otherwise
 * a second holder can get a majority. Renewals restore the lock on servers that do not have it, unless a majority has lost it.
 */
export class Redlock extends Lock<HoldHandle> {
  /** @internal */
  override async acquireAs(
    owner: string,
    options: AcquireOptions,
    waitMs: number,
    must = false,
  ): Promise<HoldHandle | null> {
    this.checked(options);
    options.signal?.throwIfAborted();
    const { context } = this;
    let servers = independence.get(context);
    if (!servers) independence.set(context, (servers = new IndependenceCheck(context.servers)));
    await servers.check(this.name, context.serverLimitMs(options.leaseMs ?? context.leaseMs));
    return super.acquireAs(owner, options, waitMs, must);
  }

  /** @internal */
  protected prepare(params: AcquireParams): Acquisition<HoldHandle> {
    return new RedlockAcquisition(this.context, this.name, params);
  }
}

/** One attempt: its token, and the replies of the servers. */
interface Round {
  readonly token: string;
  readonly granted: Set<LockServer>;
  readonly refused: Set<LockServer>;
  /** Servers that are asked to take the lock again. */
  readonly restoring: Set<LockServer>;
  /** In how many milliseconds the first lease of another holder ends; -1: unknown. */
  soonestMs: number;
}

/** What the servers answer to a release, as far as they have not failed. */
type Giving = Map<LockServer, Promise<boolean>>;

class RedlockAcquisition extends BaseAcquisition {
  readonly channel = simpleChannel(this.lock, this.context.server);
  readonly choose = chooseFirst;
  readonly ordered = true;
  readonly handsOver = true;
  readonly quorum = Math.floor(this.servers.length / 2) + 1;
  readonly #limitMs: number;
  #failure: QuorumFailed | undefined;
  #splits = 0;

  constructor(context: LockContext, name: string, params: AcquireParams) {
    super(context, name, params, context.servers);
    this.#limitMs = context.serverLimitMs(params.leaseMs);
  }

  /**
   * Resolves as soon as a majority has granted the lock, or cannot any more. Releases and renewals go to all servers, so a
   * grant that arrives later is covered by them.
   */
  async attempt(): Promise<Attempt<HoldHandle>> {
    const sentAt = elapsed();
    const { leaseMs } = this.params;
    const round: Round = {
      token: this.context.owners.token(),
      granted: new Set(),
      refused: new Set(),
      restoring: new Set(),
      soonestMs: -1,
    };
    const votes = await askAll(this.servers, this.quorum, this.#limitMs, (server) =>
      this.#ask(server, round),
    );
    const validUntil = sentAt + leaseMs - Math.ceil(leaseMs * this.context.driftFactor);
    if (votes.yes >= this.quorum && elapsed() < validUntil) return { held: this.#held(round, sentAt) };
    await this.#undo(round, validUntil);
    this.#failure =
      votes.failed > this.servers.length - this.quorum
        ? new QuorumFailed(this.lock, this.owner, votes.yes, this.quorum, votes.cause)
        : undefined;
    // A split vote: every contender retries after a random delay, and ignores notifications, which all of them get at
    // the same time. The delays grow, because another contender may have a majority after all.
    const split = votes.no < this.quorum || votes.yes > 0;
    return split
      ? { retryInMs: randomInt(10, Math.min(100 * 2 ** this.#splits++, 1000)), ignoresMessages: true }
      : { retryInMs: Math.max(round.soonestMs, -1) };
  }

  async #ask(server: LockServer, round: Round, ttlMs = this.ttlMs): Promise<boolean> {
    const keys = [this.lock, abandonedTokensKey(this.lock)];
    // The reply is read even if it comes too late to count: the release depends on it.
    const reply = await server.run(simpleAcquireScript, keys, [round.token, ttlMs]);
    if (reply === null) {
      round.granted.add(server);
      return true;
    }
    round.refused.add(server);
    const left = Number(reply);
    if (left >= 0 && (round.soonestMs < 0 || left < round.soonestMs)) round.soonestMs = left;
    return false;
  }

  #held(round: Round, sentAt: number): HoldHandle {
    const { token } = round;
    const renewal: Renewal = { kind: 'string', keys: [this.lock], token };
    const restore = (server: LockServer): void => {
      if (hold.active) this.#restore(server, round, hold.serverLeaseMs(hold.leaseMs));
    };
    const callbacks = { renewal: () => renewal, restore };
    const hold = this.hold(sentAt, { token, quorum: this.quorum, callbacks });
    const giving: Giving = new Map();
    return new HoldHandle(hold, {
      release: (_, again) => {
        hold.end();
        return this.#release(round, hold.endsAt, giving, again);
      },
      extend: (_, ms) => this.#extend(renewal, hold.serverLeaseMs(ms), restore),
    });
  }

  /**
   * Takes the lock again on a server that came back empty, or did not grant it at first, while the lease lasts. Each server has one
   * vote, so nobody else can have a majority as well; this one counts from the next renewal on. Until it answers, a release lists
   * the token as abandoned there, so that a request which arrives after the release takes nothing.
   */
  #restore(server: LockServer, round: Round, ttlMs: number): void {
    if (round.restoring.has(server)) return;
    round.granted.delete(server);
    round.restoring.add(server);
    this.#ask(server, round, ttlMs)
      .catch(() => {}) // The next renewal tries again.
      .finally(() => round.restoring.delete(server));
  }

  /** True: a majority has the new lease. False: a majority is impossible. Throws when unknown; the old lease stays valid. */
  async #extend(renewal: Renewal, ttlMs: number, restore: (server: LockServer) => void): Promise<boolean> {
    const { servers, quorum } = this;
    let extended = false;
    const missing: LockServer[] = [];
    const votes = await askAll(servers, quorum, this.context.server.requestTimeoutMs, async (server) => {
      const has = await renewOne(server, renewal, ttlMs);
      if (has) return true;
      if (extended) restore(server);
      else missing.push(server);
      return false;
    });
    extended = this.#outcome(votes);
    if (extended) for (const server of missing) restore(server);
    return extended;
  }

  /**
   * Resolves when a majority has released it. The other servers are asked until the lease is over. When it is called again, it asks
   * only those that have refused since.
   */
  async #release(round: Round, validUntil: number, giving: Giving, again?: ReleaseAgain): Promise<boolean> {
    const { servers, quorum } = this;
    const give = (server: LockServer): Promise<boolean> => {
      const given = giving.get(server) ?? this.#giveBack(server, round, validUntil);
      giving.set(server, given);
      given.catch(() => giving.delete(server));
      return given;
    };
    const limitMs = this.context.server.requestTimeoutMs;
    return this.#outcome(await askAll(servers, quorum, limitMs, give, again?.background));
  }

  #outcome({ yes, no, cause }: Votes): boolean {
    if (yes >= this.quorum) return true;
    if (no > this.servers.length - this.quorum) return false;
    if (cause !== undefined && !isTransient(cause)) throw cause;
    throw new NoReply(`${yes} of the ${this.quorum} servers it needs have answered`, { cause });
  }

  /** Releases the lock wherever the attempt may have taken it, and waits for the servers that granted it. */
  async #undo(round: Round, validUntil: number): Promise<void> {
    const giving = new Map<LockServer, Promise<boolean>>();
    for (const server of this.servers) {
      if (!round.refused.has(server)) giving.set(server, this.#giveBack(server, round, validUntil, UNDONE));
    }
    const granted = [...round.granted];
    await askAll(granted, granted.length, this.#limitMs, (server) => giving.get(server)!);
  }

  /** A request without a reply may arrive after its release, so its token is listed as abandoned and cannot take the lock. */
  #giveBack(
    server: LockServer,
    { token, granted }: Round,
    validUntil: number,
    message = RELEASED,
  ): Promise<boolean> {
    const listMs = granted.has(server) ? 0 : MARKER_MS + this.ttlMs;
    const how = { listMs, message, background: true };
    const releasing = releaseByToken(server, this.lock, token, validUntil, how);
    releasing.catch(() => {});
    return releasing;
  }

  failureReason(): QuorumFailed | undefined {
    return this.#failure;
  }

  async abandon(): Promise<void> {} // Each attempt has released what it took.
}
