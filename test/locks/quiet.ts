/** A pair on the lab's virtual clock, for locks whose waiters sleep for an hour unless they are woken. */
import '../../lab/router.ts';
import type { Redis } from 'ioredis';
import { type Pair, startPair } from '../../index.ts';
import {
  createLocks,
  fromIoredis,
  type LockClient,
  type Locks,
  type LocksOptions,
} from '../../locks/index.ts';

export const L = 'lock';
export const HOUR = 3_600_000;
/** One way takes 1 ms, and an acquisition needs a few round trips. */
export const QUICK_MS = 20;

export interface Scene {
  readonly pair: Pair;
  readonly raw: Redis;
  /** Locks over their own client, whose waiters sleep for an hour unless they are woken. */
  locks(name: string, options?: LocksOptions, dress?: (client: LockClient) => LockClient): Locks;
  /** How many virtual milliseconds something takes. */
  time(work: () => Promise<unknown>): Promise<number>;
}

export async function play(code: (scene: Scene) => Promise<void>): Promise<void> {
  await using pair = await startPair({
    clock: 'virtual',
    seed: 1,
    replicas: 0,
    patience: 10 * HOUR,
    network: { latency: 1, jitter: 0 },
  });
  const opened: Locks[] = [];
  await pair.run(async () => {
    await code({
      pair,
      raw: pair.client('raw'),
      locks(name, options = {}, dress = (client) => client) {
        const client = dress(fromIoredis(pair.client(name)));
        opened.push(createLocks(client, { maxSleepMs: HOUR, leaseMs: HOUR, ...options }));
        return opened.at(-1)!;
      },
      async time(work) {
        const begun = pair.world.elapsed();
        await work();
        return (pair.world.elapsed() - begun) / 1000;
      },
    });
    for (const locks of opened) locks.close();
  });
}
