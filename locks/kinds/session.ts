/** Sessions, as in ZooKeeper: all locks of a session end together, when its process dies or closes it. */
import { randomUUID } from 'node:crypto';
import { ServerAcquisition } from '../asking/acquisition.ts';
import { type AcquireOptions, type AcquireParams, Lock } from '../asking/lock.ts';
import { ask, type RetryOptions } from '../asking/requests.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import type { RedisCommand } from '../clients/client.ts';
import { BadConfiguration, LockLost, LocksClosed, NotReplicated } from '../errors.ts';
import { type LockContext, RENEWED_LEASE } from '../holding/context.ts';
import { Hold, type HoldCallbacks, type Renewal } from '../holding/hold.ts';
import { HoldHandle } from '../holding/hold-handle.ts';
import { checkOptions, nothing } from '../options.ts';
import { sessionAcquireScript, sessionCloseScript } from '../scripts/session.ts';
import { NoReply } from '../server/outcomes.ts';
import { chooseFirst } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';
import { abandonedTokensKey, releaseByToken, simpleChannel } from './simple.ts';

/** Options of `Locks.session`. */
export interface SessionOptions {
  /** How long the session outlives its process, in milliseconds, 30 or more. Default: `leaseMs` of `createLocks`. */
  leaseMs?: number;
}

/** A session of one process. Its locks have no leases: they end when released, or together with the session. */
export class Session implements AsyncDisposable, HoldCallbacks {
  /** The session's key on the server. */
  readonly key: string;
  readonly #context: LockContext;
  readonly #hold: Hold;
  readonly #helds = new Set<Hold>();
  #closing: Promise<void> | undefined;
  /** The outcome of a `close` that failed and goes on. */
  #outcome: Promise<void> | undefined;
  /** The number of the last acquisition, and those that hold their lock or may still get it. */
  #last = 0;
  readonly #numbers = new Set<number>();

  /** @param sentAt when the request that opened it left */
  private constructor(context: LockContext, key: string, leaseMs: number, sentAt: number) {
    this.#context = context;
    this.key = key;
    const spec = {
      lock: key,
      owner: context.owners.clientId,
      token: key,
      leaseMs,
      renewed: true,
      servers: context.first,
      quorum: 1,
      callbacks: this,
    };
    this.#hold = new Hold(spec, context, sentAt);
  }

  /**
   * @internal
   * Opens a session. Throws BadConfiguration on a cluster (a lock and its session would need one slot), and NotReplicated.
   */
  static async open(context: LockContext, options: SessionOptions = {}): Promise<Session> {
    checkOptions('session', options, { leaseMs: RENEWED_LEASE });
    const leaseMs = Math.ceil(options.leaseMs ?? context.leaseMs);
    const { server } = context;
    const key = `lostlock_session:${randomUUID()}`;
    if (server.wakeups.closed) throw new LocksClosed(key, context.owners.clientId);
    if (server.client.cluster) {
      throw new BadConfiguration(key, 'sessions need one server: on a cluster use locks with leases');
    }
    const sentAt = elapsed();
    const set = ['SET', key, key, 'PX', String(leaseMs + context.lockDelayMs)];
    await ask(context, key, () => Session.#open(context, key, set), 0);
    return new Session(context, key, leaseMs, sentAt);
  }

  static async #open(
    { server, replication, owners }: LockContext,
    key: string,
    set: RedisCommand,
  ): Promise<void> {
    if (!replication) return void (await server.command(set));
    const { copies, needed, cause } = await server.commandReplicated(set, replication);
    if (copies >= needed) return;
    if (cause instanceof NoReply) throw cause;
    throw new NotReplicated(key, owners.clientId, copies, needed, { cause }); // The key is used by nothing and expires.
  }

  /**
   * @internal
   * How the server recognises the session. The token also declares which acquisitions are over (scripts/session.ts).
   */
  renewal(): Renewal {
    const open = [...this.#numbers, ''].map((number) => `,${number}`).join('');
    return { kind: 'session', keys: [this.key], token: `${this.key} ${this.#last} ${open}` };
  }

  /** @internal Numbers an acquisition, which is not over until settle(). */
  number(): number {
    this.#numbers.add(++this.#last);
    return this.#last;
  }

  /**
   * @internal
   * The acquisition has failed, or its lock is being released: from the next renewal on, nothing is held by it.
   */
  settle(number: number): void {
    this.#numbers.delete(number);
  }

  /** @internal The session was lost, and its locks with it. */
  lost(hold: Hold): void {
    for (const held of this.#helds) held.lose('its session was lost', hold.lost);
    this.#helds.clear();
  }

  /** A lock that ends with this session. It has no lease. */
  lock(name: string): SessionLock {
    return new SessionLock(this.#context, name, this);
  }

  /** Until when the session is certainly alive, in milliseconds as of Date.now(); see HeldLock.validUntil. */
  get validUntil(): number {
    return this.#hold.validUntil;
  }

  /** Until when it is certainly alive, on the monotonic clock. */
  get endsAt(): number {
    return this.#hold.endsAt;
  }

  /** Aborted when the session, and with it every lock, is lost. */
  get signal(): AbortSignal {
    return this.#hold.signal;
  }

  /** Throws LockLost as soon as the session may have ended by this process's clock. */
  assertAlive(): void {
    if (this.#hold.lost) throw this.#hold.lost;
    if (!this.#hold.active) throw new LockLost(this.key, this.#hold.spec.owner, 'the session was closed');
  }

  /**
   * Ends the session and frees its locks at once. If that fails, it goes on in the background as `HeldLock.release()` does, and a
   * second call waits for the outcome.
   * @throws OutcomeUnknown when no reply came within 30 seconds, ServerRefused when the server refused
   */
  close(): Promise<void> {
    if (this.#closing) return this.#closing.catch((error: unknown) => this.#outcome ?? Promise.reject(error));
    this.#closing = this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (!this.#hold.active) return;
    this.#hold.end();
    const helds = [...this.#helds];
    this.#helds.clear();
    const { server } = this.#context;
    const keys = helds.flatMap(({ spec }) => [spec.lock, simpleChannel(spec.lock, server)]);
    const values = helds.map(({ spec }) => spec.token);
    const close = (): Promise<unknown> => server.run(sessionCloseScript, [this.key, ...keys], values);
    const closed = ask(this.#context, this.key, close);
    // Without waiting for the reply: waiters of this process send their requests right after this one.
    for (const held of helds) held.lose('its session was closed');
    try {
      await closed;
    } catch (error) {
      const closeAgain = (): Promise<boolean> => close().then(() => true);
      this.#outcome = this.#hold.goOnReleasing(closeAgain, error).then(() => {});
      this.#outcome.catch(() => {}); // Perhaps nobody asks for it.
      throw error;
    }
  }

  /** @internal A lock was acquired in this session. */
  keep(hold: Hold): void {
    this.#helds.add(hold);
  }

  /** @internal A lock of this session is released. */
  drop(hold: Hold): void {
    this.#helds.delete(hold);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Options of acquisitions of a session's lock. */
export interface SessionLockOptions extends AcquireOptions {
  /** The lock ends with its session. */
  leaseMs?: never;
}

/** A lock that ends with its session. */
export class SessionLock extends Lock<HoldHandle, SessionLockOptions> {
  readonly #session: Session;

  /** @internal */
  constructor(context: LockContext, name: string, session: Session) {
    super(context, name, { leaseMs: nothing('it ends with its session') });
    this.#session = session;
  }

  /** @internal */
  override get hasLease(): boolean {
    return false;
  }

  /** @internal */
  protected prepare(params: AcquireParams<SessionLockOptions>): Acquisition<HoldHandle> {
    return new SessionAcquisition(this.context, this.#session, this.name, params);
  }
}

/** A held lock that is valid as long as its session. */
class SessionHoldHandle extends HoldHandle {
  readonly #session: Session;

  constructor(session: Session, ...rest: ConstructorParameters<typeof HoldHandle>) {
    super(...rest);
    this.#session = session;
  }

  override get validUntil(): number {
    return this.#session.validUntil;
  }

  override assertHeld(): void {
    super.assertHeld();
    this.#session.assertAlive();
  }

  /** There is no lease to extend: the session is renewed as long as its process lives. */
  override async extend(): Promise<void> {
    this.assertHeld();
  }
}

class SessionAcquisition extends ServerAcquisition {
  readonly channel = simpleChannel(this.lock, this.context.server);
  readonly choose = chooseFirst;
  readonly ordered = true;
  readonly handsOver = true;
  readonly #session: Session;
  #number = 0;
  #token = '';

  constructor(context: LockContext, session: Session, name: string, params: AcquireParams) {
    super(context, name, params);
    this.#session = session;
  }

  async attempt(): Promise<Attempt<HoldHandle>> {
    this.#session.assertAlive();
    if (this.#number === 0) {
      this.#number = this.#session.number();
      this.#token = `${this.#session.key} ${this.#number}.${this.context.owners.token()}`;
    }
    const reply = await this.take(
      {
        script: sessionAcquireScript,
        keys: [this.lock, this.#session.key, abandonedTokensKey(this.lock)],
        args: [this.#token],
      },
      () => ({
        granted: (answer) => answer === null,
        undo: () => this.#giveBack(this.#session.endsAt),
      }),
    );
    if (reply === null) return { held: this.#held() };
    if (Number(reply) === -2) throw new LockLost(this.lock, this.owner, 'its session is over');
    return { retryInMs: Number(reply) };
  }

  #held(): HoldHandle {
    const hold = this.hold(elapsed(), {
      token: this.#token,
      leaseMs: Number.POSITIVE_INFINITY,
      renewed: false,
      callbacks: { renewal: () => this.#session.renewal() },
    });
    this.#session.keep(hold);
    return new SessionHoldHandle(this.#session, hold, {
      release: (_, again) => {
        hold.end();
        this.#session.drop(hold);
        this.#session.settle(this.#number);
        return this.#giveBack(this.#session.endsAt, again);
      },
      extend: async () => true,
    });
  }

  #giveBack(until: number, how?: RetryOptions): Promise<boolean> {
    return releaseByToken(this.context.server, this.lock, this.#token, until, {
      listMs: this.markerMs,
      ...how,
    });
  }

  async abandon(unknown: boolean): Promise<void> {
    this.#session.settle(this.#number);
    if (unknown) this.#giveBack(this.#session.endsAt).catch(() => {});
  }
}
