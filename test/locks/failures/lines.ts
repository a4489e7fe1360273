/** Failures S77 to S97 and S113: waiting in line, and leaving it. */
import type { Redis } from 'ioredis';
import { exclusiveForms, type Failure, type Lab, orderedForms } from './lab.ts';

const L = 'lock';
const CHANNEL = 'channel';
const swallow = (): void => {};

/** The waiters of one process by hand: a message is for the first in line, which may have given up. */
class NaiveLine {
  readonly #redis: Redis;
  readonly #line: (() => void)[] = [];

  constructor(redis: Redis, messages: Redis) {
    this.#redis = redis;
    messages.on('message', () => this.#line.shift()?.());
  }

  async acquire(owner: string, waitMs: number): Promise<boolean> {
    const deadline = Date.now() + waitMs;
    while ((await this.#redis.set(L, owner, 'PX', 30_000, 'NX')) !== 'OK') {
      if (Date.now() >= deadline) return false;
      const left = Math.min(deadline - Date.now(), await this.#redis.pttl(L));
      await new Promise<void>((resolve) => {
        this.#line.push(resolve);
        setTimeout(resolve, left);
      });
    }
    return true;
  }
}

const consumedWakeUp: Failure = {
  id: 'S77; Redisson 4064',
  naive: async (lab) => {
    const [a, b, messages] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('B')];
    await lab.as('B', () => messages.subscribe(CHANNEL));
    const line = new NaiveLine(b, messages);
    await a.set(L, 'A', 'PX', 30_000, 'NX');
    const waitMs = lab.between(50, 200);
    const first = lab.as('B', () => line.acquire('B1', waitMs));
    const second = lab.as('B', () => line.acquire('B2', 60_000));
    await lab.advance(waitMs + lab.between(0, 10));
    await a.multi().del(L).publish(CHANNEL, '0').exec();
    const at = Date.now();
    if (await first) return null;
    await second;
    return Date.now() - at > 3000 ? [`woken ${Date.now() - at} ms after the release`] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B', { maxSleepMs: 600_000 })];
    const held = await a.simple(L).acquire({ leaseMs: 600_000 });
    const waitMs = lab.between(50, 200);
    const first = lab.as('B', () => b.simple(L).tryAcquire({ waitMs }));
    const second = lab.as('B', () => b.simple(L).acquire());
    await lab.advance(waitMs - 5 + lab.between(0, 10));
    await held.release();
    const at = Date.now();
    await (await first)?.release();
    await second;
    return Date.now() - at > 3000 ? [`woken ${Date.now() - at} ms after the release`] : [];
  },
};

const leakedSubscription: Failure = {
  id: 'S78',
  naive: async (lab) => {
    const [a, b, messages] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 30_000, 'NX');
    await lab.as('B', async () => {
      await messages.subscribe(CHANNEL);
      const woken = new Promise((resolve) => messages.once('message', resolve));
      await Promise.race([woken, new Promise((resolve) => setTimeout(resolve, 100))]);
      if ((await b.set(L, 'B', 'PX', 30_000, 'NX')) === 'OK') await messages.unsubscribe(CHANNEL);
    });
    const left = (await lab.raw.pubsub('CHANNELS', '*')) as string[];
    return left.length > 0 ? [`${left} still heard`] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const problems: string[] = [];
    for (const { make, name } of exclusiveForms) {
      const held = await make(a, name).acquire();
      await lab.as('B', () => make(b, name).tryAcquire({ waitMs: lab.between(20, 200) }));
      await lab.advance(50);
      const left = (await lab.raw.pubsub('CHANNELS', '*')) as string[];
      if (left.length > 0) problems.push(`${left} still heard`);
      await held.release();
    }
    return problems;
  },
};

const PATIENCE = 300_000;

/** A fair lock's line by hand: the times at which waiters are presumed dead, from the caller's clock, added up. */
const NAIVE_FAIR = `
while true do
  local head = redis.call('lindex', KEYS[2], 0)
  if not head then break end
  if tonumber(redis.call('zscore', KEYS[3], head)) > tonumber(ARGV[2]) then break end
  redis.call('lpop', KEYS[2])
  redis.call('zrem', KEYS[3], head)
end
local head = redis.call('lindex', KEYS[2], 0)
if redis.call('exists', KEYS[1]) == 0 and (not head or head == ARGV[1]) then
  redis.call('lrem', KEYS[2], 1, ARGV[1])
  redis.call('zrem', KEYS[3], ARGV[1])
  redis.call('set', KEYS[1], ARGV[1], 'px', 30000)
  return 1
end
local last = redis.call('zrange', KEYS[3], -1, -1, 'withscores')[2] or ARGV[2]
redis.call('zadd', KEYS[3], tonumber(last) + ${PATIENCE}, ARGV[1])
if not redis.call('lpos', KEYS[2], ARGV[1]) then redis.call('rpush', KEYS[2], ARGV[1]) end
return 0`;

const visit = async (redis: Redis, owner: string): Promise<boolean> =>
  (await redis.eval(NAIVE_FAIR, 3, L, 'queue', 'times', owner, Date.now())) === 1;

/** How far in the future the last waiter is presumed dead. */
async function horizon(lab: Lab, times: string): Promise<number> {
  const [, last] = await lab.raw.zrange(times, '-1', '-1', 'WITHSCORES');
  return Number(last ?? 0) - Date.now();
}

const driftingTimes: Failure = {
  id: 'S93; Redisson 1104, 2099, 2883, 3730',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await visit(a, 'A');
    for (let i = lab.between(20, 60); i > 0; i--) await visit(b, 'B');
    const far = await horizon(lab, 'times');
    return far > 2 * PATIENCE + 30_000 ? [`one waiter is waited for ${far} ms`] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    await a.fair(L).acquire();
    const staying = lab.as('B', () => b.fair(L).tryAcquire({ waitMs: 1500 }));
    for (let i = lab.between(5, 15); i > 0; i--) await b.fair(L).tryAcquire({ waitMs: 20 });
    const far = await horizon(lab, `redisson_lock_timeout:{${L}}`);
    await staying;
    return far > 2 * PATIENCE + 30_000 ? [`one waiter is waited for ${far} ms`] : [];
  },
};

/** C's clock is wrong; answers whether C gets in when A leaves, though B came first. */
async function skewed(lab: Lab): Promise<string> {
  lab.pair.world.actor('C').clock.jump(lab.between(600_000, 3_600_000));
  return 'C';
}

const clientClocks: Failure = {
  id: 'S94, S105',
  naive: async (lab) => {
    const [a, b, c] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('C')];
    await visit(a, 'A');
    await visit(b, 'B');
    const ahead = await skewed(lab);
    await a.del(L);
    const first = await lab.as(ahead, () => visit(c, 'C'));
    return first ? ['C was let in before B'] : [];
  },
  ours: async (lab) => {
    const [a, b, c] = [await lab.locks('A'), await lab.locks('B'), await lab.locks('C')];
    const ahead = await skewed(lab);
    const problems: string[] = [];
    const held = await lab.as('A', () => a.fair(L).acquire());
    const waiting = lab.as('B', () => b.fair(L).acquire());
    await lab.advance(lab.between(50, 500));
    if (await lab.as(ahead, () => c.fair(L).tryAcquire())) problems.push('C was let in beside A');
    await lab.as('A', () => held.release());
    const next = await waiting;
    await lab.as('B', () => next.release());
    const permit = await lab.as('A', async () => {
      await a.expirablePermits('permit').trySetPermits(1);
      return a.expirablePermits('permit').acquire();
    });
    if (await lab.as(ahead, () => c.expirablePermits('permit').tryAcquire()))
      problems.push('C took the permit that A has');
    await lab.as('A', () => permit.release());
    return problems;
  },
};

const placeWithoutTime: Failure = {
  id: 'S95; Redisson 5989',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await visit(a, 'A');
    await visit(b, 'B');
    await lab.raw.del('times', L);
    const failed = await visit(b, 'B').catch((error: Error) => error.message);
    return failed === true ? [] : [`nobody gets in: ${failed}`];
  },
  ours: async (lab) => {
    const [a, b, c] = [await lab.locks('A'), await lab.locks('B'), await lab.locks('C')];
    const held = await a.fair(L).acquire();
    lab.as('B', () => b.fair(L).acquire()).catch(swallow);
    await lab.advance(lab.between(50, 500));
    lab.die('B');
    await lab.raw.del(`redisson_lock_timeout:{${L}}`);
    await held.release();
    return (await c.fair(L).tryAcquire({ waitMs: 20_000 })) ? [] : ['nobody gets in'];
  },
};

const staysInLine: Failure = {
  id: 'S97',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await visit(a, 'A');
    await visit(b, 'B');
    await lab.advance(lab.between(20, 200)); // B gives up.
    return (await lab.raw.exists('queue', 'times')) > 0 ? ['a place that nobody has'] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const problems: string[] = [];
    for (const { make, name } of orderedForms) {
      const held = await make(a, name).acquire();
      const before = (await lab.raw.keys('*')).sort().join();
      await lab.as('B', () => make(b, name).tryAcquire({ waitMs: lab.between(20, 200) }));
      await lab.advance(50);
      if ((await lab.raw.keys('*')).sort().join() !== before) problems.push('a place that nobody has');
      await held.release();
    }
    return problems;
  },
};

const hugeWait: Failure = {
  id: 'S113',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 1000, 'NX');
    const waitMs = 2 ** 31 + lab.between(1, 1_000_000);
    const got = await lab.as('B', async () => {
      const limit = new Promise<false>((resolve) => setTimeout(resolve, waitMs, false));
      const trying = (async () => {
        while ((await b.set(L, 'B', 'PX', 1000, 'NX')) !== 'OK') {
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        return true;
      })();
      return Promise.race([limit, trying]);
    });
    return got ? [] : ['given up at once'];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const problems: string[] = [];
    for (const waitMs of [2 ** 31 + lab.between(1, 1_000_000), 2 ** 53, Number.MAX_VALUE]) {
      await a.simple(L).acquire({ leaseMs: 1000 });
      const got = await lab.as('B', () => b.simple(L).tryAcquire({ waitMs }));
      if (!got) problems.push(`waiting for ${waitMs} ms: given up at once`);
      await got?.release();
    }
    const held = await a.simple(L).acquire();
    if (await b.simple(L).tryAcquire({ waitMs: 0 })) problems.push('let in beside A');
    await held.release();
    return problems;
  },
};

export const lines: readonly Failure[] = [
  consumedWakeUp,
  leakedSubscription,
  driftingTimes,
  clientClocks,
  placeWithoutTime,
  staysInLine,
  hugeWait,
];
