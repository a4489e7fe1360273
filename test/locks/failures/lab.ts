/** A lab for one failure of one lock: a pair, clients that can stall, die and lose replies, and a judge. */

import type { Redis, RedisOptions } from 'ioredis';
import { defined } from '../../../base/defined.ts';
import { type LabNode, type Lane, startPair, startServers } from '../../../index.ts';
import type { Pair } from '../../../lab/pair.ts';
import type { ReplicaSet } from '../../../lab/virtual/replica-set.ts';
import { createLocks, type HeldLock, type Locks, type LocksOptions } from '../../../locks/index.ts';
import { formsIn, kinds } from '../../../locks/kinds/index.ts';
import type { Keep } from '../../lab/scenarios/plays.ts';
import { check, type LockEvent } from '../lives/checker.ts';

/**
 * One failure of the catalogue: the complaints about the naive form and about ours. A naive form may
 * answer `null` for a seed under which its fault does not fire.
 */
export interface Failure {
  /** Its numbers in the catalogue, and those of the issues that report it: `S77; Redisson 4064`. */
  readonly id: string;
  /** What the naive form does, where the catalogue says it in other words. */
  readonly title?: string;
  /** How many replicas the primary has; 1, where left out. */
  readonly replicas?: number;
  naive(lab: Lab): Promise<string[] | null>;
  ours(lab: Lab): Promise<string[]>;
}

/** Releases by token, as every naive form from step 4 on does. */
export const COMPARE_AND_DELETE =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

/** Every form of lock that one client holds at a time, for failures that no kind may have. */
export const exclusiveForms = formsIn('failures');

/** Those that an owner may acquire again. */
export const reentrantForms = exclusiveForms.filter(({ kind }) => kinds[kind].reentrant);

/** Those that are granted in the order in which their waiters came. */
export const orderedForms = exclusiveForms.filter(({ inOrder }) => inOrder);

export class Lab {
  readonly pair: Pair;
  /** Independent servers, for Redlock; the pair's own alone otherwise. */
  readonly sets: readonly ReplicaSet[];
  readonly raw: Redis;
  readonly history: LockEvent[] = [];
  readonly #random: { below(n: number): number };
  #holds = 0;

  constructor(pair: Pair, sets: readonly ReplicaSet[] = [pair]) {
    this.pair = pair;
    this.sets = sets;
    // Its lane on the page of the catalogue says that the test itself looks at the servers.
    this.raw = pair.client('test');
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

  /** A set of locks of a client of that name, over all servers. */
  async locks(name: string, options: LocksOptions = {}): Promise<Locks> {
    if (this.sets.length === 1) return this.locksOver(name, await this.redis(name), options);
    const clients = this.sets.map((set) => set.client(name));
    return this.as(name, () => createLocks(clients, options));
  }

  /** The same over an existing client. */
  locksOver(name: string, client: Redis, options: LocksOptions = {}): Promise<Locks> {
    return this.as(name, () => createLocks(client, options));
  }

  /** Runs code as a client: what it starts stalls and dies with it. */
  as<T>(name: string, code: () => T): Promise<Awaited<T>> {
    return this.pair.world.actor(name).call(code);
  }

  /** Lets time pass, for stalled clients too. */
  advance(ms: number): Promise<void> {
    return this.as('time', () => this.pair.advance(ms));
  }

  /** Stalls the client for so long, as a long garbage collection does. */
  async stall(name: string, ms: number): Promise<void> {
    const actor = this.pair.world.actor(name);
    actor.pause();
    await this.advance(ms);
    actor.resume();
  }

  /** The client's process dies. */
  die(name: string): void {
    this.pair.world.actor(name).kill();
    for (const { primary } of this.sets) {
      this.requests(name, primary).partition();
      this.replies(name, primary).partition();
    }
  }

  /** What a node, by default the primary, sends to a client. */
  replies(name: string, node: LabNode = this.pair.primary): Lane {
    return this.pair.world.network.lane(node.name, name);
  }

  requests(name: string, node: LabNode = this.pair.primary): Lane {
    return this.pair.world.network.lane(name, node.name);
  }

  /** One of the primaries, by chance where there are several. */
  someNode(): LabNode {
    return this.sets.length === 1
      ? this.pair.primary
      : (this.sets[this.between(0, this.sets.length - 1)] as ReplicaSet).primary;
  }

  /** Records that a client believes that it holds a lock; returns a function that ends the belief. */
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
      ...defined({ fence, shared }),
    });
    let over = false;
    return () => {
      if (!over) this.history.push({ type: 'end', lock, hold, how: 'released' });
      over = true;
    };
  }

  /** Records the belief of a holder of ours: it ends with the lock's own signal, or with the returned function. */
  trust(held: HeldLock): () => void {
    const end = this.believe(held.name, held.owner, { fence: held.fence });
    held.signal.addEventListener('abort', end);
    return end;
  }

  /** The violations that the independent checker finds in the history, without holds that never ended. */
  verdict(): string[] {
    return check(this.history)
      .filter(({ rule }) => rule !== 'orphan')
      .map(({ what }) => what);
  }
}

/**
 * Runs one form of a failure under one seed, on a pair, or on so many independent servers.
 * @param keep called at the end, unless the body resolves with null
 */
export async function inLab<T>(
  seed: number,
  body: (lab: Lab) => Promise<T>,
  primaries = 1,
  replicas = 1,
  keep: Keep = () => {},
): Promise<T> {
  const play = async (run: Parameters<Keep>[0], lab: () => Lab): Promise<T> => {
    const result = await body(lab());
    if (result !== null) keep(run);
    return result;
  };
  if (primaries > 1) {
    await using servers = await startServers({ clock: 'virtual', seed, primaries, patience: 24 * 3_600_000 });
    const { sets } = servers;
    return await servers.run(() => play(servers, () => new Lab(sets[0] as ReplicaSet, sets)));
  }
  await using pair = await startPair({ clock: 'virtual', seed, replicas, patience: 24 * 3_600_000 });
  return await pair.run(() => play(pair, () => new Lab(pair)));
}
