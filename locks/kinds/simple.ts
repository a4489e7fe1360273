/** The simple lock: a string with a random token, taken, renewed and given back by that token only. */
import { MARKER_MS, ServerAcquisition } from '../asking/acquisition.ts';
import { type AcquireParams, Lock } from '../asking/lock.ts';
import { type RetryOptions, releaseUntilAnswered } from '../asking/requests.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import type { Core } from '../holding/core.ts';
import type { Hold, HoldCallbacks, Renewal } from '../holding/hold.ts';
import { HoldHandle, type HoldOperations } from '../holding/hold-handle.ts';
import { prefixed, suffixed } from '../keys.ts';
import {
  SIMPLE_CHANNEL,
  simpleAcquireScript,
  simpleHandOverScript,
  simpleReleaseScript,
} from '../scripts/simple.ts';
import type { LockServer } from '../server/server.ts';
import { chooseFirst, type Successor } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';

export class SimpleLock extends Lock<HoldHandle> {
  protected prepare(params: AcquireParams): Acquisition<HoldHandle> {
    return new SimpleAcquisition(this.core, this.name, params);
  }
}

/** The channel on which a simple lock's release is told; its script makes the name itself, where channels have no slots. */
export const simpleChannel = (name: string, { client }: LockServer): string =>
  client.sharded ? suffixed(name, SIMPLE_CHANNEL) : `${name}:${SIMPLE_CHANNEL}`;

/** Where the tokens of simple locks' requests are listed that were given up and may come late. */
export const abandonedTokensKey = (name: string): string => prefixed('lostlock_abandoned', name);

/**
 * Releases by token until an answer comes or the lease is over.
 * @param listMs for how many milliseconds the token is listed as given up, for a request under way; 0: there is none
 */
export function releaseByToken(
  server: LockServer,
  name: string,
  token: string,
  validUntil: number,
  listMs = 0,
  insistence?: RetryOptions,
  channel = simpleChannel(name, server),
): Promise<boolean> {
  const keys = server.client.sharded || listMs > 0 ? [name, channel] : [name];
  if (listMs > 0) keys.push(abandonedTokensKey(name));
  const args = listMs > 0 ? [token, listMs] : [token];
  const released = (reply: unknown): boolean => {
    const heard = Number(reply) - 1;
    if (heard > 0) server.wakeups.heardBy(channel, heard);
    return heard >= 0;
  };
  const release = (): Promise<unknown> => server.run(simpleReleaseScript, keys, args);
  return releaseUntilAnswered(server, release, released, validUntil, insistence);
}

class SimpleAcquisition extends ServerAcquisition implements HoldOperations, Successor, HoldCallbacks {
  readonly channel = simpleChannel(this.lock, this.core.server);
  readonly choose = chooseFirst;
  readonly ordered = true;
  readonly handsOver = true;
  readonly token: string;
  #asked = false;

  constructor(core: Core, name: string, params: AcquireParams) {
    super(core, name, params);
    this.token = core.owners.token();
  }

  /** Where replicas have to confirm a grant, nothing is handed over. */
  get successor(): Successor | undefined {
    return this.core.replication ? undefined : this;
  }

  async attempt(now: number): Promise<Attempt<HoldHandle>> {
    let sentAt = now;
    if (this.hasHandOver) {
      const handedAt = await this.acceptHandOver();
      if (handedAt !== undefined) return { held: this.#held(handedAt) };
      sentAt = elapsed(); // That has taken its time.
    }
    if (this.#asked || this.core.replication || !this.core.server.runsScripts) return this.#ask();
    // The first look: most locks are free, and a plain SET costs the server less than a script.
    this.#asked = true;
    const set = ['set', this.lock, this.token, 'NX', 'PX', String(this.ttlMs)];
    if ((await this.core.server.command(set, sentAt)) === 'OK') return { held: this.#held(sentAt) };
    return this.#ask();
  }

  /** Whose is it? A copy of our own request may have taken it, or one that was given up. */
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

  release(hold: Hold): Promise<boolean> {
    const successor = this.successorFor(hold);
    hold.end();
    if (!successor) return this.#giveBack(hold.endsAt);
    const args = [this.token, successor.token, successor.ttlMs];
    return this.handOver(successor, { script: simpleHandOverScript, keys: [this.lock], args }, (unanswered) =>
      this.#giveBack(hold.endsAt, { unanswered }),
    );
  }

  extend(hold: Hold, leaseMs: number): Promise<boolean> {
    return this.renew(this.renewal(), hold.serverLeaseMs(leaseMs));
  }

  /** Releases by token; one under which a request may be under way is listed: what it takes is nobody's. */
  #giveBack(validUntil: number, insistence?: RetryOptions): Promise<boolean> {
    const listMs = this.markerMs > 0 ? MARKER_MS + this.ttlMs : 0;
    const { lock, token, channel } = this;
    return releaseByToken(this.core.server, lock, token, validUntil, listMs, insistence, channel);
  }

  async abandon(unknown: boolean): Promise<void> {
    this.declineHandOver();
    if (this.markerMs === 0 && !unknown) return;
    this.#giveBack(elapsed() + this.params.leaseMs, { background: true }).catch(() => {});
  }
}
