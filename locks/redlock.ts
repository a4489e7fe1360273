/** Redlock: one lock on independent servers, held while more than half of them grant it. */
import { randomInt } from 'node:crypto';
import type { Core } from './core.ts';
import { BadConfiguration, QuorumFailed } from './errors.ts';
import { Held } from './held.ts';
import { Hold, type Renewal } from './hold.ts';
import { abandonedKey } from './keys.ts';
import { Lock, type Wish } from './lock.ts';
import { simpleAcquireScript } from './scripts/simple.ts';
import type { LockServer } from './server.ts';
import { MARKER_MS, releaseByToken, renewOne, simpleChannel } from './simple.ts';
import type { Acquisition, Attempt } from './waiting.ts';
import { chooseFirst } from './wakeups.ts';

/**
 * Each server keeps a simple lock. A server that restarts without its data within a lease can let a second holder in:
 * let it stay away for the longest lease first.
 */
export class Redlock extends Lock<Held> {
  #checked: Promise<void> | undefined;

  override async acquireAs(
    owner: string,
    options: Parameters<Lock<Held>['acquireAs']>[1],
  ): Promise<Held | null> {
    this.#checked ??= checkServers(this.name, this.core.servers);
    await this.#checked;
    return super.acquireAs(owner, options);
  }

  protected prepare(wish: Wish): Acquisition<Held> {
    return new RedlockAcquisition(this.core, this.name, wish);
  }
}

/** Two majorities must always share a server: the servers are odd in number, and none is there twice. */
async function checkServers(lock: string, servers: readonly LockServer[]): Promise<void> {
  const count = servers.length;
  if (count < 3 || count % 2 === 0) {
    throw new BadConfiguration(lock, `Redlock needs an odd number of servers, 3 or more, not ${count}`);
  }
  const infos = await Promise.all(servers.map((server) => server.command(['INFO']).catch(() => '')));
  const seen = new Set<string>();
  for (const info of infos.map(String)) {
    const id = /run_id:(\w+)/.exec(info)?.[1];
    if (id !== undefined && seen.has(id)) {
      throw new BadConfiguration(lock, `Redlock's servers must be independent, but two of them are ${id}`);
    }
    if (id !== undefined) seen.add(id);
    if (/role:slave/.test(info)) {
      throw new BadConfiguration(lock, `Redlock's servers must be primaries, but ${id} is a replica`);
    }
  }
}

interface Round {
  readonly token: string;
  granted: number;
  refused: number;
  /** The soonest end of a lease that is in the way; -1: unknown. */
  soonestMs: number;
  cause: unknown;
}

class RedlockAcquisition implements Acquisition<Held> {
  readonly lock: string;
  readonly owner: string;
  readonly servers: readonly LockServer[];
  readonly channel: string;
  readonly choose = chooseFirst;
  readonly ordered = true;
  readonly handsOver = true;
  readonly #core: Core;
  readonly #wish: Wish;
  readonly #quorum: number;
  /** How long one server may take: little against the lease, so that a dead one does not eat it up. */
  readonly #nodeMs: number;
  #failure: QuorumFailed | undefined;
  #splits = 0;

  constructor(core: Core, name: string, wish: Wish) {
    this.#core = core;
    this.#wish = wish;
    this.lock = name;
    this.owner = wish.owner;
    this.servers = core.servers;
    this.channel = simpleChannel(name);
    this.#quorum = Math.floor(core.servers.length / 2) + 1;
    const share = Math.floor(wish.leaseMs / core.servers.length / 2);
    this.#nodeMs = Math.max(1, Math.min(core.server.requestTimeoutMs, share));
  }

  async attempt(): Promise<Attempt<Held>> {
    const sentAt = Date.now();
    const round: Round = {
      token: this.#core.owners.token(),
      granted: 0,
      refused: 0,
      soonestMs: -1,
      cause: undefined,
    };
    await Promise.all(this.servers.map((server) => this.#ask(server, round)));
    const { leaseMs } = this.#wish;
    const validUntil = sentAt + leaseMs - Math.ceil(leaseMs * this.#core.driftFactor);
    if (round.granted >= this.#quorum && Date.now() < validUntil) return { held: this.#held(round, sentAt) };
    await this.#giveBack(round.token, validUntil, MARKER_MS);
    const unreachable = this.servers.length - round.granted - round.refused;
    this.#failure =
      unreachable > this.servers.length - this.#quorum
        ? new QuorumFailed(this.lock, this.owner, round.granted, this.#quorum, round.cause)
        : undefined;
    // Where nobody has a majority, all try again: not at the same time, so not when the others' give-back is told
    // either. It may be that somebody has one all the same: then ever more rarely.
    const split = round.refused < this.#quorum || round.granted > 0;
    return split
      ? { retryInMs: randomInt(10, Math.min(100 * 2 ** this.#splits++, 1000)), firm: true }
      : { retryInMs: Math.max(round.soonestMs, -1) };
  }

  async #ask(server: LockServer, round: Round): Promise<void> {
    const keys = [this.lock, abandonedKey(this.lock, round.token)];
    const ttlMs = this.#wish.leaseMs + this.#core.lockDelayMs;
    try {
      const reply = await server.run(simpleAcquireScript, keys, [round.token, ttlMs], this.#nodeMs);
      if (reply === null) round.granted++;
      else {
        round.refused++;
        const left = Number(reply);
        if (left >= 0 && (round.soonestMs < 0 || left < round.soonestMs)) round.soonestMs = left;
      }
    } catch (error) {
      round.cause = error;
    }
  }

  #held({ token }: Round, sentAt: number): Held {
    const { leaseMs, renewed, owner } = this.#wish;
    const renewal: Renewal = { kind: 'string', keys: [this.lock], token };
    const hold = new Hold(
      {
        lock: this.lock,
        owner,
        token,
        leaseMs,
        renewed,
        servers: this.servers,
        quorum: this.#quorum,
        renewal: () => renewal,
      },
      this.#core,
      sentAt,
    );
    return new Held(hold, {
      release: () => {
        hold.end();
        return this.#giveBack(token, hold.validUntil, MARKER_MS);
      },
      extend: (ms) => this.#extend(renewal, hold.serverLeaseMs(ms)),
    });
  }

  async #extend(renewal: Renewal, ttlMs: number): Promise<boolean> {
    const votes = this.servers.map((server) => renewOne(server, renewal, ttlMs).catch(() => false));
    return (await Promise.all(votes)).filter(Boolean).length >= this.#quorum;
  }

  /**
   * Releases on every server, also on those believed failed. Resolves when a majority has released it, or when all
   * have answered or had the time of one request to do so; the rest goes on until the lease is over.
   */
  #giveBack(token: string, validUntil: number, markerMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      let released = 0;
      let open = this.servers.length;
      const limit = setTimeout(() => resolve(released >= this.#quorum), this.#core.server.requestTimeoutMs);
      const settle = (done: boolean): void => {
        if (done) released++;
        if (--open > 0 && released < this.#quorum) return;
        clearTimeout(limit);
        resolve(released >= this.#quorum);
      };
      for (const server of this.servers) {
        releaseByToken(server, this.lock, token, validUntil, markerMs, true).then(settle, () =>
          settle(false),
        );
      }
    });
  }

  whyNot(): QuorumFailed | undefined {
    return this.#failure;
  }

  async abandon(): Promise<void> {} // Each attempt has given back what it took.
}
