/** Failures S70 to S86: waiting and being woken, and renewing. */
import type { Redis } from 'ioredis';
import { type Failure, type Lab, orderedForms } from './lab.ts';

const L = 'lock';
const CHANNEL = 'channel';
const swallow = (): void => {};

/** Waits for the lock by hand: asks, subscribes, and sleeps until a message or the end of the lease it saw. */
async function waitByHand(
  redis: Redis,
  messages: Redis,
  betweenTheTwo: () => Promise<void> = async () => {},
) {
  while ((await redis.set(L, 'B', 'PX', 30_000, 'NX')) !== 'OK') {
    const left = await redis.pttl(L);
    await betweenTheTwo();
    await messages.subscribe(CHANNEL);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, left);
      messages.once('message', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Complains when the waiter was woken long after the release. */
const late = (ms: number): string[] => (ms > 3000 ? [`woken ${ms} ms after the release`] : []);

const missedMessage: Failure = {
  id: 'S70, S75; Redisson 85, 2007, 5761, 5762, 6026',
  title: "the message of the release is lost together with the waiter's connection",
  naive: async (lab) => {
    const [a, b, messages] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 30_000, 'NX');
    const waiting = lab.as('B', () => waitByHand(b, messages));
    await lab.advance(lab.between(100, 1000));
    await lab.raw.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await a.multi().del(L).publish(CHANNEL, '0').exec();
    const at = Date.now();
    await waiting;
    return late(Date.now() - at);
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B', { maxSleepMs: 600_000 })];
    const held = await a.reentrant(L).acquire();
    const waiting = lab.as('B', () => b.reentrant(L).acquire());
    await lab.advance(lab.between(100, 1000));
    await lab.raw.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await held.release();
    const at = Date.now();
    await waiting;
    return late(Date.now() - at);
  },
};

const lookThenSubscribe: Failure = {
  id: 'S71; Redisson 3018, 5070',
  title: 'the lock is released between the first request and the subscription',
  naive: async (lab) => {
    const [a, b, messages] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 30_000, 'NX');
    let at = 0;
    await lab.as('B', () =>
      waitByHand(b, messages, async () => {
        if (at > 0) return;
        await a.multi().del(L).publish(CHANNEL, '0').exec();
        at = Date.now();
      }),
    );
    return late(Date.now() - at);
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B', { maxSleepMs: 600_000 })];
    const held = await a.simple(L).acquire();
    const waiting = lab.as('B', () => b.simple(L).acquire());
    await lab.advance(lab.between(0, 30)); // Somewhere between connecting, subscribing and asking again.
    await held.release();
    const at = Date.now();
    await waiting;
    return late(Date.now() - at);
  },
};

const WAITERS = 20;

/** How many scripts and SETs ran between now and the end of `body`. */
async function counting(lab: Lab, body: () => Promise<unknown>): Promise<number> {
  const calls = async (): Promise<number> => {
    const stats = await lab.raw.info('commandstats');
    return [...stats.matchAll(/cmdstat_(?:set|eval|evalsha):calls=(\d+)/g)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
  };
  const before = await calls();
  await body();
  return (await calls()) - before;
}

const herd: Failure = {
  id: 'S76, S110',
  naive: async (lab) => {
    const a = await lab.redis('A');
    await a.set(L, 'A', 'PX', 30_000, 'NX');
    for (let i = 0; i < WAITERS; i++) {
      const [redis, messages] = [await lab.redis(`B${i}`), await lab.redis(`B${i}`)];
      lab.as(`B${i}`, () => waitByHand(redis, messages)).catch(swallow);
    }
    await lab.advance(lab.between(100, 1000));
    const asked = await counting(lab, async () => {
      await a.multi().del(L).publish(CHANNEL, '0').exec();
      await lab.advance(50);
    });
    return asked > 3 ? [`${asked} requests for one release`] : [];
  },
  ours: async (lab) => {
    const problems: string[] = [];
    for (const { make, name } of orderedForms) {
      const a = await lab.locks('A');
      await (await make(a, L).acquire()).release(); // From now on the server knows the scripts.
      const held = await make(a, L).acquire();
      for (let i = 0; i < WAITERS; i++) {
        const locks = await lab.locks(`${name}${i}`, { placeMs: 600_000 });
        lab.as(`${name}${i}`, () => make(locks, L).acquire()).catch(swallow);
      }
      await lab.advance(lab.between(100, 1000));
      const asked = await counting(lab, async () => {
        await held.release();
        await lab.advance(50);
      });
      if (asked > 3) problems.push(`${name}: ${asked} requests for one release`);
      await lab.raw.flushall();
    }
    return problems;
  },
};

const watchdogStops: Failure = {
  id: 'S81; Redisson 3193, 3919, 5697, 5698',
  title: 'one renewal without a reply stops the watchdog for ever',
  naive: async (lab) => {
    const a = await lab.redis('A', { commandTimeout: 100 });
    await a.set(L, 'A', 'PX', 3000, 'NX');
    lab
      .as('A', async () => {
        for (;;) {
          await new Promise((resolve) => setTimeout(resolve, 1000));
          await a.pexpire(L, 3000); // Its error ends the loop.
        }
      })
      .catch(swallow);
    await lab.advance(lab.between(500, 990));
    lab.replies('A').hold();
    await lab.advance(700);
    lab.replies('A').release();
    await lab.advance(10_000);
    return (await lab.raw.exists(L)) === 0 ? ['the lock ended though its holder lives'] : [];
  },
  ours: async (lab) => {
    const a = await lab.locks('A', { leaseMs: 3000, requestTimeoutMs: 100 });
    const held = await lab.as('A', () => a.simple(L).acquire());
    await lab.advance(lab.between(500, 990));
    lab.replies('A').hold();
    await lab.advance(700);
    lab.replies('A').release();
    await lab.advance(10_000);
    return (await lab.raw.exists(L)) === 0 || held.signal.aborted
      ? ['the lock ended though its holder lives']
      : [];
  },
};

const renewalAfterRelease: Failure = {
  id: 'S82; Redisson 1626, 1966, 7272',
  title: 'a renewal under way brings a released lock back',
  naive: async (lab) => {
    const [a, second] = [await lab.redis('A'), await lab.redis('A')];
    await a.set(L, 'A', 'PX', 3000, 'NX');
    const renewal = (async () => {
      if ((await a.get(L)) === 'A') {
        await lab.advance(lab.between(10, 50));
        await a.set(L, 'A', 'PX', 3000);
      }
    })();
    await lab.advance(lab.between(4, 8));
    await second.del(L);
    await renewal;
    return (await lab.raw.exists(L)) === 1 ? ['a lock that nobody has'] : [];
  },
  ours: async (lab) => {
    const a = await lab.locks('A', { leaseMs: 900 });
    const held = await lab.as('A', () => a.reentrant(L).acquire());
    await lab.advance(lab.between(290, 310)); // Around the renewal.
    await held.release();
    await lab.advance(lab.between(1, 2000));
    return (await lab.raw.exists(L)) === 1 ? ['a lock that nobody has'] : [];
  },
};

const hungHolder: Failure = {
  id: 'S84',
  naive: async (lab) => {
    const [a, b] = [await lab.locks('A', { leaseMs: 1000 }), await lab.locks('B')];
    await lab.as('A', () => a.simple(L).acquire());
    const other = await b.simple(L).tryAcquire({ waitMs: 60_000 });
    return other ? [] : ['nobody gets in for a minute'];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A', { leaseMs: 1000, maxHoldMs: 5000 }), await lab.locks('B')];
    lab.trust(await lab.as('A', () => a.simple(L).acquire()));
    const other = await b.simple(L).tryAcquire({ waitMs: 10_000 });
    if (other) lab.trust(other);
    return other ? lab.verdict() : ['nobody gets in'];
  },
};

/** Works under the lock until notified of its loss; returns for how long it worked without the lock. */
async function blindWork(lab: Lab, watches: boolean, lose: (lab: Lab) => Promise<void>): Promise<string[]> {
  const [a, b] = [await lab.locks('A', { leaseMs: 3000 }), await lab.locks('B')];
  const held = await lab.as('A', () => a.simple(L).acquire());
  const end = watches ? lab.trust(held) : lab.believe(L, 'A');
  await lose(lab);
  const other = await b.simple(L).tryAcquire({ waitMs: 5000 });
  if (other && watches) {
    try {
      held.assertHeld();
    } catch {
      end();
    }
  }
  if (other) lab.trust(other);
  return lab.verdict();
}

const stalled: Failure = {
  id: 'S85; Redisson 4698',
  title: 'a stalled process is not notified that its lock is gone',
  naive: (lab) => blindWork(lab, false, () => lab.stall('A', lab.between(3100, 9000))),
  ours: (lab) => blindWork(lab, true, () => lab.stall('A', lab.between(3100, 9000))),
};

const promotedWithout: Failure = {
  id: 'S86',
  naive: async (lab) => {
    lab.pair.link.hold();
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 3000, 'NX');
    const renew = "if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('pexpire', KEYS[1], 3000) end";
    lab.as('A', () => setInterval(() => void a.eval(renew, 1, L, 'A').catch(swallow), 1000)).catch(swallow);
    lab.believe(L, 'A');
    await lab.pair.failover({ crash: true });
    await lab.advance(lab.between(1500, 2500));
    if ((await b.set(L, 'B', 'PX', 3000, 'NX')) === 'OK') lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    lab.pair.link.hold();
    const a = await lab.locks('A', { leaseMs: 3000 });
    const held = await lab.as('A', () => a.simple(L).acquire());
    const { signal } = held;
    await lab.pair.failover({ crash: true });
    await lab.advance(lab.between(1500, 2500));
    return signal.aborted ? [] : ['a third of the lease has passed, and the holder is not told'];
  },
};

export const waiting: readonly Failure[] = [
  missedMessage,
  lookThenSubscribe,
  herd,
  watchdogStops,
  renewalAfterRelease,
  hungHolder,
  stalled,
  promotedWithout,
];
