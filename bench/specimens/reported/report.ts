/** What a reported failure declares: code with the mistake, its sound twin, and what an exploration must find in the first only. */
import type { ClientSession, ExploreOptions, ModelName, PromiseName } from '../../../explore/index.ts';

/** A failure that people met, as code of some lines. */
export interface ReportedFailure extends Pick<ExploreOptions, 'topology' | 'faults' | 'clients'> {
  /** What goes wrong, in words. */
  readonly what: string;
  /** Where it was reported. */
  readonly source: string;
  /** The promise that breaks. */
  readonly breaks: PromiseName | `linearizable(${ModelName})`;
  /** In how many worlds the promise breaks. */
  readonly within: number;
  /** The promises to check; default those of every exploration. */
  readonly promises?: ExploreOptions['promises'];
  readonly unsafe: (session: ClientSession) => Promise<void>;
  readonly sound: (session: ClientSession) => Promise<void>;
}

/** Deletes the lock of this token. */
const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

/** Milliseconds: the lease, and between two attempts. */
export const [LEASE, RETRY] = [1000, 25];

/** A token for one acquisition. */
export const fresh = (name: string): string => `${name}:${Math.random()}`;

/** Gives a lock back, if it still has the token. Errors are ignored: the lease ends the lock. */
export async function give({ redis }: ClientSession, key: string, token: string): Promise<void> {
  await redis.eval(RELEASE, 1, key, token).catch(() => undefined);
}

/** Asks for a lock with a lease until it is granted, also after errors. Returns when the lease ends at the latest. */
export async function take(
  { redis, sleep }: ClientSession,
  key: string,
  token: string,
  lease = LEASE,
): Promise<number> {
  for (;;) {
    const asked = performance.now();
    const got = await redis.set(key, token, 'PX', lease, 'NX').catch(() => undefined);
    if (got === 'OK') return asked + lease - 2 * RETRY;
    await sleep(RETRY);
  }
}

/** Works in a resource for so long, as far as the lease lasts. */
export async function workIn(
  { resource, sleep }: ClientSession,
  name: string,
  ms: number,
  until = Infinity,
): Promise<void> {
  if (performance.now() + ms > until) return;
  const inside = resource(name).enter();
  await sleep(ms);
  if (performance.now() < until) inside.write();
  inside.leave();
}
