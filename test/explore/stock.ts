/** The lock of docs/explore.md, whose code can be changed in ways that repair nothing, and in one that repairs something. */
import type { ExploreOptions } from '../../explore/index.ts';

/** What may change in the code of the lock in docs/explore.md, in virtual milliseconds. */
export interface Change {
  /** The clients read something before they ask for the lock. */
  readonly reads?: boolean;
  /** They start so much later. */
  readonly start?: number;
  /** How long they work. */
  readonly work?: number;
  /** They release only their own lock: a repair. */
  readonly token?: boolean;
}

const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

/** The lock, with changes. */
export function stock({ reads = false, start = 0, work = 300, token = false }: Change = {}): ExploreOptions {
  return {
    ...{ name: 'stock lock', topology: { replicas: 1 }, clients: 3, promises: ['mutual-exclusion'] },
    async client({ name, redis, sleep, resource }) {
      if (start > 0) await sleep(start);
      if (reads) await redis.get('settings');
      while ((await redis.set('stock:lock', name, 'PX', 1000, 'NX')) !== 'OK') await sleep(50);
      const inside = resource('stock').enter();
      await sleep(work);
      inside.write();
      inside.leave();
      if (token) await redis.eval(RELEASE, 1, 'stock:lock', name);
      else await redis.del('stock:lock');
    },
  };
}
