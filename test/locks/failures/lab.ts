/** A lab for one failure of one lock: a pair, clients that can stall, die and lose replies, and somebody who judges. */
import type { Redis, RedisOptions } from 'ioredis';
import { type Pair, startPair } from '../../../index.ts';
import type { Lane } from '../../../lab/lane.ts';
import { createLocks, type HeldLock, type Locks, type LocksOptions } from '../../../locks/index.ts';
import { check, type LockEvent } from '../checker.ts';

/**
 * One failure of the catalogue: what is seen with the naive form and with ours, told as complaints. A naive form may
 * answer `null` for a seed under which its fault does not fire.
 */
export interface Failure {
  /** Its number in the catalogue. */
  readonly id: string;
  readonly title: string;
  naive(lab: Lab): Promise<string[] | null>;
  ours(lab: Lab): Promise<string[]>;
}

/** Releases by token, as every naive form from step 4 on does. */
export const COMPARE_AND_DELETE =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

export class Lab {
  readonly pair: Pair;
  readonly raw: Redis;
  readonly history: LockEvent[] = [];
  readonly #random: { below(n: number): number };
  #holds = 0;

  constructor(pair: Pair) {
    this.pair = pair;
    this.raw = pair.client('judge');
    const stream = pair.world.stream('failure');
    this.#random = { below: (n) => Math.floor(stream.next() * n) };
  }

  /** A whole number from `from` to `to`. */
  between(from: number, to: number): number {
    return from + this.#random.below(to - from + 1);
  }

  /** A connected client. Its connection is its own: it stalls and dies with it. */
  async redis(name: string, options: RedisOptions = {}): Promise<Redis> {
    const client = this.pair.client(name, options);
    await this.as(name, () => client.ping());
    return client;
  }

  /** A set of locks of a client of that name. */
  async locks(name: string, options: LocksOptions = {}): Promise<Locks> {
    return this.locksOver(name, await this.redis(name), options);
  }

  /** The same over a client that is there. */
  locksOver(name: string, client: Redis, options: LocksOptions = {}): Promise<Locks> {
    return this.as(name, () => createLocks(client, options));
  }

  /** Runs code as a client: what it starts stalls and dies with it. */
  as<T>(name: string, code: () => T): Promise<Awaited<T>> {
    return this.pair.world.actor(name).call(code);
  }

  /** Time passes; also for whoever stands still himself. */
  advance(ms: number): Promise<void> {
    return this.as('time', () => this.pair.advance(ms));
  }

  /** The client stands still for so long, as in a long garbage collection. */
  async stall(name: string, ms: number): Promise<void> {
    const actor = this.pair.world.actor(name);
    actor.pause();
    await this.advance(ms);
    actor.resume();
  }

  /** The client's process dies. */
  die(name: string): void {
    this.pair.world.actor(name).kill();
    this.requests(name).partition();
    this.replies(name).partition();
  }

  /** What the primary sends to a client. */
  replies(name: string): Lane {
    return this.pair.world.network.lane(this.pair.primary.name, name);
  }

  requests(name: string): Lane {
    return this.pair.world.network.lane(name, this.pair.primary.name);
  }

  /** Somebody believes to hold a lock; gives what ends the belief. */
  believe(
    lock: string,
    owner: string,
    more: { fence?: number | undefined; shared?: boolean } = {},
  ): () => void {
    const hold = `${owner} ${++this.#holds}`;
    const { fence, shared } = more;
    this.history.push({
      type: 'grant',
      lock,
      hold,
      owner,
      ...(fence !== undefined && { fence }),
      ...(shared !== undefined && { shared }),
    });
    let over = false;
    return () => {
      if (!over) this.history.push({ type: 'end', lock, hold, how: 'released' });
      over = true;
    };
  }

  /** The belief of a holder of ours: it ends with the lock's own signal, or when it is told. */
  trust(held: HeldLock): () => void {
    const end = this.believe(held.name, held.owner, { fence: held.fence });
    held.signal.addEventListener('abort', end);
    return end;
  }

  /** What the independent checker says of the history; holds that never ended are not its business here. */
  verdict(): string[] {
    return check(this.history)
      .filter(({ rule }) => rule !== 'orphan')
      .map(({ what }) => what);
  }
}

/** Runs one form of a failure under one seed. */
export async function inLab<T>(seed: number, body: (lab: Lab) => Promise<T>): Promise<T> {
  await using pair = await startPair({ clock: 'virtual', seed, patience: 24 * 3_600_000 });
  return await pair.run(async () => body(new Lab(pair)));
}
