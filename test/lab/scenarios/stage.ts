/** Plays lock failures over many seeds: the tools of a scenario, and how its claim is checked. */
import '../../../lab/router.ts';
import { Redis, type RedisOptions } from 'ioredis';
import { expect, test } from 'vitest';
import { type Claim, LockChecker } from '../../../lab/checker.ts';
import { type Pair, type PairOptions, type Servers, startPair, startServers } from '../../../lab/pair.ts';
import { Random } from '../../../lab/time/random.ts';
import { connectorTo } from '../../../lab/virtual/connector.ts';
import type { LabNode } from '../../../lab/virtual/node.ts';
import type { World } from '../../../lab/virtual/world.ts';
import { type AnyClient, createLocks, type Locks, type LocksOptions } from '../../../locks/index.ts';
import { sampleOf } from '../../support/long.ts';

/** The contended lock, and its lease in milliseconds. */
export const L = 'my:lock';
export const LEASE = 10_000;

/** The outcome of one play: whether the fault struck, and whether the promise under test was broken. */
export interface Outcome {
  readonly fired: boolean;
  readonly violated: boolean;
}

/** Times, randomness and bookkeeping of one play. */
export class Scene {
  readonly world: World;
  readonly random: Random;
  readonly checker: LockChecker;
  readonly #locks: Locks[] = [];

  constructor(world: World, random: Random) {
    this.world = world;
    this.random = random;
    this.checker = new LockChecker(() => this.now);
  }

  /** Virtual milliseconds since the world began; no clock jump touches it. */
  get now(): number {
    return this.world.elapsed() / 1000;
  }

  /** Lets a random time pass. */
  pause(maxMs: number, minMs = 0): Promise<void> {
    return this.world.advance(minMs + this.random.next() * (maxMs - minMs));
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.random.next() < probability;
  }

  /** Two clients held the lock at once. */
  get overlapped(): boolean {
    return this.checker.overlaps(L).length > 0;
  }

  /** A client that stays with one node, whichever node is primary. */
  clientOf(node: LabNode, name: string): Promise<Redis> {
    const Connector = connectorTo(this.world, () => node.address) as never;
    return this.world.actor(name).call(() => {
      const redis = new Redis({ Connector });
      redis.on('error', () => {});
      return redis;
    });
  }

  /** Locks over the clients, which end with the play. */
  locks(clients: AnyClient | readonly AnyClient[], options?: LocksOptions): Locks {
    const locks = createLocks(clients, options);
    this.#locks.push(locks);
    return locks;
  }

  /** Ends everything that the play has started. */
  end(): void {
    for (const locks of this.#locks) locks.close();
  }

  /** Takes the lock with one SET, and notes the grant; undefined when it was refused. */
  async take(client: Redis, who: string, lease = LEASE): Promise<Claim | undefined> {
    const sent = this.now;
    const reply = await client.set(L, who, 'PX', lease, 'NX').catch(() => null);
    return reply === 'OK' ? this.checker.granted(who, L, { until: sent + lease }) : undefined;
  }
}

/** A scene with one primary and its replicas, and two clients that follow the primary. */
export class PairScene extends Scene {
  readonly pair: Pair;
  readonly a: Redis;
  readonly b: Redis;

  constructor(pair: Pair, random: Random) {
    super(pair.world, random);
    this.pair = pair;
    this.a = this.client('A');
    this.b = this.client('B');
  }

  client(name: string, options?: RedisOptions): Redis {
    return this.pair.client(name, options);
  }

  /** Lets A, B and the others connect, so that no handshake is in the way. */
  async connect(...others: readonly Redis[]): Promise<void> {
    await Promise.all([this.a, this.b, ...others].map((client) => client.ping()));
  }

  /** A takes the lock with so many copies, or releases it; the error when A does not get it. */
  async takeCopied(replicas: number, replicaTimeoutMs: number): Promise<Error | undefined> {
    const locks = this.locks(this.a, { replicas, replicaTimeoutMs });
    try {
      await locks.simple(L).acquire({ leaseMs: LEASE, waitMs: 0 });
    } catch (error) {
      return error as Error;
    }
    this.checker.granted('A', L, { until: this.now + LEASE - replicaTimeoutMs });
    return undefined;
  }

  /** Only the lock can stop B: the end of most plays. */
  async letB(fired: boolean): Promise<Outcome> {
    await this.take(this.b, 'B');
    return { fired, violated: this.overlapped };
  }

  /** The primary dies, and the replica that Redis would choose (or the one named) is promoted. True: the lock was lost. */
  async loses(to?: string, after = 0): Promise<boolean> {
    const done = await this.pair.failover({ crash: true, after, ...(to !== undefined && { to }) });
    return done.lost.some(({ key }) => key === L);
  }
}

/** A scene with five independent primaries. */
export class FiveScene extends Scene {
  readonly servers: Servers;

  constructor(servers: Servers, random: Random) {
    super(servers.world, random);
    this.servers = servers;
  }

  node(number: number): LabNode {
    return this.servers.nodes[number - 1] as LabNode;
  }
}

const seeds = Array.from({ length: sampleOf(100, 3) }, (_, i) => i + 1);

async function playOn<S extends Scene>(scene: S, play: (scene: S) => Promise<Outcome>): Promise<Outcome> {
  const outcome = await play(scene);
  scene.end();
  return outcome;
}

type Options = Partial<Omit<PairOptions, 'clock'>>;

async function playPair(seed: number, options: Options, play: (scene: PairScene) => Promise<Outcome>) {
  const random = new Random(seed, 'scenario');
  const network = { latency: 0.2 + random.next() * 3, jitter: random.next() * 4 };
  const pair = await startPair({ clock: 'virtual', seed, network, ...options });
  // Each link has its own latency.
  for (const name of ['A', 'B']) {
    for (const node of pair.nodes) {
      pair.world.network.link(name, node.name).pace({ latency: 0.2 + random.next() * 5 });
    }
  }
  const outcome = await pair.run(() => playOn(new PairScene(pair, random), play));
  await pair.close();
  return outcome;
}

async function playFive(
  seed: number,
  options: Options & { primaries?: number },
  play: (scene: FiveScene) => Promise<Outcome>,
) {
  const random = new Random(seed, 'scenario');
  const network = { latency: 0.2 + random.next() * 3, jitter: random.next() * 4 };
  const servers = await startServers({ clock: 'virtual', seed, network, primaries: 5, ...options });
  const outcome = await servers.run(() => playOn(new FiveScene(servers, random), play));
  await servers.close();
  return outcome;
}

type Player<S, O> = (seed: number, options: O, play: (scene: S) => Promise<Outcome>) => Promise<Outcome>;

/** The unsafe form: broken in exactly those seeds in which the fault strikes, which are most. */
function breaksWhereItStrikes<S, O>(player: Player<S, O>) {
  return (title: string, options: O, play: (scene: S) => Promise<Outcome>): void => {
    test(title, async () => {
      const fired: number[] = [];
      const violated: number[] = [];
      for (const seed of seeds) {
        const outcome = await player(seed, options, play);
        if (outcome.fired) fired.push(seed);
        if (outcome.violated) violated.push(seed);
      }
      expect(violated).toEqual(fired);
      expect(fired.length).toBeGreaterThan(seeds.length / 2);
    });
  };
}

/** The safe form: never broken, though the fault strikes in most seeds. */
function neverBreaks<S, O>(player: Player<S, O>) {
  return (title: string, options: O, play: (scene: S) => Promise<Outcome>): void => {
    test(title, async () => {
      let fired = 0;
      const violated: number[] = [];
      for (const seed of seeds) {
        const outcome = await player(seed, options, play);
        if (outcome.fired) fired++;
        if (outcome.violated) violated.push(seed);
      }
      expect(violated).toEqual([]);
      expect(fired).toBeGreaterThan(seeds.length / 2);
    });
  };
}

/** Tests on a primary and its replicas. */
export const unsafe = breaksWhereItStrikes(playPair);
export const safe = neverBreaks(playPair);
/** Tests on five independent primaries. */
export const unsafeFive = breaksWhereItStrikes(playFive);
export const safeFive = neverBreaks(playFive);

/** A behaviour that holds in every seed; the play asserts it. */
export function always(title: string, options: Options, play: (scene: PairScene) => Promise<void>): void {
  test(title, async () => {
    for (const seed of seeds) {
      await playPair(seed, options, async (scene) => {
        await play(scene);
        return { fired: true, violated: false };
      });
    }
  });
}

/** Releases the lock for its owner only: the key, the owner's value. */
export const RELEASE =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

/** What the lock protects: a store that checks fencing tokens, or does not. */
export class Store {
  readonly #checker: LockChecker;
  readonly #checks: boolean;
  #highest = -1;

  constructor(checker: LockChecker, checks: boolean) {
    this.#checker = checker;
    this.#checks = checks;
  }

  /** True when the write was accepted. */
  write(who: string, fence: number): boolean {
    if (this.#checks && fence < this.#highest) return false;
    this.#highest = Math.max(this.#highest, fence);
    this.#checker.accepted(who, L, fence);
    return true;
  }
}

/** What a node has in a string key, logically expired or not. */
export function stored(node: LabNode, key: string): unknown {
  return node.server.db(0).entries.get(key)?.read();
}
