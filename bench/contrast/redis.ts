/** Redis as a lock system: asynchronous replicas, WAIT, Redlock on five primaries, and the quorum mode of lostlock's nodes. */
import { startPair, startServers } from '../../lab/pair.ts';
import { createLocks } from '../../locks/index.ts';
import { type Ensemble, type LockClient, sleep } from './system.ts';

/** How long the failover takes: nobody is promoted before, as with a Sentinel's down-after-milliseconds. */
const DOWN_AFTER = 1000;

/** How late replicas are, in milliseconds: enough for a primary to die between its reply and the copy. */
export const BEHIND = 20;

const RELEASE =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

/** The part of an ioredis client that a lock needs. */
interface Commands {
  set(key: string, value: string, px: 'PX', ms: number, nx: 'NX'): Promise<unknown>;
  wait(replicas: number, ms: number): Promise<number>;
  eval(script: string, keys: number, ...words: string[]): Promise<unknown>;
}

/** Takes a lock by SET NX PX, with so many copies, and tries again until the time is over. */
function lockClient(redis: Commands, name: string, leaseMs: number, copies: number): LockClient {
  let key = '';
  return {
    async acquire(lock, waitMs) {
      const end = performance.now() + waitMs;
      key = lock;
      while (performance.now() < end) {
        const reply = await withTimeout(redis.set(lock, name, 'PX', leaseMs, 'NX'), 500);
        if (reply === 'OK') {
          if (copies === 0 || Number(await withTimeout(redis.wait(copies, 500), 700)) >= copies) return true;
          await withTimeout(redis.eval(RELEASE, 1, lock, name), 500);
        }
        await sleep(10);
      }
      return false;
    },
    release: async () => void (await redis.eval(RELEASE, 1, key, name)),
    stall: () => {},
    close: async () => {},
  };
}

/** The result, or undefined when it fails or takes longer. */
function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  return Promise.race([work.catch(() => undefined), sleep(ms).then(() => undefined)]);
}

/** What both kinds of pair have in common. */
type AnyPair = Awaited<ReturnType<typeof startReplicatedPair>> | Awaited<ReturnType<typeof startQuorumPair>>;

const startReplicatedPair = () => startPair({ clock: 'real', nodes: 'redis-server', replicas: 2 });
const startQuorumPair = () => startPair({ clock: 'real', replicas: 2, quorum: true });

/** The faults of a primary that is replaced by the most advanced replica one second later. */
function faults(pair: AnyPair, old: string): Pick<Ensemble, 'killLeader' | 'restartEmpty' | 'cutLeader'> {
  return {
    async killLeader() {
      // What the replicas do not have yet dies with the primary's machine.
      for (const { name } of pair.replicas) pair.linkTo(name).hold();
      await pair.primary.crash();
      await sleep(DOWN_AFTER);
      await pair.failover();
    },
    async restartEmpty() {
      await pair.primary.crash();
      await pair.restart(old);
    },
    async cutLeader() {
      pair.network.partition(['A', old], ['B', 'P', ...pair.replicas.map(({ name }) => name)]);
      await sleep(DOWN_AFTER);
      await pair.failover({ demote: false });
      // The clients on the majority's side dial again, and find the new primary.
      for (const name of ['B', 'P']) pair.network.reset(name, old);
    },
  };
}

/** A primary with two replicas. @param copies how many replicas must have a lock before it counts */
export async function startReplicated(leaseMs: number, copies: number): Promise<Ensemble> {
  const pair = await startReplicatedPair();
  for (const { name } of pair.replicas) pair.linkTo(name).commands.delay(BEHIND);
  const old = pair.primary.name;
  return {
    async client(name) {
      // A stays with the node that it is cut off with.
      const redis = pair.client(name, { maxRetriesPerRequest: 0 }, name === 'A' ? old : undefined);
      return lockClient(redis as unknown as Commands, name, leaseMs, copies);
    },
    ...faults(pair, old),
    close: () => pair.close(),
  };
}

/** Three lostlock nodes that answer a write when a majority has it. */
export async function startQuorum(leaseMs: number): Promise<Ensemble> {
  const pair = await startQuorumPair();
  for (const { name } of pair.replicas) pair.linkTo(name).commands.delay(BEHIND);
  const old = pair.primary.name;
  return {
    async client(name) {
      const redis = pair.client(name, { maxRetriesPerRequest: 0 });
      return lockClient(redis as unknown as Commands, name, leaseMs, 0);
    },
    ...faults(pair, old),
    close: () => pair.close(),
  };
}

/** Five primaries and Redlock. */
export async function startRedlock(leaseMs: number): Promise<Ensemble> {
  const servers = await startServers({ clock: 'real', nodes: 'redis-server', primaries: 5 });
  const [first, , third] = servers.nodes;
  const cut = (name: string, numbers: readonly number[]): void => {
    for (const number of numbers) servers.sets[number - 1]?.network.partition([name], [`redis-${number}`]);
  };
  return {
    async client(name) {
      const clients = servers.clients(name, { maxRetriesPerRequest: 0 });
      await Promise.all(clients.map((each) => each.ping()));
      const locks = createLocks(clients, { requestTimeoutMs: 100 });
      let held: { release(): Promise<unknown> } | undefined;
      return {
        async acquire(lock, waitMs) {
          const options = { leaseMs, waitMs };
          held = await locks
            .redlock(lock)
            .acquire(options)
            .catch(() => undefined);
          return held !== undefined;
        },
        release: async () => void (await held?.release().catch(() => {})),
        stall: () => {},
        close: async () => locks.close(),
      };
    },
    killLeader: async () => void (await first?.crash()),
    async restartEmpty() {
      // Of the majority that granted, nodes 1 to 3, one forgets; B does not reach the two others.
      await Promise.all([servers.nodes[3]?.ask('DEL', 'l'), servers.nodes[4]?.ask('DEL', 'l')]);
      cut('B', [1, 2]);
      await third?.crash();
      await third?.restart();
    },
    async cutLeader() {
      cut('A', [3, 4, 5]);
      cut('B', [1, 2]);
      cut('P', [1, 2]);
    },
    close: () => servers.close(),
  };
}
