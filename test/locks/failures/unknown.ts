/** Failures S20 to S31: replies that get lost, restarts and promotions. */
import type { Failure, Lab } from './lab.ts';

const L = 'lock';
const swallow = (): void => {};

/** From now on the client's requests are executed, but no reply reaches it until the returned function is called. */
function deaf(lab: Lab, name: string): { hears(): void } {
  const lane = lab.replies(name);
  lane.hold();
  return { hears: () => lane.release() };
}

/** Gives up on an answer after so many milliseconds. */
async function within<T>(lab: Lab, name: string, promise: Promise<T>, ms: number): Promise<T | 'no answer'> {
  return lab.as(name, () =>
    Promise.race([
      promise,
      new Promise<'no answer'>((resolve) => setTimeout(() => resolve('no answer'), ms)),
    ]),
  );
}

const acquireUnanswered: Failure = {
  id: 'S22, S27',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    const silence = deaf(lab, 'A');
    const answer = await within(
      lab,
      'A',
      lab.as('A', () => a.set(L, 'A', 'PX', 30_000, 'NX')),
      100,
    );
    silence.hears();
    await lab.advance(lab.between(50, 500));
    if (answer !== 'no answer') return null;
    const other = await b.set(L, 'B', 'PX', 1000, 'NX');
    return other === null ? ['A has given up, and its lock is in the way'] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A', { requestTimeoutMs: 100 }), await lab.locks('B')];
    const silence = deaf(lab, 'A');
    const acquired = lab.as('A', () =>
      a
        .simple(L)
        .acquire({ waitMs: lab.between(50, 250) })
        .catch(() => null),
    );
    await lab.advance(lab.between(300, 600));
    silence.hears();
    const held = await acquired;
    if (held) lab.trust(held);
    const other = await b.simple(L).tryAcquire({ waitMs: 3000 });
    if (!held && !other) return ['A has given up, and its lock is in the way'];
    if (other) lab.trust(other);
    return lab.verdict();
  },
};

const reentryByMistake: Failure = {
  id: 'S22 (re-entrant), S25; Redisson 1966, 2312, 4109, 4178',
  title: 'a request that is repeated after a lost reply counts the lock twice or releases it twice',
  naive: async (lab) => {
    const a = await lab.redis('A');
    const lock = (): Promise<unknown> => a.hincrby(L, 'A', 1);
    const silence = deaf(lab, 'A');
    const first = await within(lab, 'A', lab.as('A', lock), lab.between(50, 200));
    silence.hears();
    if (first !== 'no answer') return null;
    await lock();
    if ((await a.hincrby(L, 'A', -1)) === 0) await a.del(L);
    return (await lab.raw.exists(L)) === 1 ? ['released as often as taken, and still locked'] : [];
  },
  ours: async (lab) => {
    const a = await lab.locks('A', { requestTimeoutMs: 60 });
    await lab.as('A', async () => (await a.reentrant(L).acquire({ owner: 'me' })).release());
    const problems: string[] = [];
    const take = async (deafFor: number) => {
      const silence = deaf(lab, 'A');
      const taking = lab.as('A', () => a.reentrant(L).acquire({ owner: 'me', waitMs: 5000 }));
      await lab.advance(deafFor);
      silence.hears();
      return taking;
    };
    const holds = [await take(lab.between(70, 300)), await take(lab.between(70, 300))];
    if ((await lab.raw.hvals(L)).join() !== '2') problems.push(`count ${await lab.raw.hvals(L)}, not 2`);
    for (const left of [1, 0]) {
      const silence = deaf(lab, 'A');
      const giving = lab.as('A', () => holds[left]!.release());
      await lab.advance(lab.between(70, 300));
      silence.hears();
      await giving;
      const count = Number((await lab.raw.hvals(L))[0] ?? 0);
      if (count !== left) problems.push(`count ${count}, not ${left}`);
    }
    return problems;
  },
};

const lateRequest: Failure = {
  id: 'S23',
  naive: async (lab) => {
    const [a, again] = [await lab.redis('A'), await lab.redis('A2')];
    lab.requests('A').hold();
    const answer = await within(
      lab,
      'A',
      lab.as('A', () => a.set(L, 'A', 'PX', 30_000, 'NX')),
      100,
    );
    await again.del(L);
    lab.requests('A').release();
    await lab.advance(lab.between(10, 100));
    if (answer !== 'no answer') return null;
    return (await lab.raw.exists(L)) === 1 ? ['a lock that nobody has'] : [];
  },
  ours: async (lab) => {
    // Two connections of one client: the first request arrives last.
    const a = await lab.locks('A', { requestTimeoutMs: 60 });
    await lab.as('A', async () => (await a.simple(L).acquire()).release());
    lab.requests('A').hold();
    const acquiring = lab.as('A', () =>
      a
        .simple(L)
        .tryAcquire()
        .catch(() => null),
    );
    await lab.advance(lab.between(700, 900));
    lab.requests('A').release();
    const held = await acquiring;
    await lab.advance(lab.between(500, 1500));
    if (held) return [];
    return (await lab.raw.exists(L)) === 1 ? ['a lock that nobody has'] : [];
  },
};

const releaseTwice: Failure = {
  id: 'S24',
  title: "the reply to a release is lost, and the repeated release removes the next holder's lock",
  naive: async (lab) => {
    const [a, b, c] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('C')];
    await a.set(L, 'A', 'PX', 30_000, 'NX');
    const silence = deaf(lab, 'A');
    await within(
      lab,
      'A',
      lab.as('A', () => a.del(L)),
      100,
    );
    silence.hears();
    if ((await b.set(L, 'B', 'PX', 30_000, 'NX')) !== 'OK') return null;
    lab.believe(L, 'B');
    await a.del(L);
    if ((await c.set(L, 'C', 'PX', 30_000, 'NX')) === 'OK') lab.believe(L, 'C');
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b, c] = [
      await lab.locks('A', { requestTimeoutMs: 60 }),
      await lab.locks('B'),
      await lab.locks('C'),
    ];
    await (await a.reentrant(L).acquire()).release(); // From now on the server knows the scripts.
    const held = await lab.as('A', () => a.reentrant(L).acquire());
    const silence = deaf(lab, 'A');
    const releasing = lab.as('A', () =>
      held.release().then(
        () => 'released',
        (error: Error) => error.name,
      ),
    );
    await lab.advance(lab.between(10, 200));
    lab.trust(await b.reentrant(L).acquire({ waitMs: 3000 }));
    silence.hears();
    const outcome = await releasing;
    const third = await c.reentrant(L).tryAcquire();
    if (third) lab.trust(third);
    return outcome === 'released' ? lab.verdict() : [`the release, sent again, said ${outcome}`];
  },
};

const renewalUnanswered: Failure = {
  id: 'S26',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 1000, 'NX');
    let validUntil = Date.now() + 1000;
    lab.requests('A').drop(); // It never arrives.
    lab.as('A', () => a.pexpire(L, 1000)).catch(swallow);
    await lab.advance(lab.between(300, 900));
    validUntil = Date.now() + 1000;
    await lab.advance(lab.between(720, 900));
    if (Date.now() < validUntil) lab.believe(L, 'A');
    if ((await b.set(L, 'B', 'PX', 1000, 'NX')) === 'OK') lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A', { leaseMs: 1000 }), await lab.locks('B')];
    const held = await lab.as('A', () => a.simple(L).acquire());
    lab.trust(held);
    lab.requests('A').drop();
    await lab.advance(lab.between(300, 2000));
    const other = await b.simple(L).tryAcquire({ waitMs: 2000 });
    if (other) lab.trust(other);
    return other ? lab.verdict() : ['the lock of a client that nobody hears stays'];
  },
};

/** The primary dies before its replica has the lock. */
async function failOver(lab: Lab): Promise<void> {
  await lab.pair.failover({ crash: true });
  await lab.advance(lab.between(100, 400));
}

const fenceRepeats: Failure = {
  id: 'S56, S20',
  title: 'a failover sets the fence counter back, and the same fence is granted twice',
  naive: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    lab.pair.link.hold();
    const first = await a.fenced(L).acquire();
    await failOver(lab);
    const second = await b.fenced(L).acquire();
    return second.fence! > first.fence! ? [] : [`fence ${second.fence} after ${first.fence}`];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    lab.pair.link.hold();
    const first = await a.fenced(L, { fence: 'clock' }).acquire();
    await failOver(lab);
    const second = await b.fenced(L, { fence: 'clock' }).acquire();
    return second.fence! > first.fence! ? [] : [`fence ${second.fence} after ${first.fence}`];
  },
};

const lostInFailover: Failure = {
  id: 'S30, S31',
  title: 'the primary dies before its replica has the lock, after WAIT reported too few replicas',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    lab.pair.link.hold();
    await a.set(L, 'A', 'PX', 30_000, 'NX');
    await a.wait(1, 100); // 0, and nobody looks.
    lab.believe(L, 'A');
    await failOver(lab);
    if ((await b.set(L, 'B', 'PX', 30_000, 'NX')) === 'OK') lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const options = { replicas: 1, replicaTimeoutMs: 100 };
    const [a, b] = [await lab.locks('A', options), await lab.locks('B')];
    lab.pair.link.hold();
    const held = await lab.as('A', () =>
      a
        .simple(L)
        .acquire()
        .catch(() => null),
    );
    if (held) lab.trust(held);
    await failOver(lab);
    const other = await b.simple(L).tryAcquire({ waitMs: 3000 });
    if (other) lab.trust(other);
    return other ? lab.verdict() : ['nobody gets the lock'];
  },
};

export const unknown: readonly Failure[] = [
  acquireUnanswered,
  reentryByMistake,
  lateRequest,
  releaseTwice,
  renewalUnanswered,
  fenceRepeats,
  lostInFailover,
];
