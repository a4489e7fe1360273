/** The simple lock: a string with a random token, by which alone it is renewed and released. */
import { MARKER_MS, ServerAcquisition } from '../asking/acquisition.ts';
import { type AcquireParams, Lock } from '../asking/lock.ts';
import { type RetryOptions, releaseUntilAnswered } from '../asking/requests.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import type { LockContext } from '../holding/context.ts';
import type { Hold, HoldCallbacks, Renewal } from '../holding/hold.ts';
import { HoldHandle, type HoldOperations, type ReleaseAgain } from '../holding/hold-handle.ts';
import { prefixed, suffixed } from '../keys.ts';
import {
  RELEASED,
  SIMPLE_CHANNEL,
  simpleAcquireScript,
  simpleHandOverScript,
  simpleReleaseScript,
} from '../scripts/simple.ts';
import type { LockServer } from '../server/server.ts';
import { chooseFirst, type Successor } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';

/** A lock that is not re-entrant, for one server. */
export class SimpleLock extends Lock<HoldHandle> {
  /** @internal */
  protected prepare(params: AcquireParams): Acquisition<HoldHandle> {
    return new SimpleAcquisition(this.context, this.name, params);
  }
}

/** The channel for releases of a simple lock. Unless channels are sharded, the script derives the same name itself. */
export const simpleChannel = (name: string, { client }: LockServer): string =>
  client.sharded ? suffixed(name, SIMPLE_CHANNEL) : `${name}:${SIMPLE_CHANNEL}`;

/** The key that lists the tokens of abandoned requests, which may still arrive. */
export const abandonedTokensKey = (name: string): string => prefixed('lostlock_abandoned', name);

/** How a token is released. */
interface TokenRelease extends RetryOptions {
  /** For how many milliseconds to list the token as abandoned, because a request may be under way; 0, the default: none is. */
  readonly listMs?: number;
  /** The lock's channel; by default it is worked out. */
  readonly channel?: string;
  /** What to publish; a release by default. */
  readonly message?: string;
}

/** Releases by token until a reply comes or the lease is over. */
export function releaseByToken(
  server: LockServer,
  name: string,
  token: string,
  validUntil: number,
  { listMs = 0, channel = simpleChannel(name, server), message = RELEASED, ...insistence }: TokenRelease = {},
): Promise<boolean> {
  const keys = server.client.sharded || listMs > 0 ? [name, channel] : [name];
  if (listMs > 0) keys.push(abandonedTokensKey(name));
  const args: (string | number)[] = [token];
  if (message !== RELEASED) args.push(listMs, message);
  else if (listMs > 0) args.push(listMs);
  const released = (reply: unknown): boolean => {
    const heard = Number(reply) - 1;
    if (heard > 0) server.wakeups.heardBy(channel, heard);
    return heard >= 0;
  };
  const release = (): Promise<unknown> => server.run(simpleReleaseScript, keys, args);
  return releaseUntilAnswered(server, release, released, validUntil, insistence);
}

class SimpleAcquisition extends ServerAcquisition implements HoldOperations, Successor, HoldCallbacks {
  readonly channel = simpleChannel(this.lock, this.context.server);
  readonly choose = chooseFirst;
  readonly ordered = true;
  readonly handsOver = true;
  readonly token: string;
  #asked = false;

  constructor(context: LockContext, name: string, params: AcquireParams) {
    super(context, name, params);
    this.token = context.owners.token();
  }

  /** Nothing is handed over when replicas have to acknowledge a grant. */
  get successor(): Successor | undefined {
    return this.context.replication ? undefined : this;
  }

  async attempt(now: number): Promise<Attempt<HoldHandle>> {
    let sentAt = now;
    if (this.hasHandOver) {
      const handedAt = await this.acceptHandOver();
      if (handedAt !== undefined) return { held: this.#held(handedAt) };
      sentAt = elapsed(); // Waiting for the hand-over took some time.
    }
    if (this.#asked || this.context.replication || !this.context.server.runsScripts) return this.#ask();
    // The first attempt: most locks are free, and a plain SET costs the server less than a script.
    this.#asked = true;
    const set = ['set', this.lock, this.token, 'NX', 'PX', String(this.ttlMs)];
    if ((await this.context.server.command(set, sentAt)) === 'OK') return { held: this.#held(sentAt) };
    return this.#ask();
  }

  /** Asks by script, which recognises our own token: an earlier request may have taken the lock, or been abandoned. */
  async #ask(): Promise<Attempt<HoldHandle>> {
    const sentAt = elapsed();
    const request = {
      script: simpleAcquireScript,
      keys: [this.lock, abandonedTokensKey(this.lock)],
      args: [this.token, this.ttlMs],
    };
    const reply = await this.take(request, () => ({
      granted: (answer) => answer === null,
      undo: () => this.#giveBack(elapsed() + this.params.leaseMs),
    }));
    return reply === null ? { held: this.#held(sentAt) } : { retryInMs: Number(reply) };
  }

  renewal(): Renewal {
    return { kind: 'string', keys: [this.lock], token: this.token };
  }

  #held(sentAt: number): HoldHandle {
    return new HoldHandle(this.hold(sentAt, { token: this.token, callbacks: this }), this);
  }

  release(hold: Hold, again?: ReleaseAgain): Promise<boolean> {
    const successor = this.successorFor(hold);
    hold.end();
    if (!successor) return this.#giveBack(hold.endsAt, again);
    const args = [this.token, successor.token, successor.ttlMs];
    return this.handOver(successor, { script: simpleHandOverScript, keys: [this.lock], args }, (unanswered) =>
      this.#giveBack(hold.endsAt, { unanswered }),
    );
  }

  extend(hold: Hold, leaseMs: number): Promise<boolean> {
    return this.renew(this.renewal(), hold.serverLeaseMs(leaseMs));
  }

  /** Releases by token. If a request may be under way, lists the token as abandoned so that it cannot take the lock. */
  #giveBack(validUntil: number, insistence?: RetryOptions): Promise<boolean> {
    const listMs = this.markerMs > 0 ? MARKER_MS + this.ttlMs : 0;
    const { lock, token, channel } = this;
    return releaseByToken(this.context.server, lock, token, validUntil, { listMs, channel, ...insistence });
  }

  async abandon(unknown: boolean): Promise<void> {
    this.declineHandOver();
    if (this.markerMs === 0 && !unknown) return;
    this.#giveBack(elapsed() + this.params.leaseMs, { background: true }).catch(() => {});
  }
}
