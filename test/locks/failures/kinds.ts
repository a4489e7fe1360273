/** Failures S91 to S109: what is particular to each kind of lock. */
import type { Failure, Lab } from './lab.ts';

const L = 'lock';
const swallow = (): void => {};

const falseReentry: Failure = {
  id: 'S91',
  naive: async (lab) => {
    const a = await lab.locks('A');
    for (const task of ['one', 'two']) {
      const held = await a.reentrant(L).tryAcquire({ owner: 'thread 1' });
      if (held) lab.believe(L, task);
    }
    return lab.verdict();
  },
  ours: async (lab) => {
    const a = await lab.locks('A');
    for (const task of ['one', 'two']) {
      const held = await a.run(() => a.reentrant(L).tryAcquire());
      if (held) lab.believe(L, task);
    }
    return lab.verdict();
  },
};

/** A waiter dies at the head of the line; checks how long the next one waits. */
async function deadHead(lab: Lab, placeMs: number): Promise<string[]> {
  const [a, dead, next] = [
    await lab.locks('A'),
    await lab.locks('dead', { placeMs }),
    await lab.locks('next', { placeMs }),
  ];
  const held = await a.fair(L).acquire();
  lab.as('dead', () => dead.fair(L).acquire()).catch(swallow);
  await lab.advance(lab.between(50, 200));
  const waiting = lab.as('next', () => next.fair(L).acquire());
  await lab.advance(lab.between(50, 200));
  lab.die('dead');
  await held.release();
  const at = Date.now();
  await waiting;
  return Date.now() - at > 15_000
    ? [`the dead waiter kept the next one waiting for ${Date.now() - at} ms`]
    : [];
}

const deadWaiter: Failure = {
  id: 'S92',
  naive: (lab) => deadHead(lab, 300_000), // As long as Redisson waits for it.
  ours: (lab) => deadHead(lab, 6000),
};

const permitLeak: Failure = {
  id: 'S102; Redisson 2213, 4462',
  title: 'the permit of a dead process never comes back',
  naive: async (lab) => {
    const a = await lab.locks('A');
    await a.semaphore(L).trySetPermits(1);
    await lab.as('A', () => a.semaphore(L).acquire());
    lab.die('A');
    await lab.advance(lab.between(60_000, 600_000));
    return (await (await lab.locks('B')).semaphore(L).availablePermits()) === 0 ? ['the permit is gone'] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    await a.expirablePermits(L).trySetPermits(1);
    await lab.as('A', () => a.expirablePermits(L).acquire());
    lab.die('A');
    const held = await b
      .expirablePermits(L)
      .acquire({ waitMs: 40_000 })
      .catch(() => null);
    await held?.release();
    return (await b.expirablePermits(L).availablePermits()) === 1 ? [] : ['the permit is gone'];
  },
};

const overRelease: Failure = {
  id: 'S103',
  title: 'a permit that is released twice becomes two permits',
  naive: async (lab) => {
    const a = await lab.redis('A');
    await a.set(L, 1);
    await a.decr(L);
    await a.incr(L);
    await a.incr(L);
    return Number(await a.get(L)) > 1 ? ['more permits than there are'] : [];
  },
  ours: async (lab) => {
    const a = await lab.locks('A');
    await a.semaphore(L).trySetPermits(1);
    const held = await a.semaphore(L).acquire();
    await Promise.allSettled([held.release(), held.release()]);
    await held.release().catch(swallow);
    return (await a.semaphore(L).availablePermits()) > 1 ? ['more permits than there are'] : [];
  },
};

const doubleCountDown: Failure = {
  id: 'S107',
  naive: async (lab) => {
    const a = await lab.redis('A', { commandTimeout: 50 });
    await a.set(L, 2);
    lab.replies('A').hold();
    const first = await lab.as('A', () => a.decr(L).catch(() => 'unknown'));
    lab.replies('A').release();
    if (first !== 'unknown') return null;
    await lab.advance(lab.between(20, 200));
    return (await a.decr(L)) === 0 ? ['one has counted down, and the latch for two is open'] : [];
  },
  ours: async (lab) => {
    const a = await lab.locks('A', { requestTimeoutMs: 50 });
    await a.latch(L).trySetCount(2);
    await lab.raw.ping();
    const silence = lab.replies('A');
    silence.hold();
    const counting = lab.as('A', () => a.latch(L).countDown());
    await lab.advance(lab.between(100, 500));
    silence.release();
    await counting;
    return (await a.latch(L).getCount()) === 1 ? [] : ['one has counted down, and the latch for two is open'];
  },
};

const deadlock: Failure = {
  id: 'S109',
  naive: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const pair = async (locks: typeof a, first: string, second: string): Promise<void> => {
      await locks.simple(first).acquire();
      await lab.advance(lab.between(5, 20));
      await locks.simple(second).acquire({ waitMs: 60_000 });
    };
    const both = await Promise.allSettled([pair(a, 'x', 'y'), pair(b, 'y', 'x')]);
    return both.some(({ status }) => status === 'rejected') ? ['they waited for each other'] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const pair = (locks: typeof a, names: string[]): Promise<void> =>
      locks.multi(names.map((name) => locks.simple(name))).using({ waitMs: 60_000 }, async (held) => {
        await lab.advance(lab.between(5, 20));
        held.assertHeld();
      });
    const both = await Promise.allSettled([pair(a, ['x', 'y']), pair(b, ['y', 'x'])]);
    return both.some(({ status }) => status === 'rejected') ? ['they waited for each other'] : [];
  },
};

export const kinds: readonly Failure[] = [
  falseReentry,
  deadWaiter,
  permitLeak,
  overRelease,
  doubleCountDown,
  deadlock,
];
