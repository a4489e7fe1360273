/** The simple lock: a string with a random token, taken, renewed and given back by that token only. */
import type { Core } from './core.ts';
import { NotReplicated } from './errors.ts';
import { type Backing, Held } from './held.ts';
import { Hold, type Renewal } from './hold.ts';
import { abandonedKey, prefixed } from './keys.ts';
import { Lock, type Wish } from './lock.ts';
import { randomToken } from './owner.ts';
import { insist } from './retry.ts';
import { renewScript } from './scripts/renew.ts';
import { simpleAcquireScript, simpleReleaseScript } from './scripts/simple.ts';
import { type LockServer, NoReply } from './server.ts';
import type { Acquisition, Attempt } from './waiting.ts';
import { chooseFirst } from './wakeups.ts';

/** How long a request given up is remembered at most: longer than any connection keeps it under way. */
export const MARKER_MS = 60_000;

export class SimpleLock extends Lock<Held> {
  protected prepare(wish: Wish): Acquisition<Held> {
    return new SimpleAcquisition(this.core, this.core.server, this.name, wish);
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
  const keys = [name, simpleChannel(name), abandonedKey(name, token)];
  return insist(
    async (unknown) => {
      const reply = await server.run(simpleReleaseScript, keys, [token, server.publish, markerMs]);
      return Number(reply) === 1 || (unknown > 0 && Date.now() < validUntil);
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
  readonly #core: Core;
  readonly #server: LockServer;
  readonly #wish: Wish;
  readonly #token = randomToken();
  #unknown = false;

  constructor(core: Core, server: LockServer, name: string, wish: Wish) {
    this.#core = core;
    this.#server = server;
    this.#wish = wish;
    this.lock = name;
    this.owner = wish.owner;
    this.servers = [server];
    this.channel = simpleChannel(name);
  }

  async attempt(): Promise<Attempt<Held>> {
    const sentAt = Date.now();
    const reply = await this.#ask();
    if (reply !== null) return { retryInMs: Number(reply) };
    return { held: this.#held(sentAt) };
  }

  async #ask(): Promise<unknown> {
    const server = this.#server;
    const keys = [this.lock, abandonedKey(this.lock, this.#token)];
    const args = [this.#token, this.#wish.leaseMs + this.#core.lockDelayMs];
    try {
      if (!this.#core.replication) return await server.run(simpleAcquireScript, keys, args);
      const { reply, copies, needed } = await server.runReplicated(
        simpleAcquireScript,
        keys,
        args,
        this.#core.replication,
      );
      if (reply === null && copies! < needed) {
        await this.abandon(this.#unknown, true);
        throw new NotReplicated(this.lock, this.owner, copies!, needed);
      }
      return reply;
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
        return releaseByToken(
          this.#server,
          this.lock,
          this.#token,
          hold.validUntil,
          this.#unknown ? MARKER_MS : 0,
        );
      },
      extend: (ms) => renewOne(this.#server, renewal, hold.serverLeaseMs(ms)),
    };
    return new Held(hold, backing);
  }

  /** Releases by token what a lost request may have taken, and marks it so that it takes nothing if it is late. */
  async abandon(unknown: boolean, taken = false): Promise<void> {
    if (!unknown && !taken) return;
    const until = Date.now() + this.#wish.leaseMs;
    const marker = unknown ? MARKER_MS : 0;
    const released = releaseByToken(this.#server, this.lock, this.#token, until, marker, !taken);
    const settled = released.then(
      () => {},
      () => {},
    );
    if (taken) await settled; // Known to be there, and the server answers: wait until it is gone.
  }
}
