/** Many lock lives under random faults on a real server, judged by the independent checker. */

import { Redis } from 'ioredis';
import { describe, test } from 'vitest';
import { defined } from '../../../base/defined.ts';
import {
  createLocks,
  fromIoredis,
  type HeldLock,
  type Lock,
  LockError,
  type Locks,
} from '../../../locks/index.ts';
import { formsIn } from '../../../locks/kinds/index.ts';
import { sampleOf } from '../../support/long.ts';
import { hasRedisServer, type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import { type FaultyClient, faulty, randomFaults } from '../faulty.ts';
import { check, type LockEvent } from './checker.ts';

const SEEDS = sampleOf(100, 1);
const LIVES = sampleOf(1000, 120);
const WORKERS = 6;

interface Kind {
  make(locks: Locks, name: string, turn: number): Lock<HeldLock>;
  shared?(turn: number): boolean;
  permits?: number;
  /** Each worker is one named owner all the time. */
  lasting?: boolean;
  /** Its holds have no leases. */
  unleased?: boolean;
}

const kinds: Record<string, Kind> = {
  ...Object.fromEntries(
    formsIn('soak').map(({ name, make, setUp, leased }) => [
      name,
      { make, unleased: !leased, ...(setUp && { permits: 3 }) },
    ]),
  ),
  'reentrant, of lasting owners': { make: (locks, name) => locks.reentrant(name), lasting: true },
  'fair, of lasting owners': { make: (locks, name) => locks.fair(name), lasting: true },
  'read-write': {
    make: (locks, name, turn) => (turn % 3 ? locks.readWrite(name).read : locks.readWrite(name).write),
    shared: (turn) => turn % 3 !== 0,
  },
};

// Most of a life with faults is waiting: the kinds run at the same time, each on its own server.
describe.skipIf(!hasRedisServer)('lock lives under faults (needs redis-server)', { concurrent: true }, () => {
  test.for(Object.entries(kinds))('the %s lock keeps its promise', async ([, kind], { expect }) => {
    await using server = await startRedisServer();
    const raw = new Redis({ path: server.path });
    try {
      for (let seed = 1; seed <= SEEDS; seed++) {
        await raw.flushall();
        const history = await live(server, raw, kind, seed);
        expect(check(history), `seed ${seed}`).toEqual([]);
        const lives = history.filter(({ type }) => type === 'grant').length;
        expect(lives, `seed ${seed}: faults may cost some lives, not most`).toBeGreaterThan(LIVES / 2);
      }
    } finally {
      raw.disconnect();
    }
  });

  async function live(server: RealRedis, raw: Redis, kind: Kind, seed: number): Promise<LockEvent[]> {
    const lock = `soak:${seed}`;
    const history: LockEvent[] = [];
    if (kind.permits) {
      await raw.set(lock, kind.permits);
      history.push({ type: 'total', lock, units: kind.permits });
    }
    const parties = Array.from({ length: 3 }, (_, index) => party(server.path, seed * 10 + index));
    const quota = Math.ceil(LIVES / WORKERS);
    const workers = Array.from({ length: WORKERS }, (_, index) =>
      work(raw, kind, lock, parties[index % parties.length]!, quota, index, history),
    );
    try {
      await Promise.all(workers);
      for (const { client } of parties) {
        client.fault = () => undefined;
        await client.deliverLate();
      }
      if (kind.permits) await allBack(raw, lock, kind, parties[0]!.locks, history);
    } finally {
      for (const { locks, redis } of parties) {
        locks.close();
        redis.disconnect();
      }
    }
    return history;
  }

  async function work(
    raw: Redis,
    kind: Kind,
    lock: string,
    { locks, client }: Party,
    quota: number,
    worker: number,
    history: LockEvent[],
  ): Promise<void> {
    for (let turn = worker; turn < quota + worker; turn++) {
      const owner = `worker ${worker}`;
      const hold = `${owner} turn ${turn}`;
      const held = await kind
        .make(locks, lock, turn)
        .acquire({ waitMs: 20_000, ...(!kind.unleased && { leaseMs: 2000 }), ...(kind.lasting && { owner }) })
        .catch(ignoreUnknown);
      if (!held) continue;
      const shared = kind.shared?.(turn) ?? false;
      const { fence } = held;
      history.push({ type: 'grant', lock, hold, owner, shared, ...defined({ fence }) });
      if (turn % 4 === 0) await raw.ping();
      if (turn % 7 === 0) await client.deliverLate();
      history.push({ type: 'end', lock, hold, how: held.signal.aborted ? 'lost' : 'released' });
      await held.release().catch(ignoreUnknown);
    }
  }

  /** Permits still taken when the last worker ends come back by undoing or by expiry. */
  async function allBack(
    raw: Redis,
    lock: string,
    kind: Kind,
    locks: Locks,
    history: LockEvent[],
  ): Promise<void> {
    const everything = await kind.make(locks, lock, 0).acquire({ waitMs: 30_000 });
    await everything.release();
    const deadline = Date.now() + 35_000;
    const left = async (): Promise<number> =>
      'availablePermits' in kind.make(locks, lock, 0)
        ? (
            kind.make(locks, lock, 0) as Lock<HeldLock> & { availablePermits(): Promise<number> }
          ).availablePermits()
        : 0;
    while ((await left()) !== kind.permits && Date.now() < deadline) await raw.ping();
    history.push({ type: 'left', lock, units: await left() });
  }
});

interface Party {
  locks: Locks;
  client: FaultyClient;
  redis: Redis;
}

function party(path: string, seed: number): Party {
  const redis = new Redis({ path });
  const client = faulty(fromIoredis(redis));
  client.fault = randomFaults(seed, 0.05);
  return { client, redis, locks: createLocks(client, { requestTimeoutMs: 30, placeMs: 400 }) };
}

function ignoreUnknown(error: unknown): undefined {
  if (!(error instanceof LockError)) throw error;
}
