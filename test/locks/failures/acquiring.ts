/** Failures S1 to S13: acquiring and releasing on one node. */
import { COMPARE_AND_DELETE, type Failure, type Lab } from './lab.ts';

const L = 'lock';
const swallow = (): void => {};

/** Two clients take turns by hand: the first overstays its lease, and releases a lock that is no longer its own. */
async function overstay(
  lab: Lab,
  release: (lab: Lab, name: string, token: string) => Promise<unknown>,
  token = 'A',
) {
  const [a, b, c] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('C')];
  await a.set(L, token, 'PX', 100, 'NX');
  const endA = lab.believe(L, 'A');
  await lab.advance(lab.between(101, 300));
  endA(); // A lease that is over is not the failure here: what A does afterwards is.
  const tokenB = token === 'A' ? 'B' : token;
  if ((await b.set(L, tokenB, 'PX', 10_000, 'NX')) !== 'OK') return ['B was kept out'];
  lab.believe(L, 'B');
  await release(lab, 'A', token);
  if ((await c.set(L, 'C', 'PX', 10_000, 'NX')) === 'OK') lab.believe(L, 'C');
  return lab.verdict();
}

/** The same with one of our locks. */
async function overstayOurs(lab: Lab): Promise<string[]> {
  const [a, b, c] = [await lab.locks('A'), await lab.locks('B'), await lab.locks('C')];
  const held = await a.simple(L).acquire({ leaseMs: 100 });
  lab.trust(held);
  await lab.advance(lab.between(101, 300));
  lab.trust(await b.simple(L).acquire({ waitMs: 1000 }));
  await held.release().catch(swallow);
  await held.extend().catch(swallow);
  const third = await c.simple(L).tryAcquire();
  if (third) lab.trust(third);
  return lab.verdict();
}

const crashBeforeExpiry: Failure = {
  id: 'S1',
  title: 'a holder that dies between SETNX and EXPIRE keeps the lock for ever',
  naive: async (lab) => {
    const a = await lab.redis('A');
    lab
      .as('A', async () => {
        if ((await a.setnx(L, 'A')) === 1) await a.pexpire(L, 1000);
      })
      .catch(swallow);
    while ((await lab.raw.exists(L)) === 0) await lab.advance(1);
    lab.die('A');
    await lab.advance(100_000);
    const ttl = await lab.raw.pttl(L);
    return ttl === -1 ? ['nobody can ever lock again'] : null;
  },
  ours: async (lab) => {
    const locks = await lab.locks('A', { leaseMs: 1000 });
    lab.as('A', () => locks.simple(L).acquire()).catch(swallow);
    await lab.advance(lab.between(0, 12));
    lab.die('A');
    const ttl = await lab.raw.pttl(L);
    const next = await (await lab.locks('B')).simple(L).tryAcquire({ waitMs: 2000 });
    return ttl === -1 || !next ? [`a key without an end, or in the way: ${ttl}`] : [];
  },
};

const loserProlongs: Failure = {
  id: 'S2',
  title: 'clients that call EXPIRE without getting the lock keep the lock of a dead holder alive',
  naive: async (lab) => {
    const b = await lab.redis('B');
    await lab.raw.set(L, 'A', 'PX', 1000);
    for (let i = 0; i < 20; i++) {
      if ((await b.setnx(L, 'B')) === 0) await b.pexpire(L, 1000);
      await lab.advance(lab.between(50, 400));
    }
    return (await lab.raw.get(L)) === 'A' ? ['the dead A still has the lock'] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A', { leaseMs: 1000 }), await lab.locks('B')];
    await lab.as('A', () => a.simple(L).acquire());
    lab.die('A');
    const held = await b
      .simple(L)
      .acquire({ waitMs: 5000 })
      .catch(() => null);
    return held ? [] : ['the dead A still has the lock'];
  },
};

const blindDelete: Failure = {
  id: 'S3',
  title: "a late DEL removes the next holder's lock",
  naive: (lab) => overstay(lab, async (_lab, name) => (await lab.redis(name)).del(L)),
  ours: overstayOurs,
};

const checkThenDelete: Failure = {
  id: 'S4',
  title: "the lease ends between GET and DEL, and DEL removes the next holder's lock",
  naive: async (lab) => {
    const [a, b, c] = [await lab.redis('A'), await lab.redis('B'), await lab.redis('C')];
    await a.set(L, 'A', 'PX', 100, 'NX');
    await lab.advance(lab.between(90, 94));
    const mine = (await a.get(L)) === 'A';
    await lab.stall('A', lab.between(20, 60));
    if (!mine || (await b.set(L, 'B', 'PX', 10_000, 'NX')) !== 'OK') return null;
    lab.believe(L, 'B');
    await a.del(L);
    if ((await c.set(L, 'C', 'PX', 10_000, 'NX')) === 'OK') lab.believe(L, 'C');
    return lab.verdict();
  },
  ours: overstayOurs,
};

const sharedToken: Failure = {
  id: 'S5',
  title: "a token that two clients share lets one release the other's lock",
  naive: (lab) =>
    overstay(
      lab,
      async (_lab, name, token) => (await lab.redis(name)).eval(COMPARE_AND_DELETE, 1, L, token),
      'pid 17',
    ),
  ours: async (lab) => {
    const locks = await lab.locks('A');
    const tokens = new Set<string>();
    for (let i = 0; i < 50; i++) {
      const held = await locks.simple(`${L}:${i}`).acquire();
      tokens.add(held.token);
    }
    return tokens.size === 50 ? await overstayOurs(lab) : ['tokens repeat'];
  },
};

const checkThenExtend: Failure = {
  id: 'S6',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 100, 'NX');
    await lab.advance(lab.between(90, 94));
    const mine = (await a.get(L)) === 'A';
    await lab.stall('A', lab.between(20, 60));
    if (!mine || (await b.set(L, 'B', 'PX', 1000, 'NX')) !== 'OK') return null;
    await a.pexpire(L, 60_000);
    return (await lab.raw.pttl(L)) > 1000 ? ["A moved the end of B's lease"] : [];
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const held = await a.simple(L).acquire({ leaseMs: 100 });
    const extending = lab.as('A', () => held.extend(60_000).catch(swallow));
    lab.requests('A').hold();
    await lab.advance(lab.between(101, 150));
    const next = await b.simple(L).acquire({ leaseMs: 1000 });
    lab.requests('A').release();
    await extending;
    next.assertHeld();
    return (await lab.raw.pttl(L)) > 1000 ? ["A moved the end of B's lease"] : [];
  },
};

const extendRecreates: Failure = {
  id: 'S7',
  title: 'a renewal by SET takes back a lock whose lease had ended',
  naive: async (lab) => {
    const a = await lab.redis('A');
    await a.set(L, 'A', 'PX', 100, 'NX');
    await lab.advance(lab.between(101, 200));
    await a.set(L, 'A', 'PX', 100);
    return (await lab.raw.get(L)) === 'A' ? ['A took the lock without asking'] : [];
  },
  ours: async (lab) => {
    const held = await (await lab.locks('A')).reentrant(L).acquire({ leaseMs: 100 });
    await lab.advance(lab.between(101, 200));
    await held.extend().catch(swallow);
    return (await lab.raw.exists(L)) === 1 ? ['A took the lock without asking'] : [];
  },
};

const leaseTooShort: Failure = {
  id: 'S9',
  title: 'the work takes longer than the lease',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    await a.set(L, 'A', 'PX', 1000, 'NX');
    const end = lab.believe(L, 'A');
    await lab.advance(lab.between(1050, 1400));
    if ((await b.set(L, 'B', 'PX', 1000, 'NX')) === 'OK') lab.believe(L, 'B');
    end();
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A', { leaseMs: 1000 }), await lab.locks('B')];
    const held = await lab.as('A', () => a.simple(L).acquire());
    const end = lab.trust(held);
    await lab.advance(lab.between(1050, 14_000));
    const other = await b.simple(L).tryAcquire();
    if (other) lab.trust(other);
    end();
    await held.release();
    return lab.verdict();
  },
};

/** A resource that accepts writes: with fences it refuses writes that are older than the newest fence it has seen. */
export function resource(fenced: boolean) {
  let greatest = 0;
  const order: string[] = [];
  return {
    order,
    write: (who: string, fence: number): void => {
      if (fenced && fence < greatest) return;
      greatest = Math.max(greatest, fence);
      order.push(who);
    },
  };
}

async function lateWriter(lab: Lab, fenced: boolean): Promise<string[]> {
  const [a, b] = [await lab.locks('A'), await lab.locks('B')];
  const store = resource(fenced);
  const first = await lab.as('A', () => a.fenced(L).acquire({ leaseMs: 1000 }));
  first.assertHeld(); // The last check; the write is under way, and takes long.
  await lab.stall('A', lab.between(1001, 5000));
  const second = await b.fenced(L).acquire();
  store.write('B', second.fence!);
  store.write('A', first.fence!);
  return store.order.join() === 'B' ? [] : [`writes arrived as ${store.order}`];
}

const pausedHolder: Failure = {
  id: 'S10, S12',
  title: 'a stalled holder, or a write that was long under way, reaches the resource after the next holder',
  naive: (lab) => lateWriter(lab, false),
  ours: (lab) => lateWriter(lab, true),
};

/** The reply to A has arrived, and A stalls before it reads it. */
async function unread(lab: Lab): Promise<void> {
  lab.replies('A').hold();
  await lab.advance(20);
  const standing = lab.stall('A', lab.between(1100, 3000));
  lab.replies('A').release();
  await standing;
}

const lateReading: Failure = {
  id: 'S11',
  title: 'a holder that counts its lease from reading the reply believes in it for too long',
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    const granted = lab.as('A', async () => {
      const reply = await a.set(L, 'A', 'PX', 1000, 'NX');
      return reply === 'OK' ? Date.now() + 1000 : 0;
    });
    await unread(lab);
    const validUntil = await granted;
    if (Date.now() < validUntil) lab.believe(L, 'A');
    if ((await b.set(L, 'B', 'PX', 1000, 'NX')) === 'OK') lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    await (await a.simple('other').acquire()).release();
    const granted = lab.as('A', () => a.simple(L).acquire({ leaseMs: 1000 }));
    await unread(lab);
    const held = await granted;
    if (!held.signal.aborted) lab.trust(held);
    const other = await b.simple(L).tryAcquire();
    if (other) lab.trust(other);
    return lab.verdict();
  },
};

const lockDelay: Failure = {
  id: 'S13',
  naive: async (lab) => {
    const [a, b] = [await lab.locks('A', { leaseMs: 1000 }), await lab.locks('B')];
    await lab.as('A', () => a.simple(L).acquire());
    const arrives = Date.now() + 1000 + lab.between(500, 3000);
    lab.die('A');
    await b.simple(L).acquire();
    return Date.now() < arrives ? ['B was let in while the write of A was under way'] : [];
  },
  ours: async (lab) => {
    const options = { leaseMs: 1000, lockDelayMs: 5000 };
    const [a, b] = [await lab.locks('A', options), await lab.locks('B', options)];
    await lab.as('A', () => a.simple(L).acquire());
    const arrives = Date.now() + 1000 + lab.between(500, 3000);
    lab.die('A');
    const held = await b.simple(L).acquire();
    if (Date.now() < arrives) return ['B was let in while the write of A was under way'];
    await held.release();
    const at = Date.now();
    await b.simple(L).acquire();
    return Date.now() - at > 100 ? ['a clean release does not open at once'] : [];
  },
};

export const acquiring: readonly Failure[] = [
  crashBeforeExpiry,
  loserProlongs,
  blindDelete,
  checkThenDelete,
  sharedToken,
  checkThenExtend,
  extendRecreates,
  leaseTooShort,
  pausedHolder,
  lateReading,
  lockDelay,
];
