/** Failures S16, S20, S87, S96, S99, S106 and S117 to S120: what happens around a lock. */
import { defined } from '../../../base/defined.ts';
import type { HeldLock, Locks } from '../../../locks/index.ts';
import { resource } from './acquiring.ts';
import type { Failure, Lab } from './lab.ts';

const L = 'lock';
const swallow = (): void => {};

async function acrossJump(lab: Lab, fenced: boolean): Promise<string[]> {
  const [a, b] = [await lab.locks('A'), await lab.locks('B')];
  const store = resource(fenced);
  const first = await a.fenced(L).acquire({ leaseMs: 30_000 });
  lab.pair.primary.clock.jump(lab.between(30_001, 600_000));
  const second = await b.fenced(L).acquire({ waitMs: 10_000 });
  store.write('B', second.fence!);
  store.write('A', first.fence!);
  return store.order.join() === 'B' ? [] : [`writes arrived as ${store.order}`];
}

const clockAhead: Failure = {
  id: 'S16',
  title: "the server's clock jumps ahead, and the lock ends while its holder relies on it",
  naive: (lab) => acrossJump(lab, false),
  ours: (lab) => acrossJump(lab, true),
};

/** The primary restarts without its data; B gets the lock that A holds. */
async function acrossRestart(lab: Lab, fence: 'counter' | 'clock'): Promise<string[]> {
  const [a, b] = [await lab.locks('A'), await lab.locks('B')];
  const first = await lab.as('A', () => a.fenced(L, { fence }).acquire());
  const { signal } = first;
  await lab.advance(lab.between(10, 1000));
  const { primary } = lab.pair;
  primary.crash({ keep: 'nothing' });
  await lab.advance(lab.between(10, 1000));
  primary.restart();
  const second = await b.fenced(L, { fence }).acquire({ waitMs: 10_000 });
  await lab.advance(10_000);
  const problems = second.fence! > first.fence! ? [] : [`fence ${second.fence} after ${first.fence}`];
  return signal.aborted ? problems : [...problems, 'a third of the lease has passed, and A is not told'];
}

const restart: Failure = {
  id: 'S20 (restart)',
  title: 'the server restarts without its data, and the fence counter starts again',
  naive: (lab) => acrossRestart(lab, 'counter'),
  ours: (lab) => acrossRestart(lab, 'clock'),
};

/** Work that takes longer than the lease it was given. */
async function longWork(lab: Lab, leaseMs: number | undefined, watches: boolean): Promise<void> {
  const [a, b] = [await lab.locks('A', { leaseMs: 1000 }), await lab.locks('B')];
  const held = await lab.as('A', () => a.simple(L).acquire({ ...defined({ leaseMs }) }));
  const end = watches ? lab.trust(held) : lab.believe(L, 'A');
  await lab.advance(lab.between(1100, 5000));
  const other = await b.simple(L).tryAcquire();
  const endOther = other ? lab.trust(other) : undefined;
  end();
  await held.release().catch(swallow);
  endOther?.();
  await other?.release();
}

const explicitLease: Failure = {
  id: 'S87; Redisson 4405',
  naive: async (lab) => {
    await longWork(lab, 1000, false);
    return lab.verdict();
  },
  ours: async (lab) => {
    await longWork(lab, 1000, true); // It ends, and its holder is notified.
    await longWork(lab, undefined, true); // It is renewed.
    return lab.verdict();
  },
};

const ENQUEUE = "return redis.call('rpush', KEYS[1], ARGV[1])";
const RELEASE_TO_HEAD = `
redis.call('del', KEYS[1])
local head = redis.call('lpop', KEYS[2])
if head then redis.call('publish', head, '0') end`;

const lostPlace: Failure = {
  id: 'S96',
  naive: async (lab) => {
    const [a, b, messages] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 600_000, 'NX');
    await lab.advance(100);
    lab.pair.link.hold();
    let in_ = false;
    const waiting = lab.as('B', async () => {
      await messages.subscribe('B');
      await b.eval(ENQUEUE, 1, 'queue', 'B');
      await new Promise((resolve) => messages.once('message', resolve));
      in_ = (await b.set(L, 'B', 'PX', 1000, 'NX')) === 'OK';
    });
    waiting.catch(swallow);
    await lab.advance(lab.between(50, 500));
    await lab.pair.failover({ crash: true });
    await lab.advance(lab.between(50, 500));
    await a.eval(RELEASE_TO_HEAD, 2, L, 'queue');
    await lab.advance(60_000);
    return in_ ? [] : ['the lock is free for a minute, and B waits'];
  },
  ours: async (lab) => {
    const [a, b, c] = [await lab.locks('A'), await lab.locks('B'), await lab.locks('C')];
    const order: string[] = [];
    const held = await a.fair(L).acquire();
    const wait = (locks: Locks, name: string): Promise<void> =>
      lab.as(name, () =>
        locks.fair(L).using(() => {
          order.push(name);
        }),
      );
    const first = wait(b, 'B');
    await lab.advance(100);
    lab.pair.link.hold(); // B's place is on the replica, C's is not.
    const second = wait(c, 'C');
    await lab.advance(lab.between(50, 500));
    await lab.pair.failover({ crash: true });
    await lab.advance(lab.between(50, 500));
    await held.release();
    const at = Date.now();
    await Promise.all([first, second]);
    const problems = order.join() === 'B,C' ? [] : [`they came in as ${order}`];
    return Date.now() - at > 5000 ? [...problems, `woken after ${Date.now() - at} ms`] : problems;
  },
};

/** Two readers that are never both gone, and a waiting writer; with a turnstile or without. */
async function readersAndWriter(lab: Lab, turnstile: boolean): Promise<string[]> {
  const [a, b, w] = [await lab.locks('A'), await lab.locks('B'), await lab.locks('W')];
  const enter = async (locks: Locks, kind: 'read' | 'write', waitMs: number): Promise<HeldLock | null> => {
    if (!turnstile) return locks.readWrite(L)[kind].tryAcquire({ waitMs });
    const gate = await locks.fair('gate').tryAcquire({ waitMs });
    if (!gate) return null;
    try {
      return await locks.readWrite(L)[kind].tryAcquire({ waitMs });
    } finally {
      await gate.release();
    }
  };
  let open = true;
  const reader = async (locks: Locks, name: string): Promise<void> => {
    while (open) {
      const held = await lab.as(name, () => enter(locks, 'read', 60_000));
      await lab.advance(lab.between(100, 200));
      await lab.as(name, () => held?.release());
    }
  };
  const reading = [reader(a, 'A')];
  await lab.advance(50);
  reading.push(reader(b, 'B'));
  await lab.advance(lab.between(10, 50));
  const writer = await lab.as('W', () => enter(w, 'write', 10_000));
  await writer?.release();
  open = false;
  await Promise.all(reading);
  return writer ? [] : ['the writer waited for ten seconds in vain'];
}

const starvedWriter: Failure = {
  id: 'S99',
  // If both readers happen to be gone at once, the writer gets in.
  naive: (lab) => readersAndWriter(lab, false).then((seen) => (seen.length > 0 ? seen : null)),
  ours: (lab) => readersAndWriter(lab, true),
};

/** How often a single permit is held after a failover: by A, whose grant may not have been copied, and by B. */
async function permitsOut(lab: Lab, kind: 'semaphore' | 'expirablePermits', replicas: boolean) {
  const a = await lab.locks('A', replicas ? { replicas: 1, replicaTimeoutMs: 100 } : {});
  const b = await lab.locks('B');
  await b[kind](L).trySetPermits(1);
  await lab.advance(100);
  const copied = lab.between(0, 3) === 0;
  if (!copied) lab.pair.link.hold();
  const first = await lab.as('A', () =>
    a[kind](L)
      .tryAcquire()
      .catch(() => null),
  );
  await lab.advance(lab.between(10, 100));
  await lab.pair.failover({ crash: true });
  const second = await b[kind](L).tryAcquire({ waitMs: 2000 });
  return { copied, out: Number(first !== null) + Number(second !== null) };
}

const permitTwice: Failure = {
  id: 'S106',
  title: 'a permit that was taken before a failover is granted again after it',
  naive: async (lab) => {
    const { copied, out } = await permitsOut(lab, 'semaphore', false);
    if (copied) return null;
    return out > 1 ? [`${out} of 1 permit are out`] : [];
  },
  ours: async (lab) => {
    const kind = lab.between(0, 1) === 0 ? 'semaphore' : 'expirablePermits';
    const { out } = await permitsOut(lab, kind, true);
    return out === 1 ? [] : [`${out} of 1 permit are out`];
  },
};

/** A stock of one; a transaction reads committed data and takes a while to commit. */
async function sales(lab: Lab, commitInside: boolean): Promise<string[]> {
  const stock = { committed: 1, sold: 0 };
  const sell = async (name: string): Promise<void> => {
    const locks = await lab.locks(name);
    const commit = async (seen: number): Promise<void> => {
      await lab.advance(lab.between(50, 100)); // Longer than the hand-over takes.
      if (seen < 1) return;
      stock.committed = seen - 1;
      stock.sold++;
    };
    let seen = 0;
    await lab.as(name, () =>
      locks.simple(L).using(async () => {
        seen = stock.committed;
        if (commitInside) await commit(seen);
      }),
    );
    if (!commitInside) await commit(seen);
  };
  await Promise.all([sell('A'), sell('B')]);
  return stock.sold > 1 ? [`${stock.sold} of 1 sold`] : [];
}

const releasedBeforeCommit: Failure = {
  id: 'S117',
  title: 'the lock is released before the transaction is committed',
  naive: (lab) => sales(lab, false),
  ours: (lab) => sales(lab, true),
};

/** Delivers one message to A, and again to B after a failover; answers how often it was processed. */
async function deliveries(lab: Lab, claim: (name: 'A' | 'B') => Promise<boolean>): Promise<string[]> {
  let processed = 0;
  if (await claim('A')) processed++;
  await lab.advance(lab.between(10, 100));
  await lab.pair.failover({ crash: true });
  await lab.advance(lab.between(10, 500));
  if (await claim('B')) processed++;
  return processed === 1 ? [] : [`processed ${processed} times`];
}

const DAY = 86_400_000;

const messageTwice: Failure = {
  id: 'S118',
  naive: async (lab) => {
    lab.pair.link.hold();
    return deliveries(lab, async (name) => {
      const redis = await lab.redis(name);
      return (await redis.set('message 7', name, 'PX', DAY, 'NX')) === 'OK';
    });
  },
  ours: async (lab) => {
    if (lab.between(0, 3) > 0) lab.pair.link.hold();
    return deliveries(lab, async (name) => {
      const locks = await lab.locks(name, name === 'A' ? { replicas: 1, replicaTimeoutMs: 100 } : {});
      const claimed = lab.as(name, () => locks.simple('message 7').tryAcquire({ leaseMs: DAY }));
      return (await claimed.catch(() => null)) !== null; // Not copied: not processed, and delivered again.
    });
  },
};

const twoLeaders: Failure = {
  id: 'S119',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 3000, 'NX');
    const end = lab.believe(L, 'A');
    const renew =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], 3000) end";
    const renewal = async (): Promise<void> => {
      if ((await a.eval(renew, 1, L, 'A')) === null) end(); // Another client leads.
    };
    lab.as('A', () => setInterval(() => void renewal().catch(swallow), 1000)).catch(swallow);
    await lab.advance(lab.between(500, 5000));
    lab.requests('A').partition();
    lab.replies('A').partition();
    await lab.advance(lab.between(4000, 20_000));
    if ((await b.set(L, 'B', 'PX', 3000, 'NX')) === 'OK') lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A', { leaseMs: 3000 }), await lab.locks('B')];
    lab.trust(await lab.as('A', () => a.simple(L).acquire()));
    await lab.advance(lab.between(500, 5000));
    lab.requests('A').partition();
    lab.replies('A').partition();
    const next = await b.simple(L).tryAcquire({ waitMs: 4000 });
    if (next) lab.trust(next);
    return next ? lab.verdict() : ['nobody leads'];
  },
};

/** A job that two workers start at the same minute by their own clocks, B's clock being behind; answers how often it ran. */
async function ticks(lab: Lab, run: (locks: Locks) => Promise<boolean>): Promise<string[]> {
  const behindMs = lab.between(200, 2000);
  const workers = { A: await lab.locks('A'), B: await lab.locks('B') };
  let runs = 0;
  if (await lab.as('A', () => run(workers.A))) runs++;
  await lab.advance(behindMs); // Now it is time by B's clock.
  if (await lab.as('B', () => run(workers.B))) runs++;
  return runs === 1 ? [] : [`the job ran ${runs} times`];
}

const jobTwice: Failure = {
  id: 'S120',
  title: 'a scheduled job releases its lock when done, and runs again on a worker whose clock is behind',
  naive: (lab) =>
    ticks(lab, async (locks) => {
      const held = await locks.simple(L).tryAcquire();
      await held?.release();
      return held !== null;
    }),
  // At least as long as clocks may differ: a lease of that length, and no release.
  ours: (lab) => ticks(lab, async (locks) => (await locks.simple(L).tryAcquire({ leaseMs: 5000 })) !== null),
};

export const around: readonly Failure[] = [
  clockAhead,
  restart,
  explicitLease,
  lostPlace,
  starvedWriter,
  permitTwice,
  releasedBeforeCommit,
  messageTwice,
  twoLeaders,
  jobTwice,
];
