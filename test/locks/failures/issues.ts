/** Failures S19, S81 and S104 once more: the forms in which they came up in the issues of Redisson and redlock. */
import { type Failure, reentrantForms } from './lab.ts';

const L = 'lock';
const swallow = (): void => {};

const ACQUIRE_AS_REDLOCK = `
if redis.call('exists', KEYS[1]) == 1 then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return 1`;

const takenForHeld: Failure = {
  id: 'S19; sesamecare/redlock 6',
  title: 'a lock has the name of other data, and clients wait for it as if it were a lock',
  naive: async (lab) => {
    const a = await lab.redis('A');
    await lab.raw.hset(L, 'price', 1);
    const begun = Date.now();
    for (let tries = lab.between(10, 30); tries > 0; tries--) {
      if ((await a.eval(ACQUIRE_AS_REDLOCK, 1, L, 'A', 30_000)) === 1) return [];
      await lab.advance(200);
    }
    return [`no quorum within ${Date.now() - begun} ms, and nobody holds it`];
  },
  ours: async (lab) => {
    const a = await lab.locks('A');
    await lab.raw.hset(L, 'price', 1);
    const problems: string[] = [];
    for (const kind of ['simple', 'semaphore', 'nonReentrant'] as const) {
      const begun = Date.now();
      const refused = await a[kind](L)
        .acquire({ waitMs: lab.between(1000, 10_000) })
        .catch((error: Error) => error.name);
      if (refused !== 'ServerRefused') problems.push(`${kind}: ${refused}`);
      if (Date.now() - begun > 500) problems.push(`${kind}: told after ${Date.now() - begun} ms`);
    }
    return problems;
  },
};

const renewedOnce: Failure = {
  id: 'S81; Redisson 2515, 3194, 3712',
  naive: async (lab) => {
    const a = await lab.redis('A', { commandTimeout: 100 });
    const renewed = new Set<string>();
    const renew = async (): Promise<void> => {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 1000));
        await a.pexpire(L, 3000); // Its error ends the loop and leaves the entry.
      }
    };
    const lock = async (): Promise<void> => {
      await a.set(L, 'A', 'PX', 3000, 'NX');
      if (renewed.has(L)) return;
      renewed.add(L);
      renew().catch(swallow);
    };
    await lab.as('A', lock);
    lab.replies('A').hold();
    await lab.advance(lab.between(1200, 2000));
    lab.replies('A').release();
    await lab.advance(4000); // It ended by itself.
    await lab.as('A', lock);
    await lab.advance(lab.between(4000, 9000));
    return (await lab.raw.exists(L)) === 0 ? ['the lock ended though its holder lives'] : [];
  },
  ours: async (lab) => {
    const a = await lab.locks('A', { leaseMs: 3000, requestTimeoutMs: 100 });
    const problems: string[] = [];
    for (const { make, name } of reentrantForms) {
      const first = await lab.as('A', () => make(a, name).acquire({ owner: 'me' }));
      const { signal } = first;
      lab.replies('A').hold();
      lab.requests('A').hold();
      await lab.advance(lab.between(3000, 5000));
      lab.requests('A').release();
      lab.replies('A').release();
      if (!signal.aborted) problems.push(`${name}: the loss is not told`);
      await lab.as('A', () => first.release().catch(swallow));
      const again = await lab.as('A', () => make(a, name).acquire({ owner: 'me', waitMs: 5000 }));
      await lab.advance(lab.between(4000, 9000));
      if (again.signal.aborted || (await lab.raw.exists(name)) === 0) {
        problems.push(`${name}: the lock ended though its holder lives`);
      }
    }
    return problems;
  },
};

const RELEASE_ALL = `
for i = 2, #ARGV do if not redis.call('zscore', KEYS[2], ARGV[i]) then return redis.error_reply('unknown permit') end end
for i = 2, #ARGV do redis.call('zrem', KEYS[2], ARGV[i]) redis.call('incr', KEYS[1]) end
return 1`;

const expiredAmongThem: Failure = {
  id: 'S104 (counted and together); Redisson 659, 6348',
  naive: async (lab) => {
    const a = await lab.redis('A');
    await a.set('left', 0);
    await a.zadd('out', Date.now() + lab.between(50, 500), 'short', Date.now() + 600_000, 'long');
    await lab.advance(600);
    const problems = Number(await a.get('left')) === 1 ? [] : ['an expired permit is not counted'];
    await a.zremrangebyscore('out', 0, Date.now());
    await a.incr('left');
    await a.eval(RELEASE_ALL, 2, 'left', 'out', '', 'short', 'long').catch(swallow);
    return Number(await a.get('left')) === 2 ? problems : [...problems, 'a permit stays out'];
  },
  ours: async (lab) => {
    const a = await lab.locks('A');
    const permits = a.expirablePermits(L);
    await permits.trySetPermits(2);
    const short = await permits.acquire({ leaseMs: lab.between(50, 500) });
    const long = await permits.acquire({ leaseMs: 600_000 });
    await lab.advance(600);
    const problems: string[] = [];
    if ((await permits.availablePermits()) !== 1) problems.push('an expired permit is not counted');
    await Promise.allSettled([short.release(), long.release()]);
    const left = await permits.availablePermits();
    return left === 2 ? problems : [...problems, `${left} permits, not two`];
  },
};

export const issues: readonly Failure[] = [takenForHeld, renewedOnce, expiredAmongThem];
