/** Redlock when some of its servers are dead, unreachable or slow: how long that takes, and what it leaves behind. */
import '../../../lab/router.ts';
import { describe, expect, test } from 'vitest';
import { type Servers, startServers } from '../../../lab/pair.ts';
import {
  createLocks,
  type Locks,
  type LocksOptions,
  OutcomeUnknown,
  QuorumFailed,
  type Redlock,
} from '../../../locks/index.ts';
import { sampleOf } from '../../support/long.ts';

const L = 'lock';
const SEEDS = sampleOf(50, 1);
/** One way takes up to 3 ms, and an acquisition needs a few round trips. */
const QUICK_MS = 30;
/** The default share of the default lease of 30 s. */
const SERVER_MS = 300;

/** Servers on the virtual clock, with the faults that they can have. */
class Nodes {
  readonly servers: Servers;

  constructor(servers: Servers) {
    this.servers = servers;
  }

  get names(): string[] {
    return this.servers.nodes.map(({ name }) => name);
  }

  get now(): number {
    return this.servers.world.elapsed() / 1000;
  }

  /** A connected client of that name with its locks. */
  async locks(name: string, options: LocksOptions = {}): Promise<Locks> {
    const clients = this.servers.clients(name);
    await Promise.all(clients.map((client) => client.ping()));
    return createLocks(clients, options);
  }

  /** Either crashed, so that connections break, or cut off, so that they stay silent. */
  kill(numbers: readonly number[], how: 'dead' | 'unreachable', from: readonly string[] = ['A', 'B']): void {
    for (const number of numbers) {
      const node = this.servers.nodes[number]!;
      if (how === 'dead') node.crash();
      else this.servers.world.network.partition([...from], [node.name]);
    }
  }

  revive(): void {
    for (const node of this.servers.nodes) if (!node.up) node.restart();
    this.servers.world.network.heal();
  }

  /** The servers that have the key. */
  get copies(): number[] {
    return this.servers.nodes.flatMap((node, index) => (node.server.db(0).entries.has(L) ? [index] : []));
  }

  /** How many virtual milliseconds something takes, and its result. */
  async time<T>(work: () => Promise<T>): Promise<{ ms: number; outcome: T | Error }> {
    const begun = this.now;
    const outcome = await work().catch((error: Error) => error);
    return { ms: this.now - begun, outcome };
  }
}

async function eachSeed(
  primaries: number,
  play: (nodes: Nodes, seed: number) => Promise<void>,
): Promise<void> {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const servers = await startServers({
      clock: 'virtual',
      seed,
      primaries,
      patience: 3_600_000,
      network: { latency: 1, jitter: 2 },
    });
    await servers.run(() => play(new Nodes(servers), seed));
    await servers.close();
  }
}

/** Which servers are away: different ones for each seed, sometimes the first. */
const some = (count: number, of: number, seed: number): number[] =>
  Array.from({ length: count }, (_, index) => (seed + index) % of);

describe.each([
  [3, 'dead'],
  [3, 'unreachable'],
  [5, 'dead'],
  [5, 'unreachable'],
] as const)('with %d servers, of which some are %s', (size, how) => {
  const minority = (size - 1) / 2;

  test('with a minority away the lock is taken, renewed and released as usual', () =>
    eachSeed(size, async (nodes, seed) => {
      const locks = await nodes.locks('A');
      nodes.kill(some(minority, size, seed), how);
      // The first time it asks each server who it is.
      const first = await nodes.time(async () => (await locks.redlock(L).acquire()).release());
      expect(first.outcome).toBeUndefined();
      expect(first.ms).toBeLessThan(SERVER_MS + QUICK_MS);
      const again = await nodes.time(() => locks.redlock(L).acquire());
      expect(again.ms).toBeLessThan(QUICK_MS);
      const held = again.outcome as Awaited<ReturnType<ReturnType<Locks['redlock']>['acquire']>>;
      const before = held.validUntil;
      await nodes.servers.world.advance(10_000 + QUICK_MS);
      expect(held.validUntil).toBeGreaterThan(before);
      expect((await nodes.time(() => held.extend())).ms).toBeLessThan(QUICK_MS);
      expect((await nodes.time(() => held.release())).ms).toBeLessThan(QUICK_MS);
      locks.close();
    }));

  test('with a minority away a held lock is refused at once, and a waiter gets it as usual', () =>
    eachSeed(size, async (nodes, seed) => {
      const [a, b] = [await nodes.locks('A'), await nodes.locks('B')];
      await (await b.redlock(L).acquire()).release();
      const held = await a.redlock(L).acquire();
      nodes.kill(some(minority, size, seed), how);
      const refused = await nodes.time(() => b.redlock(L).tryAcquire());
      expect(refused.outcome).toBeNull();
      expect(refused.ms).toBeLessThan(QUICK_MS);
      const waiting = b.redlock(L).acquire();
      await nodes.servers.world.advance(QUICK_MS);
      await held.release();
      const next = await nodes.time(() => waiting);
      expect(next.ms).toBeLessThan(QUICK_MS);
      b.close();
      a.close();
    }));

  test('with a majority away the lock is refused after one time-out, and no key stays behind', () =>
    eachSeed(size, async (nodes, seed) => {
      const locks = await nodes.locks('A');
      await (await locks.redlock(L).acquire()).release();
      await nodes.servers.world.advance(QUICK_MS); // All have released it, not just a majority.
      nodes.kill(some(minority + 1, size, seed), how);
      const refused = await nodes.time(() => locks.redlock(L).tryAcquire());
      expect(refused.outcome).toBeInstanceOf(QuorumFailed);
      expect(refused.outcome).toMatchObject({ granted: minority, needed: minority + 1 });
      expect(refused.ms).toBeLessThan(SERVER_MS + QUICK_MS);
      await nodes.servers.world.advance(QUICK_MS);
      expect(nodes.copies).toEqual([]);
      const waited = await nodes.time(() => locks.redlock(L).acquire({ waitMs: 2000 }));
      expect(waited.ms).toBeLessThan(2000 + SERVER_MS + QUICK_MS);
      nodes.revive(); // Late requests to the other servers take nothing, or are undone.
      await nodes.servers.world.advance(5000);
      expect(nodes.copies).toEqual([]);
      await (await locks.redlock(L).acquire({ waitMs: 0 })).release();
      locks.close();
    }));
});

describe('answers that come late', () => {
  /** Delays messages to or from some servers for a while. */
  function slow(nodes: Nodes, numbers: readonly number[], way: 'requests' | 'replies'): () => void {
    const { network } = nodes.servers.world;
    const lanes = numbers.map((number) => {
      const name = nodes.names[number]!;
      return way === 'requests' ? network.lane('A', name) : network.lane(name, 'A');
    });
    for (const lane of lanes) lane.hold();
    return () => {
      for (const lane of lanes) lane.release();
    };
  }

  /** Runs an action on a lock of five servers, some of which get the requests or send the replies late. */
  interface Scene {
    readonly nodes: Nodes;
    readonly lock: Redlock;
    /** The delayed messages arrive after a while, which differs for each seed. */
    arriveAfter(ms: number): Promise<void>;
  }

  const whileSlow = (count: number, way: 'requests' | 'replies', play: (scene: Scene) => Promise<void>) =>
    eachSeed(5, async (nodes, seed) => {
      const { world } = nodes.servers;
      const locks = await nodes.locks('A');
      const lock = locks.redlock(L);
      await (await lock.acquire()).release();
      const go = slow(nodes, some(count, 5, seed), way);
      const arriveAfter = async (ms: number) => {
        await world.advance(ms * seed);
        go();
        await world.advance(QUICK_MS);
      };
      await play({ nodes, lock, arriveAfter });
      locks.close();
    });

  describe.each(['requests', 'replies'] as const)('with %s held up', (way) => {
    test('a late grant belongs to the lock and goes with it', () =>
      whileSlow(2, way, async ({ nodes, lock, arriveAfter }) => {
        const held = await lock.acquire();
        await arriveAfter(100);
        expect(nodes.copies).toEqual([0, 1, 2, 3, 4]);
        await held.release();
        await nodes.servers.world.advance(QUICK_MS);
        expect(nodes.copies).toEqual([]);
      }));

    test('a request that arrives after the release takes nothing', () =>
      whileSlow(2, way, async ({ nodes, lock, arriveAfter }) => {
        await (await lock.acquire()).release();
        await arriveAfter(1500);
        expect(nodes.copies).toEqual([]);
      }));

    test('a grant that arrives after the attempt has failed is undone', () =>
      whileSlow(3, way, async ({ nodes, lock, arriveAfter }) => {
        const refused = await nodes.time(() => lock.tryAcquire());
        expect(refused.outcome).toBeInstanceOf(QuorumFailed);
        expect(refused.ms).toBeLessThan(SERVER_MS + QUICK_MS);
        await arriveAfter(1000);
        expect(nodes.copies).toEqual([]);
        expect(await lock.tryAcquire()).not.toBeNull();
      }));
  });

  test('a silent majority leaves extend and release unknown, and the lease unchanged', () =>
    eachSeed(3, async (nodes, seed) => {
      const locks = await nodes.locks('A', { requestTimeoutMs: 500 });
      const held = await locks.redlock(L).acquire({ leaseMs: 10_000 });
      nodes.kill(some(2, 3, seed), 'unreachable');
      const until = held.validUntil;
      await expect(held.extend(20_000)).rejects.toThrow(OutcomeUnknown);
      held.assertHeld();
      expect(held.validUntil).toBe(until);
      await expect(held.release()).rejects.toThrow(OutcomeUnknown);
      nodes.revive();
      await nodes.servers.world.advance(10_000);
      expect(nodes.copies).toEqual([]);
      locks.close();
    }));

  test('each server has the configured share of the lease to answer', () =>
    eachSeed(3, async (nodes, seed) => {
      const locks = await nodes.locks('A', { redlockServerShare: 0.1 });
      await (await locks.redlock(L).acquire()).release();
      nodes.kill(some(2, 3, seed), 'unreachable');
      const { ms } = await nodes.time(() => locks.redlock(L).tryAcquire({ leaseMs: 8000 }));
      expect(ms).toBeGreaterThanOrEqual(800);
      expect(ms).toBeLessThan(800 + QUICK_MS);
      locks.close();
    }));
});

describe('a multi lock on several servers', () => {
  test('a lock on a server that died meanwhile is not waited for, and is released when the server is back', () =>
    eachSeed(2, async (nodes, seed) => {
      const [first, second] = await each(nodes, 'A');
      const [, other] = await each(nodes, 'B');
      const elsewhere = await other!.simple(`${L}:2`).acquire();
      const both = first!.multi([first!.simple(L), second!.simple(`${L}:2`)]);
      await (await first!.simple(L).acquire()).release();
      const taking = nodes.time(() => both.tryAcquire({ waitMs: 500 }));
      while (nodes.copies.length === 0) await nodes.servers.world.advance(1);
      await nodes.servers.world.advance(QUICK_MS);
      nodes.kill([0], seed % 2 ? 'dead' : 'unreachable');
      const refused = await taking;
      expect(refused.outcome).toBeNull();
      expect(refused.ms).toBeLessThan(500 + SERVER_MS + QUICK_MS);
      await elsewhere.release();
      nodes.revive();
      await nodes.servers.world.advance(5000);
      expect(nodes.copies).toEqual([]);
      const taken = await nodes.time(() => both.acquire());
      expect(taken.ms).toBeLessThan(2 * QUICK_MS);
      for (const locks of [first!, second!, other!]) locks.close();
    }));

  /** The locks of each server alone. */
  async function each(nodes: Nodes, name: string): Promise<Locks[]> {
    const clients = nodes.servers.clients(name);
    await Promise.all(clients.map((client) => client.ping()));
    return clients.map((client) => createLocks(client));
  }
});

test('clients that split the votes retry at different times, so that few attempts fail', () =>
  eachSeed(3, async (nodes) => {
    const { world } = nodes.servers;
    let attempts = 0;
    const work = async (name: string): Promise<void> => {
      const locks = await nodes.locks(name);
      locks.on('acquired', (event) => (attempts += event.attempts!));
      await world.advance(100); // All start at the same time.
      for (let i = 0; i < 5; i++) await locks.redlock(L).using(() => {});
      locks.close();
    };
    await Promise.all(['A', 'B', 'C', 'D', 'E'].map(work));
    expect(attempts).toBeLessThan(80); // 43 to 75; those who look at every message need 83 and more.
  }));

test('the lock is lost when a majority no longer has it, even if the other servers are silent', () =>
  eachSeed(3, async (nodes, seed) => {
    const { world } = nodes.servers;
    const locks = await nodes.locks('A', { leaseMs: 3000 });
    const held = await locks.redlock(L).acquire();
    const [silent] = some(1, 3, seed);
    nodes.kill([silent!], 'unreachable', ['A']);
    await Promise.all(nodes.servers.clients('B').map((client, i) => i !== silent && client.del(L)));
    await world.advance(1000 + QUICK_MS); // Renewed after a third of its lease.
    expect(held.signal.aborted).toBe(true);
    locks.close();
  }));
