/** Failures S83 to S111: renewing the right thing, and keeping count. */
import { type Failure, reentrantForms } from './lab.ts';

const L = 'lock';
const swallow = (): void => {};

const foreignRenewal: Failure = {
  id: 'S83',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 1000, 'NX');
    lab.as('A', () => setInterval(() => void a.pexpire(L, 1000).catch(swallow), 333)).catch(swallow);
    await lab.stall('A', lab.between(1100, 3000));
    await lab.raw.del(L); // If A had not woken in time, it would have ended by itself.
    if ((await b.set(L, 'B', 'PX', 1000, 'NX')) !== 'OK') return null;
    lab.die('B');
    await lab.advance(10_000);
    return (await lab.raw.exists(L)) === 1 ? ['the lock of the dead is kept up'] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A', { leaseMs: 1000 }), await lab.locks('B', { leaseMs: 1000 })];
    await lab.as('A', () => a.simple(L).acquire());
    await lab.stall('A', lab.between(1100, 3000));
    await lab.raw.del(L);
    await lab.as('B', () => b.simple(L).acquire());
    lab.die('B');
    await lab.advance(10_000);
    return (await lab.raw.exists(L)) === 1 ? ['the lock of the dead is kept up'] : [];
  },
};

/** Renews many locks, and stops at the first one that is no longer its own. */
const RENEW_ALL = `
for index, key in ipairs(KEYS) do
  if redis.call('get', key) ~= ARGV[1] then return index - 1 end
  redis.call('pexpire', key, 1000)
end
return #KEYS`;

const partialRenewal: Failure = {
  id: 'S88',
  naive: async (lab) => {
    const a = await lab.redis('A');
    const keys = ['x', 'y', 'z'];
    for (const key of keys) await a.set(key, 'A', 'PX', 1000);
    lab
      .as('A', () => setInterval(() => void a.eval(RENEW_ALL, 3, ...keys, 'A').catch(swallow), 333))
      .catch(swallow);
    await lab.advance(lab.between(100, 900));
    await lab.raw.del('x');
    await lab.advance(3000);
    return (await lab.raw.exists('y', 'z')) < 2 ? ['locks of a living holder are over'] : [];
  },
  ours: async (lab) => {
    const a = await lab.locks('A', { leaseMs: 1000 });
    const helds = await lab.as('A', () => Promise.all(['x', 'y', 'z'].map((key) => a.simple(key).acquire())));
    await lab.advance(lab.between(100, 900));
    await lab.raw.del('x');
    await lab.advance(3000);
    const lost = helds.map(({ signal }) => signal.aborted).join();
    return (await lab.raw.exists('y', 'z')) < 2 || lost !== 'true,false,false'
      ? [`locks of a living holder are over: ${lost}`]
      : [];
  },
};

const shortenedLease: Failure = {
  id: 'S89',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    const enter = async (leaseMs: number): Promise<void> => {
      await a.hincrby(L, 'A', 1);
      await a.pexpire(L, leaseMs);
    };
    await enter(60_000);
    lab.believe(L, 'A');
    await enter(lab.between(500, 5000));
    await lab.advance(6000);
    if ((await b.hsetnx(L, 'B', 1)) === 1 && (await b.hlen(L)) === 1) lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    for (const { make, name } of reentrantForms) {
      const lock = make(a, name);
      lab.trust(await lock.acquire({ owner: 'A', leaseMs: 60_000 }));
      await lock.acquire({ owner: 'A', leaseMs: lab.between(500, 5000) });
      await lab.advance(6000);
      const other = await make(b, name).tryAcquire();
      if (other) lab.trust(other);
    }
    return lab.verdict();
  },
};

const lostCount: Failure = {
  id: 'S90',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await a.hincrby(L, 'A', 1);
    await lab.advance(100);
    lab.pair.link.hold();
    await a.hincrby(L, 'A', 1);
    lab.believe(L, 'A');
    await lab.pair.failover({ crash: true });
    await lab.advance(lab.between(100, 500));
    if ((await a.hincrby(L, 'A', -1)) === 0) await a.del(L); // One hold remains, A thinks.
    if ((await b.hsetnx(L, 'B', 1)) === 1 && (await b.hlen(L)) === 1) lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    for (const { make, name } of reentrantForms) {
      lab.trust(await make(a, name).acquire({ owner: 'A' }));
    }
    await lab.advance(100);
    lab.pair.link.hold();
    const inner = await Promise.all(
      reentrantForms.map(({ make, name }) => make(a, name).acquire({ owner: 'A' })),
    );
    await lab.pair.failover({ crash: true });
    await lab.advance(lab.between(100, 500));
    for (const each of inner) await each.release();
    for (const { make, name } of reentrantForms) {
      const other = await make(b, name).tryAcquire();
      if (other) lab.trust(other);
    }
    return lab.verdict();
  },
};

const deadReader: Failure = {
  id: 'S98',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    const read = async (who: typeof a): Promise<void> => {
      await who.incr('readers');
      await who.pexpire('readers', 1000);
    };
    await read(a);
    lab.die('A');
    for (let i = 0; i < 20; i++) {
      await read(b);
      await lab.advance(lab.between(200, 400));
      await b.decr('readers');
    }
    return Number(await lab.raw.get('readers')) > 0 ? ['a dead reader keeps writers out'] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A', { leaseMs: 1000 }), await lab.locks('B', { leaseMs: 1000 })];
    await lab.as('A', () => a.readWrite(L).read.acquire());
    lab.die('A');
    for (let i = 0; i < 5; i++) {
      const held = await lab.as('B', () => b.readWrite(L).read.acquire());
      await lab.advance(lab.between(200, 400));
      await lab.as('B', () => held.release());
    }
    const writer = await b.readWrite(L).write.tryAcquire();
    return writer ? [] : ['a dead reader keeps writers out'];
  },
};

const downgraded: Failure = {
  id: 'S100; Redisson 891',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await a.hset(L, 'mode', 'write', 'A:write', 1);
    lab.believe(L, 'A');
    await a.hincrby(L, 'A', 1);
    await lab.advance(lab.between(1, 100));
    if ((await a.hincrby(L, 'A', -1)) === 0) await a.del(L);
    if ((await b.hsetnx(L, 'mode', 'write')) === 1) lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const write = await a.readWrite(L).write.acquire({ owner: 'A' });
    lab.trust(write);
    const read = await a.readWrite(L).read.acquire({ owner: 'A' });
    await lab.advance(lab.between(1, 100));
    await read.release();
    for (const kind of ['read', 'write'] as const) {
      const other = await b.readWrite(L)[kind].tryAcquire();
      if (other) lab.trust(other);
    }
    // And the other way round: a writer that keeps reading keeps writers out, and only writers.
    const still = await a.readWrite('other').write.acquire({ owner: 'A' });
    await a.readWrite('other').read.acquire({ owner: 'A' });
    await still.release();
    const problems = (await b.readWrite('other').read.tryAcquire()) ? [] : ['a reader kept out a reader'];
    if (await b.readWrite('other').write.tryAcquire()) problems.push('a writer came in beside a reader');
    return [...lab.verdict(), ...problems];
  },
};

const zombieRenewal: Failure = {
  id: 'S101',
  naive: async (lab) => {
    const [a, second] = [await lab.redis('A'), await lab.redis('A')];
    await a.hset(L, 'mode', 'read', 'A', 1);
    const renewal = (async () => {
      if ((await a.hexists(L, 'A')) === 1) {
        await lab.advance(lab.between(10, 50));
        await a.hset(L, 'mode', 'read', 'A', 1);
      }
    })();
    await lab.advance(lab.between(4, 8));
    await second.del(L);
    await renewal;
    return (await lab.raw.exists(L)) === 1 ? ['a lock that nobody has'] : [];
  },
  ours: async (lab) => {
    const a = await lab.locks('A', { leaseMs: 900 });
    const problems: string[] = [];
    for (const kind of ['read', 'write'] as const) {
      const held = await lab.as('A', () => a.readWrite(kind)[kind].acquire());
      await lab.advance(lab.between(290, 310)); // Around the renewal.
      await held.release();
      await lab.advance(lab.between(1, 2000));
      const left = await lab.raw.keys(`*${kind}*`);
      if (left.some((key) => !key.includes('requests'))) problems.push(`${left} that nobody has`);
    }
    return problems;
  },
};

const lateReturn: Failure = {
  id: 'S104',
  title: 'a permit that expires and is then released is returned twice',
  naive: async (lab) => {
    const a = await lab.redis('A');
    const leaseMs = lab.between(50, 500);
    await a
      .multi()
      .set('left', 0)
      .zadd('out', Date.now() + leaseMs, 'permit')
      .exec();
    await lab.advance(600);
    const expired = await lab.raw.zrangebyscore('out', 0, Date.now());
    for (const each of expired) await lab.raw.multi().zrem('out', each).incr('left').exec();
    await a.multi().zrem('out', 'permit').incr('left').exec();
    return Number(await a.get('left')) > 1 ? ['more permits than there are'] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    await a.expirablePermits(L).trySetPermits(1);
    const held = await a.expirablePermits(L).acquire({ leaseMs: lab.between(50, 500) });
    await lab.advance(lab.between(0, 600));
    const taken = lab.between(0, 1) === 1 ? await b.expirablePermits(L).tryAcquire() : null;
    await held.release().catch(swallow);
    await taken?.release();
    await lab.advance(1000);
    const left = await b.expirablePermits(L).availablePermits();
    return left === 1 ? [] : [`${left} permits, not one`];
  },
};

const partialMulti: Failure = {
  id: 'S108',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    const names = ['x', 'y', 'z'];
    await b.set(names[lab.between(1, 2)]!, 'B', 'PX', 60_000, 'NX');
    for (const name of names) if ((await a.set(name, 'A', 'PX', 60_000, 'NX')) !== 'OK') break;
    return (await lab.raw.get('x')) === 'A' ? ['A gave up, and its locks are in the way'] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const names = ['x', 'y', 'z'];
    const busy = names[lab.between(0, 2)]!;
    const held = await b.simple(busy).acquire();
    const waitMs = lab.between(0, 3000);
    const got = await a.multi(names.map((name) => a.simple(name))).tryAcquire({ waitMs });
    if (got) return ['all were given though one was held'];
    await held.release();
    await lab.advance(100);
    const left = await lab.raw.exists(...names);
    return left === 0 ? [] : [`${left} locks that nobody has`];
  },
};

const splitStock: Failure = {
  id: 'S111',
  naive: async (lab) => {
    const a = await lab.redis('A');
    for (let segment = 0; segment < 4; segment++) await a.set(`stock:${segment}`, 5);
    const wanted = lab.between(6, 15);
    for (let segment = 0; segment < 4; segment++) {
      if (Number(await a.get(`stock:${segment}`)) >= wanted) return [];
    }
    return [`${wanted} of 20 are not to be had`];
  },
  ours: async (lab) => {
    const sets = [await lab.locks('A'), await lab.locks('B'), await lab.locks('C')];
    const stockOf = (locks: (typeof sets)[number]) => locks.segmented(L, { segments: 4 });
    await stockOf(sets[0]!).trySetStock(20);
    const wanted = lab.between(6, 15);
    const taken = await stockOf(sets[0]!).take(wanted);
    if (!taken) return [`${wanted} of 20 are not to be had`];
    const others = await Promise.all(
      sets.map((locks, index) =>
        lab.as('ABC'[index]!, () => stockOf(locks).take(lab.between(1, 10), { waitMs: 5000 })),
      ),
    );
    const out = [taken, ...others]
      .flatMap((portions) => portions ?? [])
      .reduce((sum, { units }) => sum + units, 0);
    const left = await stockOf(sets[1]!).stock();
    return left + out === 20 ? [] : [`${left} left and ${out} out of 20`];
  },
};

/** As Redisson releases: it ends the hold with the highest number, whichever one was released. */
const RELEASE_GREATEST = `
local count = redis.call('hincrby', KEYS[1], ARGV[1], -1)
redis.call('del', KEYS[1] .. ':' .. ARGV[1] .. ':' .. (count + 1))
if count == 0 then return redis.call('del', KEYS[1]) end
redis.call('pexpire', KEYS[1], math.max(1, redis.call('pttl', KEYS[1] .. ':' .. ARGV[1] .. ':' .. count)))
return 0`;

const wrongHold: Failure = {
  id: 'S139',
  title: 'a reader releases a short hold, and the lease of its long hold is removed',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await a.multi().hset(L, 'mode', 'read', 'A', 2).pexpire(L, 30_000).exec();
    const shortMs = lab.between(100, 500);
    await a.multi().set(`${L}:A:1`, 1, 'PX', shortMs).set(`${L}:A:2`, 1, 'PX', 30_000).exec();
    lab.believe(L, 'A');
    await lab.advance(lab.between(0, 200));
    if ((await a.exists(`${L}:A:1`)) === 0) return null; // The short hold has ended by itself.
    await a.eval(RELEASE_GREATEST, 1, L, 'A');
    await lab.advance(600);
    if ((await b.hsetnx(L, 'mode', 'write')) === 1) lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const { read } = a.readWrite(L);
    const short = await read.acquire({ owner: 'A', leaseMs: lab.between(100, 500) });
    lab.trust(await read.acquire({ owner: 'A' }));
    await lab.advance(lab.between(0, 200));
    await short.release().catch(swallow);
    await lab.advance(lab.between(600, 40_000));
    const writer = await b.readWrite(L).write.tryAcquire();
    if (writer) lab.trust(writer);
    return lab.verdict();
  },
};

export const counts: readonly Failure[] = [
  foreignRenewal,
  partialRenewal,
  shortenedLease,
  lostCount,
  deadReader,
  downgraded,
  zombieRenewal,
  lateReturn,
  partialMulti,
  splitStock,
  wrongHold,
];
