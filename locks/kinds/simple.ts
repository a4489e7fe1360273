/** The simple lock: a string with a random token, taken, renewed and given back by that token only. */
import { MARKER_MS, ServerAcquisition } from '../asking/acquisition.ts';
import { Lock, type Wish } from '../asking/lock.ts';
import { type Insistence, insistOnRelease } from '../asking/taking.ts';
import type { Acquisition, Attempt } from '../asking/waiting.ts';
import type { Core } from '../holding/core.ts';
import { type Backing, Held } from '../holding/held.ts';
import type { Hold, Keeper, Renewal } from '../holding/hold.ts';
import { prefixed, suffixed } from '../keys.ts';
import {
  SIMPLE_CHANNEL,
  simpleAcquireScript,
  simpleHandOverScript,
  simpleReleaseScript,
} from '../scripts/simple.ts';
import type { LockServer } from '../server/server.ts';
import { chooseFirst, type Heir } from '../server/wakeups.ts';
import { elapsed } from '../timing/clock.ts';

export class SimpleLock extends Lock<Held> {
  protected prepare(wish: Wish): Acquisition<Held> {
    return new SimpleAcquisition(this.core, this.name, wish);
  }
}

/** The channel on which a simple lock's release is told; its script makes the name itself, where channels have no slots. */
export const simpleChannel = (name: string, { client }: LockServer): string =>
  client.sharded ? suffixed(name, SIMPLE_CHANNEL) : `${name}:${SIMPLE_CHANNEL}`;

/** Where the tokens of simple locks' requests are listed that were given up and may come late. */
export const givenUpKey = (name: string): string => prefixed('lostlock_abandoned', name);

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
  insistence?: Insistence,
  channel = simpleChannel(name, server),
): Promise<boolean> {
  const keys = server.client.sharded || listMs > 0 ? [name, channel] : [name];
  if (listMs > 0) keys.push(givenUpKey(name));
  const args = listMs > 0 ? [token, listMs] : [token];
  const released = (reply: unknown): boolean => {
    const heard = Number(reply) - 1;
    if (heard > 0) server.wakeups.heardBy(channel, heard);
    return heard >= 0;
  };
  const release = (): Promise<unknown> => server.run(simpleReleaseScript, keys, args);
  return insistOnRelease(server, release, released, validUntil, insistence);
}

class SimpleAcquisition extends ServerAcquisition implements Backing, Heir, Keeper {
  readonly channel = simpleChannel(this.lock, this.core.server);
  readonly choose = chooseFirst;
  readonly ordered = true;
  readonly handsOver = true;
  readonly token: string;
  #asked = false;

  constructor(core: Core, name: string, wish: Wish) {
    super(core, name, wish);
    this.token = core.owners.token();
  }

  /** Where replicas have to confirm a grant, nothing is handed over. */
  get heir(): Heir | undefined {
    return this.core.replication ? undefined : this;
  }

  async attempt(now: number): Promise<Attempt<Held>> {
    let sentAt = now;
    if (this.inherits) {
      const handedAt = await this.claim();
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
  async #ask(): Promise<Attempt<Held>> {
    const sentAt = elapsed();
    const request = {
      script: simpleAcquireScript,
      keys: [this.lock, givenUpKey(this.lock)],
      args: [this.token, this.ttlMs],
    };
    const reply = await this.take(request, () => ({
      granted: (answer) => answer === null,
      undo: () => this.#giveBack(elapsed() + this.wish.leaseMs),
    }));
    return reply === null ? { held: this.#held(sentAt) } : { retryInMs: Number(reply) };
  }

  renewal(): Renewal {
    return { kind: 'string', keys: [this.lock], token: this.token };
  }

  #held(sentAt: number): Held {
    return new Held(this.hold(sentAt, { token: this.token, keeper: this }), this);
  }

  release(hold: Hold): Promise<boolean> {
    const heir = this.heirOf(hold);
    hold.end();
    if (!heir) return this.#giveBack(hold.endsAt);
    const args = [this.token, heir.token, heir.ttlMs];
    return this.handOver(heir, { script: simpleHandOverScript, keys: [this.lock], args }, (unanswered) =>
      this.#giveBack(hold.endsAt, { unanswered }),
    );
  }

  extend(hold: Hold, leaseMs: number): Promise<boolean> {
    return this.renew(this.renewal(), hold.serverLeaseMs(leaseMs));
  }

  /** Releases by token; one under which a request may be under way is listed: what it takes is nobody's. */
  #giveBack(validUntil: number, insistence?: Insistence): Promise<boolean> {
    const listMs = this.markerMs > 0 ? MARKER_MS + this.ttlMs : 0;
    const { lock, token, channel } = this;
    return releaseByToken(this.core.server, lock, token, validUntil, listMs, insistence, channel);
  }

  async abandon(unknown: boolean): Promise<void> {
    this.disclaim();
    if (this.markerMs === 0 && !unknown) return;
    this.#giveBack(elapsed() + this.wish.leaseMs, { background: true }).catch(() => {});
  }
}
