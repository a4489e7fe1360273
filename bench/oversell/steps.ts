/** The steps of the ladder: ways to keep two buyers from deducting the same stock, from the most naive one on. */

import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { defined } from '../../base/defined.ts';
import {
  createLocks,
  type HeldLock,
  type Lock,
  LockError,
  type Locks,
  type LocksOptions,
} from '../../locks/index.ts';
import { PostgresClient } from './postgres.ts';
import { segmentsOf } from './segments.ts';
import { type Stock, sellOne } from './stock.ts';

/** The outcome of a request. */
export type Outcome = 'sold' | 'sold out' | 'refused';

/** What a step can use, in one process. */
export interface Means {
  /** The lock servers: one, or three for Redlock. */
  readonly locks: readonly Redis[];
  readonly stock: Stock;
  readonly leaseMs: number;
  /** Waits for as long as the work takes, including slow and stalled holders. */
  work(): Promise<void>;
  /** True when the process dies now, so that nothing it holds is released. */
  dies(): boolean;
  readonly postgres: string | undefined;
}

/** A step: sells one unit, or says why not. */
export interface Step {
  sell(): Promise<Outcome>;
  /** Called when the process was killed and starts again. */
  restart?(): void;
}

const KEY = 'lock:stock';
const PAUSE_MS = 4;
const PATIENCE_MS = 2000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Retries until it gets the lock or the time limit passes. */
async function spin(attempt: () => Promise<boolean>): Promise<boolean> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    if (await attempt()) return true;
    await pause(PAUSE_MS);
  }
  return false;
}

/** A step that acquires a lock with its own commands, sells, and releases it with its own commands. */
function byHand(
  means: Means,
  acquire: (redis: Redis, token: string) => Promise<boolean>,
  release: (redis: Redis, token: string) => Promise<unknown>,
): Step {
  const redis = means.locks[0]!;
  return {
    sell: async () => {
      const token = randomBytes(8).toString('hex');
      if (!(await spin(() => acquire(redis, token)))) return 'refused';
      const outcome = await sellOne(means.stock, { work: means.work, dies: means.dies });
      if (outcome === 'died') return 'refused';
      await release(redis, token);
      return outcome;
    },
  };
}

const setWithLease =
  (leaseMs: number) =>
  async (redis: Redis, token: string): Promise<boolean> =>
    (await redis.set(KEY, token, 'PX', leaseMs, 'NX')) === 'OK';

const COMPARE_AND_DELETE =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

interface OursOptions {
  replicas?: number;
  /** Without it, the lease is explicit and nobody renews it. */
  watchdog: boolean;
  /** True when the resource refuses old fences. */
  fenced?: boolean;
  make(locks: Locks): Lock<HeldLock>;
}

/** The locks of a process that may be killed and restarted, which creates new locks. */
function lockingProcess({ locks, leaseMs }: Means, options: LocksOptions) {
  const process = {
    locks: createLocks(locks, { leaseMs, ...options }),
    restart: () => {
      process.locks.close();
      process.locks = createLocks(locks, { leaseMs, ...options });
    },
  };
  return process;
}

/** A step that uses one of our locks. */
function ours(means: Means, { replicas, watchdog, fenced = false, make }: OursOptions): Step {
  const process = lockingProcess(means, {
    ...defined({ replicas }),
    replicaTimeoutMs: 100,
  });
  return {
    restart: process.restart,
    sell: async () => {
      const wish = { waitMs: PATIENCE_MS, ...(!watchdog && { leaseMs: means.leaseMs }) };
      let held: HeldLock;
      try {
        held = await make(process.locks).acquire(wish);
      } catch (error) {
        if (error instanceof LockError) return 'refused';
        throw error;
      }
      try {
        const { work, dies } = means;
        const check = watchdog ? () => held.assertHeld() : undefined;
        const fence = fenced ? held.fence : undefined;
        const outcome = await sellOne(means.stock, { work, dies, ...(check && { check }), fence });
        if (outcome === 'died') return 'refused';
        await held.release();
        return outcome;
      } catch (error) {
        await held.release().catch(() => {});
        if (error instanceof LockError) return 'refused';
        throw error;
      }
    },
  };
}

/** PostgreSQL: locks the row, or checks its version. */
function inPostgres(means: Means, sell: (client: PostgresClient) => Promise<Outcome>): Step {
  const idle: PostgresClient[] = [];
  return {
    sell: async () => {
      const client = idle.pop() ?? (await PostgresClient.connect(means.postgres!));
      try {
        const outcome = await sell(client);
        idle.push(client);
        return outcome;
      } catch {
        client.close(); // The server rolls back the transaction of a broken connection.
        return 'refused';
      }
    },
  };
}

async function forUpdate(means: Means, client: PostgresClient): Promise<Outcome> {
  await client.query('BEGIN');
  const { rows } = await client.query("SELECT units FROM stock WHERE name = 'it' FOR UPDATE");
  const units = Number(rows[0]![0]);
  if (units > 0) {
    await means.work();
    if (means.dies()) throw new Error('died');
    await client.query(`UPDATE stock SET units = ${units - 1}, sold = sold + 1 WHERE name = 'it'`);
  }
  await client.query('COMMIT');
  return units > 0 ? 'sold' : 'sold out';
}

async function byVersion(means: Means, client: PostgresClient): Promise<Outcome> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const { rows } = await client.query("SELECT units, version FROM stock WHERE name = 'it'");
    const [units, version] = rows[0]!.map(Number) as [number, number];
    if (units <= 0) return 'sold out';
    await means.work();
    if (means.dies()) throw new Error('died');
    const set = `units = ${units - 1}, sold = sold + 1, version = version + 1`;
    const { count } = await client.query(
      `UPDATE stock SET ${set} WHERE name = 'it' AND version = ${version}`,
    );
    if (count === 1) return 'sold';
  }
  return 'refused';
}

/** A step in which each segment of the stock has its own lock. */
function segmented(means: Means, segments: number): Step {
  const process = lockingProcess(means, {});
  return {
    restart: process.restart,
    sell: async () => {
      try {
        const { segment, held } = await process.locks
          .segmented('stock', { segments })
          .acquire({ waitMs: PATIENCE_MS });
        const { work, dies } = means;
        const outcome = await sellOne(means.stock, { work, dies, check: () => held.assertHeld(), segment });
        if (outcome === 'died') return 'refused';
        await held.release();
        return outcome;
      } catch (error) {
        if (error instanceof LockError) return 'refused';
        throw error;
      }
    },
  };
}

/** The step with this name. */
export function stepOf(name: string, means: Means): Step {
  const segments = segmentsOf(name);
  return segments > 0 ? segmented(means, segments) : steps[name]!(means);
}

/** Every step by its name, in the order of the ladder. */
export const steps: Record<string, (means: Means) => Step> = {
  'no lock': (means) => ({
    sell: async () => {
      const outcome = await sellOne(means.stock, { work: means.work, dies: means.dies });
      return outcome === 'died' ? 'refused' : outcome;
    },
  }),
  'lock in the process': (means) => {
    let last: Promise<unknown> = Promise.resolve();
    return {
      sell: () => {
        const mine = last.then(async (): Promise<Outcome> => {
          const outcome = await sellOne(means.stock, { work: means.work, dies: means.dies });
          return outcome === 'died' ? 'refused' : outcome;
        });
        last = mine.catch(() => {});
        return mine;
      },
    };
  },
  '0: SETNX, DEL': (means) =>
    byHand(
      means,
      async (redis, token) => (await redis.setnx(KEY, token)) === 1,
      (redis) => redis.del(KEY),
    ),
  '1: SETNX, EXPIRE': (means) =>
    byHand(
      means,
      async (redis, token) => {
        if ((await redis.setnx(KEY, token)) !== 1) return false;
        if (!means.dies()) await redis.pexpire(KEY, means.leaseMs);
        return true;
      },
      (redis) => redis.del(KEY),
    ),
  '2: SET NX PX, DEL': (means) => byHand(means, setWithLease(means.leaseMs), (redis) => redis.del(KEY)),
  '3: token, GET then DEL': (means) =>
    byHand(means, setWithLease(means.leaseMs), async (redis, token) => {
      if ((await redis.get(KEY)) === token) await redis.del(KEY);
    }),
  '4: token, one script': (means) =>
    byHand(means, setWithLease(means.leaseMs), (redis, token) =>
      redis.eval(COMPARE_AND_DELETE, 1, KEY, token),
    ),
  '5: watchdog (simple)': (means) => ours(means, { watchdog: true, make: (locks) => locks.simple(KEY) }),
  '5: watchdog (reentrant)': (means) =>
    ours(means, { watchdog: true, make: (locks) => locks.reentrant(KEY) }),
  '6: fenced': (means) =>
    ours(means, { watchdog: true, fenced: true, make: (locks) => locks.fenced(KEY, { fence: 'clock' }) }),
  '6: WAIT 1': (means) => ours(means, { watchdog: true, replicas: 1, make: (locks) => locks.simple(KEY) }),
  '6: Redlock': (means) => ours(means, { watchdog: true, make: (locks) => locks.redlock(KEY) }),
  'segmented, 8': (means) => segmented(means, 8),
  'PostgreSQL FOR UPDATE': (means) => inPostgres(means, (client) => forUpdate(means, client)),
  'PostgreSQL version': (means) => inPostgres(means, (client) => byVersion(means, client)),
};
