/** Plays lock failures over many seeds: the tools of a scenario, and how its claim is checked. */
import '../../../lab/router.ts';
import { Redis, type RedisOptions } from 'ioredis';
import { expect, test } from 'vitest';
import { type Pair, type PairOptions, type Servers, startPair, startServers } from '../../../lab/pair.ts';
import { Random } from '../../../lab/time/random.ts';
import { connectorTo } from '../../../lab/virtual/connector.ts';
import type { LabNode } from '../../../lab/virtual/node.ts';
import type { World } from '../../../lab/virtual/world.ts';
import { type AnyClient, createLocks, type Locks, type LocksOptions } from '../../../locks/index.ts';
import { sampleOf } from '../../support/long.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { type Claim, LockChecker } from './checker.ts';
import { type Keep, type KeptPlay, keeper } from './plays.ts';
import {
  askReal,
  fetchesOf,
  ON_REAL,
  programFor,
  realClientOf,
  reasonAgainst,
  recordOutcome,
  startRealScene,
} from './real-scene.ts';

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
  async clientOf(node: LabNode, name: string): Promise<Redis> {
    const real = realClientOf(this.world, node, name);
    if (real !== undefined) return real;
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

async function playPair(
  seed: number,
  options: Options,
  play: (scene: PairScene) => Promise<Outcome>,
  keep: Keep,
) {
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
  if (outcome.fired) keep(pair);
  await pair.close();
  return outcome;
}

/** Plays the same scenario on servers of the program, in real time. */
function playRealOn(program: string): SeedPlay<PairScene, Options> {
  return async (seed, options, play) => {
    await using pair = await startRealScene(program, options);
    const random = new Random(seed, 'scenario');
    // What follows is decided by the same numbers as on the virtual clock, where the first ones make the network.
    for (let drawn = 0; drawn < 2 + 2 * pair.nodes.length; drawn++) random.next();
    return await playOn(new PairScene(pair, random), play);
  };
}

async function playFive(
  seed: number,
  options: Options & { primaries?: number },
  play: (scene: FiveScene) => Promise<Outcome>,
  keep: Keep,
) {
  const random = new Random(seed, 'scenario');
  const network = { latency: 0.2 + random.next() * 3, jitter: random.next() * 4 };
  const servers = await startServers({ clock: 'virtual', seed, network, primaries: 5, ...options });
  const outcome = await servers.run(() => playOn(new FiveScene(servers, random), play));
  if (outcome.fired) keep(servers);
  await servers.close();
  return outcome;
}

type SeedPlay<S, O> = (
  seed: number,
  options: O,
  play: (scene: S) => Promise<Outcome>,
  keep: Keep,
) => Promise<Outcome>;
type Register<S, O> = (title: string, options: O, play: (scene: S) => Promise<Outcome>) => void;

/** The seeds that a title is played on, and the promise that was broken in some of them. */
async function playSeeds<S, O>(
  player: SeedPlay<S, O>,
  numbers: readonly number[],
  options: O,
  play: (scene: S) => Promise<Outcome>,
  keep: Keep,
) {
  const [fired, violated]: [number[], number[]] = [[], []];
  for (const seed of numbers) {
    const outcome = await player(seed, options, play, keep);
    if (outcome.fired) fired.push(seed);
    if (outcome.violated) violated.push(seed);
  }
  return { fired, violated };
}

/** Keeps the first run of a scenario. */
function keeperOf(title: string, form: KeptPlay['form']): Keep {
  return keeper(/^S\d+\w?/.exec(title)?.[0] ?? title, title, form);
}

/** The unsafe form: broken in exactly those seeds in which the fault strikes, which are most. */
function breaksWhereItStrikes<S, O>(player: SeedPlay<S, O>, numbers = seeds, where = ''): Register<S, O> {
  return (title, options, play) => {
    test(title + where, async () => {
      const { fired, violated } = await playSeeds(player, numbers, options, play, keeperOf(title, 'unsafe'));
      if (where === '') recordOutcome(title, 'unsafe', numbers.length, fired.length, violated.length);
      expect(violated).toEqual(fired);
      expect(fired.length).toBeGreaterThan(numbers.length / 2);
    });
  };
}

/** The safe form: never broken, though the fault strikes in most seeds. */
function neverBreaks<S, O>(player: SeedPlay<S, O>, numbers = seeds, where = ''): Register<S, O> {
  return (title, options, play) => {
    test(title + where, async () => {
      const { fired, violated } = await playSeeds(player, numbers, options, play, keeperOf(title, 'safe'));
      if (where === '') recordOutcome(title, 'safe', numbers.length, fired.length, violated.length);
      expect(violated).toEqual([]);
      expect(fired.length).toBeGreaterThan(numbers.length / 2);
    });
  };
}

const REAL_SEEDS = [1, 2, 3];

/** Titles that npm test plays on redis-server too, on a seed in which the fault strikes. */
const SAMPLE = /^S(32 WAIT 1 of 2, and the failover picks the other|38 the stale)/;

/** On real servers instead, when the environment says so; a sample of the titles on both. */
function alsoOnReal<O extends Options>(
  virtual: Register<PairScene, O>,
  form: (player: SeedPlay<PairScene, O>, numbers: number[], where: string) => Register<PairScene, O>,
): Register<PairScene, O> {
  return (title, options, play) => {
    if (!ON_REAL) virtual(title, options, play);
    else if (reasonAgainst(title, options) === undefined)
      form(playRealOn(programFor(title).program), REAL_SEEDS, '')(title, options, play);
    else recordOutcome(title, 'not played', 0, 0, 0, reasonAgainst(title, options));
    if (!ON_REAL && hasRedisServer && SAMPLE.test(title)) {
      form(playRealOn('redis-server'), [2], ' (needs redis-server)')(title, options, play);
    }
  };
}

/** Tests on a primary and its replicas. */
export const unsafe: Register<PairScene, Options> = alsoOnReal(
  breaksWhereItStrikes(playPair),
  breaksWhereItStrikes,
);
export const safe: Register<PairScene, Options> = alsoOnReal(neverBreaks(playPair), neverBreaks);
/** Tests on five independent primaries. */
export const unsafeFive = breaksWhereItStrikes(playFive);
export const safeFive = neverBreaks(playFive);

/** A behaviour that holds in every seed; the play asserts it. */
export function always(title: string, options: Options, play: (scene: PairScene) => Promise<void>): void {
  safe(title, options, async (scene) => {
    await play(scene);
    return { fired: true, violated: false };
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

/** What a node has in a string key; a node of ours tells of a logically expired one too. */
export async function stored(node: LabNode, key: string): Promise<unknown> {
  const reply = askReal(node, 'GET', key);
  if (reply !== undefined) return (await reply) ?? undefined;
  return node.server.db(0).entries.get(key)?.read();
}

/** CONFIG SET for one node. */
export async function configure(
  node: LabNode,
  name: 'replica-priority' | 'min-replicas-to-write',
  value: number,
): Promise<void> {
  await askReal(node, 'CONFIG', 'SET', name, String(value));
  node.server.settings[name] = value;
  node.server.replication.good.refresh();
}

/** True for a replica that is connected to its primary. */
export async function follows(node: LabNode): Promise<boolean> {
  const info = await askReal(node, 'INFO', 'replication');
  if (info !== undefined) return String(info).includes('master_link_status:up');
  return node.server.primary?.linkUp === true;
}

/** How many resyncs a primary has granted, and how many partial ones it has refused, without the lab's own. */
export async function counters(node: LabNode): Promise<{ full: number; partial: number; refused: number }> {
  const info = await askReal(node, 'INFO', 'stats');
  if (info === undefined) return node.server.replication.counters;
  const field = (name: string): number => Number(new RegExp(`${name}:(\\d+)`).exec(String(info))?.[1]);
  return {
    full: field('sync_full'),
    partial: field('sync_partial_ok') - fetchesOf(node),
    refused: field('sync_partial_err'),
  };
}

/** The replication offset that a node itself reports. */
export async function offsetOf(node: LabNode): Promise<number> {
  const info = await askReal(node, 'INFO', 'replication');
  return info === undefined ? node.offset : Number(/master_repl_offset:(\d+)/.exec(String(info))?.[1]);
}
