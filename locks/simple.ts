/** The simple lock: a string with a random token, taken, renewed and given back by that token only. */
import type { Core } from './core.ts';
import { type Backing, Held } from './held.ts';
import { Hold, type Renewal } from './hold.ts';
import { abandonedKey, prefixed } from './keys.ts';
import { Lock, type Wish } from './lock.ts';
import { insist } from './retry.ts';
import { renewScript } from './scripts/renew.ts';
import { simpleAcquireScript, simpleReleaseScript } from './scripts/simple.ts';
import { type LockServer, NoReply } from './server.ts';
import { take } from './taking.ts';
import type { Acquisition, Attempt } from './waiting.ts';
import { chooseFirst } from './wakeups.ts';

/** How long a request given up is remembered at most: longer than any connection keeps it under way. */
export const MARKER_MS = 60_000;

export class SimpleLock extends Lock<Held> {
  protected prepare(wish: Wish): Acquisition<Held> {
    return new SimpleAcquisition(this.core, this.name, wish);
  }
}

/** The channel on which a simple lock's release is told. */
export const simpleChannel = (name: string): string => prefixed('lostlock_lock__channel', name);

/** Whether the one renewed hold is still there, asked by the renewing script. */
export async function renewOne(server: LockServer, renewal: Renewal, ttlMs: number): Promise<boolean> {
  const reply = await server.run(renewScript, renewal.keys, [
    renewal.kind,
    renewal.keys.length,
    renewal.token,
    ttlMs,
  ]);
  return Number((reply as unknown[])[0]) === 1;
}

/** Releases by token until an answer comes or the lease is over. Answers may get lost: then "gone" means released. */
export function releaseByToken(
  server: LockServer,
  name: string,
  token: string,
  validUntil: number,
  markerMs = 0,
  background = false,
): Promise<boolean> {
  const channel = simpleChannel(name);
  const keys = [name, channel, ...(markerMs > 0 ? [abandonedKey(name, token)] : [])];
  return insist(
    async (unknown) => {
      const reply = Number(await server.run(simpleReleaseScript, keys, [token, server.publish, markerMs]));
      if (reply > 1) server.wakeups.heardBy(channel, reply - 1);
      return reply >= 1 || (unknown > 0 && Date.now() < validUntil);
    },
    Math.max(validUntil, Date.now() + server.requestTimeoutMs),
    background,
  );
}

class SimpleAcquisition implements Acquisition<Held> {
  readonly lock: string;
  readonly owner: string;
  readonly servers: readonly LockServer[];
  readonly channel: string;
  readonly choose = chooseFirst;
  readonly ordered = true;
  readonly handsOver = true;
  readonly #core: Core;
  readonly #server: LockServer;
  readonly #wish: Wish;
  readonly #token: string;
  #unknown = false;

  constructor(core: Core, name: string, wish: Wish) {
    this.#core = core;
    this.#token = core.owners.token();
    this.#server = core.server;
    this.#wish = wish;
    this.lock = name;
    this.owner = wish.owner;
    this.servers = [core.server];
    this.channel = simpleChannel(name);
  }

  async attempt(): Promise<Attempt<Held>> {
    const sentAt = Date.now();
    try {
      const reply = await take(this.#core, {
        lock: this.lock,
        owner: this.owner,
        script: simpleAcquireScript,
        keys: [this.lock, abandonedKey(this.lock, this.#token)],
        args: [this.#token, this.#wish.leaseMs + this.#core.lockDelayMs],
        granted: (answer) => answer === null,
        undo: () => this.#giveBack(Date.now() + this.#wish.leaseMs),
      });
      return reply === null ? { held: this.#held(sentAt) } : { retryInMs: Number(reply) };
    } catch (error) {
      if (error instanceof NoReply) this.#unknown = true;
      throw error;
    }
  }

  #held(sentAt: number): Held {
    const { leaseMs, renewed, owner } = this.#wish;
    const renewal: Renewal = { kind: 'string', keys: [this.lock], token: this.#token };
    const hold = new Hold(
      {
        lock: this.lock,
        owner,
        token: this.#token,
        leaseMs,
        renewed,
        servers: this.servers,
        quorum: 1,
        renewal: () => renewal,
      },
      this.#core,
      sentAt,
    );
    const backing: Backing = {
      release: () => {
        hold.end();
        return this.#giveBack(hold.validUntil);
      },
      extend: (ms) => renewOne(this.#server, renewal, hold.serverLeaseMs(ms)),
    };
    return new Held(hold, backing);
  }

  /** Releases by token; a request that may be under way is marked, so that it takes nothing if it is late. */
  #giveBack(validUntil: number, background = false): Promise<boolean> {
    const markerMs = this.#unknown ? MARKER_MS : 0;
    return releaseByToken(this.#server, this.lock, this.#token, validUntil, markerMs, background);
  }

  async abandon(unknown: boolean): Promise<void> {
    if (unknown) this.#giveBack(Date.now() + this.#wish.leaseMs, true).catch(() => {});
  }
}
